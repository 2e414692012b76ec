"""Documents: a group stands on one line when it fits, else all its breaks are newlines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.dsl.layout import (
    HARD,
    LINE,
    SOFT,
    Broken,
    Doc,
    Indent,
    Suffix,
    concat,
    group,
    joined,
    lay_out,
)


def listed(*items: Doc) -> Doc:
    return group("[", Indent(concat(SOFT, joined((",", LINE), items), Broken(","))), SOFT, "]")


def test_fits() -> None:
    assert lay_out(listed("a", "b")) == ["[a, b]"]
    assert lay_out(listed("a", "b"), width=6) == ["[a, b]"]
    assert lay_out(listed("a", "b"), width=5) == ["[", "  a,", "  b,", "]"]


def test_inner_groups_break_last() -> None:
    doc = listed(listed("aaaa", "bbbb"), listed("cccc", "dddd"))
    assert lay_out(doc, width=18) == ["[", "  [aaaa, bbbb],", "  [cccc, dddd],", "]"]


def test_what_follows_counts() -> None:
    assert lay_out(concat(listed("a", "b"), " = long"), width=10) == ["[", "  a,", "  b,", "] = long"]


def test_newlines_break_all_groups_around() -> None:
    assert lay_out(listed("a", concat("b", HARD, "c"))) == ["[", "  a,", "  b", "  c,", "]"]


def test_comments_move_to_the_end_of_their_line() -> None:
    doc = group("{", Indent(concat(LINE, "a", Suffix("# one"), ",", LINE, "b")), LINE, "}")
    assert lay_out(doc) == ["{", "  a,  # one", "  b", "}"]


def test_empty_lines_hold_nothing() -> None:
    assert lay_out(concat("a", Indent(concat(HARD, HARD, "b")))) == ["a", "", "  b"]


words = st.text(st.sampled_from("ab"), min_size=1, max_size=9)
docs = st.recursive(
    words, lambda inner: st.lists(inner, min_size=1, max_size=4).map(lambda items: listed(*items))
)


@given(docs, st.integers(1, 60))
def test_layout_changes_white_space_only(doc: Doc, width: int) -> None:
    flat = "".join("".join(lay_out(doc, 10_000)).split())
    laid = "".join("".join(lay_out(doc, width)).split()).replace(",]", "]")
    assert laid == flat
