"""The picture as text: its gutter, its columns, its letters."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.snapshots import agent, compute, const, edge, release_notes, snapshot
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.drawing.terminal import COLUMNS, MAX_LANES, columns_of, cut, terminal_text
from windtunnel.compiler.snapshot import Snapshot


def looping(count: int) -> Snapshot:
    """A chain from every node of which one arrow leads back to the first."""
    names = [f"n{number}" for number in range(count + 1)]
    edges = [edge("start", "n0"), edge(names[-1], "exit done")]
    edges += [edge(a, b) for a, b in pairwise(names)]
    edges += [edge(name, "n0", (3, "exit done"), on="failed") for name in names[1:]]
    return snapshot({name: compute() for name in names}, edges)


def test_loops_have_a_lane_each_up_to_the_limit() -> None:
    """One loop more than there are lanes still says where it goes."""
    for count in (1, MAX_LANES, MAX_LANES + 1):
        lines = terminal_text(picture_of(looping(count))).splitlines()
        target = next(line for line in lines if "= n0" in line)
        assert target.count("┌") + target.count("┬") == min(count, MAX_LANES)
        assert sum("▶ n0 ↑" in line for line in lines) == count


def test_lanes_that_do_not_meet_are_shared() -> None:
    edges = [edge("start", "a"), edge("a", "b"), edge("b", "c"), edge("c", "d"), edge("d", "exit done")]
    edges += [edge("b", "a", on="failed"), edge("d", "c", on="failed")]
    made = snapshot({name: compute() for name in "abcd"}, edges)
    lines = terminal_text(picture_of(made)).splitlines()
    assert [line.index("┌") for line in lines if "┌" in line] == [1, 1]


def test_sections_for_open_includes() -> None:
    text = terminal_text(picture_of(release_notes(), 2))
    assert "── tell: plain-summary, revision 1 ─" in text
    assert "❝ assistant response ≤ 600" in text


def test_plain_letters_only() -> None:
    text = terminal_text(picture_of(release_notes(), "all"), ascii=True)
    assert text.isascii()
    assert "<= 4, then dropped" in text


@given(st.text(max_size=150), st.integers(40, 120))
def test_no_line_is_wider_than_the_terminal(label: str, columns: int) -> None:
    made = snapshot({"a": agent(label=const(label))}, [edge("start", "a"), edge("a", "exit done")])
    lines = terminal_text(picture_of(made), columns=columns).splitlines()
    assert max(columns_of(line) for line in lines) <= columns


@given(st.text(alphabet="a漢e\u0301😀", max_size=60), st.integers(1, 40))
def test_cutting_keeps_pieces_whole(text: str, columns: int) -> None:
    kept = cut(text, columns, "…")
    assert columns_of(kept) <= columns
    assert kept == text or (kept.endswith("…") and text.startswith(kept[:-1]))


def test_a_hundred_columns_are_enough() -> None:
    assert (
        max(columns_of(line) for line in terminal_text(picture_of(release_notes(), "all")).splitlines())
        <= COLUMNS
    )
