"""What people do in a scenario: each line when it is due and can be done, and answers on their way.

An answer that the scenario delays is sent at its moment and arrives later; by then the request may be closed.
A line without a moment answers whenever its node asks; one with a moment goes before it, and once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.scenario import FaultLine, PersonLine
from windtunnel.compiler.snapshot import DecisionNode
from windtunnel.simulator.clock import Clock
from windtunnel.simulator.events import Answered, Say
from windtunnel.simulator.scenario.cues import FaultCue, PersonCue
from windtunnel.simulator.scenario.happenings import Happening, Place, fits
from windtunnel.simulator.world import (
    AROUND,
    ENGINE,
    INBOX,
    PROVIDER,
    STORE,
    TIMER,
    WIRE,
    Move,
    Option,
    State,
    World,
)

ANSWER: Final = "answer"
"""The name under which an answer on its way is repeated, delayed or lost."""

UNREACHABLE: Final = ("down", "recover")
"""Phases of an engine that nobody can talk to."""


class Sent(NamedTuple):
    """An answer on its way: when it arrives, and whether it comes twice."""

    arrives_ms: int
    answer: Answered
    twice: bool


class People:
    """Everybody in one run."""

    def __init__(self, world: World, lines: Sequence[PersonCue], faults: Sequence[FaultCue]) -> None:
        self.world = world
        self.lines = lines
        self.faults = faults
        self.under_way: list[Sent] = []
        self._answered: tuple[str, int] | None = None

    @property
    def next_arrival(self) -> int | None:
        """When the next answer that is on its way arrives."""
        return min((sent.arrives_ms for sent in self.under_way), default=None)

    def act(self, state: State, place: Place, clock: Clock) -> Option | None:
        """What arrives or is done now: an answer on its way, else the first line that is due and possible."""
        if self.world.inboxes.values[state[INBOX]]:
            return None
        arrived = self._arrived(state, clock)
        if arrived is not None:
            return arrived
        for cue in sorted(self.lines, key=lambda cue: cue.moment is None):
            if not cue.due or cue.done:
                continue
            if cue.line.verb == "answers":
                answered = self._answers(state, place, clock, cue)
                if answered is not None:
                    return answered
                continue
            move = VERBS[cue.line.verb](self, state, cue.line)
            if move is not None:
                cue.done = True
                return self.world.follow(state, move)
        return None

    def host_died(self) -> None:
        """Whoever answers whenever asked sees the request again, and answers it again."""
        self._answered = None

    def move(self, state: State, source: str, kind: str) -> Move | None:
        """The move of that kind, if it can be made now."""
        moves = self.world.moves(state)
        return next((move for move in moves if (move.source, move.kind) == (source, kind)), None)

    # --- answers --------------------------------------------------------------------------------------------

    def _answers(self, state: State, place: Place, clock: Clock, cue: PersonCue) -> Option | None:
        """Answer the open request; None when it is not the one that the line is about."""
        run = self.world.stores.values[state[STORE]]
        engine = self.world.engines.values[state[ENGINE]]
        node = run.position.node
        asked = (node, place.visit(node))
        waits = run.position.status == "waiting" and engine.phase == "waiting" and run.request is not None
        if not waits or node != cue.line.node or self._answered == asked:
            return None
        assert run.request is not None, "a run that waits has a request"
        self._answered = asked
        cue.used = True
        cue.done = cue.moment is not None
        answer = self._answer(cue.line, run.request.digest)
        delay, lost, twice = self._on_the_way(Happening(ANSWER, node, asked[1], 0, place))
        if not lost:
            self.under_way.append(Sent(clock.now_ms + delay, answer, twice))
        return self._arrived(state, clock)

    def _answer(self, line: PersonLine, digest: str) -> Answered:
        """The answer as the host gets it: a choice with what it asks for, or what a checkpoint waits for."""
        if line.choice is None:
            return Answered(digest, None, canonical(line.value))
        node = self.world.program.snapshot.nodes[line.node or ""]
        choice = node.choices.get(line.choice) if isinstance(node, DecisionNode) else None
        given = line.value if isinstance(line.value, dict) else {}
        if choice is None or choice.asks is None:
            return Answered(digest, line.choice)
        return Answered(digest, line.choice, canonical(given.get(choice.asks)))

    def _on_the_way(self, answer: Happening) -> tuple[int, bool, bool]:
        """By how much an answer is late, whether it is lost, and whether it comes twice."""
        delay, lost, twice = 0, False, False
        for cue in self.faults:
            line: FaultLine = cue.line
            if cue.done or line.event is None or not fits(answer, line.event):
                continue
            cue.done = True
            delay += (line.for_ms or 0) if line.kind == "delay" else 0
            lost = lost or line.kind == "drop"
            twice = twice or line.kind == "duplicate"
        return delay, lost, twice

    def _arrived(self, state: State, clock: Clock) -> Option | None:
        """The first answer that is here by now."""
        engine = self.world.engines.values[state[ENGINE]]
        here = next((sent for sent in self.under_way if sent.arrives_ms <= clock.now_ms), None)
        if here is None or engine.phase in UNREACHABLE:
            return None
        self.under_way.remove(here)
        overdue = clock.due_ms is not None and clock.now_ms >= clock.due_ms and engine.phase == "waiting"
        answer = here.answer if not overdue else Answered(*_parts(here.answer), overdue=True)
        said = "answers" if answer.choice is None else f"answers {answer.choice}"
        links = (state[INBOX], state[WIRE], state[PROVIDER], state[TIMER])
        message = self.world.messages.id(answer)
        role = self.world.role(state[AROUND])
        move = Move("", "answer", "engine", message, *links, here.twice, f"the person {said}", 0, role)
        return self.world.follow(state, move)

    # --- verbs ----------------------------------------------------------------------------------------------

    def _sends(self, state: State, line: PersonLine) -> Move | None:
        move = self.move(state, "person", "followup")
        return None if move is None else move._replace(message=self.world.messages.id(Say(str(line.value))))

    def _presses(self, state: State, line: PersonLine) -> Move | None:
        return self.move(state, "person", "escape")

    def _cancels(self, state: State, line: PersonLine) -> Move | None:
        return self.move(state, "person", "cancel")

    def _pauses(self, state: State, line: PersonLine) -> Move | None:
        return self.move(state, "person", "pause")

    def _resumes(self, state: State, line: PersonLine) -> Move | None:
        return self.move(state, "person", "")


def _parts(answer: Answered) -> tuple[str, str | None, str | None]:
    return answer.digest, answer.choice, answer.value


VERBS: Final[dict[str, Callable[[People, State, PersonLine], Move | None]]] = {
    "sends": People._sends,
    "presses": People._presses,
    "cancels": People._cancels,
    "pauses": People._pauses,
    "resumes": People._resumes,
}
"""What a person can do here beside answering, verb by verb; `refusing` turns every other verb away."""
