"""One path through the world, told: choices in, trace, session log and verdict out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from windtunnel.simulator.around import WORKER, ZOMBIE, Role
from windtunnel.simulator.choices import Choices, Recorded
from windtunnel.simulator.events import (
    Action,
    Answered,
    Append,
    Arm,
    Ask,
    Commit,
    Deadline,
    Disarm,
    Emit,
    Event,
    Json,
    Perform,
    Tell,
)
from windtunnel.simulator.invariants import ENDINGS, Violation, stuck
from windtunnel.simulator.providers.behaviour import Behaviour
from windtunnel.simulator.trace import Writer
from windtunnel.simulator.world import AROUND, STORE, WATCH, Option, State, World, until

MAX_TRANSITIONS: Final = 100_000
"""Transitions of one run; a run that takes more is called stuck."""


DONE: Final = {
    "": "released",
    "escape": "escaped",
    "cancel": "cancel_requested",
    "pause": "asked_to_pause",
    "branch": "went_to_another_branch",
    "edit": "edited_the_workflow",
}
"""What a person did, by the fault that it costs."""


class Frame(NamedTuple):
    """One transition of a run: how many lines and entries there were before it, and which way it went."""

    lines: int
    entries: int
    option: Option


@dataclass(frozen=True, slots=True)
class Film:
    """A run transition by transition, for who wants to look at the processes as they were."""

    world: World
    start: State
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One run, over. `exit` and `output` are None unless it completed; `choices` repeat it exactly."""

    status: str
    exit: str | None
    output: JsonValue
    trace: tuple[str, ...]
    events: tuple[dict[str, Any], ...]
    session: tuple[dict[str, Any], ...]
    violations: tuple[Violation, ...]
    choices: tuple[int, ...]
    gaps: dict[str, str]
    film: Film | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True)
class Desk:
    """The lines that lead to what a process does next: what is in its queue, on its wire, late or outside."""

    queue: list[int] = field(default_factory=list)
    wire: int = 0
    late: int = 0
    effect: int = 0
    last: int = 0
    down: bool = False


class Teller:
    """Follows one path step by step and writes it down."""

    def __init__(self, world: World, start: State) -> None:
        self.world = world
        self.state = start
        self.writer = Writer()
        self.violations: list[Violation] = []
        self._start = start
        self._frames: list[Frame] = []
        others = world.arounds.values[start[AROUND]].others
        self._desks = [Desk() for _ in (None, *others)]

    @property
    def film(self) -> Film:
        """What was taken so far."""
        return Film(self.world, self._start, tuple(self._frames))

    def take(self, option: Option) -> None:
        """Go this way: one transition passes."""
        writer, move = self.writer, option.move
        self._frames.append(Frame(writer.last, len(writer.entries), option))
        role, desk = self.world.roles.values[move.role], self._desks[move.seat]
        writer.clock.tick()
        self._wait(option)
        writer.causes(_cause(desk, move.source))
        if desk.down and move.source == "self":
            desk.down = False
            writer.write("world", Event("world", "restarted"))
        self._outside(option, desk)
        self._acts(option, role, desk)
        if move.source == "wire":
            desk.wire = writer.last
        if option.cut is not None:
            self._crash(option, desk)
        if option.refused >= 0:
            writer.write("world", Event("world", "write_refused", payload=(("of", role.kind),)))
        desk.last = writer.last
        self._change_seats(option)
        self.state = option.state
        self.violations += option.violations

    def _acts(self, option: Option, role: Role, desk: Desk) -> None:
        """Everything that the transition did."""
        actions = self.world.outcomes[option.outcome].actions
        if option.cut is not None:
            actions = until(actions, option.cut)
        elif option.refused >= 0:
            actions = actions[: option.refused]
        process = "provider" if option.move.handler == "outside" else role.kind
        for action in actions:
            # Nobody hears of what a host says that lost its claim, nor sees the session of a worker.
            unheard = role.kind == ZOMBIE and isinstance(action, Emit) and process != "provider"
            unseen = role.kind == WORKER and isinstance(action, Append)
            if not unheard and not unseen:
                self._act(action, process, desk, timed=role.works)

    def _change_seats(self, option: Option) -> None:
        """Whoever comes, goes, or takes the first seat."""
        before = self.world.arounds.values[self.state[AROUND]]
        after = self.world.arounds.values[option.state[AROUND]]
        if option.move.handler == "freeze":
            self.writer.write("world", Event("world", "lease_lost", payload=(("of", before.first),)))
            self.writer.clock.disarm()
            self._desks = [Desk(down=True), *self._desks[1:], self._desks[0]]
        elif option.refused >= 0:
            self._desks.pop(option.move.seat)
        elif before.first != after.first:
            kinds = [other.kind for other in before.others]
            self._desks[0] = self._desks.pop(1 + kinds.index(after.first))

    def _wait(self, option: Option) -> None:
        """Nothing else happens until the clock has come so far."""
        move, clock = option.move, self.writer.clock
        message = self.world.messages.values[move.message]
        if isinstance(message, Deadline) or (isinstance(message, Answered) and message.overdue):
            clock.wait()
        elif move.source == "clock" and not move.kind:
            clock.jump()

    def _act(self, action: Action, process: str, desk: Desk, *, timed: bool) -> None:
        writer = self.writer
        match action:
            case Commit(events):
                for event in events:
                    writer.write(process, event)
                    if event.type == "decision_requested":
                        due = event.get("dueMs")
                        writer.clock.due_ms = writer.clock.now_ms + due if isinstance(due, int) else None
            case Append(rows):
                writer.append(rows)
            case Emit(event):
                writer.write(process, event)
            case Tell():
                desk.queue.append(writer.last)
            case Ask():
                desk.wire = writer.last
            case Perform():
                desk.effect = writer.last
            case Arm(timeout_ms) if timed:
                writer.clock.arm(timeout_ms)
            case Disarm(held) if timed:
                writer.clock.disarm(held=held)
            case _:
                pass

    def _outside(self, option: Option, desk: Desk) -> None:
        """What comes from outside the host, or a second time, has a line of its own."""
        writer, move = self.writer, option.move
        message = self.world.messages.values[move.message]
        if move.source == "provider":
            assert isinstance(message, Behaviour), "a provider's move is a behaviour"
            self._provider(message, "agent")
            desk.wire = writer.last
        elif move.source == "outside":
            assert isinstance(message, Behaviour), "an effect's move is a behaviour"
            self._provider(message, "effect")
            writer.causes(writer.last)
        elif isinstance(message, Answered) and move.source == "answer":
            said = (
                ("choice", message.choice),
                ("value", None if message.value is None else Json(message.value)),
            )
            writer.write("person", Event("chat", "answered", payload=said))
        elif move.source == "person":
            writer.write("person", Event("chat", DONE.get(move.kind, "said")))
        elif move.source == "clock":
            writer.write("world", Event("world", "timer_fired"))
        if move.kind == "duplicate":
            desk.late = writer.last
            writer.write("world", Event("world", "duplicated", payload=(("what", move.label),)))
        if move.source in ("person", "answer", "clock"):
            writer.causes(writer.last)

    def _provider(self, behaviour: Behaviour, scope: str) -> None:
        kind = "provider_deviated" if behaviour.deviation else "provider_answered"
        self.writer.write("provider", Event(scope, kind, payload=(("behaviour", behaviour.name),)))

    def _crash(self, option: Option, desk: Desk) -> None:
        """A process dies; the line says after, or inside, which write."""
        cut = option.cut
        assert cut is not None, "a crash has a place"
        actions = self.world.outcomes[option.outcome].actions
        at = cut.done if cut.torn else cut.done - 1
        place = write_name(actions[at]) if 0 <= at < len(actions) else "the start"
        payload = (("inside" if cut.torn else "after", place), ("torn", cut.torn))
        self.writer.causes()
        self.writer.write("world", Event("world", "crashed", payload=payload))
        if not option.move.seat:
            self.writer.clock.disarm()
        self._desks[option.move.seat] = Desk(down=True, last=self.writer.last)


def _cause(desk: Desk, source: str) -> int:
    """The line that led to the message that is handled now."""
    match source:
        case "queue":
            return desk.queue.pop(0)
        case "wire" | "provider":
            return desk.wire
        case "outside":
            return desk.effect
        case "late":
            return desk.late
        case "self":
            return desk.last
        case _:
            return 0


def write_name(action: Action) -> str:
    """A durable write, or an event, in a few words."""
    match action:
        case Commit(events):
            return " and ".join(event.type for event in events)
        case Append(rows):
            row = rows[-1]
            return f"the {row.prompt} prompt" if row.kind == "step" else f"the {row.kind} row"
        case Emit(event):
            return event.type
        case _:
            return "the repair of the session"


def simulate_world(world: World, start: State, choices: Choices) -> Run:
    """Follow the choices until nothing goes on by itself."""
    teller = Teller(world, start)
    taken: list[int] = []
    for _ in range(MAX_TRANSITIONS):
        options = world.options(teller.state)
        if not options or _at_rest(options, choices):
            break
        choice = choices.choose(len(options), options[0].move.label)
        taken.append(choice)
        teller.take(options[choice])
        if teller.violations:
            break
    return finish(teller, taken)


def wander(
    world: World, start: State, choices: Choices, most: int
) -> tuple[Violation | None, tuple[int, ...]]:
    """Follow the choices for at most so many transitions, without a word: what broke, and the choices."""
    taken: list[int] = []
    state = start
    for _ in range(most):
        options = world.options(state)
        if not options or _at_rest(options, choices):
            end = None if world.waits_for_value(state) else stuck(world.watches.values[state[WATCH]])
            return end, tuple(taken)
        choice = choices.choose(len(options), options[0].move.label)
        taken.append(choice)
        if options[choice].violations:
            return options[choice].violations[0], tuple(taken)
        state = options[choice].state
    return None, tuple(taken)


def _at_rest(options: list[Option], choices: Choices) -> bool:
    """Whether only faults are left and no recorded choice asks for one."""
    quiet = not options[0].move.kind and options[0].cut is None
    return not quiet and not (isinstance(choices, Recorded) and not choices.used_up)


def finish(teller: Teller, taken: list[int]) -> Run:
    """The run that was told, over; trailing zeros of its choices say nothing and are left out."""
    world, state = teller.world, teller.state
    if not teller.violations and not world.waits_for_value(state):
        end = stuck(world.watches.values[state[WATCH]])
        teller.violations += [] if end is None else [end]
    while taken and taken[-1] == 0:
        taken.pop()
    events = teller.writer.events
    ended = next((event for event in reversed(events) if event["type"] in ENDINGS), None)
    payload = ended["payload"] if ended is not None else {}
    return Run(
        world.stores.values[state[STORE]].position.status,
        payload.get("exit"),
        payload.get("finalOutput"),
        teller.writer.lines,
        tuple(events),
        tuple(teller.writer.entries),
        tuple(teller.violations),
        tuple(taken),
        dict(sorted(world.gaps.items())),
        teller.film,
    )
