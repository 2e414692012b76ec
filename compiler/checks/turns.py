"""Band 09: the most turns of the model that one invocation takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import inf
from typing import Final

from windtunnel.compiler.checks.counting import count_of, parts_of
from windtunnel.compiler.checks.loops import Step, counts_of, is_left, range_of
from windtunnel.compiler.clauses import DEFAULT_NUDGES, clause
from windtunnel.compiler.constants import constant
from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.graph import START, Route
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.paths import path_of
from windtunnel.compiler.resolver import Declaration, Kind, WorkflowId
from windtunnel.compiler.types import UNKNOWN, RecordShape, Shape, members
from windtunnel.dsl.syntax import AssistantOutput, Binary, Expr, Limit, Node

Turns = float | None
"""A number, infinite where nothing bounds it, None where a bound has no number before the run."""

COMPARED: Final = ("<", "<=", ">", ">=", "==", "!=")


def most_turns(typed: Typed, children: Mapping[WorkflowId, Turns]) -> Turns:
    """The longest path where each cycle weighs its own longest path once more for each allowed repetition."""
    graph = typed.graph.digraph
    weights: dict[str, float] = {START: 0}
    unknown = False
    for declaration in typed.scope.nodes:
        turns = _turns_of(declaration, children)
        unknown = unknown or turns is None
        weights[declaration.name] = 0 if turns is None else turns
    longest: dict[str, float] = {}
    for inside in reversed(graph.components()):
        own = _turns_inside(typed, inside, weights)
        unknown = unknown or own is None
        before = (other for node in inside for other in graph.predecessors(node) if other not in inside)
        total = (own or 0) + max((longest[other] for other in before), default=0)
        longest.update(dict.fromkeys(inside, total))
    most = max(longest.values(), default=0)
    return most if most == inf or not unknown else None


def _turns_of(declaration: Declaration, children: Mapping[WorkflowId, Turns]) -> Turns:
    if declaration.kind is Kind.INCLUDE:
        return 0 if declaration.child is None else children.get(declaration.child, 0)
    if declaration.kind is not Kind.AGENT or not isinstance(declaration.tree, Node):
        return 0
    output = clause(declaration.tree, "expectedOutput")
    if output is not None and isinstance(output.value, AssistantOutput):
        return 1
    nudges = clause(declaration.tree, "nudges")
    known = getattr(nudges.value, "value", None) if nudges is not None else None
    return 1 + (known if isinstance(known, int) else DEFAULT_NUDGES)


def _turns_inside(typed: Typed, inside: set[str], weights: Mapping[str, float]) -> Turns:
    """The turns of one component: its longest path, once more for each repetition that something allows."""
    first = next(iter(inside))
    if len(inside) == 1 and not typed.graph.digraph.leads(first, first):
        return weights[first]
    if not any(weights[node] for node in inside):
        return 0
    steps: list[Step] = []
    times: list[int | None] = [1]
    for node in sorted(inside):
        for arrow in typed.graph.leaving[node]:
            limit = arrow.route.branches[arrow.branch].limit
            if arrow.goal.node is None or arrow.goal.node not in inside:
                continue
            if limit is None or arrow.overflow:
                steps.append(Step(node, arrow.goal.node, arrow.route))
            else:
                times.append(_usual_limit(typed, limit))
    rest = Digraph(inside, ((step.source, step.goal) for step in steps))
    ordered = rest.ordered()
    if ordered is None:
        counted = _counted(typed, inside, steps)
        times += counted.values()
        rest = Digraph(inside, ((s.source, s.goal) for s in steps if s.route.index not in counted))
        ordered = rest.ordered()
    if ordered is None:
        return inf
    if None in times:
        return None
    longest: dict[str, float] = {}
    for node in ordered:
        before = max((longest[other] for other in rest.predecessors(node)), default=0)
        longest[node] = weights[node] + before
    return sum(each or 0 for each in times) * max(longest.values())


# --- how often ----------------------------------------------------------------------------------------------


def _counted(typed: Typed, inside: set[str], steps: list[Step]) -> dict[int, int | None]:
    """The routes that a count of visits surely leads out of a cycle, each with its number."""
    found: dict[int, int | None] = {}
    for route in (route for node in sorted(inside) for route in typed.graph.routes_of[node]):
        counts = counts_of(typed, route)
        if any(is_left(typed, steps, inside, route, count) for count in counts):
            found[route.index] = _most_visits(typed, route)
    return found


def _most_visits(typed: Typed, route: Route) -> int | None:
    """How often a match may stay, by the largest number that a count is compared with in what it reads."""
    assert route.match is not None, "only a match counts"
    known: list[int | None] = []
    for part in parts_of(typed, route.match.subject, route.source):
        if not isinstance(part, Binary) or part.operator not in COMPARED:
            continue
        counts = [count_of(side) is not None for side in (part.left, part.right)]
        if sum(counts) == 1:
            number = _usual_number(typed, part.right if counts[0] else part.left, None)
            once_more = part.operator in ((">", "<=") if counts[0] else ("<", ">="))
            known.append(number if number is None or once_more else number - 1)
    return None if not known or None in known else max(number or 0 for number in known)


def _usual_limit(typed: Typed, limit: Limit) -> int | None:
    return _usual_number(typed, limit.count, typed.limits.get(limit.count.span.start, UNKNOWN))


def _usual_number(typed: Typed, expr: Expr, known: Shape | None) -> int | None:
    """A number as written, else the default of the input it reads, else the largest of its shape."""
    written = constant(expr)
    if written is not None:
        return written[0] if isinstance(written[0], int) else None
    path = path_of(expr, typed.scope, ())
    if path is not None and path.root == "input":
        shape: Shape = typed.scope.input
        default: str | None = None
        for name in path.fields:
            field = shape.field(name) if isinstance(shape, RecordShape) else None
            if field is None:
                return None
            shape, default = field.shape, field.default
        value = None if default is None else json.loads(default)
        if isinstance(value, int):
            return value
        known = shape if known is None else known
    highest = [range_of(member)[1] for member in members(known)] if known is not None else []
    return None if not highest or None in highest else int(max(high for high in highest if high is not None))
