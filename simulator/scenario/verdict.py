"""What became of a scenario, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.scenario import Scenario, Where
from windtunnel.simulator.simulation import Film


class Status(StrEnum):
    """How a scenario ended. `REFUSED`: it asks for something that is not simulated, and nothing was run."""

    PASSED = "passed"
    FAILED = "failed"
    REFUSED = "refused"


class Cause(StrEnum):
    """What kind of thing is wrong."""

    EXPECTATION = "expectation"
    INVARIANT = "invariant"
    SCRIPT = "script"
    PERSON = "person"
    FAULT = "fault"
    INPUT = "input"
    NOT_SIMULATED = "not simulated"


class Broken(NamedTuple):
    """One thing that is wrong: what was written, where, why it is wrong, and the line of the trace it shows
    at (0 for none).

    `values` are parts of an expectation with what they were then.
    """

    cause: Cause
    text: str
    message: str
    where: Where
    seq: int = 0
    values: tuple[tuple[str, JsonValue], ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """`{cause, text, message, file, line, column, seq, values}`."""
        return {
            "cause": self.cause.value,
            "text": self.text,
            "message": self.message,
            "file": self.where.file,
            "line": self.where.line,
            "column": self.where.column,
            "seq": self.seq,
            "values": dict(self.values),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scenario, done. `broken` is in the order in which it shows; `events` are the trace as JSON."""

    scenario: Scenario
    status: Status
    broken: tuple[Broken, ...]
    run_status: str = ""
    exit: str | None = None
    output: JsonValue = None
    trace: tuple[str, ...] = ()
    events: tuple[dict[str, Any], ...] = ()
    session: tuple[dict[str, Any], ...] = ()
    film: Film | None = field(default=None, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return self.status is Status.PASSED

    def to_json(self) -> dict[str, JsonValue]:
        """What a report needs; without the trace."""
        where = self.scenario.where
        return {
            "title": self.scenario.title,
            "workflow": self.scenario.workflow,
            "file": where.file,
            "line": where.line,
            "status": self.status.value,
            "run": {"status": self.run_status, "exit": self.exit},
            "broken": [each.to_json() for each in self.broken],
        }
