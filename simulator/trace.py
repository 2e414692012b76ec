"""The trace of one run: relative events written down with absolute names, numbers and times.

A `Writer` follows one path through the world. It mints every id from counters (run, attempts, entries),
numbers the lines from 1 without a gap, and remembers for each message what caused it. One line is one
canonical JSON object: `seq at process scope type runId nodeId? attemptId? payload causes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.simulator.clock import Clock
from windtunnel.simulator.events import (
    ANSWER_ENTRY,
    ATTEMPT,
    ATTEMPT_TEXT,
    ELAPSED,
    INVOCATION,
    OLDER,
    OLDER_ATTEMPT,
    OLDER_ENTRY,
    PROMPT_ENTRY,
    REPLAYED,
    RUN,
    THIS_INVOCATION,
    Event,
    Json,
    Mark,
    Record,
    Row,
    Value,
)

RUN_ID: Final = "run-1"
INTERNAL: Final = frozenset({"again"})
"""Keys of payloads that the fold needs and a reader does not."""

COMPLETE: Final = ("stop", "length")


class Writer:
    """Writes one path. `lines` are the trace, `entries` the session log as a reader of the file sees it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.events: list[dict[str, Any]] = []
        self.entries: list[dict[str, Any]] = []
        self._attempts = 0
        self._attempt: str | None = None
        self._node: str | None = None
        self._older: dict[str, str] = {}
        self._started_at = 0
        self._prompt: str | None = None
        self._below = False
        self._answer: str | None = None
        self._answers: dict[str, str] = {}
        self._invocations: dict[str, int] = {}
        self._finished = 0
        self._causes: tuple[int, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The trace as NDJSON lines without their newlines."""
        return tuple(canonical(event) for event in self.events)

    @property
    def last(self) -> int:
        """The number of the last line, 0 before the first."""
        return len(self.events)

    def causes(self, *seqs: int) -> None:
        """What the events that follow come from."""
        self._causes = tuple(sorted({seq for seq in seqs if seq > 0}))

    def write(self, process: str, event: Event) -> None:
        """One line more."""
        if event.type == "node_started":
            self._begin_attempt(event.node or "")
        node, attempt = event.node, None
        if event.attempt is not None:
            node = node or self._node
            attempt = self._older_attempt() if event.attempt == OLDER else self._attempt
        line: dict[str, Any] = {
            "seq": len(self.events) + 1,
            "at": self.clock.now_ms,
            "process": process,
            "scope": event.scope,
            "type": event.type,
            "runId": RUN_ID,
            "payload": {
                key: self._value(value, event) for key, value in event.payload if key not in INTERNAL
            },
            "causes": list(self._causes),
        }
        if node is not None:
            line["nodeId"] = node
        if attempt is not None:
            line["attemptId"] = attempt
        self.events.append(line)
        if event.type == "node_finished":
            self._finished += 1

    def append(self, rows: Iterable[Row]) -> None:
        """Entries that were handed to the session log."""
        for row in rows:
            self._entry(row)

    # --- absolute names -------------------------------------------------------------------------------------

    def _begin_attempt(self, node: str) -> None:
        if self._attempt is not None and self._node is not None:
            self._older[self._node] = self._attempt
            if self._answer is not None:
                self._answers[self._node] = self._answer
        self._attempts += 1
        self._attempt, self._node = f"attempt-{self._attempts}", node
        self._started_at = self.clock.now_ms
        self._prompt = self._answer = None
        self._below = False

    def _older_attempt(self) -> str:
        return self._older.get(self._node or "", "attempt-0")

    def _entry(self, row: Row) -> None:
        id = f"entry-{len(self.entries) + 1}"
        entry: dict[str, Any] = {"id": id, "kind": row.kind}
        if self.entries:
            entry["parentId"] = self.entries[-1]["id"]
        if row.kind == "step":
            entry |= {
                "runId": RUN_ID,
                "nodeId": row.node,
                "attemptId": self._attempt,
                "completion": row.completion,
                "prompt": row.prompt,
            }
            if row.max_chars is not None:
                entry["maxOutputChars"] = row.max_chars
            self._prompt, self._below = id, True
        elif row.kind == "user":
            self._below = False
        elif row.kind == "assistant":
            entry["stop"] = row.stop
            if row.calls:
                entry["calls"] = list(row.calls)
            if self._below and row.stop in COMPLETE and not row.calls:
                self._answer = id
        if row.text or row.kind == "assistant":
            entry["text"] = self._named(row.text)
        self.entries.append(entry)

    def _named(self, text: str) -> str:
        return text.replace(ATTEMPT_TEXT, self._attempt or "")

    def _value(self, value: Value, event: Event) -> JsonValue:
        match value:
            case Json(text):
                parsed: JsonValue = json.loads(text)
                return parsed
            case Record(fields):
                return {key: self._value(item, event) for key, item in fields}
            case Mark():
                return self._mark(value, event)
            case tuple():
                return [self._value(item, event) for item in value]
            case str():
                return self._named(value)
            case _:
                return value

    def _mark(self, mark: Mark, event: Event) -> JsonValue:
        if mark == ELAPSED:
            return self.clock.now_ms - self._started_at
        if mark == INVOCATION:
            mount = event.text("mountPath")
            self._invocations[mount] = self._invocations.get(mount, 0) + 1
            return self._invocations[mount]
        if mark == THIS_INVOCATION:
            return self._invocations[event.text("mountPath")]
        if mark == OLDER_ENTRY:
            return self._answers.get(self._node or "")
        names: dict[Mark, JsonValue] = {
            ATTEMPT: self._attempt,
            OLDER_ATTEMPT: self._older_attempt(),
            RUN: RUN_ID,
            ANSWER_ENTRY: self._answer,
            PROMPT_ENTRY: self._prompt,
            REPLAYED: self._finished,
        }
        return names[mark]
