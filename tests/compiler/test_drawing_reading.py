"""The order in which boxes are read, and which arrows lead back."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.test_drawing_readable import scene
from windtunnel.compiler.drawing.picture import Arrow
from windtunnel.compiler.drawing.reading import read
from windtunnel.compiler.drawing.style import Flow

FLOWS: tuple[Flow, ...] = ("ok", "failure", "limit")


def made(*written: str) -> list[Arrow]:
    """Arrows from `a b` (goes on), `a! b` (after a failure), `a? b` (when a limit is used up)."""
    found: list[Arrow] = []
    for each in written:
        source, target = each.split()
        flow: Flow = "failure" if source.endswith("!") else "limit" if source.endswith("?") else "ok"
        found.append(Arrow((each,), source.rstrip("!?"), None, target, flow))
    return found


def loops(arrows: list[Arrow]) -> list[str]:
    return [arrow.keys[0] for arrow in arrows if arrow.flow == "loop"]


def test_the_usual_way_is_read_in_its_order() -> None:
    order, arrows = read(made("start a", "a b", "b a", "b exit"), "start")
    assert order == ["start", "a", "b", "exit"]
    assert loops(arrows) == ["b a"]


def test_a_failure_does_not_turn_the_usual_way_round() -> None:
    """`c` is first met by way of a failure of `d`, yet what goes on from `c` to `d` leads forward."""
    written = made("start a", "a d", "a c", "c d", "d! help", "help c", "help a", "d exit")
    order, arrows = read(written, "start")
    assert order == ["start", "a", "c", "d", "help", "exit"]
    assert loops(arrows) == ["help c", "help a"]


def test_a_way_round_a_failure_that_meets_the_usual_way_is_no_loop() -> None:
    order, arrows = read(made("start live", "live tell", "live! cache", "cache tell", "tell exit"), "start")
    assert loops(arrows) == []
    assert order == ["start", "live", "cache", "tell", "exit"]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 8), st.sampled_from(FLOWS)), max_size=24))
def test_what_does_not_lead_back_goes_forward(drawn: list[tuple[int, int, Flow]]) -> None:
    """An arrow of the usual way is a loop just where it goes up in the order, and then it is on a cycle."""
    chain = [(number, number + 1, FLOWS[0]) for number in range(8)]
    arrows = [
        Arrow((f"{at}",), f"n{a}", None, f"n{b}", flow) for at, (a, b, flow) in enumerate(chain + drawn)
    ]
    order, marked = read(arrows, "n0")
    assert sorted(order) == [f"n{number}" for number in range(9)]
    assert order[0] == "n0"
    graph = nx.DiGraph((arrow.source, arrow.target) for arrow in arrows)
    for before, after in zip(arrows, marked, strict=True):
        goes_up = order.index(after.target) <= order.index(after.source)
        assert after.flow == ("loop" if before.flow == "ok" and goes_up else before.flow)
        assert not goes_up or nx.has_path(graph, after.target, after.source)


def test_no_arrow_that_points_down_is_called_a_loop() -> None:
    """In the largest picture that is shipped, as it was laid out."""
    drawn = scene("builtin:autoimplement", 1)
    (verified,) = (group for group in drawn.groups if group.id == "verifyP2 true")
    assert verified.css == "arrow ok"
