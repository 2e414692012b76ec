"""Definite assignment against brute force: every state that a run can be in, on small graphs."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.compiler.flow import Flow, Site, path_words
from windtunnel.compiler.graph import START, Branch, Goal, Graph, Outcome, Route
from windtunnel.dsl.syntax import Span

NOWHERE = Span(0, 0)
NODES = ("a", "b", "c", "d", "e")
WAYS = {"d": ("x", "y")}
"""`d` is left by two ways, the others by one."""


def _branch(goal: str) -> Branch:
    return Branch(
        None,
        Goal(None if goal == "exit" else goal, "done" if goal == "exit" else None, NOWHERE),
        None,
        None,
        None,
        NOWHERE,
    )


GOALS = st.sampled_from((*NODES, "exit"))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph over five nodes; ends may lack a route, and a route may have several branches."""
    routes: list[Route] = []
    ends: list[tuple[str, str | None, Outcome]] = [(START, None, "ok")]
    for node in NODES:
        ends += [(node, way, "ok") for way in WAYS.get(node, (None,))]
        ends.append((node, None, "failed"))
    for source, way, outcome in ends:
        goals = draw(st.lists(GOALS, min_size=source == START, max_size=2))
        if goals:
            branches = tuple(map(_branch, goals))
            routes.append(Route(len(routes), source, way, outcome, None, branches, NOWHERE))
    return Graph(NODES, tuple(routes))


State = tuple[str, tuple[tuple[str, str], ...], frozenset[str], tuple[tuple[int, int], ...]]


def explore(graph: Graph, sites: list[Site]) -> set[State]:
    """Every state in which a vertex can be entered: where, how each was last left, what ended, arms taken."""
    by_route = {site.route: site for site in sites}
    start: State = (START, (), frozenset(), ())
    seen = {start}
    queue = deque([start])
    while queue:
        vertex, left, ended, arms = queue.popleft()
        for arrow in graph.leaving[vertex]:
            if arrow.goal.node is None:
                continue
            now, over, taken = dict(left), ended, dict(arms)
            if vertex != START:
                over = ended | {vertex}
                if arrow.route.outcome == "ok":
                    now[vertex] = arrow.route.way or ""
                    for index, site in by_route.items():
                        if site.vertex == vertex:
                            taken.pop(index, None)
            if arrow.route.index in by_route:
                taken[arrow.route.index] = arrow.branch
            state: State = (arrow.goal.node, tuple(sorted(now.items())), over, tuple(sorted(taken.items())))
            if state not in seen:
                seen.add(state)
                queue.append(state)
    return seen


def sites_of(graph: Graph) -> list[Site]:
    """A narrowing match on every route of `a` and `b` that is taken after `ok`."""
    return [Site(r.index, r.source) for r in graph.routes if r.source in ("a", "b") and r.outcome == "ok"]


@given(graphs())
def test_flow_says_what_brute_force_finds(graph: Graph) -> None:
    """Per vertex and read vertex: unassigned, the ways last taken, not ended, the arms taken. Exactly."""
    sites = sites_of(graph)
    flow = Flow(graph, WAYS, sites)
    states = explore(graph, sites)
    for reader in NODES:
        here = [state for state in states if state[0] == reader]
        assert (flow.entry(reader) is None) == (not here)
        if not here:
            continue
        entry = flow.entry(reader)
        for vertex in NODES:
            reading = flow.reading(entry, vertex)
            lefts = [dict(left).get(vertex) for _, left, _, _ in here]
            assert reading.unassigned == (None in lefts)
            assert {way or "" for way in reading.ways} == {left for left in lefts if left is not None}
            assert flow.may_not_have_ended(entry, vertex) == any(vertex not in over for _, _, over, _ in here)
        for site in sites:
            arms = [dict(taken).get(site.route) for _, _, _, taken in here]
            known = dict(flow.arms(entry, site.root)).get(site.route)
            assert known == (
                None if None in arms else tuple(sorted({arm for arm in arms if arm is not None}))
            )


@given(graphs(), st.sampled_from(NODES), st.sampled_from(NODES))
def test_a_witness_exists_only_where_a_read_may_fail(graph: Graph, reader: str, vertex: str) -> None:
    """The path starts at `start`, follows arrows, ends at the reader and is one of the shortest."""
    flow = Flow(graph, WAYS, [])
    ways = WAYS.get(vertex, (None,))
    for way in ways:
        path = flow.without(reader, vertex, way)
        states = [s for s in explore(graph, []) if s[0] == reader and dict(s[1]).get(vertex) != (way or "")]
        assert (path is None) == (not states)
        if path is None:
            continue
        here, left = START, None
        for arrow in path:
            assert arrow.source == here
            if arrow.source == vertex and arrow.route.outcome == "ok":
                left = arrow.route.way or ""
            assert arrow.goal.node is not None
            here = arrow.goal.node
        assert here == reader
        assert left != (way or "")
        shortest = flow.shortest(reader)
        assert shortest is not None
        assert len(shortest) <= len(path)


def test_paths_are_shown_with_their_middle_counted() -> None:
    """Twelve steps are shown whole, thirteen are not."""
    names = [f"n{i}" for i in range(20)]
    routes = tuple(
        Route(i, START if i == 0 else names[i - 1], None, "ok", None, (_branch(names[i]),), NOWHERE)
        for i in range(20)
    )
    flow = Flow(Graph(tuple(names), routes), {}, [])
    eleven, twelve = flow.shortest("n10"), flow.shortest("n11")
    assert eleven is not None
    assert twelve is not None
    assert path_words(eleven, "n10").count("→") == 11
    assert "more" not in path_words(eleven, "n10")
    assert path_words(twelve, "n11") == (
        "start → n0 → n1 → n2 → n3 → n4 → … 1 more … → n6 → n7 → n8 → n9 → n10 → n11"
    )


def test_a_chain_of_ten_thousand_nodes_costs_no_stack() -> None:
    """States flow along it in one pass."""
    names = [f"n{i}" for i in range(10_000)]
    routes = tuple(
        Route(i, START if i == 0 else names[i - 1], None, "ok", None, (_branch(names[i]),), NOWHERE)
        for i in range(10_000)
    )
    flow = Flow(Graph(tuple(names), routes), {}, [])
    last = flow.entry("n9999")
    assert not flow.reading(last, "n0").unassigned
    assert flow.reading(last, "n9999").unassigned
