"""Band 09: steps and model turns. Each workflow is summed up once; mounts take the sum of their child."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf

from windtunnel.compiler.checks.turns import most_turns
from windtunnel.compiler.clauses import DEFAULT_NUDGES
from windtunnel.compiler.constants import constant
from windtunnel.compiler.graph import START
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Declaration, Kind, WorkflowId


@dataclass(frozen=True, slots=True)
class Cost:
    """The steps of one invocation: fewest to each exit, and most to any (None where a cycle repeats them)."""

    fewest: Mapping[str, int]
    most: int | None
    turns: float | None
    """Most turns of the model, nudges included, with the default values of limits; infinite where nothing
    bounds them, None where a bound has no number before the run.
    """


def check_costs(workflows: Mapping[WorkflowId, Typed]) -> Mapping[WorkflowId, Cost]:
    """Report `maxSteps` that no run, or not every run, can keep to; give the costs of each workflow."""
    costs: dict[WorkflowId, Cost] = {}
    for scope_id, typed in workflows.items():
        costs[scope_id] = cost = _cost(typed, costs)
        _check_max_steps(typed, cost)
        _check_budget(typed, cost)
    return costs


def _cost(typed: Typed, costs: Mapping[WorkflowId, Cost]) -> Cost:
    turns = most_turns(typed, {scope_id: cost.turns for scope_id, cost in costs.items()})
    return Cost(_fewest(typed, costs), _most(typed, costs), turns)


def steps_through(
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
            through = 0 if declaration is None else steps_through(typed, costs, declaration, arrow.route.way)
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
    ordered = graph.ordered()
    if ordered is None:
        return None
    longest: dict[str, int] = {}
    for node in ordered:
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


def _check_budget(typed: Typed, cost: Cost) -> None:
    setting = typed.scope.setting("budget turns")
    known = None if setting is None else constant(setting.value)
    if setting is None or known is None or not isinstance(known[0], int):
        return
    note = f"an agent that submits takes up to 1 + nudges turns, {1 + DEFAULT_NUDGES} when it says nothing"
    if cost.turns is None:
        return
    if cost.turns == inf:
        typed.scope.file.findings.add(
            "WT0903",
            "the budget cannot be kept: nothing bounds a cycle with an agent in it",
            setting.value.span,
            help="put `limit n then -> …` on an arrow of the cycle",
        )
    elif cost.turns > known[0]:
        typed.scope.file.findings.add(
            "WT0903",
            f"a run may take {int(cost.turns)} turns of the model, more than the budget of {known[0]}",
            setting.value.span,
            notes=[note],
        )


# --- steps --------------------------------------------------------------------------------------------------


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
            help="raise it, or leave it out: 100 is usual",
        )
    elif cost.most is not None and limit < cost.most:
        typed.scope.file.findings.add(
            "WT0902",
            f"`maxSteps` is {limit}, but a run may take {cost.most} steps",
            setting.value.span,
            help=f"nothing repeats here, so {cost.most} is enough for every run",
        )
