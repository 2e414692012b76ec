"""Band 09: steps and model turns. Each workflow is summed up once, and mounts take the sum of their child."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

import networkx as nx

from windtunnel.compiler.constants import constant
from windtunnel.compiler.graph import START
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Declaration, Kind, Program, WorkflowId


@dataclass(frozen=True, slots=True)
class Cost:
    """The steps of one invocation: fewest to each exit, and most to any (None where a cycle repeats them)."""

    fewest: Mapping[str, int]
    most: int | None


def check_costs(program: Program, workflows: Mapping[WorkflowId, Typed]) -> None:
    """Report `maxSteps` that no run, or not every run, can keep to."""
    costs: dict[WorkflowId, Cost] = {}
    for scope_id, typed in workflows.items():
        costs[scope_id] = cost = _cost(typed, costs)
        _check_max_steps(typed, cost)


def _cost(typed: Typed, costs: Mapping[WorkflowId, Cost]) -> Cost:
    return Cost(_fewest(typed, costs), _most(typed, costs))


def _steps_through(
    typed: Typed, costs: Mapping[WorkflowId, Cost], declaration: Declaration, way: str | None
) -> int | None:
    """The fewest steps that passing a vertex takes; None where it cannot be passed that way."""
    if declaration.kind is not Kind.INCLUDE:
        return 1
    child = costs.get(declaration.child) if declaration.child is not None else None
    if child is None or way is None:
        return 0
    return child.fewest.get(way)


def _fewest(typed: Typed, costs: Mapping[WorkflowId, Cost]) -> dict[str, int]:
    """The fewest steps from the start to each exit; a mount weighs what its child takes."""
    best: dict[str, int] = {START: 0}
    exits: dict[str, int] = {}
    waiting: list[tuple[int, str]] = [(0, START)]
    done: set[str] = set()
    while waiting:
        steps, node = heappop(waiting)
        if node in done:
            continue
        done.add(node)
        declaration = typed.scope.lookup(node)
        for arrow in typed.graph.leaving[node]:
            through = 0 if declaration is None else _steps_through(typed, costs, declaration, arrow.route.way)
            if through is None:
                continue
            total = steps + through
            goal = arrow.goal
            if goal.exit is not None:
                exits[goal.exit] = min(total, exits.get(goal.exit, total))
            elif goal.node is not None and total < best.get(goal.node, total + 1):
                best[goal.node] = total
                heappush(waiting, (total, goal.node))
    return exits


def _most(typed: Typed, costs: Mapping[WorkflowId, Cost]) -> int | None:
    """The most steps of one invocation, where nothing repeats: the longest path of an acyclic graph."""
    graph = typed.graph.digraph
    if not nx.is_directed_acyclic_graph(graph):
        return None
    longest: dict[str, int] = {}
    for node in nx.topological_sort(graph):
        declaration = typed.scope.lookup(node)
        own = 0 if declaration is None else _most_of(declaration, costs)
        if own is None:
            return None
        longest[node] = own + max((longest[before] for before in graph.predecessors(node)), default=0)
    return max(longest.values(), default=0)


def _most_of(declaration: Declaration, costs: Mapping[WorkflowId, Cost]) -> int | None:
    if declaration.kind is not Kind.INCLUDE:
        return 1
    child = costs.get(declaration.child) if declaration.child is not None else None
    return None if child is None else child.most


def _check_max_steps(typed: Typed, cost: Cost) -> None:
    setting = typed.scope.setting("maxSteps")
    known = None if setting is None else constant(setting.value)
    if setting is None or known is None or not isinstance(known[0], int) or isinstance(known[0], bool):
        return
    limit = known[0]
    if limit < 1:
        typed.scope.file.findings.add("WT0904", f"`maxSteps` is at least 1, not {limit}", setting.value.span)
        return
    fewest = min(cost.fewest.values(), default=None)
    if fewest is not None and limit < fewest:
        typed.scope.file.findings.add(
            "WT0901",
            f"`maxSteps` is {limit}, but the shortest way to an exit takes {fewest} steps",
            setting.value.span,
        )
    elif cost.most is not None and limit < cost.most:
        typed.scope.file.findings.add(
            "WT0902",
            f"`maxSteps` is {limit}, but a run may take {cost.most} steps",
            setting.value.span,
            help=f"nothing repeats here, so {cost.most} is enough for every run",
        )
