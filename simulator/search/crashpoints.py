"""Where a crash can fall on the crash-free paths, and what becomes of the run after each.

Points: before and after every durable write, between any two emitted events, and inside every append of more
than one entry. The paths are as few as take every arrow and exit that good behaviour can take. Each point is
fired and the run goes on quietly to an end. The labels name the places where such systems were seen to break.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from windtunnel.simulator.events import DURABLE, Action, Append, Commit, Emit, Event
from windtunnel.simulator.invariants import Violation, stuck
from windtunnel.simulator.run.state import visit
from windtunnel.simulator.simulation import write_name
from windtunnel.simulator.world import LOG, STORE, WATCH, Cut, Move, Option, State, World

MAX_PATHS: Final = 256
"""Crash-free paths that are looked at."""

MAX_QUIET_STATES: Final = 20_000
"""States on crash-free paths that are looked at."""

MAX_PATH_STEPS: Final = 30_000
"""Transitions of all paths together; only the first paths of a larger workflow are looked at."""

MAX_STEPS: Final = 10_000
"""Transitions of a path before it counts as endless."""

LABELS: Final = (
    "before the effect",
    "after the effect, before persistence",
    "before the question",
    "while waiting for an answer",
    "after delivery, before its record",
    "before prompt delivery",
    "after prompt delivery",
    "while streaming",
    "after message_end, before agent_settled",
    "after settlement, before persistence",
    "after persistence, before routing",
    "process restart",
    "session reload",
    "repeated loop visit",
    "claim loss",
    "stale branch response",
)
"""In the order of a run. Claim loss needs a second host, a stale branch needs branches; see `hosting`."""


PERSISTED: Final = "after persistence, before routing"


class Step(NamedTuple):
    """One transition of a path."""

    state: State
    choice: int
    option: Option


class Point(NamedTuple):
    """One place for a crash: the node in flight, the place in words, how far the step is, and where it
    stands.
    """

    node: str
    place: str
    stage: str
    choices: tuple[int, ...]
    atom: Atom
    cut: Cut


class Fired(NamedTuple):
    """What became of a point: the state right after the crash, whether the run ended, and all labels."""

    point: Point
    state: State
    recovered: bool
    violations: tuple[Violation, ...]
    labels: tuple[str, ...]


# --- paths --------------------------------------------------------------------------------------------------


class Walked(NamedTuple):
    """Crash-free paths. Not `complete` where the workflow was too large to look at all of its quiet moves."""

    paths: list[list[Step]]
    complete: bool


def crash_free_paths(world: World, start: State) -> list[list[Step]]:
    """Paths of quiet moves that together take every arrow, node and exit that quiet moves can take."""
    return walked(world, start, set()).paths


def walked(world: World, start: State, covered: set[str]) -> Walked:
    """Crash-free paths that take what is not in `covered` yet; they are added to it."""
    complete = True
    first_way: dict[State, Step | None] = {start: None}
    order = [start]
    for state in order:
        for step in _quiet(world, state):
            if step.option.state in first_way or step.option.violations:
                continue
            if len(order) == MAX_QUIET_STATES:
                complete = False
            else:
                first_way[step.option.state] = step
                order.append(step.option.state)
    paths: list[list[Step]] = []
    room = MAX_PATH_STEPS
    for state in order:
        for step in _quiet(world, state):
            new = set(_marks(world, step.option)) - covered
            if new and (len(paths) == MAX_PATHS or room <= 0):
                complete = False
            elif new:
                path = [*_path(first_way, state), step, *_onwards(world, step.option.state)]
                paths.append(path)
                room -= len(path)
                for taken in path:
                    covered.update(_marks(world, taken.option))
    return Walked(paths, complete)


def _quiet(world: World, state: State) -> Iterator[Step]:
    """The quiet options; of what matters here behaviours, answers and deadlines are the only choices."""
    for choice, option in enumerate(world.options(state)):
        if option.move.kind or option.cut is not None:
            return
        if choice and option.move.source not in ("provider", "outside", "answer", "clock"):
            continue
        yield Step(state, choice, option)


def _marks(world: World, option: Option) -> Iterator[str]:
    for action in world.outcomes[option.outcome].actions:
        if isinstance(action, Commit):
            for event in action.events:
                via = event.get("via")
                if isinstance(via, str):
                    yield f"arrow {via}"
                if event.type == "run_completed":
                    yield f"exit {event.get('exit')}"
                if event.type == "node_started":
                    yield f"node {event.node}"


def _path(first_way: dict[State, Step | None], state: State) -> list[Step]:
    path: list[Step] = []
    way = first_way[state]
    while way is not None:
        path.append(way)
        way = first_way[way.state]
    path.reverse()
    return path


def _onwards(world: World, state: State) -> list[Step]:
    """By the quiet choice to the end."""
    path: list[Step] = []
    for _ in range(MAX_STEPS):
        step = next(_quiet(world, state), None)
        if step is None or step.option.violations:
            break
        path.append(step)
        state = step.option.state
    return path


# --- points -------------------------------------------------------------------------------------------------


class Atom(NamedTuple):
    """One action of a path, with where it stands."""

    choices: tuple[int, ...]
    state: State
    option: Option
    at: int
    action: Action


def points(world: World, path: list[Step]) -> list[Point]:
    """Every point of one path, in order: writes twice, gaps between emitted events, appends of several
    entries.
    """
    atoms = list(_atoms(world, path))
    emitted = sum(isinstance(atom.action, Emit) for atom in atoms)
    found: list[Point] = []
    node, stage = "", ""
    for atom in atoms:
        action = atom.action
        if isinstance(action, Emit):
            stage = _stage_of_event(action.event, stage)
            emitted -= 1
            if emitted:
                place = f"after {action.event.type}"
                found.append(Point(node, place, stage, atom.choices, atom, Cut(atom.at + 1)))
            continue
        name = write_name(action)
        found.append(Point(node, f"before {name}", stage, atom.choices, atom, Cut(atom.at)))
        if isinstance(action, Append) and len(action.rows) > 1:
            torn = Cut(atom.at, len(action.rows) - 1, True)
            found.append(Point(node, f"inside {name}", stage, atom.choices, atom, torn))
        node, stage = _after_write(world, action, node, stage)
        found.append(Point(node, f"after {name}", stage, atom.choices, atom, Cut(atom.at + 1)))
    return found


def _atoms(world: World, path: list[Step]) -> Iterator[Atom]:
    choices: tuple[int, ...] = ()
    for step in path:
        for at, action in enumerate(world.outcomes[step.option.outcome].actions):
            if isinstance(action, (Emit, *DURABLE)):
                yield Atom(choices, step.state, step.option, at, action)
        choices = (*choices, step.choice)


_STAGES: Final = {
    ("message_start", "assistant"): "while streaming",
    ("message_update", None): "while streaming",
    ("message_end", "assistant"): "after message_end, before agent_settled",
    ("turn_start", None): "after prompt delivery",
    ("agent_settled", None): "after settlement, before persistence",
    ("effect_applied", None): "after the effect, before persistence",
}


def _stage_of_event(event: Event, stage: str) -> str:
    """How far the step is after an event of its conversation; what is committed stays so until it is
    routed.
    """
    if stage == PERSISTED:
        return stage
    return _STAGES.get((event.type, event.get("role")), stage)  # type: ignore[arg-type]


def _after_write(world: World, action: Action, node: str, stage: str) -> tuple[str, str]:
    """Node and stage after a write."""
    if isinstance(action, Append):
        stages = {"step": "after prompt delivery", "notice": "after delivery, before its record"}
        return node, stages.get(action.rows[-1].kind, stage)
    assert isinstance(action, Commit), "a path without crashes repairs nothing"
    for event in action.events:
        if event.type == "node_started":
            node = event.node or ""
            stage = _first_stage(world, node)
        elif event.type in ("node_finished", "node_failed"):
            stage = PERSISTED
        elif event.type == "run_waiting":
            stage = "while waiting for an answer"
        elif event.type == "notification_delivered":
            stage = PERSISTED
        elif event.type.startswith("run_") and event.type != "run_started":
            node, stage = "", ""
    return node, stage


def _first_stage(world: World, node: str) -> str:
    """Where a node stands that has only been started."""
    if node in world.facts.agents:
        return "before prompt delivery"
    if node in world.facts.asking:
        return "before the question"
    return "before the effect" if node in world.facts.effects else ""


# --- firing -------------------------------------------------------------------------------------------------


def fire(world: World, point: Point) -> Fired:
    """Crash there, start again, and go on quietly to an end."""
    after = world.crash(point.atom.state, point.atom.option, point.cut)
    labels = [point.stage] if point.stage else []
    labels += _observed(world, after.state, point.node)
    return _finished(world, point, after, tuple(labels))


def lost_claims(world: World, points: Iterable[Point]) -> Iterator[Fired]:
    """At each transition of a path another host takes the run over from one that is paused past its lease."""
    seen: set[State] = set()
    for point in points if world.hosting.second else ():
        state = point.atom.state
        move = _move(world, state, "zombie")
        if move is not None and state not in seen:
            seen.add(state)
            lost = point._replace(place=f"claim lost {point.place}")
            labels = (point.stage, "claim loss") if point.stage else ("claim loss",)
            yield _finished(world, lost, world.follow(state, move), labels)


def stale_branches(world: World, points: Iterable[Point]) -> Iterator[Fired]:
    """After each crash that leaves something of the step, the person goes to a branch without it."""
    for point in points if world.branches else ():
        state = world.crash(point.atom.state, point.atom.option, point.cut).state
        move = _move(world, state, "branch")
        while move is None:
            step = next(_quiet(world, state), None)
            if step is None:
                break
            state = step.option.state
            move = _move(world, state, "branch")
        if move is not None and world.logs.values[state[LOG]].prompted:
            left = point._replace(place=f"branch left {point.place}")
            yield _finished(world, left, world.follow(state, move), ("stale branch response",))


def _move(world: World, state: State, kind: str) -> Move | None:
    return next((move for move in world.moves(state) if move.kind == kind), None)


def _finished(world: World, point: Point, after: Option, labels: tuple[str, ...]) -> Fired:
    """Go on quietly to an end."""
    violations, state = list(after.violations), after.state
    for _ in range(MAX_STEPS):
        step = next(_quiet(world, state), None)
        if step is None or violations:
            break
        violations += step.option.violations
        state = step.option.state
    end = stuck(world.watches.values[state[WATCH]])
    if end is not None and not violations:
        violations.append(end)
    return Fired(point, after.state, world.over(state) and not violations, tuple(violations), labels)


def _observed(world: World, state: State, node: str) -> Iterator[str]:
    """Labels that follow from what the restarted host finds."""
    run = world.stores.values[state[STORE]]
    if run.position.node != node or not node:
        return
    if run.position.phase == "started":
        yield "process restart"
        if world.logs.values[state[LOG]].prompted:
            yield "session reload"
    if visit(run, node) > 1:
        yield "repeated loop visit"
