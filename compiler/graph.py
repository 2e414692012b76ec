"""The graph of one workflow, as data: which arrow leads from what to what.

Nodes and mounts are vertices by name; an arrow leaves a vertex after an outcome (`ok` by a way out where it
has several) and enters a vertex or an exit. Routes group the arrows that share one end, as the snapshot
does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from windtunnel.compiler.digraph import Digraph
from windtunnel.dsl.syntax import Arm, Limit, Match, Span

START: Final = "start"
"""The vertex before the first node; no declaration can have this name."""

Outcome: TypeAlias = Literal["ok", "failed", "timed_out"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("ok", "failed", "timed_out")
ON: Final[dict[str, tuple[Outcome, ...]]] = {
    "failed": ("failed",),
    "timed_out": ("timed_out",),
    "any": ("failed", "timed_out"),
}
"""What may stand behind `on`. Cancellation is never routed, and `ok` needs no `on`."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Where an arrow leads: a vertex, or an exit of this workflow."""

    node: str | None
    exit: str | None
    span: Span

    @property
    def words(self) -> str:
        """As it is written."""
        return f"exit {self.exit}" if self.node is None else self.node


@dataclass(frozen=True, slots=True)
class Branch:
    """One way on of a route: the cases it takes (None for `else` and without a match), its goal and its
    limit.
    """

    cases: tuple[str | int | float | bool | None, ...] | None
    goal: Goal
    limit: Limit | None
    overflow: Goal | None
    arm: Arm | None
    span: Span


@dataclass(frozen=True, slots=True)
class Route:
    """All that can follow one end of one vertex; `way` is an exit of a mount or a choice of a decision."""

    index: int
    source: str
    way: str | None
    outcome: Outcome
    match: Match | None
    branches: tuple[Branch, ...]
    span: Span

    @property
    def words(self) -> str:
        """The end it starts from, as a person would say it."""
        name = f"{self.source}.{self.way}" if self.way is not None else self.source
        return name if self.outcome == "ok" else f"{name} ({self.outcome})"


@dataclass(frozen=True, slots=True)
class Arrow:
    """One possible transition: a branch of a route, or what follows when the branch's limit is reached.

    It leaves the vertex `source` and leads to `goal`.
    """

    route: Route
    branch: int
    overflow: bool
    goal: Goal
    source: str


@dataclass(frozen=True)
class Graph:
    """The arrows of one workflow; `nodes` in source order, without START."""

    nodes: tuple[str, ...]
    routes: tuple[Route, ...]
    loose: frozenset[str] = frozenset()
    """Vertices that a broken line may have entered: nothing is said about how they are reached."""
    open: frozenset[str] = frozenset()
    """Vertices that a broken line may have left: nothing is said about what is missing after them."""

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        """Every possible transition, in source order."""
        found: list[Arrow] = []
        for route in self.routes:
            for index, branch in enumerate(route.branches):
                found.append(Arrow(route, index, False, branch.goal, route.source))
                if branch.overflow is not None:
                    found.append(Arrow(route, index, True, branch.overflow, route.source))
        return tuple(found)

    @cached_property
    def leaving(self) -> Mapping[str, tuple[Arrow, ...]]:
        """The arrows that leave each vertex, START included."""
        found: dict[str, list[Arrow]] = {START: [], **{node: [] for node in self.nodes}}
        for arrow in self.arrows:
            found[arrow.source].append(arrow)
        return {node: tuple(arrows) for node, arrows in found.items()}

    @cached_property
    def entering(self) -> Mapping[str, tuple[Arrow, ...]]:
        """The arrows that enter each vertex."""
        found: dict[str, list[Arrow]] = {node: [] for node in self.nodes}
        for arrow in self.arrows:
            if arrow.goal.node is not None:
                found[arrow.goal.node].append(arrow)
        return {node: tuple(arrows) for node, arrows in found.items()}

    @cached_property
    def exits(self) -> Mapping[str, tuple[Arrow, ...]]:
        """The arrows that enter each exit, by its name, in source order."""
        found: dict[str, list[Arrow]] = {}
        for arrow in self.arrows:
            if arrow.goal.exit is not None:
                found.setdefault(arrow.goal.exit, []).append(arrow)
        return {name: tuple(arrows) for name, arrows in found.items()}

    @cached_property
    def digraph(self) -> Digraph:
        """The vertices and who follows whom, START included, exits left out."""
        arrows = ((arrow.source, arrow.goal.node) for arrow in self.arrows)
        return Digraph((START, *self.nodes), ((one, other) for one, other in arrows if other is not None))

    @cached_property
    def routes_of(self) -> Mapping[str, tuple[Route, ...]]:
        """The routes that start from each vertex, START included."""
        found: dict[str, list[Route]] = {START: [], **{node: [] for node in self.nodes}}
        for route in self.routes:
            found[route.source].append(route)
        return {node: tuple(routes) for node, routes in found.items()}

    def route(self, source: str, way: str | None, outcome: Outcome) -> Route | None:
        """The route that starts from that end."""
        return self._by_end.get((source, way, outcome))

    @cached_property
    def _by_end(self) -> dict[tuple[str, str | None, Outcome], Route]:
        return {(route.source, route.way, route.outcome): route for route in self.routes}
