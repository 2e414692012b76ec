"""A trace told as a story: one event a line, in the columns time, process, event, what happened.

Works on the trace's own JSON form, so a story can be told of a file as well as of a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

from windtunnel.simulator.report.columns import clip, plain, table

TraceEvent: TypeAlias = Mapping[str, Any]
"""One line of the trace, read as JSON."""

DEFAULT_WIDTH: Final = 120
MIN_WIDTH: Final = 60
MAX_VALUE: Final = 1_000
"""Code points of a value that are looked at before it is cut to the width of the line."""


class Mood(StrEnum):
    """What kind of line it is, for colour and for the sign in front."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    FAULT = "fault"


SIGNS: Final = {Mood.PLAIN: " ", Mood.GOOD: "✓", Mood.BAD: "✗", Mood.FAULT: "!"}


class StoryLine(NamedTuple):
    """One line of the story and its mood."""

    mood: Mood
    text: str


FAULTS: Final = frozenset(
    {"crashed", "duplicated", "provider_deviated", "timer_fired", "escaped", "cancel_requested", "said"}
    | {"message_dropped", "delayed", "reordered", "disconnected"}
)
"""Events that stand for something that went wrong, or for a person who interfered."""

_BAD: Final = frozenset({"node_failed", "run_failed", "run_timed_out", "run_cancelled", "submission_refused"})
_GOOD: Final = frozenset({"run_completed", "node_finished", "visit_done", "effect_applied"})


def story(events: Sequence[TraceEvent], *, width: int = DEFAULT_WIDTH) -> str:
    """The whole story as text that ends in a newline; empty for no events."""
    return "".join(f"{SIGNS[line.mood]} {line.text}\n" for line in story_lines(events, width=width))


def story_lines(events: Sequence[TraceEvent], *, width: int = DEFAULT_WIDTH) -> list[StoryLine]:
    """The story line by line, first the names of the columns; no line is wider than `width` cells."""
    if not events:
        return []
    rows = [("time", "process", "event", "what happened")]
    rows += [(moment(event["at"]), event["process"], named(event), told(event)) for event in events]
    moods = [Mood.PLAIN, *(mood(event) for event in events)]
    lines = table(rows, right=frozenset({0}))
    room = max(width, MIN_WIDTH) - 2
    return [StoryLine(mood, clip(line, room)) for mood, line in zip(moods, lines, strict=True)]


def mood(event: TraceEvent) -> Mood:
    """How a reader should feel about an event."""
    kind = event["type"]
    if kind in FAULTS:
        return Mood.FAULT
    if kind in _BAD:
        return Mood.BAD
    return Mood.GOOD if kind in _GOOD else Mood.PLAIN


def moment(at_ms: int) -> str:
    """Virtual time in the unit a person would use: `0`, `250 ms`, `1.5 s`, `2 min 5 s`, `1 h 30 min`."""
    if at_ms < 1_000:
        return f"{at_ms} ms" if at_ms else "0"
    if at_ms < 60_000:
        return f"{at_ms / 1_000:.3f}".rstrip("0").rstrip(".") + " s"
    minutes, rest = divmod(at_ms // 1_000, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def named(event: TraceEvent) -> str:
    """The event's type in words, and the node it is about."""
    node = event.get("nodeId")
    if event["type"] == "visit_done":
        return str(node)
    name = str(event["type"]).replace("_", " ")
    return f"{name} · {node}" if node else name


def told(event: TraceEvent) -> str:
    """What happened, on one line that is not cut."""
    payload: Mapping[str, Any] = event.get("payload") or {}
    tell = _TELLERS.get(event["type"])
    told = tell(payload) if tell is not None else _pairs(payload)
    attempt = event.get("attemptId")
    return f"[{str(attempt).removeprefix('attempt-')}] {told}".strip() if attempt else told


def _value(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return f"“{plain(value[:MAX_VALUE])}”"
    return plain(json.dumps(value, ensure_ascii=False, sort_keys=True)[:MAX_VALUE])


def _pairs(payload: Mapping[str, Any]) -> str:
    """Every entry of the payload that says something."""
    said = ((key, value) for key, value in payload.items() if value not in (None, "", [], {}))
    return ", ".join(f"{key} {_value(value)}" for key, value in said)


def _run_started(payload: Mapping[str, Any]) -> str:
    title = payload.get("title")
    name = f"{payload.get('workflow')} revision {payload.get('revision')}"
    if payload.get("continuedFrom"):
        return f"goes on where {payload['continuedFrom']} waited"
    return f"{name}{f' “{plain(str(title))}”' if title else ''}, input {_value(payload.get('input'))}"


def _prompt_sent(payload: Mapping[str, Any]) -> str:
    kind, completion = payload.get("kind", "step"), payload.get("completion")
    asks = "a visible answer" if completion == "assistant" else "a submission"
    return f"{kind} prompt, asks for {asks}: {_value(payload.get('prompt', ''))}"


def _node_started(payload: Mapping[str, Any]) -> str:
    via = payload.get("via")
    return f"{payload.get('nodeType')}{f', by {plain(str(via))}' if via else ''}"


def _resumed(payload: Mapping[str, Any]) -> str:
    at = payload.get("resumeAt")
    kept = payload.get("resumedAttemptId")
    said = f"goes on at {at}" if at else "goes on"
    return f"{said}, keeps {kept}" if kept else said


def _crashed(payload: Mapping[str, Any]) -> str:
    torn = ", in the middle of an append" if payload.get("torn") else ""
    return f"the host dies{torn}; what was not committed is gone"


def _behaved(payload: Mapping[str, Any]) -> str:
    return f"the model: {plain(str(payload.get('behaviour')))}"


def _finished(payload: Mapping[str, Any]) -> str:
    cut = ", cut by its length" if (payload.get("receipt") or {}).get("cut") else ""
    return f"output {_value(payload.get('output'))}{cut}"


def _visit(payload: Mapping[str, Any]) -> str:
    return f"{_node_started(payload)}: {_finished(payload)}"


def _failed(payload: Mapping[str, Any]) -> str:
    return f"{payload.get('outcome')}: {plain(str(payload.get('error')))}"


def _ended(payload: Mapping[str, Any]) -> str:
    parts = []
    if payload.get("exit"):
        parts.append(f"by exit {payload['exit']}")
    if payload.get("error"):
        parts.append(plain(str(payload["error"])))
    if payload.get("finalOutput") is not None:
        parts.append(f"output {_value(payload['finalOutput'])}")
    return ", ".join(parts)


def _effect(payload: Mapping[str, Any]) -> str:
    key = payload.get("key")
    return f"{payload.get('call')}{f' (key {plain(str(key))})' if key is not None else ''}"


def _asked(payload: Mapping[str, Any]) -> str:
    due = payload.get("dueMs")
    asked = payload.get("title") or payload.get("show")
    until = f", within {moment(due)}" if isinstance(due, int) else ""
    default = f", else {payload['default']}" if payload.get("default") else ""
    return f"a person is asked {_value(asked)}{until}{default}"


def _defaulted(payload: Mapping[str, Any]) -> str:
    chosen = payload.get("output")
    return "nobody answers in time" + (f": {_value(chosen)}" if chosen is not None else "")


def _message(payload: Mapping[str, Any]) -> str:
    text = payload.get("text", payload.get("delta"))
    rest = {key: value for key, value in payload.items() if key not in ("text", "delta", "role", "step")}
    said = ["the prompt" if payload.get("step") else str(payload.get("role", ""))]
    said += [_value(text)] if text else []
    said += [_pairs(rest)] if rest else []
    return " ".join(part for part in said if part)


_TELLERS: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "run_started": _run_started,
    "run_resumed": _resumed,
    "session_loaded": lambda payload: "the host starts and reads what is durable",
    "crashed": _crashed,
    "provider_answered": _behaved,
    "provider_deviated": _behaved,
    "duplicated": lambda payload: f"arrives again: {plain(str(payload.get('what')))}",
    "timer_fired": lambda payload: "the time of the attempt is up",
    "node_started": _node_started,
    "agent_prompt_sent": _prompt_sent,
    "node_finished": _finished,
    "visit_done": _visit,
    "node_failed": _failed,
    "submission_refused": lambda payload: plain(str(payload.get("reason", ""))),
    "run_completed": _ended,
    "run_failed": _ended,
    "run_timed_out": _ended,
    "run_cancelled": _ended,
    "run_waiting": _ended,
    "effect_started": lambda payload: f"calls {_effect(payload)} with {_value(payload.get('argument'))}",
    "effect_applied": lambda payload: f"{_effect(payload)} happens outside",
    "notification_queued": lambda payload: f"{payload.get('kind')}: {_value(payload.get('message'))}",
    "notification_delivered": lambda payload: f"number {payload.get('index')} was shown",
    "decision_requested": _asked,
    "decision_answered": lambda payload: f"a person answers {_value(payload.get('output'))}",
    "decision_defaulted": _defaulted,
    "decision_cancelled": lambda payload: "nobody will answer any more",
    "answer_refused": lambda payload: f"refused: {plain(str(payload.get('reason')))}",
    "answered": lambda payload: f"the person answers {_pairs(payload)}",
    "message_start": _message,
    "message_update": _message,
    "message_end": _message,
}
