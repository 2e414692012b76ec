"""Band 03: limits that are none, cycles that nothing bounds, cycles that change nothing they depend on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from windtunnel.compiler.checks.counting import Count, count_of, leads_to, parts_of, subject_reads
from windtunnel.compiler.checks.structure import trapped
from windtunnel.compiler.description import describe
from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.flow import MAX_SHOWN
from windtunnel.compiler.graph import Branch, Route
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.types import IntShape, LiteralShape, Shape, members
from windtunnel.dsl.syntax import Call, Compute, Ref

WAITING: Final = (Kind.DECISION, Kind.CHECKPOINT)
"""Nodes that wait for a person: who is asked each time round can end the cycle."""


class Step(NamedTuple):
    """An arrow that a cycle can be made of."""

    source: str
    goal: str
    route: Route


def check_loops(typed: Typed) -> None:
    """Report limits that are no numbers of times, and cycles that do not end by themselves."""
    _check_limits(typed)
    if typed.graph.digraph.loops():
        caught = set(trapped(typed))
        stuck = _check_progress(typed, caught)
        _check_cycles(typed, caught, stuck)


# --- limits -------------------------------------------------------------------------------------------------


def _check_limits(typed: Typed) -> None:
    for branch in _limited(typed):
        assert branch.limit is not None, "only limited branches are checked"
        count = branch.limit.count
        shape = typed.limits.get(count.span.start)
        if shape is None:
            continue
        for member in members(shape):
            low, high = range_of(member)
            if low is None or (low >= 1 and high is not None):
                continue
            help = "bound the type, as in `int(1..20)`"
            if isinstance(member, LiteralShape):
                message = f"a limit is at least 1, not {describe(member)}"
                help = "where the arrow is never to be taken, lead it to what stands behind `then`"
            else:
                message = f"a limit is surely at least 1 and has a largest value, unlike {describe(member)}"
            typed.scope.file.findings.add("WT0310", message, count.span, help=help)


def range_of(member: Shape) -> tuple[float | None, float | None]:
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


# --- bounds -------------------------------------------------------------------------------------------------


def _check_cycles(typed: Typed, caught: set[str], stuck: set[str]) -> None:
    """A cycle is bounded by a limit on an arrow, by a person in it, or by a match that surely leaves it."""
    steps = _unlimited(typed, caught)
    order = {node: index for index, node in enumerate(typed.graph.nodes)}
    inside = {vertex for component in _graph(steps).loops() for vertex in component}
    routes = [route for vertex in sorted(inside) for route in typed.graph.routes_of[vertex]]
    counted = {route.index: counts for route in routes if (counts := counts_of(typed, route))}
    bounded: set[int] = set()
    while True:
        graph = _graph(step for step in steps if step.route.index not in bounded)
        components = graph.loops()
        around = {vertex: component for component in components for vertex in component}
        found = {
            route.index
            for route in routes
            if route.index in counted
            and route.source in around
            and any(
                is_left(typed, steps, around[route.source], route, count) for count in counted[route.index]
            )
        }
        if not found - bounded:
            break
        bounded |= found
    for component in sorted(components, key=lambda c: min(order[n] for n in c)):
        reading = [route.index for node in component for route in typed.graph.routes_of[node]]
        read = {count.node for index in reading for count in counted.get(index, ())}
        if component <= stuck or any(typed.scope.lookup(node) is None for node in read):
            continue  # It is said already why the match stays as it is, or that it counts nothing of here.
        matches = (route.match for node in component for route in typed.graph.routes_of[node])
        if any(match is not None and typed.scope.file.module.has_hole(match.span) for match in matches):
            continue  # What was not read of a match may leave the cycle.
        first = min(component, key=lambda node: order[node])
        cycle = _shortest_cycle(graph.within(component), first)
        declaration = typed.scope.lookup(first)
        assert declaration is not None, "vertices of the graph are declared"
        typed.scope.file.findings.add(
            "WT0309",
            f"nothing bounds the cycle {' → '.join(cycle)}",
            declaration.tree.name.span,
            notes=[
                f"a match reads `visits({node})`, but it need not leave the cycle by it"
                for node in sorted(read)
            ],
            help="put `limit n then -> …` on one of its arrows, or leave it by a match of a `let` such "
            f"as `let enough = visits({first}) >= 3`",
        )


def _unlimited(typed: Typed, caught: set[str]) -> list[Step]:
    """The arrows that can be taken again and again without asking a person."""
    outside = caught.union(d.name for d in typed.scope.nodes if d.kind in WAITING)
    steps: list[Step] = []
    for arrow in typed.graph.arrows:
        goal = arrow.goal.node
        limited = arrow.route.branches[arrow.branch].limit is not None and not arrow.overflow
        if goal is not None and not limited and goal not in outside and arrow.source not in outside:
            steps.append(Step(arrow.source, goal, arrow.route))
    return steps


def _graph(steps: Iterable[Step]) -> Digraph:
    return Digraph((), ((step.source, step.goal) for step in steps))


def counts_of(typed: Typed, route: Route) -> list[Count]:
    """The counts that the match of a route depends on."""
    if route.match is None:
        return []
    found = (count_of(part) for part in subject_reads(typed, route))
    return list(dict.fromkeys(count for count in found if count is not None))


def is_left(typed: Typed, steps: list[Step], component: set[str], route: Route, count: Count) -> bool:
    """Whether a match surely leads out of a component once a count is large, and the count surely grows."""
    if count.node not in component:
        return False
    leaving = leads_to(typed, route, count, component)
    if leaving is None or any(route.branches[index].goal.node in component for index in leaving):
        return False
    if count.node == route.source and count.outcome in (None, route.outcome):
        return True

    def counts(step: Step) -> bool:
        return step.source == count.node and count.outcome in (None, step.route.outcome)

    rest = _graph(s for s in steps if s.source in component and s.goal in component and not counts(s))
    return not any(route.source in cycle for cycle in rest.loops())


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


# --- progress -----------------------------------------------------------------------------------------------


def _check_progress(typed: Typed, caught: set[str]) -> set[str]:
    """Report cycles that are left by a match of something that is computed in them and cannot change.

    Matching what lies outside, as in `match input.mode`, repeats on purpose. Returns the vertices of the
    cycles that are reported.
    """
    if typed.graph.open or typed.graph.loose:
        return set()
    order = {node: index for index, node in enumerate(typed.graph.nodes)}
    steps = [
        Step(a.source, a.goal.node, a.route)
        for a in typed.graph.arrows
        if a.goal.node is not None and not a.overflow
    ]
    stuck: set[str] = set()
    for component in sorted(_graph(steps).loops(), key=lambda c: min(order[n] for n in c)):
        if component & caught:
            continue
        around = [route for node in component for route in typed.graph.routes_of[node]]
        leaving = [
            route
            for route in sorted(around, key=lambda route: route.index)
            if route.outcome == "ok" and any(b.goal.node not in component for b in route.branches)
        ]
        if leaving and all(route.match is not None and route.way is None for route in leaving):
            _check_change(typed, component, leaving, stuck)
    return stuck


def _check_change(typed: Typed, component: set[str], leaving: list[Route], stuck: set[str]) -> None:
    changing = _changing(typed, component)
    fixed: list[tuple[Route, str]] = []
    for route in leaving:
        names = _reads(typed, route)
        if names is None or names & changing:
            return
        fixed += [(route, name) for name in sorted(names & component)]
    if not fixed:
        return
    stuck |= component
    route, name = fixed[0]
    declaration = typed.scope.lookup(name)
    assert route.match is not None, "only matches are looked at"
    assert declaration is not None, "vertices of the graph are declared"
    typed.scope.file.findings.add(
        "WT0312",
        f"`{name}` is the same each time round, so the cycle goes on as it began",
        route.match.subject.span,
        secondary=[(declaration.tree.name.span, "nothing that it reads is made in the cycle")],
        help="read an output of the cycle there, or count with `visits(…)`",
    )


def _reads(typed: Typed, route: Route) -> set[str] | None:
    """The nodes that a match depends on; None where it reads of the run what changes each time."""
    assert route.match is not None, "only matches are looked at"
    names: set[str] = set()
    for part in parts_of(typed, route.match.subject, route.source):
        if isinstance(part, Call) and part.function.text in ("visits", "result", "latest"):
            return None
        if isinstance(part, Ref):
            names.add(route.source if part.name == "output" else part.name)
    return names


def _changing(typed: Typed, component: set[str]) -> set[str]:
    """The nodes of a cycle that may give something else each time: all but what computes from what stays."""
    reads: dict[str, set[str]] = {}
    changing: set[str] = set()
    for name in component:
        declaration = typed.scope.lookup(name)
        tree = None if declaration is None else declaration.tree
        if not isinstance(tree, Compute):
            changing.add(name)
            continue
        parts = list(parts_of(typed, tree.value, name, computed=False))
        reads[name] = {part.name for part in parts if isinstance(part, Ref)} & component
        if any(isinstance(p, Call) and p.function.text in ("visits", "result", "latest") for p in parts):
            changing.add(name)
    for group in Digraph((), ((name, other) for name, others in reads.items() for other in others)).loops():
        changing |= group
    readers: dict[str, list[str]] = {}
    for name, others in reads.items():
        for other in others:
            readers.setdefault(other, []).append(name)
    stack = list(changing)
    while stack:
        more = [name for name in readers.get(stack.pop(), ()) if name not in changing]
        changing.update(more)
        stack += more
    return changing
