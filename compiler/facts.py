"""What can be told of a workflow before it runs: what it costs, what people see, what guards its effects."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import networkx as nx

from windtunnel.compiler.bounds import Bound, Weigh, bounds, usual_number
from windtunnel.compiler.clauses import DEFAULT_NUDGES
from windtunnel.compiler.places import START, Places, places, reach
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    AssistantMessage,
    DecisionNode,
    ShellNode,
    Snapshot,
    SnapshotNode,
)


@dataclass(frozen=True, slots=True)
class Formula:
    """The bound of one workflow, at all mounts where it is the same; the root stands at the empty path."""

    workflow: str
    mounts: tuple[str, ...]
    bound: Bound


@dataclass(frozen=True, slots=True)
class Cost:
    """The most of something that one run takes: the bound of each workflow, the root's first."""

    formulas: tuple[Formula, ...]

    @property
    def whole(self) -> Bound:
        """The bound of the root."""
        return self.formulas[0].bound


@dataclass(frozen=True, slots=True)
class Guard:
    """An effect with the decisions that every path to it passes, each with the choices that lead on to it."""

    effect: str
    decisions: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Unrouted:
    """A node with the outcomes that end the whole run, since no route takes them."""

    node: str
    outcomes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it. `visible` counts the answers that people see in the chat.

    `presented` tells of one more at the end, which `visible_least` has already.
    """

    steps: Cost
    turns: Cost
    visible_least: int
    visible: Cost
    presented: bool
    guards: tuple[Guard, ...]
    unrouted: tuple[Unrouted, ...]


def facts(snapshot: Snapshot) -> Facts:
    """The facts of a compiled workflow and all it includes."""
    graph = places(snapshot)
    shown = 0 if snapshot.presentation is None else 1
    nodes = snapshot.nodes
    return Facts(
        steps=_cost(snapshot, lambda name: 1),
        turns=_cost(snapshot, lambda name: turns_of(nodes[name])),
        visible_least=_fewest_visible(snapshot, graph) + shown,
        visible=_cost(snapshot, lambda name: 1 if _is_visible(nodes[name]) else 0),
        presented=shown == 1,
        guards=_guards(snapshot, graph),
        unrouted=_unrouted(snapshot),
    )


def turns_of(node: SnapshotNode) -> int:
    """The most turns of the model that one visit takes: nudges are turns too."""
    if not isinstance(node, AgentNode):
        return 0
    if isinstance(node.expected_output, AssistantMessage):
        return 1
    return 1 + (DEFAULT_NUDGES if node.nudges is None else node.nudges)


def _is_visible(node: SnapshotNode) -> bool:
    return isinstance(node, AgentNode) and isinstance(node.expected_output, AssistantMessage)


def _cost(snapshot: Snapshot, weigh: Weigh) -> Cost:
    """What `weigh` comes to; `maxSteps` caps it, each step as heavy as the heaviest node below."""
    heaviest = {"": 0, **dict.fromkeys(snapshot.composition.mounts, 0)}
    for name in snapshot.nodes:
        scope = name.rpartition("/")[0]
        while True:
            heaviest[scope] = max(heaviest[scope], weigh(name))
            if not scope:
                break
            scope = scope.rpartition("/")[0]

    def cap(path: str) -> int | None:
        mount = snapshot.composition.mounts.get(path)
        steps = usual_number(snapshot, snapshot.max_steps if mount is None else mount.max_steps)
        return None if steps is None else steps * heaviest[path]

    found = bounds(snapshot, weigh, cap)
    grouped: dict[tuple[str, Bound], list[str]] = {}
    for path in sorted(found):
        mount = snapshot.composition.mounts.get(path)
        name = snapshot.workflow if mount is None else mount.workflow
        grouped.setdefault((name, found[path]), []).append(path)
    return Cost(tuple(Formula(name, tuple(paths), bound) for (name, bound), paths in grouped.items()))


def _fewest_visible(snapshot: Snapshot, graph: Places) -> int:
    """The fewest visible answers of a run that leaves by an exit."""
    waiting = [(0, START)]
    done: set[str] = set()
    while waiting:
        count, place = heappop(waiting)
        if place in done:
            continue
        done.add(place)
        if place.startswith(":exit "):
            return count
        for after in graph.get(place, ()):
            more = 1 if after in snapshot.nodes and _is_visible(snapshot.nodes[after]) else 0
            heappush(waiting, (count + more, after))
    return 0


# --- what guards effects ------------------------------------------------------------------------------------


def _guards(snapshot: Snapshot, graph: Places) -> tuple[Guard, ...]:
    """Every effect that can be reached, with the decisions on every path to it: its dominators."""
    effects = [
        name for name, node in sorted(snapshot.nodes.items()) if isinstance(node, ActionNode | ShellNode)
    ]
    if not effects:
        return ()
    whole: nx.DiGraph[str] = nx.DiGraph()
    whole.add_node(START)
    whole.add_edges_from((place, after) for place, follows in graph.items() for after in follows)
    above = nx.immediate_dominators(whole, START)
    ways = _Ways(snapshot, graph)
    found: list[Guard] = []
    for effect in effects:
        passed: list[tuple[str, tuple[str, ...]]] = []
        place = effect
        while (higher := above.get(place)) not in (None, place):
            place = str(higher)
            if isinstance(snapshot.nodes.get(place), DecisionNode) and (leading := ways.to(place, effect)):
                passed.append((place, leading))
        if effect in above:
            found.append(Guard(effect, tuple(reversed(passed))))
    return tuple(found)


class _Ways:
    """Which ways out of a decision lead on to what, before the decision is asked again."""

    def __init__(self, snapshot: Snapshot, graph: Places) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._reached: dict[str, dict[str, frozenset[str]]] = {}

    def to(self, decision: str, effect: str) -> tuple[str, ...]:
        """The ways that lead to the effect; none where all do, since then the decision does not guard it."""
        known = self._reached.get(decision)
        if known is None:
            known = self._reached[decision] = {
                place.partition("!")[2]: frozenset(reach(self._graph, [place], without=decision))
                for place in self._graph[decision]
            }
        leading = tuple(way for way, reached in known.items() if effect in reached)
        return () if len(leading) == len(known) else tuple(way.removeprefix("ok.") for way in leading)


# --- what ends a run ----------------------------------------------------------------------------------------


def _unrouted(snapshot: Snapshot) -> tuple[Unrouted, ...]:
    """Every node whose failure or timeout ends the run; what only computes, tells or waits has neither."""
    routed = {(edge.source, edge.on) for edge in snapshot.edges}
    found: list[Unrouted] = []
    for name, node in sorted(snapshot.nodes.items()):
        missing = tuple(outcome for outcome in _outcomes(node) if (name, outcome) not in routed)
        if missing:
            found.append(Unrouted(name, missing))
    return tuple(found)


def _outcomes(node: SnapshotNode) -> tuple[str, ...]:
    """The outcomes beside `ok` that a node can have and a route can take."""
    if isinstance(node, DecisionNode):
        return () if node.expires_ms is None else ("timed_out",)
    if isinstance(node, AgentNode | ActionNode | ShellNode):
        return ("failed",) if node.timeout_ms == "none" else ("failed", "timed_out")
    return ()
