"""Labels with anything in them, in every format."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.drawn import SVG, Page, read_mermaid, read_svg
from tests.compiler.snapshots import agent, const, edge, match, snapshot
from windtunnel.compiler.drawing import draw
from windtunnel.compiler.drawing.dot import dot_document
from windtunnel.compiler.drawing.layout import run_engine
from windtunnel.compiler.drawing.lettering import clean, fit, is_attached, whole, width, wrap
from windtunnel.compiler.drawing.picture import DrawingError
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.drawing.terminal import COLUMNS, columns_of
from windtunnel.compiler.snapshot import Snapshot

AWKWARD = [
    "<lambda> <map>",
    "<b>x</b>",
    "a < b",
    "<",
    ">",
    "<>",
    "Fuel Pellets (UO2 / MOX)",
    "A; B",
    "50% & more",
    '"quoted"',
    "#35;",
    "&lt; &amp; &#38;",
    "`ticks`",
    "[x]",
    "{y}",
    "|z|",
    "back\\slash",
    'ends in \\"',
    "\\N \\G \\l",
    "</script><!-- -->",
    "end",
    "graph TD; subgraph",
    "%%{init}%%",
]
"""B37, B39: signs that mean something in DOT, Mermaid, XML or HTML; each is shown whole."""

FOREIGN = ["a, b、c", "😀 ok", "שלום", "مرحبا", "漢字かな", "👩‍👩‍👧 family", "e\u0301"]


def labelled(label: str) -> Snapshot:
    """A workflow with the label on a node and the same text as a case."""
    return snapshot(
        {"a": agent(label=const(label)), "b": agent()},
        [edge("start", "a"), match("a", ["node", "a"], {label: "b"}), edge("b", "exit done")],
    )


@pytest.mark.parametrize("label", AWKWARD)
def test_dot_shows_the_label_as_it_is(label: str) -> None:
    """B37: read back by the engine, every label is the source text."""
    drawn = run_engine(dot_document(picture_of(labelled(label))), ["-Kdot", "-Tsvg"], "pure")
    texts = ET.fromstring(drawn).iter(f"{SVG}text")
    lines = [(element.text or "").strip() for element in texts]
    assert label in lines
    assert json.dumps(label, ensure_ascii=False) in lines


@pytest.mark.parametrize("label", AWKWARD + FOREIGN)
def test_mermaid_shows_the_label_as_it_is(label: str) -> None:
    """B39: every label is quoted and holds no sign of the language; decoded it is the source text."""
    drawn = draw(labelled(label), "mmd")
    assert isinstance(drawn, str)
    labels = read_mermaid(drawn)
    assert f"a\n{label}\nby a" in labels
    assert json.dumps(label, ensure_ascii=False) in labels


@pytest.mark.parametrize("label", AWKWARD + FOREIGN)
def test_svg_shows_the_label_as_it_is(label: str) -> None:
    """S09."""
    drawn = draw(labelled(label), "svg")
    assert isinstance(drawn, str)
    group = next(group for group in read_svg(drawn) if group.id == "a")
    assert label in group.lines
    assert label in group.title


@pytest.mark.parametrize("label", AWKWARD)
def test_png_can_draw_it(label: str) -> None:
    drawn = draw(labelled(label), "png")
    assert isinstance(drawn, bytes)
    assert drawn.endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize("label", ["漢字", "مرحبا", "😀"])
def test_png_without_the_letters_says_so_and_offers_svg(label: str) -> None:
    with pytest.raises(DrawingError, match=r"fonts.*do not have.*SVG"):
        draw(labelled(label), "png")


@pytest.mark.parametrize("label", ["Größe", "цена", "αβγ", "שלום"])
def test_png_has_letters_near_latin(label: str) -> None:
    assert isinstance(draw(labelled(label), "png"), bytes)


def test_ten_thousand_characters_are_cut_and_kept_in_the_tooltip() -> None:
    """S09."""
    label = "word " * 2_000
    made = labelled(label)
    drawn = draw(made, "svg")
    assert isinstance(drawn, str)
    group = next(group for group in read_svg(drawn) if group.id == "a")
    assert label.strip() in group.title
    assert len(group.lines) == 4
    assert group.lines[2].endswith("…")
    assert max(len(line) for line in group.lines) < 60
    mermaid, dot, told = (str(draw(made, format)) for format in ("mmd", "dot", "txt"))
    assert max(len(line) for line in mermaid.splitlines()) < 400
    assert "…" in dot
    assert max(columns_of(line) for line in told.splitlines()) <= COLUMNS


def test_newlines_and_controls_do_not_leave_their_line() -> None:
    """S09: no format is broken by what cannot be shown."""
    label = "one\ntwo\r\nthree\ttab \x00 nul \x1b[31m red \u202e turned \ud800 half"
    made = labelled(label)
    for format in ("svg", "dot", "mmd", "txt", "json", "html"):
        drawn = draw(made, format)
        assert isinstance(drawn, str)
        drawn.encode("utf-8")
        assert not re.search("[\x00-\x08\x0b-\x1f]", drawn), format
    told = str(draw(made, "txt"))
    assert "one two three tab" in told
    assert "\u202e" not in told


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=80))
def test_any_text_can_be_a_label(label: str) -> None:
    """S09."""
    made = labelled(label)
    shown = clean(label)[:40]
    svg, mermaid, page = (str(draw(made, format)) for format in ("svg", "mmd", "html"))
    assert whole(label) in next(group for group in read_svg(svg) if group.id == "a").title
    assert any(shown in read for read in read_mermaid(mermaid))
    assert json.loads(Page(page).scripts["picture"])["sheets"][0]["boxes"][1]["name"] == "a"
    run_engine(dot_document(picture_of(made)), ["-Tcanon"], "pure")


@given(st.text(max_size=200), st.floats(20, 300))
def test_a_line_fits_its_room(content: str, room: float) -> None:
    line = fit(content, 10.5, room)
    assert width(line, 10.5) <= room
    assert not (line and is_attached(line[0]) and content and not is_attached(clean(content)[0]))


@given(st.text(alphabet="ab c", max_size=200), st.integers(1, 4))
def test_wrapping_keeps_the_words(content: str, lines: int) -> None:
    made = wrap(content, 10.5, 60, lines)
    assert len(made) <= lines
    joined = " ".join(made)
    if joined.endswith("…"):
        assert clean(content).startswith(joined[:-1].replace(" ", " ").strip())
    else:
        assert joined == clean(content)


def test_pictures_do_not_depend_on_fonts() -> None:
    """The widths are Helvetica's, from one table."""
    assert width("A", 1000) == pytest.approx(667)
    assert width("hello", 10) == pytest.approx(5.56 + 5.56 + 2.22 + 2.22 + 5.56)
    assert width("漢", 10) == 10
    assert width("e\u0301", 10) == width("e", 10)
