"""Band 09: steps and model turns. Each workflow is summed up once; mounts take the sum of their child."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from windtunnel.compiler.clauses import DEFAULT_NUDGES, clause
from windtunnel.compiler.constants import constant
from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.graph import START
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.paths import path_of
from windtunnel.compiler.resolver import Declaration, Kind, WorkflowId
from windtunnel.compiler.types import UNKNOWN, IntShape, LiteralShape, RecordShape, Shape, members
from windtunnel.dsl.syntax import AssistantOutput, Limit, Node


@dataclass(frozen=True, slots=True)
class Cost:
    """The steps of one invocation: fewest to each exit, and most to any (None where a cycle repeats them)."""

    fewest: Mapping[str, int]
    most: int | None
    turns: int | None
    """Most turns of the model, nudges included, with the default values of limits; None where nothing bounds
    it.
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
    return Cost(_fewest(typed, costs), _most(typed, costs), _turns(typed, costs))


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


# --- turns --------------------------------------------------------------------------------------------------


def _turns(typed: Typed, costs: Mapping[WorkflowId, Cost]) -> int | None:
    """The longest path where each cycle weighs its own longest path once more for each allowed repetition."""
    graph = typed.graph.digraph
    weights: dict[str, int] = {START: 0}
    for declaration in typed.scope.nodes:
        turns = _turns_of(declaration, costs)
        if turns is None:
            return None
        weights[declaration.name] = turns
    longest: dict[str, int] = {}
    for inside in reversed(graph.components()):
        own = _turns_inside(typed, inside, weights)
        if own is None:
            return None
        before = (other for node in inside for other in graph.predecessors(node) if other not in inside)
        total = own + max((longest[other] for other in before), default=0)
        longest.update(dict.fromkeys(inside, total))
    return max(longest.values(), default=0)


def _turns_of(declaration: Declaration, costs: Mapping[WorkflowId, Cost]) -> int | None:
    if declaration.kind is Kind.INCLUDE:
        child = costs.get(declaration.child) if declaration.child is not None else None
        return 0 if child is None else child.turns
    if declaration.kind is not Kind.AGENT or not isinstance(declaration.tree, Node):
        return 0
    output = clause(declaration.tree, "expectedOutput")
    if output is not None and isinstance(output.value, AssistantOutput):
        return 1
    nudges = clause(declaration.tree, "nudges")
    known = getattr(nudges.value, "value", None) if nudges is not None else None
    return 1 + (known if isinstance(known, int) else DEFAULT_NUDGES)


def _turns_inside(typed: Typed, inside: set[str], weights: Mapping[str, int]) -> int | None:
    """The turns of one component; None where a cycle in it has no limit but costs turns."""
    first = next(iter(inside))
    if len(inside) == 1 and not typed.graph.digraph.leads(first, first):
        return weights[first]
    if not any(weights[node] for node in inside):
        return 0
    rest = Digraph(inside)
    repetitions = 1
    for node in sorted(inside):
        for arrow in typed.graph.leaving[node]:
            goal = arrow.goal.node
            if goal is None or goal not in inside:
                continue
            limit = arrow.route.branches[arrow.branch].limit
            if limit is None or arrow.overflow:
                rest.add(node, goal)
                continue
            allowed = _usual_limit(typed, limit)
            if allowed is None:
                return None
            repetitions += allowed
    ordered = rest.ordered()
    if ordered is None:
        return None
    longest: dict[str, int] = {}
    for node in ordered:
        before = max((longest[other] for other in rest.predecessors(node)), default=0)
        longest[node] = weights[node] + before
    return repetitions * max(longest.values())


def _usual_limit(typed: Typed, limit: Limit) -> int | None:
    """A limit's number: as written, else the default of the input it reads, else its largest value."""
    path = path_of(limit.count, typed.scope, ())
    if path is not None and path.root == "input":
        shape: Shape = typed.scope.input
        default: str | None = None
        for name in path.fields:
            field = shape.field(name) if isinstance(shape, RecordShape) else None
            if field is None:
                break
            shape, default = field.shape, field.default
        value = None if default is None else json.loads(default)
        if isinstance(value, int):
            return value
    highest = 0
    for member in members(typed.limits.get(limit.count.span.start, UNKNOWN)):
        if isinstance(member, LiteralShape) and isinstance(member.value, int):
            highest = max(highest, member.value)
        elif isinstance(member, IntShape) and member.high is not None:
            highest = max(highest, member.high)
        else:
            return None
    return highest


def _check_budget(typed: Typed, cost: Cost) -> None:
    setting = typed.scope.setting("budget turns")
    known = None if setting is None else constant(setting.value)
    if setting is None or known is None or not isinstance(known[0], int):
        return
    note = f"an agent that submits takes up to 1 + nudges turns, {1 + DEFAULT_NUDGES} when it says nothing"
    if cost.turns is None:
        typed.scope.file.findings.add(
            "WT0903",
            "the budget cannot be kept: a cycle with an agent in it has no limit",
            setting.value.span,
            help="put `limit n then -> …` on an arrow of the cycle",
        )
    elif cost.turns > known[0]:
        typed.scope.file.findings.add(
            "WT0903",
            f"a run may take {cost.turns} turns of the model, more than the budget of {known[0]}",
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
        )
    elif cost.most is not None and limit < cost.most:
        typed.scope.file.findings.add(
            "WT0902",
            f"`maxSteps` is {limit}, but a run may take {cost.most} steps",
            setting.value.span,
            help=f"nothing repeats here, so {cost.most} is enough for every run",
        )
