"""What a simulated crash ends in, in the terms of a store: the lines, the state, the session log.

A trace holds more than a store keeps: what the conversation did, what the world did. Its durable lines,
numbered anew, with causes traced back to the durable line that they come from, are what a store must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from windtunnel.simulator.budget import budget
from windtunnel.simulator.chat.log import Log
from windtunnel.simulator.run.state import Run
from windtunnel.simulator.search.crashpoints import Point, crash_free_paths, points
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.simulation import Teller
from windtunnel.simulator.world import LOG, STORE, Cut, Option, World

DEPTH: Final = 1_000
"""Transitions of a run among which it is crashed; a workflow without an end repeats itself long before."""

AFTER: Final = 1_500
"""Transitions after a crash that are compared; a shorter run is compared to its end."""

VOLATILE: Final = frozenset({"agent", "session", "chat", "world"})
"""Scopes of events that no store keeps."""

UNKEPT: Final = frozenset({"answer_refused"})
"""Types of other scopes that no store keeps either."""


def is_kept(event: Mapping[str, Any]) -> bool:
    """Whether a line of a trace is one that a store keeps: what a host committed."""
    said = event["scope"] in VOLATILE or event["type"] in UNKEPT
    return event["process"] == "host" and not said


class Ending(NamedTuple):
    """How a run ends: its lines as JSON objects, its state, what its session log holds and how it reads.

    `applied` are the effects that happened outside, each as its name and its key.
    """

    lines: tuple[Mapping[str, Any], ...]
    run: Run
    entries: tuple[Mapping[str, Any], ...]
    log: Log
    applied: tuple[tuple[str, str | None], ...] = ()


class Crash(NamedTuple):
    """One crash to make for real: at `cut` of transition `number` of the run that `choices` make."""

    node: str
    place: str
    choices: tuple[int, ...]
    number: int
    cut: Cut
    point: Point


class Planned(NamedTuple):
    """The crashes to make. `points` counts those of all paths, which share their beginnings; `deeper` counts
    the transitions that lie too deep in a run to be crashed at.
    """

    crashes: tuple[Crash, ...]
    points: int
    deeper: int


def crashes(setup: Setup, only: Callable[[Point], bool] | None = None, depth: int = DEPTH) -> Planned:
    """Every different crash point of the crash-free paths, or those that `only` picks."""
    world = setup.world
    paths = crash_free_paths(world, world.start(budget(0, {})))
    found: dict[tuple[tuple[int, ...], Cut], Crash] = {}
    count = 0
    for path in paths:
        for point in points(world, path[:depth]):
            if only is None or only(point):
                count += 1
                crash = _crash(world, point)
                found.setdefault((crash.choices, crash.cut), crash)
    return Planned(tuple(found.values()), count, sum(max(0, len(path) - depth) for path in paths))


def _crash(world: World, point: Point) -> Crash:
    """The crash of a point, with the choice of the transition that it falls into."""
    options = world.options(point.atom.state)
    last = next(at for at, option in enumerate(options) if option == point.atom.option)
    return Crash(point.node, point.place, (*point.choices, last), len(point.choices), point.cut, point)


class Simulated(NamedTuple):
    """A crash as it is simulated: when it falls, by the clock of the run, how many transitions were made
    after it, and how the run stands then.
    """

    at_ms: int
    steps: int
    ending: Ending


def simulated(world: World, crash: Crash) -> Simulated:
    """Crash there, start again, and go on quietly to the end, or for long enough."""
    teller = Teller(world, world.start(budget(0, {})))
    for choice in crash.point.choices:
        teller.take(world.options(teller.state)[choice])
    teller.take(world.crash(teller.state, crash.point.atom.option, crash.cut))
    at_ms = teller.writer.clock.now_ms
    for steps in range(AFTER):
        option = _quiet(world.options(teller.state))
        if option is None:
            return Simulated(at_ms, steps, _ending(teller))
        teller.take(option)
    return Simulated(at_ms, AFTER, _ending(teller))


def _ending(teller: Teller) -> Ending:
    """How the run stands."""
    world = teller.world
    run = world.stores.values[teller.state[STORE]]
    log = world.logs.values[teller.state[LOG]]
    events = teller.writer.events
    applied = [event["payload"] for event in events if event["type"] == "effect_applied"]
    return Ending(
        tuple(durable(events)),
        run,
        tuple(teller.writer.entries),
        log,
        tuple((payload["call"], payload.get("key")) for payload in applied),
    )


def _quiet(options: list[Option]) -> Option | None:
    first = options[0] if options else None
    return None if first is None or first.move.kind or first.cut is not None else first


def durable(events: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """The lines of a trace that a store keeps, as it keeps them."""
    found: list[dict[str, Any]] = []
    origin: dict[int, int] = {0: 0}
    for event in events:
        before = [origin[cause] for cause in event["causes"] if origin[cause]]
        if not is_kept(event):
            origin[event["seq"]] = before[0] if before else 0
            continue
        found.append({**event, "seq": len(found) + 1, "causes": before})
        origin[event["seq"]] = len(found)
    return found
