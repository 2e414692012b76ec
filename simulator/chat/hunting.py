"""A bounded search through the worlds of a setting, and the small worlds in which each seeded fault shows.

Breadth first by cost: all runs with one fault or queue-jump come before those with two. A state that was met
with at least as much budget left is not entered again. The first counterexample therefore has the fewest
deviations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from windtunnel.simulator.chat.chances import moves
from windtunnel.simulator.chat.client import Tab
from windtunnel.simulator.chat.endings import end_problems
from windtunnel.simulator.chat.happenings import after_move
from windtunnel.simulator.chat.host import Host
from windtunnel.simulator.chat.network import Move, Setting, World, first_world
from windtunnel.simulator.chat.properties import Problem, step_problems
from windtunnel.simulator.chat.server import Server

MAX_STEPS: Final = 2_000
"""The longest run, in moves; a longer one is reported as one that does not end."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A run that breaks a property: its moves by position in `moves`, the moves, and what is wrong."""

    choices: tuple[int, ...]
    path: tuple[Move, ...]
    problem: Problem


class Hunt(NamedTuple):
    """What a search found, and how much it saw. `complete` says that it saw every run within its bounds."""

    finding: Finding | None
    states: int
    transitions: int
    complete: bool


class Place(NamedTuple):
    """A state on the frontier, and the way there."""

    world: World
    budget: int
    way: Way | None
    depth: int


class Way(NamedTuple):
    """The choice that led here, and the way before it."""

    choice: int
    move: Move
    before: Way | None


class Interner:
    """Small numbers for the parts of worlds, equal for equal parts.

    Most parts are the very objects that the world before had, so they are known by their address; they are
    kept, which keeps the address theirs.
    """

    def __init__(self) -> None:
        self.known: dict[int, tuple[object, int]] = {}
        self.numbers: dict[object, int] = {}

    def number(self, part: object) -> int:
        """The number of a part; a large one is known by the numbers of its own parts."""
        known = self.known.get(id(part))
        if known is not None:
            return known[1]
        content = part
        if isinstance(part, World | Server | Host | Tab):
            content = (type(part), *(self.number(getattr(part, name)) for name in part.__slots__))
        elif isinstance(part, tuple):
            content = (tuple, *(self.number(each) for each in part))
        found = self.numbers.setdefault(content, len(self.numbers))
        self.known[id(part)] = (part, found)
        return found


def finding(way: Way | None, problem: Problem) -> Finding:
    """A counterexample from the end of a way."""
    choices: list[int] = []
    path: list[Move] = []
    while way is not None:
        choices.append(way.choice)
        path.append(way.move)
        way = way.before
    return Finding(tuple(reversed(choices)), tuple(reversed(path)), problem)


def hunt(setting: Setting, budget: int, max_states: int = 50_000) -> Hunt:
    """Search all runs of a setting with at most `budget` deviations."""
    interner = Interner()
    met: dict[int, int] = {}
    waves: list[deque[Place]] = [deque() for _ in range(budget + 1)]
    waves[0].append(Place(first_world(setting), budget, None, 0))
    transitions = 0
    for wave in waves:
        while wave:
            place = wave.popleft()
            key = interner.number(place.world)
            if met.get(key, -1) >= place.budget:
                continue
            met[key] = place.budget
            if len(met) > max_states:
                return Hunt(None, len(met), transitions, False)
            for next_place, problem in steps(place):
                transitions += 1
                if problem is not None:
                    return Hunt(finding(next_place.way, problem), len(met), transitions, False)
                waves[budget - next_place.budget].append(next_place)
    return Hunt(None, len(met), transitions, True)


def steps(place: Place) -> Iterator[tuple[Place, Problem | None]]:
    """All that can follow a place, each with what is wrong about it."""
    possible = moves(place.world, place.budget)
    if not possible:
        problem = next(end_problems(place.world), None)
        if problem is not None:
            yield place, problem
        return
    for choice, move in enumerate(possible):
        world = after_move(place.world, move)
        cost = 0 if move.kind is None else 1
        way = Way(choice, move, place.way)
        problem = next(step_problems(place.world, world), None)
        if problem is None and place.depth >= MAX_STEPS:
            problem = Problem("runs end", f"after {MAX_STEPS} moves something still happens")
        yield Place(world, place.budget - cost, way, place.depth + 1), problem


def follow(setting: Setting, choices: tuple[int, ...], budget: int) -> Finding | None:
    """One run by its choices, then the quiet way; what it breaks, if anything. A choice too high means the
    quiet way.
    """
    place = Place(first_world(setting), budget, None, 0)
    for number in range(MAX_STEPS):
        possible = moves(place.world, place.budget)
        if not possible:
            problem = next(end_problems(place.world), None)
            return None if problem is None else finding(place.way, problem)
        choice = choices[number] if number < len(choices) else 0
        choice = choice if choice < len(possible) else 0
        move = possible[choice]
        world = after_move(place.world, move)
        way = Way(choice, move, place.way)
        problem = next(step_problems(place.world, world), None)
        if problem is not None:
            return finding(way, problem)
        place = Place(world, place.budget - (move.kind is not None), way, place.depth + 1)
    return finding(place.way, Problem("runs end", f"after {MAX_STEPS} moves something still happens"))
