"""Near names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.dsl import nearest, suggestion
from windtunnel.dsl.spelling import MOST_SUGGESTIONS, distance

words = st.text(st.sampled_from("abc"), max_size=6)


def test_nearest() -> None:
    names = ["review", "revise", "draft", "publish", "Draft", "rewire", "revoew"]
    assert nearest("reveiw", names) == ("review", "revoew")
    assert nearest("draft", ["Draft", "drafts", "craft"]) == ("Draft", "craft", "drafts")
    assert nearest("zzz", names) == ()
    assert nearest("a", ["b"]) == ()
    assert nearest("x", []) == ()


def test_case_alone_is_always_near() -> None:
    """S03: names that differ in case only."""
    assert nearest("PLANCHANGEAPPROVAL", ["planChangeApproval"]) == ("planChangeApproval",)


def test_suggestion() -> None:
    assert suggestion(()) is None
    assert suggestion(("a",)) == "did you mean `a`?"
    assert suggestion(("a", "b", "c")) == "did you mean `a`, `b` or `c`?"


@given(words, st.lists(words))
def test_same_answer_in_any_order(name: str, names: list[str]) -> None:
    found = nearest(name, names)
    assert found == nearest(name, list(reversed(names)))
    assert len(found) <= MOST_SUGGESTIONS
    assert name not in found
    assert set(found) <= set(names)


@given(words, words)
def test_distance(left: str, right: str) -> None:
    """Symmetric, 0 for equals, 1 for one swap, at most the longer length."""
    found = distance(left, right)
    assert found == distance(right, left)
    assert (found == 0) == (left == right)
    assert found <= max(len(left), len(right))
    assert abs(len(left) - len(right)) <= found


def test_swap_counts_once() -> None:
    assert distance("form", "from") == 1
    assert distance("abcdef", "badcfe") == 3


def test_long_names_are_compared_by_their_beginning() -> None:
    assert nearest("a" * 5000 + "x", ["a" * 5000 + "y"]) == ("a" * 5000 + "y",)
