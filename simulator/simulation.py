"""One path through the world, told: choices in, trace, session log and verdict out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

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
    HangUp,
    Json,
    Perform,
    Repair,
    Tell,
    Withdraw,
)
from windtunnel.simulator.invariants import ENDINGS, Violation, stuck
from windtunnel.simulator.providers.behaviour import Behaviour
from windtunnel.simulator.trace import Writer
from windtunnel.simulator.world import STORE, WATCH, Option, State, World, until

MAX_TRANSITIONS: Final = 100_000
"""Transitions of one run; a run that takes more is called stuck."""


DONE: Final = {
    "": "released",
    "escape": "escaped",
    "cancel": "cancel_requested",
    "pause": "asked_to_pause",
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


class Teller:
    """Follows one path step by step and writes it down."""

    def __init__(self, world: World, start: State) -> None:
        self.world = world
        self.state = start
        self.writer = Writer()
        self.violations: list[Violation] = []
        self._start = start
        self._frames: list[Frame] = []
        self._queue: list[int] = []
        self._wire = 0
        self._late = 0
        self._effect = 0
        self._host = 0
        self._down = False

    @property
    def film(self) -> Film:
        """What was taken so far."""
        return Film(self.world, self._start, tuple(self._frames))

    def take(self, option: Option) -> None:
        """Go this way: one transition passes."""
        writer, move = self.writer, option.move
        self._frames.append(Frame(writer.last, len(writer.entries), option))
        writer.clock.tick()
        self._wait(option)
        writer.causes(self._cause(option))
        if self._down and move.source == "self":
            self._down = False
            writer.write("world", Event("world", "restarted"))
        self._outside(option)
        actions = self.world.outcomes[option.outcome].actions
        process = "provider" if move.handler == "outside" else "host"
        for action in actions if option.cut is None else until(actions, option.cut):
            self._act(action, process)
        if move.source == "wire":
            self._wire = writer.last
        if option.cut is not None:
            self._crash(option)
        self._host = writer.last
        self.state = option.state
        self.violations += option.violations

    def _wait(self, option: Option) -> None:
        """Nothing else happens until the clock has come so far."""
        move, clock = option.move, self.writer.clock
        message = self.world.messages.values[move.message]
        if isinstance(message, Deadline) or (isinstance(message, Answered) and message.overdue):
            clock.wait()
        elif move.source == "clock" and not move.kind:
            clock.jump()

    def _act(self, action: Action, process: str) -> None:
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
                self._queue.append(writer.last)
            case Ask():
                self._wire = writer.last
            case Perform():
                self._effect = writer.last
            case Arm(timeout_ms):
                writer.clock.arm(timeout_ms)
            case Disarm(held):
                writer.clock.disarm(held=held)
            case Repair() | HangUp() | Withdraw():
                pass

    def _cause(self, option: Option) -> int:
        """The line that led to the message that is handled now."""
        match option.move.source:
            case "queue":
                return self._queue.pop(0)
            case "wire" | "provider":
                return self._wire
            case "outside":
                return self._effect
            case "late":
                return self._late
            case "self":
                return self._host
            case _:
                return 0

    def _outside(self, option: Option) -> None:
        """What comes from outside the host, or a second time, has a line of its own."""
        writer, move = self.writer, option.move
        message = self.world.messages.values[move.message]
        if move.source == "provider":
            assert isinstance(message, Behaviour), "a provider's move is a behaviour"
            self._provider(message, "agent")
            self._wire = writer.last
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
            self._late = writer.last
            writer.write("world", Event("world", "duplicated", payload=(("what", move.label),)))
        if move.source in ("person", "answer", "clock"):
            writer.causes(writer.last)

    def _provider(self, behaviour: Behaviour, scope: str) -> None:
        kind = "provider_deviated" if behaviour.deviation else "provider_answered"
        self.writer.write("provider", Event(scope, kind, payload=(("behaviour", behaviour.name),)))

    def _crash(self, option: Option) -> None:
        """The host dies; the line says after, or inside, which write."""
        cut = option.cut
        assert cut is not None, "a crash has a place"
        actions = self.world.outcomes[option.outcome].actions
        at = cut.done if cut.torn else cut.done - 1
        place = write_name(actions[at]) if 0 <= at < len(actions) else "the start"
        payload = (("inside" if cut.torn else "after", place), ("torn", cut.torn))
        self.writer.causes()
        self.writer.write("world", Event("world", "crashed", payload=payload))
        self.writer.clock.disarm()
        self._queue, self._wire, self._late, self._effect = [], 0, 0, 0
        self._down = True


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
