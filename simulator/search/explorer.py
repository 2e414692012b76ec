"""Breadth first through every schedule within a budget, so that the first counterexample is a shortest one.

States are remembered by a 64-bit fingerprint of their numbers; whole states live only on the frontier, the
way back is a parent and a choice. Two states fall together by chance with a probability below n²/2⁶⁵.

Beside what the watcher notices, three things end badly: a state in which nothing goes on by itself although
the run has not ended, a circle of quiet moves that never ends, and a state whose quiet way leads into either.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from windtunnel.simulator.invariants import STUCK, Violation, stuck
from windtunnel.simulator.world import BUDGET, OUTSIDE, STORE, WATCH, State, World

MAX_STATES: Final = 500_000
"""States after which a search gives up and says so, unless more are asked for."""

NOWHERE: Final = 0xFFFF_FFFF
"""No state: the parent of the start, the quiet way of an end."""

FAILED: Final = frozenset({"failed", "timed_out"})
"""How a run ends that reached no exit although nobody cancelled it."""

Progress = Callable[[int, int, int], None]
"""Called now and then with states, transitions and frontier."""

PROGRESS_EVERY: Final = 4_096


class Failure(NamedTuple):
    """A run that ended without reaching an exit, and whether a fault was spent.

    `node` is the one whose failure was not routed, and `outcome` how it ended; both are empty where no node
    failed: the run had taken too many steps, say.
    """

    status: str
    node: str
    outcome: str
    fault: bool


@dataclass(slots=True)
class Search:
    """What a search found. A state's number is its place in `parents`; `quiet` is where it goes by itself.

    `failures` holds the first, and so nearest, state in which a run has failed in each way; `doubled` the
    first state and choice by which an effect without a key, by its node, was applied and then forgotten.
    """

    visited: dict[object, int] = field(default_factory=dict)
    parents: array[int] = field(default_factory=lambda: array("I"))
    choices: array[int] = field(default_factory=lambda: array("H"))
    quiet: array[int] = field(default_factory=lambda: array("I"))
    exact: bool = False
    transitions: int = 0
    ends: int = 0
    complete: bool = True
    found: list[tuple[Violation, int, int]] = field(default_factory=list)
    failures: dict[Failure, int] = field(default_factory=dict)
    doubled: dict[str, tuple[int, int]] = field(default_factory=dict)

    def seen(self, state: State) -> bool:
        """Whether the search came through a state."""
        return (state if self.exact else hash(state)) in self.visited

    @property
    def collision_bound(self) -> float:
        """An upper bound of the chance that two states fell together: n²/2⁶⁵; 0 where whole states are
        kept.
        """
        return 0.0 if self.exact else self.states**2 / 2**65

    @property
    def schedules(self) -> int:
        """Runs that were tried; one that reaches a state that is known counts as tried from there on."""
        return self.ends + self.transitions - (len(self.parents) - 1)

    @property
    def states(self) -> int:
        """How many different states there are."""
        return len(self.parents)

    def path(self, number: int) -> tuple[int, ...]:
        """The choices that lead from the start to a state."""
        taken: list[int] = []
        while self.parents[number] != NOWHERE:
            taken.append(self.choices[number])
            number = self.parents[number]
        return tuple(reversed(taken))

    def ways(self, violation: tuple[Violation, int, int]) -> tuple[int, ...]:
        """The choices of a violation: to its state, and the one that broke it (none where staying breaks
        it).
        """
        _, number, choice = violation
        path = self.path(number)
        return path if choice < 0 else (*path, choice)


def search(
    world: World,
    start: State,
    *,
    most: int = MAX_STATES,
    exact: bool = False,
    progress: Progress | None = None,
) -> Search:
    """Every state that the start's budget allows, or about the first `most` of them.

    `exact` keeps whole states instead of fingerprints.
    """
    collecting = gc.isenabled()
    gc.disable()  # Nothing here is cyclic, and the collector would walk millions of tuples.
    try:
        result = _breadth_first(world, start, most, Search(exact=exact), progress)
    finally:
        if collecting:
            gc.enable()
    _find_circles(result)
    return result


def _breadth_first(
    world: World, start: State, most: int, result: Search, progress: Progress | None
) -> Search:
    exact = result.exact
    visited, parents, choices, quiet = result.visited, result.parents, result.choices, result.quiet
    visited[start if exact else hash(start)] = 0
    parents.append(NOWHERE)
    choices.append(0)
    quiet.append(NOWHERE)
    frontier: list[tuple[int, State]] = [(0, start)]
    broken: set[str] = set()
    while frontier:
        following: list[tuple[int, State]] = []
        for number, state in frontier:
            options = world.options(state)
            result.transitions += len(options)
            for choice, option in enumerate(options):
                if option.cut is not None and option.move.handler == "outside":
                    _note_doubled(result, world, number, choice, state, option.cut.done)
                if option.violations:
                    _note(result, broken, option.violations, number, choice)
                    continue
                after = option.state
                print_: object = after if exact else hash(after)
                known = visited.get(print_)
                if known is None:
                    known = visited[print_] = len(parents)
                    parents.append(number)
                    choices.append(choice)
                    quiet.append(NOWHERE)
                    following.append((known, after))
                    if after[STORE] != state[STORE]:
                        _note_failure(result, world, known, state, after, start[BUDGET])
                if choice == 0 and not option.move.kind and option.cut is None:
                    quiet[number] = known
            if quiet[number] == NOWHERE and not (options and options[0].violations):
                _note_end(result, broken, world, number, state)
            if progress is not None and number % PROGRESS_EVERY == 0:
                progress(len(parents), result.transitions, len(following))
        if len(parents) > most:
            result.complete = False
            break
        frontier = following
    return result


def _note(
    result: Search, broken: set[str], violations: tuple[Violation, ...], number: int, choice: int
) -> None:
    """Keep the first, and so shortest, violation of each invariant."""
    first = violations[0]
    if first.invariant not in broken:
        broken.add(first.invariant)
        result.found.append((first, number, choice))


def _note_end(result: Search, broken: set[str], world: World, number: int, state: State) -> None:
    result.ends += 1
    violation = None if world.waits_for_value(state) else stuck(world.watches.values[state[WATCH]])
    if violation is not None:
        _note(result, broken, (violation,), number, -1)


def _note_failure(
    result: Search, world: World, number: int, before: State, after: State, budget: int
) -> None:
    """Keep the first way to a run that has just failed, by the node whose end was not routed."""
    stores = world.stores.values
    status = stores[after[STORE]].position.status
    position = stores[before[STORE]].position
    if status in FAILED and position.status not in FAILED:
        ended = position.phase == "ended" and position.outcome != "ok"
        node, outcome = (position.node, position.outcome) if ended else ("", "")
        result.failures.setdefault(Failure(status, node, outcome, after[BUDGET] != budget), number)


def _note_doubled(result: Search, world: World, number: int, choice: int, state: State, done: int) -> None:
    """Keep the first crash right after an effect that nobody outside will recognise when it comes again."""
    call = world.outsides.values[state[OUTSIDE]].call
    if done and call is not None and call.key is None:
        result.doubled.setdefault(call.question.node, (number, choice))


def _find_circles(result: Search) -> None:
    """Quiet moves must lead to an end from everywhere; what goes in circles for ever is stuck as well."""
    known = any(violation.invariant == STUCK for violation, _, _ in result.found)
    fate = bytearray(result.states)  # 0 unknown, 1 on the way being walked, 2 known to end
    for start in range(result.states):
        walked = []
        at = start
        while at != NOWHERE and fate[at] == 0:
            fate[at] = 1
            walked.append(at)
            at = result.quiet[at]
        if at != NOWHERE and fate[at] == 1 and result.complete and not known:
            known = True
            message = "the run goes in circles for ever though nothing goes wrong any more"
            result.found.append((Violation(STUCK, message), at, -1))
        for number in walked:
            fate[number] = 2
