"""Snapshots made by hand: small workflows as data, for tests of what works on snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from windtunnel.compiler.snapshot import Snapshot

DIGESTS = dict.fromkeys(("shape", "behaviour", "presentation"), f"sha256:{'0' * 64}")
TEXT: dict[str, Any] = {"kind": "text"}
RECORD: dict[str, Any] = {"kind": "record", "fields": {}}


def const(value: object) -> list[object]:
    """A constant."""
    return ["const", value]


def agent(prompt: str = "Do it.", **more: Any) -> dict[str, Any]:
    """An agent that submits text."""
    made = {
        "nodeType": "agent",
        "prompt": const(prompt),
        "expectedOutput": {"kind": "submission", "type": TEXT},
        "timeoutMs": 900_000,
    }
    return made | more


def assistant(maximum: int | None = None, **more: Any) -> dict[str, Any]:
    """An agent that answers in the chat."""
    expected: dict[str, Any] = {"kind": "assistant-message"}
    if maximum is not None:
        expected["maxChars"] = maximum
    return agent(expectedOutput=expected, **more)


def compute(value: object = 1) -> dict[str, Any]:
    """A constant value."""
    return {"nodeType": "compute", "value": const(value)}


def shell(*words: str, **more: Any) -> dict[str, Any]:
    """A command."""
    items = [["item", const(word)] for word in words]
    return {"nodeType": "shell", "run": ["list", *items], "timeoutMs": 30_000} | more


def notify(message: str) -> dict[str, Any]:
    """A progress message."""
    return {"nodeType": "notify", "kind": "progress", "message": const(message)}


def checkpoint(show: str) -> dict[str, Any]:
    """A question to a person."""
    return {"nodeType": "checkpoint", "show": const(show), "answer": TEXT}


def action(call: str, **more: Any) -> dict[str, Any]:
    """An effect."""
    return {"nodeType": "action", "call": call, "returns": TEXT, "timeoutMs": 60_000} | more


def decision(title: str, choices: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """A choice of a person, by label."""
    made = {name: {"label": const(label)} for name, label in choices.items()}
    return {"nodeType": "decision", "title": const(title), "choices": made} | more


def target(name: str) -> dict[str, str]:
    """`exit x` or a node."""
    return {"exit": name[5:]} if name.startswith("exit ") else {"node": name}


def edge(
    start: str, to: str, limit: tuple[int, str] | None = None, *, scope: str = "", on: str = "ok"
) -> dict[str, Any]:
    """One arrow; `start` may be `node.way`."""
    source, _, way = start.partition(".")
    key = (f"{scope}/start" if scope and source == "start" else start) + ("" if on == "ok" else f" on {on}")
    arm: dict[str, Any] = {"key": key, "to": target(to)}
    if limit is not None:
        arm["limit"] = {"count": limit[0], "then": target(limit[1])}
    made: dict[str, Any] = {"scope": scope, "from": source, "on": on, "arms": [arm]}
    if way:
        made["way"] = way
    return made


def match(start: str, subject: Sequence[object], arms: Mapping[str, str], scope: str = "") -> dict[str, Any]:
    """Arrows by case; the case `else` takes the rest."""
    made = [
        {"key": f'{start} "{case}"', "to": target(to)} | ({} if case == "else" else {"cases": [case]})
        for case, to in arms.items()
    ]
    return {"scope": scope, "from": start, "subject": list(subject), "arms": made}


def mount(workflow: str, start_at: str, exits: Iterable[str]) -> dict[str, Any]:
    """An include."""
    return {
        "workflow": workflow,
        "revision": 1,
        "input": ["record"],
        "inputType": RECORD,
        "maxSteps": 100,
        "startAt": start_at,
        "exits": dict.fromkeys(exits, TEXT),
    }


def snapshot(
    nodes: Mapping[str, Any],
    edges: Sequence[Any],
    *,
    exits: Iterable[str] = ("done",),
    mounts: Mapping[str, Any] | None = None,
    **more: Any,
) -> Snapshot:
    """The whole."""
    return Snapshot.model_validate(
        {
            "workflow": "example",
            "revision": 1,
            "digest": DIGESTS["behaviour"],
            "digests": DIGESTS,
            "input": RECORD,
            "exits": dict.fromkeys(exits, TEXT),
            "maxSteps": 100,
            "startAt": next(iter(nodes)),
            "nodes": nodes,
            "edges": edges,
            "composition": {"mounts": mounts or {}},
        }
        | more
    )


def release_notes() -> Snapshot:
    """A workflow with most kinds of nodes, a loop with a limit, failure routes and an include."""
    field = ["field", ["input", ""], "tag", False]
    return snapshot(
        {
            "log": shell("git", "log", "--format=%s", label=const("reading the history")),
            "draft": agent("Draft release notes.", label=["text", const("drafting "), field]),
            "approve": decision(
                "Publish the notes?",
                {"publish": "Publish", "rewrite": "Rewrite", "drop": "Do not publish"},
                audience=const("maintainers"),
                after={
                    "delayMs": const(600_000),
                    "choose": "publish",
                    "when": ["op", "==", field, const("v1")],
                },
                expiresMs=const(172_800_000),
            ),
            "release": action("github.release", idempotencyKey=["text", const("release-"), field]),
            "published": compute("url"),
            "dropped": compute("nobody answered"),
            "tell/summarize": assistant(600, label=const("writing a plain summary")),
        },
        [
            edge("start", "log"),
            edge("log", "draft"),
            edge("draft", "approve"),
            edge("approve.publish", "release"),
            edge("approve.rewrite", "draft", (4, "dropped")),
            edge("approve.drop", "dropped"),
            edge("approve", "dropped", on="timed_out"),
            edge("release", "tell"),
            edge("release", "release", (2, "dropped"), on="failed"),
            edge("tell.done", "published"),
            edge("published", "exit published"),
            edge("dropped", "exit dropped"),
            edge("start", "tell/summarize", scope="tell"),
            edge("tell/summarize", "exit done", scope="tell"),
        ],
        exits=("published", "dropped"),
        mounts={"tell": mount("plain-summary", "tell/summarize", ["done"])},
        workflow="release-notes",
    )
