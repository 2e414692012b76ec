"""Decisions and checkpoints: asked once a visit, answered by a person or by the clock, never by an agent.

A request is bound by its digest to everything that the person is shown. The run waits; the first answer, or
the time that is up, wins and lets it go on as a new run. Whatever comes later changes nothing.
"""

from __future__ import annotations

import hashlib
from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Acceptor, Refused
from windtunnel.compiler.canonical import CanonicalError, canonical, parse_json
from windtunnel.compiler.evaluator import Compiled, EvaluationError
from windtunnel.simulator.events import (
    CONTINUED,
    CURRENT,
    ELAPSED,
    Action,
    Answered,
    Commit,
    Deadline,
    Emit,
    Event,
    Json,
    Payload,
    Value,
)
from windtunnel.simulator.run import turns, words
from windtunnel.simulator.run.completion import as_json
from windtunnel.simulator.run.program import Decision, Program
from windtunnel.simulator.run.state import Request, Run, Scope
from windtunnel.simulator.run.submission import Refusal
from windtunnel.simulator.run.transition import READY, VISIBLE, Engine, Result, View, failure, node_failed

WAITING: Final = "waiting"
"""The phase of an engine, and the status of a run, that wait for an answer."""


# --- asking -------------------------------------------------------------------------------------------------


def ask(program: Program, node: Decision, run: Run, executor: str = VISIBLE) -> Result:
    """Ask, and wait: one transaction, so that a crash leaves one live request or none."""
    try:
        payload = request(node, Scope(program, run))
    except EvaluationError as error:
        return READY, (Commit((node_failed(node.id, "failed", str(error)),)),)
    asked = Event("decision", "decision_requested", node.id, CURRENT, payload)
    shown = tuple((key, value) for key, value in payload if key not in ("dueMs", "default"))
    waits = Event("run", "run_waiting", payload=(("finalOutput", Json(_plain(shown))),))
    if "W13" in program.switches:
        return Engine(WAITING), (Commit((asked,)), Commit((waits,)))
    turn = turns.while_waiting(program, run, executor)
    return Engine(WAITING), (Commit((asked, *turn, waits)),)


def request(node: Decision, scope: Scope) -> Payload:
    """The request: what is shown, its digest, and until when it can be answered. Raises EvaluationError."""
    parts: list[tuple[str, Value]] = [("kind", node.kind)]
    for name, part in (
        ("audience", node.audience),
        ("title", node.title),
        ("subject", node.subject),
        ("show", node.show),
    ):
        if part is not None:
            parts.append((name, as_json(part(scope))))
    if node.choices:
        parts.append(
            ("choices", as_json([_choice(node, index, scope) for index in range(len(node.choices))]))
        )
    digest = hashlib.sha256(_plain(tuple(sorted(parts))).encode()).hexdigest()
    parts.append(("digest", f"sha256:{digest}"))
    return tuple(sorted([*parts, *_deadline(node, scope)], key=lambda part: part[0]))


def _choice(node: Decision, index: int, scope: Scope) -> JsonValue:
    choice = node.choices[index]
    shown: dict[str, JsonValue] = {"id": choice.id}
    if choice.label is not None:
        shown["label"] = choice.label(scope)
    if choice.asks is not None:
        shown["asks"] = choice.asks
        shown["prompt"] = None if choice.prompt is None else choice.prompt(scope)
    return shown


def _plain(payload: Payload) -> str:
    """Parts of a request as canonical JSON."""
    shown: dict[str, JsonValue] = {}
    for key, value in payload:
        shown[key] = parse_json(value.text) if isinstance(value, Json) else str(value)
    return canonical(shown)


def _deadline(node: Decision, scope: Scope) -> Payload:
    """What ends the wait: the default or the expiry, whichever comes first; the default where both do."""
    default, expires = None, None
    if node.default is not None and (node.default.when is None or node.default.when(scope) is True):
        default = _delay(node.id, node.default.delay, scope)
    if node.expires is not None:
        expires = _delay(node.id, node.expires, scope)
    if default is not None and (expires is None or default <= expires):
        assert node.default is not None, "a default has a choice"
        return (("default", node.default.choice), ("dueMs", default))
    return () if expires is None else (("dueMs", expires),)


def _delay(node: str, delay: Compiled, scope: Scope) -> int:
    value = delay(scope)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise EvaluationError(f"the time to answer {node} is not a positive duration")
    return value


# --- being answered -----------------------------------------------------------------------------------------


def answered(program: Program, local: Engine, view: View, message: Answered) -> Result:
    """A person answers. What is not accepted is refused in words and changes nothing."""
    asked = view.run.request
    open_ = local.phase == WAITING and view.position.status == WAITING and message.attempt == CURRENT
    if not open_ and "W15" not in program.switches:
        return local, _refused(words.NOTHING_ASKED, message)
    node = program.nodes.get(view.position.node)
    if not isinstance(node, Decision):
        return local, _refused(words.NOTHING_ASKED, message)
    if asked is not None and message.digest != asked.digest:
        return local, _refused(words.OTHER_REQUEST, message)
    if message.overdue:
        after, actions = up(program, local, view, Deadline())
        return after, (*actions, *_refused(words.TOO_LATE, message))
    output = judge(node, message)
    if isinstance(output, Refusal):
        return local, _refused(output.reason, message)
    payload: Payload = (("digest", message.digest), ("output", Json(canonical(output))))
    won = Event("decision", "decision_answered", node.id, CURRENT, (*payload, ("provenance", "human")))
    commit = Commit((won, _continued(program, view.run), _finished(node, output, "human")))
    return READY, (commit, *turns.taken_back(program))


def _refused(reason: str, message: Answered) -> tuple[Action, ...]:
    payload: Payload = (("choice", message.choice), ("reason", reason))
    return (Emit(Event("decision", "answer_refused", None, message.attempt, payload)),)


def judge(node: Decision, message: Answered) -> JsonValue | Refusal:
    """The output of the node, or why the answer does not fit."""
    if node.answer is not None:
        return _fits(node.answer, message.value)
    choice = node.choice(message.choice)
    if choice is None:
        return Refusal(words.no_choice(str(message.choice)))
    output: dict[str, JsonValue] = {"choice": choice.id, "provenance": "human"}
    if choice.asks is None or choice.type is None:
        return output if message.value is None else Refusal(words.not_asked(choice.id))
    fitting = _fits(choice.type, message.value)
    return fitting if isinstance(fitting, Refusal) else {**output, "input": {choice.asks: fitting}}


def _fits(type_: Acceptor, text: str | None) -> JsonValue | Refusal:
    try:
        verdict = type_.accept(None if text is None else parse_json(text))
    except CanonicalError as error:
        return Refusal(str(error))
    return Refusal(str(verdict)) if isinstance(verdict, Refused) else verdict.value


def up(program: Program, local: Engine, view: View, message: Deadline) -> Result:
    """The time to answer is up: the default is taken, or the request expires. Whoever is second is done."""
    asked = view.run.request
    if local.phase != WAITING or message.attempt != CURRENT or asked is None:
        conflict = failure(view.position.node, "failed", words.NOTHING_ASKED)
        return local, conflict if "W14" in program.switches else ()
    node = program.nodes[view.position.node]
    assert isinstance(node, Decision), "a request belongs to a decision"
    went_on = _continued(program, view.run)
    digest: Payload = (("digest", asked.digest), ("provenance", "timeout"))
    if not asked.default:
        over = Event("decision", "decision_defaulted", node.id, CURRENT, (*digest, ("outcome", "timed_out")))
        failed = node_failed(node.id, "timed_out", words.EXPIRED)
        return READY, (Commit((over, went_on, failed)), *turns.taken_back(program))
    output: JsonValue = {"choice": asked.default, "provenance": "timeout"}
    payload: Payload = (("digest", asked.digest), ("output", Json(canonical(output))))
    over = Event("decision", "decision_defaulted", node.id, CURRENT, (*payload, ("provenance", "timeout")))
    commit = Commit((over, went_on, _finished(node, output, "timeout")))
    return READY, (commit, *turns.taken_back(program))


def _continued(program: Program, run: Run) -> Event:
    """The start of the run that goes on where the waiting one stopped."""
    snapshot = program.snapshot
    payload: Payload = (
        ("continuedFrom", CONTINUED),
        ("digest", snapshot.digest),
        ("input", Json(run.input)),
        ("revision", snapshot.revision),
        ("workflow", snapshot.workflow),
    )
    return Event("run", "run_started", payload=payload)


def _finished(node: Decision, output: JsonValue, by: str) -> Event:
    payload: Payload = (
        ("durationMs", ELAPSED),
        ("outcome", "ok"),
        ("output", Json(canonical(output))),
        ("provenance", by),
    )
    return Event("node", "node_finished", node.id, CURRENT, payload)


def withdrawn(request: Request | None, node: str) -> tuple[Event, ...]:
    """What a cancelled run says of its open request: it will never be answered."""
    if request is None:
        return ()
    payload: Payload = (("digest", request.digest), ("reason", words.CANCELLED))
    return (Event("decision", "decision_cancelled", node, CURRENT, payload),)
