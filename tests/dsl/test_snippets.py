"""Drawing: never fails, and the carets stand under what they mean."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.dsl import CODES, Applicability, Edit, Fix, Label, Place, Source, concise, render, report
from windtunnel.dsl.syntax import Span

spans = st.builds(Span, st.integers(-5, 60), st.integers(-5, 60))
files = st.sampled_from(["a.flow", "b.flow", "gone.flow"])
places = st.builds(Place, files, spans)
texts = st.text(st.one_of(st.sampled_from("ab \n\té漢\u0301\x00\x1b"), st.characters()), max_size=50)


@given(places, st.lists(places, max_size=3), texts, texts)
def test_never_fails(place: Place, others: list[Place], first: str, second: str) -> None:
    """B08: any span, in any file, also in one that is not at hand."""
    sources = {"a.flow": Source("a.flow", first), "b.flow": Source("b.flow", second)}
    fix = Fix("mend it", (Edit(place, "x"),), Applicability.MAYBE)
    found = report(
        "WT0004",
        "wrong",
        place,
        label="here",
        secondary=[Label(o, "there") for o in others],
        fixes=[fix],
        help="h",
    )
    drawn = render(found, sources)
    assert drawn.startswith("error[WT0004]: wrong\n")
    assert "= help: h" in drawn
    assert "\x1b" not in drawn
    assert concise(found, sources).count("\n") == 0


def drawn_under(line: str, word: str) -> tuple[str, str]:
    """The source line and the caret line for a word in it."""
    source = Source("a.flow", f"first\n{line}\nlast")
    start = source.text.index(word)
    found = report("WT0004", "m", Place("a.flow", Span(start, start + len(word))))
    lines = render(found, {"a.flow": source}).split("\n")
    return lines[3].removeprefix("2 | "), lines[4].removeprefix("  | ")


def test_carets() -> None:
    """B04: tabs stay tabs, wide letters take two columns, combining ones none."""
    assert drawn_under("\tab = wrong", "wrong") == ("\tab = wrong", "\t     ^^^^^")
    assert drawn_under("\t\t   wrong", "wrong") == ("\t\t   wrong", "\t\t   ^^^^^")
    assert drawn_under("漢字 wrong", "wrong") == ("漢字 wrong", "     ^^^^^")
    assert drawn_under("e\u0301 wrong", "wrong") == ("e\u0301 wrong", "  ^^^^^")
    assert drawn_under("a 漢字", "漢字") == ("a 漢字", "  ^^^^")


def test_long_lines_are_cut_around_the_place() -> None:
    text, carets = drawn_under("x" * 5000 + " wrong " + "y" * 5000, "wrong")
    assert len(text) < 200
    assert text.startswith("…")
    assert text.endswith("…")
    assert text[carets.index("^") : carets.rindex("^") + 1] == "wrong"


def test_several_lines_and_files() -> None:
    source = Source("a.flow", "one\ntwo\nthree\nfour\n")
    other = Source("b.flow", "else\n")
    found = report(
        "WT0102",
        "twice",
        Place("a.flow", Span(8, 13)),
        label="again",
        secondary=[
            Label(Place("a.flow", Span(0, 3)), "first"),
            Label(Place("b.flow", Span(0, 4)), "and here"),
        ],
        notes=["a note"],
    )
    assert render(found, {"a.flow": source, "b.flow": other}) == "\n".join(
        [
            "error[WT0102]: twice",
            "  --> a.flow:3:1",
            "  |",
            "1 | one",
            "  | --- first",
            "  ...",
            "3 | three",
            "  | ^^^^^ again",
            "  ::: b.flow:1:1",
            "  |",
            "1 | else",
            "  | ---- and here",
            "  = note: a note",
        ]
    )
    assert concise(found, {"a.flow": source}) == "a.flow:3:1 WT0102 twice"


def test_the_table_of_codes() -> None:
    """Codes are `WT` and four digits in bands 00 to 12, with a title in lower case that no other code has."""
    for code, (title, _) in CODES.items():
        assert code[:2] == "WT"
        assert code[2:].isdigit()
        assert len(code) == 6
        assert 0 <= int(code[2:4]) <= 12
        assert title
        assert not title.endswith(".")
    titles = [title for title, _ in CODES.values()]
    assert sorted(set(titles)) == sorted(titles)
