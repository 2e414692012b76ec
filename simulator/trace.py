"""The trace of one run: relative events written down with absolute names, numbers and times.

A `Writer` follows one path through the world. It mints every id from counters (run, attempts, entries),
numbers the lines from 1 without a gap, and remembers for each message what caused it. One line is one
canonical JSON object: `seq at process scope type runId nodeId? attemptId? payload causes`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.simulator.clock import Clock
from windtunnel.simulator.events import (
    ANSWER_ENTRY,
    ATTEMPT,
    ATTEMPT_TEXT,
    CONTINUED,
    ELAPSED,
    INVOCATION,
    NOTICE,
    OLDER,
    OLDER_ATTEMPT,
    OLDER_ENTRY,
    PROMPT_ENTRY,
    REPLAYED,
    RUN,
    THIS_INVOCATION,
    THIS_NOTICE,
    Event,
    Json,
    Mark,
    Record,
    Row,
    Value,
)

RUN_ID: Final = "run-1"
INTERNAL: Final = frozenset({"again", "given", "mount"})
"""Keys of payloads that the fold needs and a reader does not."""

COMPLETE: Final = ("stop", "length")


class Writer:
    """Writes one path. `lines` are the trace, `entries` the session log as a reader of the file sees it."""

    def __init__(
        self,
        run: str = RUN_ID,
        clock: Clock | None = None,
        following: Callable[[str], str] | None = None,
    ) -> None:
        self.run = run
        self.clock = clock or Clock()
        self._following = following or following_run
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
        self._queued: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._continued: str | None = None
        self._finished = 0
        self._leaf: str | None = None
        self._left: tuple[str | None, str | None, str | None] = (None, None, None)
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
        elif event.get("continuedFrom") == CONTINUED:
            self._continued, self.run = self.run, self._following(self.run)
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
            "runId": self.run,
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

    def take_up(self, lines: Sequence[Mapping[str, Any]], entries: Iterable[dict[str, Any]]) -> None:
        """Go on where another writer stopped: after the lines and the entries that outlived it.

        A prompt in the log names its attempt, so every entry is met in the attempt that it belongs to.
        """
        assert not self.events, "a writer takes up before it writes"
        said = _by_attempt(entries)
        self.recall(said.pop(None, []))
        for line in lines:
            self.events.append(dict(line))
            payload = line["payload"]
            if line["runId"] != self.run:
                self._continued, self.run = self.run, line["runId"]
            if line["type"] == "node_started":
                self._begin_attempt(line["nodeId"])
                assert self._attempt == line["attemptId"], "attempts are counted from the start of the run"
                self._started_at = line["at"]
                self.recall(said.pop(line["attemptId"], []))
            elif line["type"] == "node_finished":
                self._finished += 1
            elif line["type"] == "include_entered":
                self._invocations[payload["mountPath"]] = payload["invocation"]
            elif line["type"] == "notification_queued":
                self._queued[line["nodeId"]] = payload["index"]
            elif line["type"] == "notification_delivered":
                self._told[line["nodeId"]] = payload["index"]
        assert not said, "every prompt in the log belongs to an attempt that was started"

    def recall(self, entries: Iterable[dict[str, Any]]) -> None:
        """What stands in the log already."""
        for entry in entries:
            self.entries.append(entry)
            self._place(entry)

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
        self._left = (None, None, None)
        self._below = False

    def _older_attempt(self) -> str:
        return self._older.get(self._node or "", "attempt-0")

    def _entry(self, row: Row) -> None:
        id = f"entry-{len(self.entries) + 1}"
        entry: dict[str, Any] = {"id": id, "kind": row.kind}
        if self._leaf is not None:
            entry["parentId"] = self._leaf
        if row.kind == "step":
            entry |= {
                "runId": self.run,
                "nodeId": row.node,
                "attemptId": self._attempt,
                "completion": row.completion,
                "prompt": row.prompt,
            }
            if row.max_chars is not None:
                entry["maxOutputChars"] = row.max_chars
        elif row.kind == "turn":
            entry |= {"runId": self.run, "prompt": row.prompt}
        elif row.kind == "leaf":
            entry["leafId"] = self._other_branch()
        elif row.kind == "notice":
            entry |= {"runId": self.run, "nodeId": row.node, "index": self._told.get(row.node or "", 0) + 1}
        elif row.kind == "user" and row.consumes:
            entry["consumes"] = True
        elif row.kind == "assistant":
            entry["stop"] = row.stop
            if row.calls:
                entry["calls"] = list(row.calls)
        if row.text or row.kind == "assistant":
            entry["text"] = self._named(row.text)
        self.entries.append(entry)
        self._place(entry)

    def _other_branch(self) -> str | None:
        """Where the branch before the last prompt ends, or the one that was left."""
        if self._prompt is None:
            to = self._left[2]
        else:
            to = next(e.get("parentId") for e in self.entries if e["id"] == self._prompt)
        here = (self._prompt, self._answer, self._leaf)
        (self._prompt, self._answer, _), self._left = self._left, here
        self._below = False
        return to

    def _place(self, entry: Mapping[str, Any]) -> None:
        """What an entry is to the current attempt."""
        self._leaf = entry["leafId"] if entry["kind"] == "leaf" else entry["id"]
        if entry["kind"] == "step":
            self._prompt, self._below = entry["id"], True
        elif entry["kind"] in ("user", "turn"):
            self._below = False
        elif self._below and entry["kind"] == "assistant" and entry["stop"] in COMPLETE:
            self._answer = self._answer if "calls" in entry else entry["id"]

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
        if mark == NOTICE:
            return _counted(self._queued, event.node or "")
        if mark == THIS_NOTICE:
            return _counted(self._told, event.node or "")
        if mark == OLDER_ENTRY:
            return self._answers.get(self._node or "")
        names: dict[Mark, JsonValue] = {
            ATTEMPT: self._attempt,
            OLDER_ATTEMPT: self._older_attempt(),
            RUN: self.run,
            CONTINUED: self._continued,
            ANSWER_ENTRY: self._answer,
            PROMPT_ENTRY: self._prompt,
            REPLAYED: self._finished,
        }
        return names[mark]


def _counted(counts: dict[str, int], node: str) -> int:
    """The next number of a node."""
    counts[node] = counts.get(node, 0) + 1
    return counts[node]


def following_run(run: str) -> str:
    """The id of the run that continues another: `run-1` is followed by `run-2`."""
    name, _, number = run.rpartition("-")
    return f"{name}-{int(number) + 1}" if number.isdecimal() else f"{run}-2"


def _by_attempt(entries: Iterable[dict[str, Any]]) -> dict[str | None, list[dict[str, Any]]]:
    """The entries by the attempt whose prompt stands last before them; None before the first prompt."""
    found: dict[str | None, list[dict[str, Any]]] = {}
    attempt: str | None = None
    for entry in entries:
        if entry["kind"] == "step":
            attempt = entry["attemptId"]
        found.setdefault(attempt, []).append(entry)
    return found
