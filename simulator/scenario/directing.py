"""One run, as the scenario wants it: quiet all along, but for what its lines ask for, when they ask for it.

Nothing takes time but what the clock waits for: each transition is one tick, and when nothing goes on by
itself the clock moves to the next moment of a line, or to the timer if that comes first. A line that is due
is acted out as soon as it can be. A crash falls exactly before or after the event that it names, or inside
the write of its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from windtunnel.compiler.scenario import Scenario, Where
from windtunnel.simulator import outside
from windtunnel.simulator.budget import budget
from windtunnel.simulator.chat.loop import Begins, Ends, Grows, Item
from windtunnel.simulator.events import Action, Ask, Deadline, Heard, Question, Returned, Settled, Submitted
from windtunnel.simulator.invariants import Violation, stuck
from windtunnel.simulator.scenario.cues import Cue, FaultCue, PersonCue, moment_words, next_time
from windtunnel.simulator.scenario.expecting import Expecting, starts_of
from windtunnel.simulator.scenario.happenings import Happening, Place, append_before, happenings
from windtunnel.simulator.scenario.happenings import fits as fits_event
from windtunnel.simulator.scenario.persons import People
from windtunnel.simulator.scenario.script import Script, ScriptedMenus
from windtunnel.simulator.scenario.verdict import Broken, Cause
from windtunnel.simulator.scenario.watching import World as Watched
from windtunnel.simulator.simulation import Teller
from windtunnel.simulator.world import (
    LOOP,
    OUTSIDE,
    PROVIDER,
    STORE,
    WATCH,
    Cut,
    Move,
    Option,
    State,
    World,
    until,
)

MAX_TRANSITIONS: Final = 20_000
"""Transitions of one scenario; a run that takes more is broken off."""


class Director:
    """Follows one path through a world. `broken` is what went wrong on the way."""

    def __init__(self, scenario: Scenario, world: World, menus: ScriptedMenus) -> None:
        self.scenario = scenario
        self.world = world
        self.script = Script(menus)
        self.menus = menus
        self.teller = Teller(world, world.start(budget(0)))
        self.expecting = Expecting(scenario.expects)
        self.person = [PersonCue(line) for line in scenario.person]
        self.faults = [FaultCue(line) for line in scenario.faults]
        self.people = People(world, self.person, self.faults)
        self.place = Place()
        self.broken: list[Broken] = []

    @property
    def state(self) -> State:
        """Where the world stands."""
        return self.teller.state

    def run(self) -> None:
        """Go on until nothing happens any more, or something breaks."""
        for _ in range(MAX_TRANSITIONS):
            option = self._next()
            if option is None:
                if self.broken or not self._wait():
                    break
                continue
            self._take(self._crashed(option))
            if self.teller.violations or self.broken:
                break
        else:
            said = f"the run takes more than {MAX_TRANSITIONS:,} transitions"
            self.broken.append(self._broken(Cause.INVARIANT, said))
        self._end()

    def _cues(self) -> list[Cue]:
        return [*self.person, *self.faults]

    # --- what comes next ------------------------------------------------------------------------------------

    def _next(self) -> Option | None:
        """The next transition: what a person does, what arrives again, then what happens by itself."""
        clock = self.teller.writer.clock
        for cue in self._cues():
            cue.time_is(clock.now_ms)
        acted = self.people.act(self.state, self.place, clock)
        if acted is not None:
            return acted
        overdue = clock.deadline_ms is not None and clock.now_ms >= clock.deadline_ms
        fired = self.people.move(self.state, "clock", "timeout") if overdue else None
        if fired is not None:
            return self.world.follow(self.state, fired)
        options = [each for each in self.world.options(self.state) if _by_itself(each.move)]
        late = next((each for each in options if each.move.source == "late"), None)
        if late is not None:
            return late
        first = next((each for each in options if each.move.source != "clock"), None)
        if first is None:
            return self._rings([each for each in options if each.move.source == "clock"])
        if first.move.source in ("provider", "outside"):
            where = (first.move.source, first.move.seat)
            return self._behaviour([each for each in options if (each.move.source, each.move.seat) == where])
        return self._repeated(first)

    def _rings(self, clocks: list[Option]) -> Option | None:
        """The clock that rings next, where no line is due before it."""
        clock = self.teller.writer.clock
        times = {True: clock.due_ms, False: clock.deadline_ms}
        found: list[tuple[int, Option]] = []
        for option in clocks:
            asked = isinstance(self.world.messages.values[option.move.message], Deadline)
            found.append((times[asked] or clock.now_ms, option))
        if not found:
            return None
        at, option = min(found, key=lambda pair: pair[0])
        earlier = self._next_time()
        return None if earlier is not None and earlier < at else option

    def _next_time(self) -> int | None:
        times = (next_time(self._cues()), self.people.next_arrival)
        return min((at for at in times if at is not None), default=None)

    def _wait(self) -> bool:
        """Let the clock move on to the next moment of a line; False when there is none."""
        at = self._next_time()
        clock = self.teller.writer.clock
        if at is None or at <= clock.now_ms:
            return False
        clock.now_ms = at
        return True

    # --- models and effects ---------------------------------------------------------------------------------

    def _behaviour(self, options: list[Option]) -> Option | None:
        """What a model or an effect does: the next of the script, or the first behaviour that was made up."""
        question = self._question(options[0].move)
        if question is None or not self.menus.answers(question.node) or self._was_applied():
            return options[0]
        self.script.begin(question.node, self.place.visit(question.node))
        wanted = self.script.wanted()
        if wanted is None:
            self.broken.append(self._unanswered(question.kind))
            return None
        self.script.sent()
        return next(each for each in options if each.move.label.partition(": ")[2] == wanted)

    def _question(self, move: Move) -> Question | None:
        """What is asked: of the model, or of the world outside, by the process that moves."""
        seen = self.world.seated(self.state, move.seat)
        if move.source == "provider":
            return self.world.calls.values[seen[PROVIDER]].question
        call = self.world.outsides.values[seen[OUTSIDE]].call
        return None if call is None else call.question

    def _was_applied(self) -> bool:
        """Whether the effect in flight was applied before, so that it only gives the same answer again."""
        return outside.found(self.world.outsides.values[self.state[OUTSIDE]]) is not None

    def _unanswered(self, kind: str) -> Broken:
        asked = {"reminder": "as a reminder", "resume": "to go on after an interruption"}.get(kind, "")
        why = f"{self.script.missing()}{f', {asked}' if asked else ''}"
        return self._broken(Cause.SCRIPT, why, self.script.where(self.scenario.where))

    def _asked_again(self, actions: tuple[Action, ...]) -> None:
        """The model goes on after a tool result or an error: another message of the script is used."""
        for action in actions:
            if not isinstance(action, Ask) or not action.again:
                continue
            call = self.world.calls.values[self.state[PROVIDER]]
            if call.question is None or not self.menus.answers(call.question.node):
                continue
            # What follows an accepted submission is neither shown nor kept, so nobody need write it down.
            if not self.script.sent() and not self.world.loops.values[self.state[LOOP]].muted:
                self.broken.append(self._unanswered(""))

    # --- faults ---------------------------------------------------------------------------------------------

    def _crashed(self, option: Option) -> Option:
        """The option, or what is left of it when a crash falls into it."""
        if option.cut is not None:
            return option
        actions = self.world.outcomes[option.outcome].actions
        for cue in self.faults:
            if cue.done or cue.line.process is None:
                continue
            cut = self._cut(cue, actions)
            if cut is not None:
                cue.done = True
                crash = self.world.crash(self.state, option, cut)
                # A crash at a time is no part of what would have come next.
                timed = cue.moment is None or cue.moment.event is None
                return crash._replace(move=crash.move._replace(source="")) if timed else crash
        return option

    def _cut(self, cue: FaultCue, actions: tuple[Action, ...]) -> Cut | None:
        """Where a crash falls into what happens now."""
        moment = cue.line.moment
        if moment is None or moment.event is None:
            return Cut(0) if cue.due else None
        for happening in happenings(actions, self.place):
            if fits_event(happening, moment.event):
                return self._cut_at(cue, happening, actions)
        return None

    def _cut_at(self, cue: FaultCue, happening: Happening, actions: tuple[Action, ...]) -> Cut | None:
        moment = cue.line.moment
        assert moment is not None, "a crash at an event has a moment"
        if moment.relation == "before":
            return Cut(happening.at)
        if moment.relation == "after":
            return Cut(happening.at + 1)
        at = append_before(actions, happening.at)
        if at is None:
            why = f"{happening.event} is written in one piece, so nothing can die inside it"
            self.broken.append(self._broken(Cause.FAULT, why, cue.line.where))
            return None
        return Cut(at, 0, True)

    def _repeated(self, option: Option) -> Option:
        """The option, or the same with a message that comes twice."""
        for cue in self.faults:
            line = cue.line
            if cue.done or line.event is None or line.process is not None:
                continue
            move = option.move
            message = self.world.messages.values[move.message]
            node, visit = self.place.node, self.place.visit(self.place.node)
            name = event_of(message)
            if name is None or not fits_event(Happening(name, node, visit, 0, self.place), line.event):
                continue
            twice = self.people.move(self.state, move.source, "duplicate")
            if twice is not None:
                cue.done = True
                return self.world.follow(self.state, twice)
        return option

    # --- one step -------------------------------------------------------------------------------------------

    def _take(self, option: Option) -> None:
        self.teller.take(option)
        actions = self.world.outcomes[option.outcome].actions
        if option.cut is not None:
            actions = until(actions, option.cut)
            self._stay_down()
        for happening in happenings(actions, self.place):
            self.place = happening.place
            for cue in self._cues():
                cue.happened(happening)
        self._asked_again(actions)
        self.expecting.moment(self.watched())

    def _stay_down(self) -> None:
        """After a crash the host stays down as long as the line of the crash says."""
        last = [cue for cue in self.faults if cue.done and cue.line.process is not None][-1]
        self.teller.writer.clock.now_ms += last.line.for_ms or 0
        self.people.host_died()

    def watched(self) -> Watched:
        """The world as expectations see it now."""
        position = self.world.stores.values[self.state[STORE]].position
        writer = self.teller.writer
        held = position.paused and position.status == "running"
        status = "paused" if held else position.status
        return Watched(writer.events, writer.entries, writer.clock.now_ms, status)

    # --- the end --------------------------------------------------------------------------------------------

    def _end(self) -> None:
        """Everything that was not as it should be, the first cause first."""
        found = [self._violated(violation) for violation in self.teller.violations]
        if not found and not self.broken:
            found += self._stuck()
        # Where the run broke off, what it did not come to says nothing.
        whole = not found and not self.broken
        found += self.broken
        events = self.teller.writer.events
        expected = self.expecting.end(self.watched(), starts_of(events))
        found += expected if whole else [each for each in expected if each.seq and each.seq < len(events)]
        if whole:
            found += self._unused()
        self.broken = found

    def _stuck(self) -> Iterator[Broken]:
        """A run that neither ended nor waits for a person."""
        end = stuck(self.world.watches.values[self.state[WATCH]])
        if end is not None and not self.world.options(self.state):
            yield self._violated(end)

    def _violated(self, violation: Violation) -> Broken:
        return self._broken(Cause.INVARIANT, f"{violation.invariant}: {violation.message}")

    def _unused(self) -> Iterator[Broken]:
        """Lines that nothing came of."""
        for line, used, whole in self.script.unused():
            said = "is never used" if not used else f"has {whole} messages, of which only {used} are used"
            yield self._broken(Cause.SCRIPT, f"this line of {line.node} {said}", line.where)
        over = " before the run was over" if self.world.over(self.state) else ""
        for person in self.person:
            if not person.done and not person.used:
                said = f"“{person.line.verb}{moment_words(person.line.moment)}” was never possible{over}"
                yield self._broken(Cause.PERSON, said, person.line.where)
        for fault in self.faults:
            if not fault.done:
                what = fault.line.process or (str(fault.line.event) if fault.line.event else "")
                said = f"“{fault.line.kind} {what}{moment_words(fault.line.moment)}” never came about"
                yield self._broken(Cause.FAULT, said, fault.line.where)

    def _broken(self, cause: Cause, message: str, where: Where | None = None) -> Broken:
        seq = len(self.teller.writer.events)
        return Broken(cause, "", message, self.scenario.where if where is None else where, seq)


def _by_itself(move: Move) -> bool:
    """Whether a move needs no person: a run waits and a pause lasts until the scenario says otherwise."""
    return move.source != "answer" and not (move.source == "person" and not move.kind)


def event_of(message: object) -> str | None:
    """The name under which a message on its way is repeated."""
    match message:
        case Heard(point=point):
            return point
        case Settled():
            return "agent_settled"
        case Submitted():
            return "submission"
        case Returned():
            return "effect_applied"
        case Item(piece=Begins()):
            return "message_start"
        case Item(piece=Grows()):
            return "message_update"
        case Item(piece=Ends()):
            return "message_end"
        case _:
            return None
