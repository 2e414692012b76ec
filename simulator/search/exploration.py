"""Explorations, rounds of crash points and replays of a workflow: everything wired, results as frozen
data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.budget import Budget, budget, spend
from windtunnel.simulator.choices import ChoiceError, Choices, Recorded, Seeded
from windtunnel.simulator.hosting import USUAL, Hosting
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.providers.generated import GeneratedProvider, run_inputs
from windtunnel.simulator.providers.scripted import ScriptedProvider
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.search.coverage import Share, edges_of, exits_of, outcomes_of, share, taken
from windtunnel.simulator.search.crashpoints import (
    Fired,
    Point,
    crash_free_paths,
    fire,
    lost_claims,
    points,
    stale_branches,
    walked,
)
from windtunnel.simulator.search.explorer import MAX_STATES, Failure, Search, search
from windtunnel.simulator.search.token import Token, TokenError, encode
from windtunnel.simulator.simulation import Run, simulate_world, wander
from windtunnel.simulator.world import BUDGET, InputRefused, State, World

SCHEMA: Final = "windtunnel.exploration.v1"
CRASH_SCHEMA: Final = "windtunnel.crashpoints.v1"
DEFAULT_FAULTS: Final = 2
MAX_RANDOM_RUNS: Final = 500
"""Random runs after a search that was too large to finish."""

MAX_RANDOM_STEPS: Final = 20_000
"""Transitions of all of them together."""

MAX_WALK: Final = 5_000
"""Transitions of one of them; a longer run is left where it is."""

MAX_FAILURES: Final = 100
"""Ways to fail that a report lists."""

Progress = Callable[[int, int, int, int], None]
"""Called now and then with the number of faults being tried, states, transitions and frontier."""


@dataclass(frozen=True, slots=True)
class Found:
    """A broken invariant and the token that shows it again."""

    invariant: str
    message: str
    token: str

    def to_json(self) -> dict[str, JsonValue]:
        """`{invariant, message, token}`."""
        return {"invariant": self.invariant, "message": self.message, "token": self.token}


@dataclass(frozen=True, slots=True)
class Unhandled:
    """A way in which a run ends without reaching an exit, the words for it, and the token that shows it.

    `fault` says that something had to go wrong first; `node` and `outcome` are empty where no node failed.
    """

    status: str
    node: str
    outcome: str
    fault: bool
    error: str
    token: str

    def to_json(self) -> dict[str, JsonValue]:
        """`{status, node, outcome, fault, error, token}`."""
        return {
            "status": self.status,
            "node": self.node,
            "outcome": self.outcome,
            "fault": self.fault,
            "error": self.error,
            "token": self.token,
        }


@dataclass(frozen=True, slots=True)
class Doubled:
    """An effect without a key that a crash makes happen twice, by its node, and the token that shows it."""

    node: str
    token: str

    def to_json(self) -> dict[str, JsonValue]:
        """`{node, token}`."""
        return {"node": self.node, "token": self.token}


@dataclass(frozen=True, slots=True)
class Exploration:
    """What an exploration found. `seconds` is filled by whoever holds a clock."""

    workflow: str
    revision: int
    digest: str
    bounds: dict[str, int]
    complete: bool
    schedules: int
    states: int
    transitions: int
    distinct_calls: int
    violations: tuple[Found, ...]
    failures: tuple[Unhandled, ...]
    doubled: tuple[Doubled, ...]
    edges: Share
    exits: Share
    outcomes: Share
    crash_points: Share
    behaviours: Share
    tested: dict[str, int]
    gaps: dict[str, str]
    collision_bound: float
    seconds: float | None = None
    hosting: Hosting = USUAL

    def to_json(self) -> dict[str, JsonValue]:
        """The report as JSON; `distinctCalls` are handler calls, `tested` how often each premise was true."""
        found: dict[str, Any] = {
            "schema": SCHEMA,
            "workflow": self.workflow,
            "revision": self.revision,
            "digest": self.digest,
            "bounds": dict(self.bounds),
            "complete": self.complete,
            "schedules": self.schedules,
            "states": self.states,
            "transitions": self.transitions,
            "distinctCalls": self.distinct_calls,
            "seconds": self.seconds,
            "violations": [violation.to_json() for violation in self.violations],
            "failures": [failure.to_json() for failure in self.failures],
            "doubledEffects": [effect.to_json() for effect in self.doubled],
            "coverage": {
                "edges": self.edges.to_json(),
                "exits": self.exits.to_json(),
                "outcomes": self.outcomes.to_json(),
                "crashPoints": self.crash_points.to_json(),
                "providerBehaviours": self.behaviours.to_json(),
            },
            "tested": dict(self.tested),
            "gaps": dict(self.gaps),
            "collisionBound": self.collision_bound,
        }
        if self.hosting != USUAL:
            found["hosting"] = self.hosting.to_json()
        return found


@dataclass(frozen=True, slots=True)
class CrashPoints:
    """Every crash point of the crash-free paths, fired. `labels` counts points by (node, label).

    Not `complete` where the workflow has more arrows than the paths that were looked at could take.
    """

    workflow: str
    revision: int
    digest: str
    paths: int
    complete: bool
    total: int
    fired: int
    recovered: int
    labels: tuple[tuple[str, str, int], ...]
    points: tuple[tuple[str, str, tuple[str, ...], bool], ...]
    violations: tuple[Found, ...]

    def to_json(self) -> dict[str, JsonValue]:
        """The report as JSON."""
        labelled: list[Any] = [{"node": n, "label": label, "points": c} for n, label, c in self.labels]
        listed: list[Any] = [
            {"node": node, "place": place, "labels": list(labels), "recovered": recovered}
            for node, place, labels, recovered in self.points
        ]
        return {
            "schema": CRASH_SCHEMA,
            "workflow": self.workflow,
            "revision": self.revision,
            "digest": self.digest,
            "paths": self.paths,
            "complete": self.complete,
            "total": self.total,
            "fired": self.fired,
            "recovered": self.recovered,
            "labels": labelled,
            "points": listed,
            "violations": [violation.to_json() for violation in self.violations],
        }


class Setup:
    """A workflow with its input, ready to be searched. Raises InputRefused and NotSimulated."""

    def __init__(
        self,
        snapshot: Snapshot,
        input: JsonValue = None,
        *,
        fault: str | None = None,
        reference: str | None = None,
        provider: Provider | None = None,
        visit_cap: int = 2,
        hosting: Hosting = USUAL,
    ) -> None:
        scripted = isinstance(provider, ScriptedProvider)
        self.snapshot = snapshot
        self.fault = fault
        self.reference = snapshot.workflow if reference is None else reference
        switches = frozenset() if fault is None else frozenset({fault})
        program = Program(
            snapshot,
            switches=switches,
            visit_cap=visit_cap,
            presents=True,
            last_turn="last-turn" in hosting.also,
        )
        self.inputs = inputs_of(snapshot) if input is None else (input,)
        source = provider or GeneratedProvider(snapshot)
        self.world = World(program, source, self.inputs[0], scripted=scripted, hosting=hosting)

    def token(self, start: Budget, choices: tuple[int, ...], input: JsonValue = None) -> str:
        """The token of a run; by default of one with the first input."""
        given = self.world.input if input is None else input
        seeded, hosting = self.fault, self.world.hosting
        return encode(Token(self.reference, self.snapshot.digest, given, start, choices, seeded, hosting))


def inputs_of(snapshot: Snapshot) -> tuple[JsonValue, ...]:
    """The inputs of runs for which none was given: the usual one, then those that take other routes.

    Raises InputRefused when none can be made.
    """
    made = run_inputs(snapshot)
    if not made:
        raise InputRefused(f"No valid input could be made for {snapshot.workflow}; give one with --input.")
    return made


class Searched(NamedTuple):
    """The search from one input."""

    input: JsonValue
    start: State
    result: Search


def explore(
    setup: Setup,
    *,
    faults: int = DEFAULT_FAULTS,
    caps: dict[str, int | None] | None = None,
    seed: int = 0,
    most: int = MAX_STATES,
    exact: bool = False,
    progress: Progress | None = None,
) -> Exploration:
    """Every schedule with one fault, then two, up to `faults`; stops where something breaks."""
    limits = caps or {}
    found: tuple[Found, ...] = ()
    for number in range(min(1, faults), faults + 1):
        left = budget(number, limits)
        told = None if progress is None else _told(progress, number)
        searched, found = _search_all(setup, left, most, exact, told)
        for each in searched if not found else ():
            if not each.result.complete:
                found = found or _random(setup, left, each, seed)
        if found:
            break
    bounds = {"faults": faults, **{name: cap for name, cap in _named(limits) if cap is not None}}
    if not all(each.result.complete for each in searched):
        bounds["states"] = most
    return _report(setup, left, searched, bounds, found)


def _search_all(
    setup: Setup, left: Budget, most: int, exact: bool, progress: Callable[[int, int, int], None] | None
) -> tuple[list[Searched], tuple[Found, ...]]:
    """The search from each input: the room is shared, and what is left goes to those that were too large."""
    searched: list[Searched] = []
    waiting = [(input, most // len(setup.inputs)) for input in setup.inputs]
    room, again = most, False
    while waiting:
        input, share_of = waiting.pop(0)
        start = setup.world.start(left, input)
        result = search(setup.world, start, most=max(1, share_of), exact=exact, progress=progress)
        room -= 0 if again else result.states
        searched = [each for each in searched if each.input != input] + [Searched(input, start, result)]
        found = tuple(
            Found(entry[0].invariant, entry[0].message, setup.token(left, result.ways(entry), input))
            for entry in result.found
        )
        if found:
            return searched, found
        if not waiting and not again:
            again = True
            larger = [each for each in searched if not each.result.complete]
            waiting = [(one.input, one.result.states + room // len(larger)) for one in larger if room > 0]
    return searched, ()


def _told(progress: Progress, number: int) -> Callable[[int, int, int], None]:
    return lambda states, transitions, frontier: progress(number, states, transitions, frontier)


_BOUND_NAMES: Final = {"crash": "crashes", "duplicate": "duplicates", "provider": "providerFaults"}


def _named(caps: dict[str, int | None]) -> list[tuple[str, int | None]]:
    return [(_BOUND_NAMES.get(kind, kind), cap) for kind, cap in sorted(caps.items())]


def _random(setup: Setup, left: Budget, searched: Searched, seed: int) -> tuple[Found, ...]:
    """Random runs beyond what the search had room for."""
    room = MAX_RANDOM_STEPS // len(setup.inputs)
    for number in range(MAX_RANDOM_RUNS):
        broken, taken = wander(setup.world, searched.start, Seeded(seed + number), min(room, MAX_WALK))
        if broken is not None:
            token = setup.token(left, taken, searched.input)
            return (Found(broken.invariant, broken.message, token),)
        room -= max(1, len(taken))
        if room <= 0:
            break
    return ()


def _report(
    setup: Setup,
    left: Budget,
    searched: Sequence[Searched],
    bounds: dict[str, int],
    found: tuple[Found, ...],
) -> Exploration:
    snapshot, world = setup.snapshot, setup.world
    calls = world.distinct_calls
    results = [each.result for each in searched]
    complete = all(result.complete for result in results)
    seen = taken(outcome.actions for outcome in world.outcomes)
    return Exploration(
        snapshot.workflow,
        snapshot.revision,
        snapshot.digest,
        bounds,
        complete and not found,
        sum(result.schedules for result in results),
        sum(result.states for result in results),
        sum(result.transitions for result in results),
        calls,
        found,
        () if found else _failures(setup, left, searched),
        () if found else _doubled(setup, left, searched),
        share(edges_of(snapshot), seen.edges),
        share(exits_of(snapshot), seen.exits),
        share(outcomes_of(snapshot), seen.outcomes),
        _crash_coverage(world, searched) if complete else Share(0, 0, ()),
        share(
            *(sorted(f"{node}: {name}" for node, name in names) for names in (world.offered, world.behaved))
        ),
        dict(sorted(world.tested.items())),
        dict(sorted(world.gaps.items())),
        sum(result.collision_bound for result in results),
        hosting=world.hosting,
    )


def _failures(setup: Setup, left: Budget, searched: Sequence[Searched]) -> tuple[Unhandled, ...]:
    """Each way to fail once, those that need no fault first."""
    known: dict[Failure, Unhandled] = {}
    for each in searched:
        for failure, number in each.result.failures.items():
            if failure not in known and len(known) < MAX_FAILURES:
                choices = each.result.path(number)
                told = simulate_world(setup.world, each.start, Recorded(choices))
                ends = [event for event in told.events if event["type"] == f"run_{failure.status}"]
                error = str(ends[-1]["payload"].get("error", ""))
                token = setup.token(left, choices, each.input)
                known[failure] = Unhandled(*failure, error, token)
    return tuple(sorted(known.values(), key=lambda one: (one.fault, one.node, one.outcome, one.status)))


def _doubled(setup: Setup, left: Budget, searched: Sequence[Searched]) -> tuple[Doubled, ...]:
    """Each effect that is done again after a crash, once."""
    known: dict[str, Doubled] = {}
    for each in searched:
        for node, (number, choice) in each.result.doubled.items():
            token = setup.token(left, (*each.result.path(number), choice), each.input)
            known.setdefault(node, Doubled(node, token))
    return tuple(known[node] for node in sorted(known))


def _crash_coverage(world: World, searched: Sequence[Searched]) -> Share:
    """Which crash points of the crash-free paths lead to a state that the search visited."""
    covered, missed = 0, []
    for each in searched:
        for path in crash_free_paths(world, each.start):
            for point in points(world, path):
                if _crash_seen(world, each.result, point):
                    covered += 1
                else:
                    missed.append(f"{point.node or 'run'}: {point.place}")
    return Share(covered, covered + len(missed), tuple(missed))


def _crash_seen(world: World, result: Search, point: Point) -> bool:
    left = spend(world.budgets.values[point.atom.state[BUDGET]], "crash")
    if left is None:
        return False
    after = list(world.crash(point.atom.state, point.atom.option, point.cut).state)
    after[BUDGET] = world.budgets.id(left)
    return result.seen(tuple(after))


def crashpoints(setup: Setup) -> CrashPoints:
    """Fire every crash point of the crash-free paths of all inputs, each of which takes new arrows."""
    snapshot, world = setup.snapshot, setup.world
    covered: set[str] = set()
    fired: list[tuple[JsonValue, Fired]] = []
    paths, complete = 0, True
    for input in setup.inputs:
        found = walked(world, world.start(budget(1, {}), input), covered)
        at = [point for path in found.paths for point in points(world, path)]
        fired += [(input, fire(world, point)) for point in at]
        fired += [(input, one) for one in (*lost_claims(world, at), *stale_branches(world, at))]
        paths, complete = paths + len(found.paths), complete and found.complete
    counts: dict[tuple[str, str], int] = {}
    for _, one in fired:
        for label in one.labels:
            key = (one.point.node, label)
            counts[key] = counts.get(key, 0) + 1
    broken = [_broken(setup, input, one) for input, one in fired if one.violations]
    return CrashPoints(
        snapshot.workflow,
        snapshot.revision,
        snapshot.digest,
        paths,
        complete,
        len(fired),
        len(fired),
        sum(one.recovered for _, one in fired),
        tuple((node, label, count) for (node, label), count in counts.items()),
        tuple((one.point.node, one.point.place, one.labels, one.recovered) for _, one in fired),
        tuple(broken),
    )


def _broken(setup: Setup, input: JsonValue, one: Fired) -> Found:
    """A violation after a crash point, with the token of the nearest crash that leaves the same behind.

    Where a person left the branch later, the token stops at the crash before that.
    """
    world, point = setup.world, one.point
    first = one.violations[0]
    choices = point.choices
    for number, option in enumerate(world.options(point.atom.state)):
        lost = "claim loss" in one.labels and option.move.kind == "zombie"
        if lost or (option.cut == point.cut and option.outcome == point.atom.option.outcome):
            choices = (*choices, number)
            break
    return Found(first.invariant, first.message, setup.token(budget(1, {}), choices, input))


def run(setup: Setup, left: Budget, choices: Choices) -> Run:
    """One run with the given answers."""
    return simulate_world(setup.world, setup.world.start(left), choices)


def replay(setup: Setup, token: Token) -> Run:
    """The run of a token, again. Raises TokenError when the workflow changed or a choice does not fit."""
    if setup.snapshot.digest != token.digest:
        raise TokenError(
            f"{token.workflow} has changed since this token was made: its digest was {token.digest}, "
            f"it is {setup.snapshot.digest} now."
        )
    choices = Recorded(token.choices)
    try:
        return run(setup, token.budget, choices)
    except ChoiceError as error:
        raise TokenError(f"This token does not fit its workflow: {error}.") from None
