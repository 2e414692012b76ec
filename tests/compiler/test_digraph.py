"""The graph of names agrees with the well-known library, on graphs of every kind."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.compiler.digraph import Digraph

NAMES: Final = tuple("abcdefgh")
ARROWS: Final = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=20)


def known(arrows: list[tuple[str, str]]) -> nx.DiGraph[str]:
    """The same graph in the library's form."""
    graph: nx.DiGraph[str] = nx.DiGraph(arrows)
    graph.add_nodes_from(NAMES)
    return graph


@given(ARROWS)
def test_components_agree_and_stand_behind_all_that_they_lead_to(arrows: list[tuple[str, str]]) -> None:
    """What depends on others comes after them, so that one pass is enough."""
    found = Digraph(NAMES, arrows).components()
    assert sorted(map(sorted, found)) == sorted(map(sorted, nx.strongly_connected_components(known(arrows))))
    place = {name: number for number, part in enumerate(found) for name in part}
    assert all(place[goal] <= place[source] for source, goal in arrows)
    loops = [part for part in found if len(part) > 1 or any((name, name) in arrows for name in part)]
    assert Digraph(NAMES, arrows).loops() == loops


@given(ARROWS)
def test_an_order_is_given_when_there_is_one(arrows: list[tuple[str, str]]) -> None:
    """Each vertex comes behind all that lead to it; a cycle has no such order."""
    found = Digraph(NAMES, arrows).ordered()
    assert (found is not None) == nx.is_directed_acyclic_graph(known(arrows))
    if found is not None:
        assert sorted(found) == list(NAMES)
        assert all(found.index(source) < found.index(goal) for source, goal in arrows)


@given(ARROWS, st.sets(st.sampled_from(NAMES)), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_reaching_and_parts_agree(
    arrows: list[tuple[str, str]], kept: set[str], source: str, goal: str
) -> None:
    """Paths are found, also in what is left of a graph."""
    graph, whole = Digraph(NAMES, arrows), known(arrows)
    assert graph.reaches(source, goal) == nx.has_path(whole, source, goal)
    assert set(graph.successors(source)) == set(whole.successors(source))
    assert set(graph.predecessors(source)) == set(whole.predecessors(source))
    part = graph.within(kept)
    assert {(one, other) for one in part for other in part.successors(one)} == set(whole.subgraph(kept).edges)


def test_repeats_count_once_and_the_order_is_kept() -> None:
    """The order in which vertices come is that of the source."""
    graph = Digraph("b", [("b", "c"), ("b", "a"), ("b", "c")])
    assert (list(graph), len(graph), list(graph.successors("b"))) == (["b", "c", "a"], 3, ["c", "a"])
    assert graph.leads("b", "a")
    assert not graph.leads("a", "b")
    assert not graph.leads("z", "a")
    assert "z" not in graph


def test_a_long_path_needs_no_deep_stack() -> None:
    """Cost and depth do not follow the length of a path."""
    names = [f"n{number}" for number in range(50_000)]
    graph = Digraph(names, pairwise(names))
    assert [len(part) for part in graph.components()] == [1] * len(names)
    assert graph.ordered() == names
    assert graph.reaches(names[0], names[-1])
