"""Small workflows as snapshots, written by hand: what the tests of the core run."""

from __future__ import annotations

from typing import Any

from windtunnel.compiler.snapshot import Snapshot

DIGESTS = {"shape": "sha256:0", "behaviour": "sha256:0", "presentation": "sha256:0"}
TEXT: dict[str, Any] = {"kind": "text"}


def snapshot(**parts: Any) -> Snapshot:
    """A snapshot with the parts that matter; the rest is filled in."""
    whole: dict[str, Any] = {
        "workflow": "small",
        "revision": 1,
        "digest": "sha256:0",
        "digests": DIGESTS,
        "input": {"kind": "record", "fields": {}},
        "exits": {},
        "maxSteps": 100,
        **parts,
    }
    return Snapshot.model_validate(whole)


def edge(source: str, to: str, scope: str = "", **more: Any) -> dict[str, Any]:
    """One arrow; `to` is a node, a mount, or `exit NAME`."""
    target = {"exit": to.removeprefix("exit ")} if to.startswith("exit ") else {"node": to}
    key = f"{scope}:{source}->{to}"
    return {"scope": scope, "from": source, "arms": [{"key": key, "to": target, **more.pop("arm", {})}], **more}


def assistant(prompt: str, max_chars: int | None = None, **more: Any) -> dict[str, Any]:
    """An assistant agent."""
    output: dict[str, Any] = {"kind": "assistant-message"}
    if max_chars is not None:
        output["maxChars"] = max_chars
    return {
        "nodeType": "agent",
        "prompt": ["const", prompt],
        "expectedOutput": output,
        "timeoutMs": 900_000,
        **more,
    }


def submit(prompt: str, type_: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A submit agent."""
    return {
        "nodeType": "agent",
        "prompt": ["const", prompt],
        "expectedOutput": {"kind": "submission", "type": type_},
        "timeoutMs": 900_000,
        **more,
    }


def compute(value: list[Any]) -> dict[str, Any]:
    """A compute node."""
    return {"nodeType": "compute", "value": value}


def record(**fields: dict[str, Any]) -> dict[str, Any]:
    """A closed record type."""
    return {"kind": "record", "fields": {name: {"type": type_} for name, type_ in fields.items()}}


def literal(value: str) -> dict[str, Any]:
    """A literal type."""
    return {"kind": "literal", "value": value}


def summary() -> Snapshot:
    """One assistant agent, one compute: the shape of plain-summary."""
    return snapshot(
        workflow="summary",
        exits={"done": record(text=TEXT)},
        startAt="summarize",
        nodes={
            "summarize": assistant("Summarise.", 60),
            "answer": compute(["record", ["field", "text", ["node", "summarize"]]]),
        },
        edges=[edge("summarize", "answer"), edge("answer", "exit done")],
    )
