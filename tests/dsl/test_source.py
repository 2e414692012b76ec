"""Files from bytes, and lines and columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.dsl import Diagnostic, Source, parse, read_source

FLOW = 'language 1\n\nworkflow a {\n  title "é漢 ${input.x}"\n\tcompute x = """\n    one\n    two\n  """\n}\n'


def test_newlines_and_mark_do_not_matter() -> None:
    """S01, B14, B15: CRLF, CR, mixed, a BOM, no last newline: the same text, tree and positions."""
    plain = read_source("x.flow", FLOW.encode())
    assert isinstance(plain, Source)
    for other in (
        FLOW.replace("\n", "\r\n"),
        FLOW.replace("\n", "\r"),
        FLOW.replace("\n", "\r\n", 3),
        "\ufeff" + FLOW,
    ):
        source = read_source("x.flow", other.encode())
        assert source == plain
        assert parse(source).file == parse(plain).file
    assert parse(Source("x.flow", FLOW.removesuffix("\n"))).diagnostics == ()


def test_only_one_mark_at_the_beginning() -> None:
    """B15: a BOM elsewhere is named."""
    for text in ("\ufeff\ufeff" + FLOW, FLOW + "\ufeff" + "workflow b {}\n"):
        (found,) = parse(Source("x.flow", text)).diagnostics
        assert found.code == "WT0016"
        assert "U+FEFF" in found.message


def test_not_utf8() -> None:
    for data, words in (
        (FLOW.encode("utf-16"), "UTF-16"),
        (b"workflow a {\n  \xff }", "0xff at line 2, column 3"),
    ):
        found = read_source("x.flow", data)
        assert isinstance(found, Diagnostic)
        assert found.code == "WT0015"
        assert words in found.message


def test_empty_files() -> None:
    """B05: nothing, a BOM, newlines and comments have no workflow in them; a comment may end the file."""
    for text in ("", "\ufeff", "\n\n", "# only", "language 1", " \t"):
        found = parse(Source("x.flow", text)).diagnostics
        assert [each.code for each in found] == ["WT0022"], text
    assert parse(Source("x.flow", "workflow a {} # end")).diagnostics == ()


@given(st.text(st.sampled_from("ab\n\té漢")), st.integers(-3, 30))
def test_positions(text: str, offset: int) -> None:
    """Columns count code points; offsets outside are clamped."""
    source = Source("x", text)
    line, column = source.position(offset)
    at = min(max(offset, 0), len(source.text))
    before = source.text[:at]
    assert line == before.count("\n") + 1
    assert column == at - (before.rfind("\n") + 1) + 1
    assert "\n".join(source.line(n + 1) for n in range(source.text.count("\n") + 1)) == source.text
