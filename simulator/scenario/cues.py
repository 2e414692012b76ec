"""When a line of a person or a fault is due: at a time, after an event, or whenever it can be done."""

from __future__ import annotations

from collections.abc import Sequence

from windtunnel.compiler.scenario import FaultLine, Moment, PersonLine
from windtunnel.simulator.scenario.happenings import Happening, fits


class Cue:
    """Whether the moment of a line has come; `done` once it was acted out."""

    def __init__(self, moment: Moment | None) -> None:
        self.moment = moment
        self.done = False
        self.due = moment is None

    def happened(self, happening: Happening) -> None:
        """An event was seen."""
        moment = self.moment
        if moment is not None and moment.event is not None and moment.relation == "after":
            self.due = self.due or fits(happening, moment.event)

    def time_is(self, now_ms: int) -> None:
        """The clock stands there."""
        at = None if self.moment is None else self.moment.at_ms
        self.due = self.due or (at is not None and now_ms >= at)

    @property
    def waits_until(self) -> int | None:
        """The time it waits for."""
        if self.done or self.due or self.moment is None:
            return None
        return self.moment.at_ms


class PersonCue(Cue):
    """A line of a person."""

    def __init__(self, line: PersonLine) -> None:
        super().__init__(line.moment)
        self.line = line
        self.used = False
        """Whether it was acted out at least once; one without a moment may be, again and again."""


class FaultCue(Cue):
    """A line of a fault."""

    def __init__(self, line: FaultLine) -> None:
        super().__init__(line.moment)
        self.line = line


def next_time(cues: Sequence[Cue]) -> int | None:
    """The earliest time that some line waits for."""
    times = [cue.waits_until for cue in cues]
    return min((time for time in times if time is not None), default=None)


def moment_words(moment: Moment | None) -> str:
    """The moment as it would be written, with a blank before it."""
    return "" if moment is None else f" {moment}"
