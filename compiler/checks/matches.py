"""Band 03: matches that miss a case or have one too many, and loops that nothing bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from windtunnel.compiler.checks.structure import trapped
from windtunnel.compiler.description import describe
from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.flow import MAX_SHOWN
from windtunnel.compiler.graph import Branch, Route
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.narrowing import equal_to
from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.sites import expressions_of
from windtunnel.compiler.types import (
    BoolShape,
    IntShape,
    ListShape,
    LiteralShape,
    MapShape,
    NeverShape,
    NullShape,
    RecordShape,
    Scalar,
    Shape,
    UnknownShape,
    literal,
    members,
)
from windtunnel.dsl.diagnostics import Fix
from windtunnel.dsl.spelling import nearest, suggestion
from windtunnel.dsl.syntax import Call, Expr, Let, LiteralType, Ref, walk

Case = Scalar | None


def check_matches(typed: Typed) -> None:
    """Report missing, impossible and repeated cases, limits that are none, and cycles without a bound."""
    for route in typed.graph.routes:
        if route.match is not None:
            _check_match(typed, route, typed.subjects.get(route.index))
    _check_limits(typed)
    _check_cycles(typed)


# --- cases --------------------------------------------------------------------------------------------------


def _check_match(typed: Typed, route: Route, subject: Shape | None) -> None:
    _check_repeated(typed, route)
    if subject is None or isinstance(subject, UnknownShape | NeverShape):
        return
    findings = typed.scope.file.findings
    match = route.match
    assert match is not None, "only a route with a match is checked"
    odd = [m for m in members(subject) if isinstance(m, RecordShape | ListShape | MapShape)]
    if odd:
        findings.add(
            "WT0305",
            f"a match chooses by text, a number, true, false or null, not by {describe(odd[0])}",
            match.subject.span,
            help="match one of its fields",
        )
        return
    domain = finite(subject)
    _check_impossible(typed, route, subject, domain)
    has_else = any(arm.is_else for arm in match.arms)
    given = {_key(pattern.value) for arm in match.arms for pattern in arm.patterns}
    if domain is None:
        if not has_else:
            findings.add(
                "WT0301",
                f"{describe(subject)} has more values than these cases",
                match.subject.span,
                help="add `else -> …`",
            )
        return
    missing = [case for case in domain if _key(case) not in given]
    if missing and not has_else:
        listed = ", ".join(f"`{_written(case)}`" for case in missing)
        findings.add(
            "WT0301",
            f"no arm for {listed}",
            match.subject.span,
            help=f"add `{' | '.join(_written(case) for case in missing)} -> …`, or `else -> …`",
        )
    if not missing and has_else:
        arm = next(arm for arm in match.arms if arm.is_else)
        findings.add("WT0304", "the other arms take every case, so `else` is never taken", arm.span)
    goals = {branch.goal.words for branch in route.branches}
    whole = len(route.branches) == len(match.arms) > 1 and not any(b.limit for b in route.branches)
    if whole and len(goals) == 1:
        findings.add("WT0306", f"every case goes to `{goals.pop()}`", match.subject.span)


def finite(shape: Shape) -> list[Case] | None:
    """All values of a shape, when it has only a few."""
    found: list[Case] = []
    for member in members(shape):
        match member:
            case LiteralShape():
                found.append(member.value)
            case BoolShape():
                found += [True, False]
            case NullShape():
                found.append(None)
            case NeverShape():
                continue
            case _:
                return None
    return found


def _key(case: Case) -> tuple[str, Case]:
    if case is None:
        return ("null", None)
    shape = literal(case)
    return (shape.kind, shape.value)


def _written(case: Case) -> str:
    return "null" if case is None else describe(literal(case))


def _patterns(route: Route) -> Iterator[LiteralType]:
    assert route.match is not None, "only a route with a match has patterns"
    for arm in route.match.arms:
        yield from arm.patterns


def _check_repeated(typed: Typed, route: Route) -> None:
    findings = typed.scope.file.findings
    first: dict[tuple[str, Case], LiteralType] = {}
    for pattern in _patterns(route):
        known = first.setdefault(_key(pattern.value), pattern)
        if known is not pattern:
            findings.add(
                "WT0303",
                f"`{_written(pattern.value)}` has an arm already",
                pattern.span,
                secondary=[(known.span, "the first one")],
            )
    assert route.match is not None, "only a route with a match has arms"
    others = [arm for arm in route.match.arms if arm.is_else]
    for arm in others[1:]:
        findings.add(
            "WT0303", "a match has one `else`", arm.span, secondary=[(others[0].span, "the first one")]
        )


def _check_impossible(typed: Typed, route: Route, subject: Shape, domain: list[Case] | None) -> None:
    texts = [case for case in domain or () if isinstance(case, str)]
    for pattern in _patterns(route):
        if not isinstance(equal_to(pattern.value)(subject), NeverShape):
            continue
        near = nearest(pattern.value, texts) if isinstance(pattern.value, str) else ()
        findings = typed.scope.file.findings
        fixes: tuple[Fix, ...] = ()
        if len(near) == 1:
            fixes = (findings.replacing(f'write "{near[0]}"', pattern.span, f'"{near[0]}"'),)
        findings.add(
            "WT0302",
            f"`{_written(pattern.value)}` is never the case: the value is {describe(subject)}",
            pattern.span,
            help=suggestion(tuple(f'"{name}"' for name in near)),
            fixes=fixes,
        )


# --- limits and cycles --------------------------------------------------------------------------------------


def _check_limits(typed: Typed) -> None:
    for branch in _limited(typed):
        assert branch.limit is not None, "only limited branches are checked"
        count = branch.limit.count
        shape = typed.limits.get(count.span.start)
        if shape is None:
            continue
        for member in members(shape):
            low, high = _bounds(member)
            if low is None or (low >= 1 and high is not None):
                continue
            if isinstance(member, LiteralShape):
                message = f"a limit is at least 1, not {describe(member)}"
            else:
                message = f"a limit is surely at least 1 and has a largest value, unlike {describe(member)}"
            typed.scope.file.findings.add(
                "WT0310", message, count.span, help="bound the type, as in `int(1..20)`"
            )


def _bounds(member: Shape) -> tuple[float | None, float | None]:
    """The range of a whole number; no range for what is reported as being none."""
    if isinstance(member, LiteralShape) and isinstance(member.value, int):
        return member.value, member.value
    if isinstance(member, IntShape):
        return (float("-inf") if member.low is None else member.low), member.high
    return None, None


def _limited(typed: Typed) -> Iterator[Branch]:
    for route in typed.graph.routes:
        for branch in route.branches:
            if branch.limit is not None:
                yield branch


def _check_cycles(typed: Typed) -> None:
    """A cycle is bounded by a limit on an arrow, by a person in it, or by what counts visits in it."""
    waiting = {d.name for d in typed.scope.nodes if d.kind in (Kind.DECISION, Kind.CHECKPOINT)}
    stuck = set(trapped(typed))
    graph = Digraph(node for node in typed.graph.nodes if node not in waiting and node not in stuck)
    for arrow in typed.graph.arrows:
        goal = arrow.goal.node
        bounded = arrow.route.branches[arrow.branch].limit is not None and not arrow.overflow
        if goal is not None and not bounded and goal in graph and arrow.source in graph:
            graph.add(arrow.source, goal)
    order = {node: index for index, node in enumerate(typed.graph.nodes)}
    for component in sorted(graph.loops(), key=lambda c: min(order[n] for n in c)):
        if component & _counted(typed, component):
            continue
        first = min(component, key=lambda node: order[node])
        cycle = _shortest_cycle(graph.within(component), first)
        declaration = typed.scope.lookup(first)
        assert declaration is not None, "vertices of the graph are declared"
        typed.scope.file.findings.add(
            "WT0309",
            f"nothing bounds the cycle {' → '.join(cycle)}",
            declaration.tree.name.span,
            help="put `limit n then -> …` on one of its arrows, or let a node decide by `visits(…)`",
        )


def _shortest_cycle(graph: Digraph, first: str) -> list[str]:
    """A shortest way from a vertex of a component back to it, its middle counted when it is long."""
    parents: dict[str, str] = {}
    queue = deque([first])
    while first not in parents:
        here = queue.popleft()
        for after in sorted(graph.successors(here)):
            if after not in parents:
                parents[after] = here
                queue.append(after)
    steps = [first]
    while len(steps) == 1 or steps[-1] != first:
        steps.append(parents[steps[-1]])
    steps.reverse()
    half = MAX_SHOWN // 2
    middle = f"… {len(steps) - MAX_SHOWN} more …"
    return steps if len(steps) <= MAX_SHOWN else [*steps[:half], middle, *steps[-half:]]


def _counted(typed: Typed, component: set[str]) -> set[str]:
    """The nodes whose visits some node of the component, or an edge from it, reads."""
    found: set[str] = set()
    for name in component:
        declaration = typed.scope.lookup(name)
        if declaration is not None:
            for expr in expressions_of(declaration.tree):
                found |= _visits_in(typed, expr)
    for route in typed.graph.routes:
        if route.source in component and route.match is not None:
            found |= _visits_in(typed, route.match.subject)
    return found


def _visits_in(typed: Typed, expr: Expr) -> set[str]:
    found: set[str] = set()
    seen: set[str] = set()
    stack = [expr]
    while stack:
        for part in walk(stack.pop()):
            if isinstance(part, Call) and part.function.text == "visits" and part.arguments:
                node = part.arguments[0]
                found |= {node.name} if isinstance(node, Ref) else set()
            elif isinstance(part, Ref) and part.name not in seen:
                seen.add(part.name)
                declaration = typed.scope.lookup(part.name)
                if declaration is not None and isinstance(declaration.tree, Let):
                    stack.append(declaration.tree.value)
    return found
