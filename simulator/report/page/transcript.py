"""The conversation as the person saw it: rows that come, grow, and go with their host.

When a host opens the session again, it shows what the session log holds, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from windtunnel.simulator.chat.loop import TOOL_RESULT
from windtunnel.simulator.report.page.lanes import Moment
from windtunnel.simulator.report.story import told

MAX_SHOWN: Final = 4_000
"""Code points of one row of the conversation."""

BESIDE: Final = ("asked",)
"""Roles that stand in the store and not in the session log."""

ANSWER: Final = "answer"


@dataclass(slots=True)
class Seen:
    """One row: who speaks, what, about which node, and from which row of the run until which."""

    role: str
    text: str
    note: str
    first: int
    last: int | None = None
    state: str = ""

    def to_json(self) -> list[Any]:
        """`[role, text, note, state, first, last?]`."""
        shown = self.text if len(self.text) <= MAX_SHOWN else self.text[: MAX_SHOWN - 1] + "…"
        return [self.role, shown, self.note, self.state, self.first, self.last]


def transcript(rows: Sequence[Moment], entries: Sequence[Mapping[str, Any]]) -> list[Seen]:
    """Everything that was on the screen at some time."""
    screen = _Screen()
    for at, row in enumerate(rows):
        if row.event is not None:
            screen.see(at, row.event, entries[: row.entries])
    return screen.seen


class _Screen:
    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.open: list[Seen] = []
        self.notices: dict[tuple[str, int], str] = {}

    def see(self, at: int, event: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
        """One event."""
        kind, payload, node = event["type"], event["payload"], str(event.get("nodeId", ""))
        match kind:
            case "session_loaded":
                self._reload(at, entries)
            case "crashed" | "agent_end" | "agent_settled":
                self._end(at, [row for row in self.open if row.state == "streaming"])
            case "said":
                self._add(at, "user", str(payload.get("text", "Any news?")), "waits", "queued")
            case "message_start" if payload.get("role") == "user" and not payload.get("step"):
                self._taken(at, payload)
            case "message_start" if payload.get("role") == "assistant":
                self._add(at, "assistant", "", node, "streaming")
            case "message_update":
                self._grow(at, str(payload.get("delta", "")))
            case "message_end" if payload.get("role") == "assistant":
                self._finish(at, payload)
            case "agent_prompt_sent":
                note = f"{node}, {payload.get('kind', 'step')}"
                self._add(at, "step", str(payload.get("prompt", "")), note)
            case "tool_execution_end":
                said = str(payload.get("text", TOOL_RESULT))
                self._add(at, "tool", said, str(payload.get("tool", "")))
            case "notification_queued":
                self.notices[node, int(payload["index"])] = str(payload.get("message"))
            case "notification_delivered":
                self._add(at, "notice", self.notices.get((node, int(payload["index"])), ""), node)
            case "decision_requested":
                self._add(at, "asked", _request(payload), node)
            case "decision_answered":
                self._add(at, "user", _answer(payload), ANSWER)
            case "decision_defaulted" | "decision_cancelled":
                self._add(at, "asked", told(event), node)
            case _:
                pass

    def _add(self, at: int, role: str, text: str, note: str, state: str = "") -> None:
        row = Seen(role, text, note, at, None, state)
        self.seen.append(row)
        self.open.append(row)

    def _end(self, at: int, rows: Sequence[Seen]) -> None:
        for row in rows:
            row.last = at
            self.open.remove(row)

    def _replace(self, at: int, row: Seen, text: str, state: str, note: str) -> None:
        self._end(at, [row])
        self._add(at, row.role, text, note, state)

    def _taken(self, at: int, payload: Mapping[str, Any]) -> None:
        """A message of the person becomes a row of the conversation."""
        waiting = next((row for row in self.open if row.state == "queued"), None)
        if waiting is not None:
            self._end(at, [waiting])
        self._add(at, "user", waiting.text if waiting is not None else str(payload.get("text", "")), "")

    def _streaming(self) -> Seen | None:
        return next((row for row in reversed(self.open) if row.state == "streaming"), None)

    def _grow(self, at: int, text: str) -> None:
        row = self._streaming()
        if row is not None:
            self._replace(at, row, text, "streaming", row.note)

    def _finish(self, at: int, payload: Mapping[str, Any]) -> None:
        row, stop = self._streaming(), str(payload.get("stop", "stop"))
        if row is not None:
            text = str(payload.get("text", row.text))
            self._replace(at, row, text, "" if stop == "stop" else stop, row.note)

    def _reload(self, at: int, entries: Sequence[Mapping[str, Any]]) -> None:
        """The screen as a host shows it that has just opened the session."""
        wanted = list(rows_of_log(entries))
        kept = [row for row in self.open if row.role not in BESIDE and row.note != ANSWER]
        same = 0
        while same < min(len(wanted), len(kept)) and _alike(kept[same], wanted[same]):
            same += 1
        self._end(at, kept[same:])
        for role, text, note, state in wanted[same:]:
            self._add(at, role, text, note, state)


def _alike(row: Seen, wanted: tuple[str, str, str, str]) -> bool:
    role, text, _, state = wanted
    return row.role == role and row.state == state and (role == "step" or row.text == text)


def rows_of_log(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    """What the session log holds, as rows: role, text, note, state."""
    found: list[tuple[str, str, str, str]] = []
    queued: list[int] = []
    for entry in entries:
        kind, text, node = entry["kind"], str(entry.get("text", "")), str(entry.get("nodeId", ""))
        if kind == "queued":
            queued.append(len(found))
            found.append(("user", text, "waits", "queued"))
        elif kind == "user":
            if queued and entry.get("consumes"):
                text = text or found[queued[0]][1]
                del found[queued[0]]
                queued = [at - 1 for at in queued[1:]]
            found.append(("user", text, "", ""))
        elif kind == "step":
            found.append(("step", text, f"{node}, {entry.get('prompt', 'step')}", ""))
        elif kind == "assistant":
            stop = str(entry.get("stop", "stop"))
            found.append(("assistant", text, "", "" if stop == "stop" else stop))
        elif kind in ("tool", "notice"):
            found.append((kind, text, node, ""))
    return found


def _answer(payload: Mapping[str, Any]) -> str:
    """What a person answered: the choice, or the value."""
    output = payload.get("output")
    said = output.get("choice") if isinstance(output, dict) and "choice" in output else output
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, sort_keys=True)


def _request(payload: Mapping[str, Any]) -> str:
    asked = str(payload.get("title") or payload.get("show") or "")
    choices = [str(choice.get("label") or choice.get("id")) for choice in payload.get("choices") or ()]
    return f"{asked}\n{' · '.join(choices)}".strip()
