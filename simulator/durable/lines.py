"""What an engine commits, as lines of a store; and lines of a store as the trace that a reader sees."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.simulator.events import Event, Json, Mark, Record, Value
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.state import Run
from windtunnel.simulator.store.interface import StoreRefused
from windtunnel.simulator.store.memory import commit, created
from windtunnel.simulator.store.records import Line
from windtunnel.simulator.store.values import ROOM, payload_json
from windtunnel.simulator.store.words import damaged
from windtunnel.simulator.trace import INTERNAL


def line_of(event: Event, written: Mapping[str, Any], run: str) -> Line:
    """The line of an event of `run`; `written` is what a `Writer` made of it, with every name and measure."""
    said = written["payload"]
    payload = tuple(
        (key, value if key in INTERNAL else _named(value, said[key])) for key, value in event.payload
    )
    absolute = Event(event.scope, event.type, written.get("nodeId"), written.get("attemptId"), payload)
    name = "" if written["runId"] == run else written["runId"]
    return Line(written["seq"], written["at"], written["process"], absolute, tuple(written["causes"]), name)


def _named(value: Value, written: JsonValue) -> Value:
    """The value with what stands for its marks."""
    match value:
        case Json():
            return value
        case Record(fields):
            assert isinstance(written, dict), "a record is written as one"
            return Record(tuple((key, _named(item, written[key])) for key, item in fields))
        case tuple():
            assert isinstance(written, list), "a list is written as one"
            return tuple(_named(item, said) for item, said in zip(value, written, strict=True))
        case Mark():
            assert written is None or isinstance(written, str | int), "a mark stands for a name or a number"
            return written
        case str():
            assert isinstance(written, str), "a text is written as one"
            return written
        case _:
            return value


def written(run: str, lines: Iterable[Line]) -> list[dict[str, Any]]:
    """The lines as JSON objects of the trace."""
    found = []
    for line in lines:
        event = line.event
        payload = payload_json(tuple((key, value) for key, value in event.payload if key not in INTERNAL))
        found.append(
            {
                "seq": line.seq,
                "at": line.at,
                "process": line.process,
                "scope": event.scope,
                "type": event.type,
                "runId": line.name or run,
                "payload": payload,
                "causes": list(line.causes),
            }
            | ({} if event.node is None else {"nodeId": event.node})
            | ({} if event.attempt is None else {"attemptId": event.attempt})
        )
    return found


def texts(lines: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """JSON objects of the trace as canonical lines, without their newlines."""
    return tuple(canonical(dict(line), ROOM) for line in lines)


def state_of(program: Program, input: str, lines: Iterable[Line]) -> Run:
    """The state of a run: the fold of its trace, and nothing else."""
    return commit(program, created(input), tuple(line.event for line in lines))


def attempts_of(lines: Iterable[Line]) -> tuple[str, ...]:
    """The attempts in the order in which they began."""
    started = (line.event for line in lines if line.event.type == "node_started")
    return tuple(event.attempt for event in started if event.attempt is not None)


def delivered(lines: Iterable[Line]) -> int:
    """How many notifications were delivered."""
    return sum(line.event.type == "notification_delivered" for line in lines)


def due_of(lines: Iterable[Line]) -> int | None:
    """When the request that is open is due, by the clock of the run; None where none is open or due."""
    due: int | None = None
    for line in lines:
        if line.event.scope == "decision":
            given = line.event.get("dueMs")
            due = line.at + given if isinstance(given, int) else None
    return due


def following(run: str) -> str:
    """The id of the run that continues another: `run-7`, `run-7.2`, `run-7.3`."""
    first, _, number = run.partition(".")
    return f"{first}.{int(number or 1) + 1}"


def ending(lines: Iterable[Mapping[str, Any]]) -> tuple[str | None, JsonValue]:
    """Exit and final output of a run that completed."""
    for line in lines:
        if line["type"] == "run_completed":
            return line["payload"].get("exit"), line["payload"].get("finalOutput")
    return None, None


def parsed(text: str) -> JsonValue:
    """The value of a canonical text that a store keeps. Raises StoreRefused where it is none."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        raise StoreRefused(damaged("the store", "a record beside the trace was changed")) from None
    return value
