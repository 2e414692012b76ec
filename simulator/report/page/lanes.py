"""A film as the rows of a sequence diagram: every event, and every message or write that leaves no event.

One row is one moment. Lanes are processes; the session log and the store are lanes of their own, since
what reaches them is durable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

from windtunnel.simulator.around import HOST, WORKER, ZOMBIE
from windtunnel.simulator.events import (
    Action,
    Answered,
    Append,
    Ask,
    Commit,
    Deadline,
    Emit,
    HangUp,
    Perform,
    Repair,
    Returned,
    Row,
    Tell,
)
from windtunnel.simulator.report.columns import plain
from windtunnel.simulator.report.story import MAX_VALUE, Mood, TraceEvent, mood
from windtunnel.simulator.simulation import Film, Frame
from windtunnel.simulator.tables import until

PERSON, LOG, STORE, PROVIDER, OUTSIDE = "person", "log", "store", "provider", "outside"
LANES: Final = (PERSON, HOST, WORKER, ZOMBIE, LOG, STORE, PROVIDER, OUTSIDE)
"""From left to right; those of SELDOM are there only where something happens on them."""

SELDOM: Final = (WORKER, ZOMBIE, OUTSIDE)
DURABLE: Final = (LOG, STORE, OUTSIDE)

_SHOWN: Final = frozenset({"message_start", "message_update", "message_end", "queue_updated"})
"""Events that a person who watches sees at once."""


class Arrow(NamedTuple):
    """From one lane to another, or a mark on one lane where both are the same.

    `style` is `sends`, `writes` (durable), `shows`, `again` (a repetition), `lost`, `torn`, or for a mark
    `does`, `dies`, `lives`, `rings`.
    """

    source: str
    target: str
    style: str


@dataclass(frozen=True, slots=True)
class Moment:
    """One row. `event` is None for what leaves no event; then `name` and `told` say what it is.

    `lines` and `entries` are how much of the trace and of the session log there is after it, `frame` the
    number of its transition.
    """

    at_ms: int
    arrows: tuple[Arrow, ...]
    event: TraceEvent | None
    name: str
    told: str
    mood: Mood
    lines: int
    entries: int
    frame: int


def moments(film: Film, events: Sequence[TraceEvent]) -> list[Moment]:
    """The rows of a run."""
    found: list[Moment] = []
    lines = pairwise([*(frame.lines for frame in film.frames), len(events)])
    for number, (frame, (begin, end)) in enumerate(zip(film.frames, lines, strict=True)):
        at_ms = found[-1].at_ms if found else 0
        found += _Scene(film, frame, number, events[begin:end], at_ms).rows()
    return found


@dataclass(slots=True)
class _Scene:
    """The rows of one transition."""

    film: Film
    frame: Frame
    number: int
    events: Sequence[TraceEvent]
    began_ms: int

    @property
    def lane(self) -> str:
        """Who handled it: the host, or one that sits beside it."""
        return self.film.world.roles.values[self.frame.option.move.role].kind

    def actions(self) -> list[Action]:
        """What was done and could be seen, until a crash or a refusal."""
        option = self.frame.option
        found = self.film.world.outcomes[option.outcome].actions
        if option.cut is not None:
            found = until(found, option.cut)
        elif option.refused >= 0:
            found = found[: option.refused]
        unheard = self.lane == ZOMBIE and option.move.handler != "outside"
        hidden: tuple[type, ...] = (Emit,) if unheard else (Append,) if self.lane == WORKER else ()
        return [action for action in found if not isinstance(action, hidden)]

    def rows(self) -> list[Moment]:
        option, actions = self.frame.option, self.actions()
        own = sum(_count(action) for action in actions)
        after = (option.cut is not None) + (option.refused >= 0) + (option.move.handler == "freeze")
        first = len(self.events) - own - after
        assert first >= 0, "what a transition does is in the trace"
        made = [self._event(event, self._coming(event)) for event in self.events[:first]]
        made += self._done(actions, self.events[first : first + own])
        made += self._torn()
        if not made:
            made += self._silent()
        elif first == 0:
            made[0] = replace(made[0], arrows=(*self._arriving(), *made[0].arrows))
        made += [self._event(event, self._ending(event)) for event in self.events[first + own :]]
        return list(self._counted(made))

    def _counted(self, made: Sequence[Moment]) -> Iterator[Moment]:
        """The rows with their times, and how far trace and session have come."""
        lines, entries = self.frame.lines, self.frame.entries
        at_ms = int(self.events[0]["at"]) if self.events else self.began_ms
        for row in made:
            lines += row.event is not None
            entries += row.entries
            at_ms = max(at_ms, row.at_ms)
            yield replace(row, lines=lines, entries=entries, at_ms=at_ms)

    def _event(self, event: TraceEvent, arrows: tuple[Arrow, ...]) -> Moment:
        return Moment(int(event["at"]), arrows, event, "", "", mood(event), 0, 0, self.number)

    def _plain(self, name: str, told: str, *arrows: Arrow, mood: Mood = Mood.PLAIN) -> Moment:
        return Moment(0, arrows, None, name, told, mood, 0, 0, self.number)

    # --- what comes to the host -----------------------------------------------------------------------------

    def _coming(self, event: TraceEvent) -> tuple[Arrow, ...]:
        """The arrows of an event that stands before what the host does."""
        kind, process = event["type"], event["process"]
        if process == "person":
            return (Arrow(PERSON, self.lane, "sends"),)
        if process == "provider":
            lane = OUTSIDE if event["scope"] == "effect" else PROVIDER
            return (Arrow(lane, lane, "does"),)
        style = {"restarted": "lives", "timer_fired": "rings", "duplicated": "again"}.get(kind, "does")
        return (Arrow(self.lane, self.lane, style),)

    def _arriving(self) -> tuple[Arrow, ...]:
        """The arrow of a message that has no event of its own."""
        move = self.frame.option.move
        if move.source == "wire":
            return (Arrow(PROVIDER, self.lane, "sends"),)
        if move.source != "late":
            return ()
        message = self.film.world.messages.values[move.message]
        match message:
            case Returned():
                return (Arrow(OUTSIDE, self.lane, "again"),)
            case Answered():
                return (Arrow(PERSON, self.lane, "again"),)
            case Deadline():
                return (Arrow(self.lane, self.lane, "rings"),)
            case _:
                return (Arrow(self.lane, self.lane, "again"),)

    def _silent(self) -> list[Moment]:
        """A message that changed nothing that can be seen."""
        move = self.frame.option.move
        if move.source not in ("wire", "late") or self.frame.option.cut is not None:
            return []
        late = move.source == "late"
        said = "it is late, and nothing comes of it" if late else "nothing is shown"
        name = move.label.removeprefix("engine gets ").removeprefix("the loop gets ")
        return [self._plain(name, said, *self._arriving(), mood=Mood.FAULT if late else Mood.PLAIN)]

    # --- what the host does ---------------------------------------------------------------------------------

    def _done(self, actions: Sequence[Action], events: Sequence[TraceEvent]) -> Iterator[Moment]:
        left = list(events)
        outside = self.frame.option.move.handler == "outside"
        for action in actions:
            match action:
                case Commit():
                    for number in range(_count(action)):
                        arrow = Arrow(STORE, STORE, "does") if number else Arrow(self.lane, STORE, "writes")
                        yield self._event(left.pop(0), (arrow,))
                case Emit(event):
                    yield self._event(left.pop(0), self._emitted(event.type, outside=outside))
                case Append(rows):
                    told = ", ".join(_row_told(row) for row in rows)
                    row = self._plain("writes a row", told, Arrow(self.lane, LOG, "writes"))
                    yield replace(row, entries=len(rows))
                case Ask(question):
                    yield self._asked(question)
                case HangUp():
                    yield self._plain(
                        "hangs up", "what still comes is dropped", Arrow(self.lane, PROVIDER, "lost")
                    )
                case Perform(question, name):
                    told = plain(question.prompt[:MAX_VALUE])
                    yield self._plain(f"calls {name}", told, Arrow(self.lane, OUTSIDE, "sends"))
                case Repair():
                    said = "half a row at its end is cut off"
                    yield self._plain("repairs the session log", said, Arrow(self.lane, LOG, "writes"))
                case Tell(message=Returned()) if outside:
                    yield self._plain("replies", "the call comes back", Arrow(OUTSIDE, self.lane, "sends"))
                case _:
                    pass

    def _emitted(self, kind: str, *, outside: bool) -> tuple[Arrow, ...]:
        if outside:
            return (Arrow(OUTSIDE, OUTSIDE, "does"),)
        return (
            (Arrow(self.lane, PERSON, "shows"),) if kind in _SHOWN else (Arrow(self.lane, self.lane, "does"),)
        )

    def _torn(self) -> Iterator[Moment]:
        """The half of a row that a crash left."""
        option = self.frame.option
        if option.cut is not None and option.cut.torn:
            torn = self.film.world.outcomes[option.outcome].actions[option.cut.done]
            assert isinstance(torn, Append), "only an append is torn"
            told = _row_told(torn.rows[option.cut.rows])
            yield self._plain("writes half a row", told, Arrow(self.lane, LOG, "torn"), mood=Mood.FAULT)

    def _asked(self, question: Any) -> Moment:
        if question is None:
            return self._plain("asks the model", "for the next message", Arrow(self.lane, PROVIDER, "sends"))
        told = f"the {question.kind} prompt of {question.node}"
        return self._plain("asks the model", told, Arrow(self.lane, PROVIDER, "sends"))

    def _ending(self, event: TraceEvent) -> tuple[Arrow, ...]:
        """What cuts a transition off, or follows it."""
        if event["type"] == "write_refused":
            return (Arrow(self.lane, STORE, "lost"),)
        return self._crash() if event["type"] == "crashed" else (Arrow(HOST, HOST, "rings"),)

    def _crash(self) -> tuple[Arrow, ...]:
        """The host dies, and with it what was on the way to it."""
        lost = self.film.world.wires.values[self.frame.option.move.wire]
        dies = Arrow(self.lane, self.lane, "dies")
        if self.frame.option.move.handler == "outside":
            return (Arrow(OUTSIDE, self.lane, "lost"), dies)
        return (Arrow(PROVIDER, self.lane, "lost"), dies) if lost else (dies,)


def _count(action: Action) -> int:
    """How many events an action has."""
    if isinstance(action, Commit):
        return len(action.events)
    return int(isinstance(action, Emit))


def _row_told(row: Row) -> str:
    """An entry of the session log in a few words."""
    if row.kind == "step":
        return f"{row.prompt} prompt of {row.node}"
    said = f" “{plain(row.text[:MAX_VALUE])}”" if row.text else ""
    calls = f" calls {', '.join(row.calls)}" if row.calls else ""
    return f"{row.kind}{said}{calls}"
