"""Safe fixes in a text: all that fit together, nothing else touched, line ends kept."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.test_explanation import PAGES
from windtunnel.compiler.explanation import texts_of
from windtunnel.compiler.mending import MAX_ROUNDS, helps, mended, safe_fixes
from windtunnel.compiler.pipeline import check
from windtunnel.compiler.reader import MemoryReader
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.source import normalise
from windtunnel.dsl.syntax import Span


def finding(*edits: tuple[int, int, str], safe: bool = True, file: str = "a") -> Diagnostic:
    """A finding with one fix."""
    made = tuple(Edit(Place(file, Span(start, end)), text) for start, end, text in edits)
    fix = Fix("mend it", made, Applicability.SAFE if safe else Applicability.MAYBE)
    return report("WT0005", "wrong", Place("a", Span(0, 1)), fixes=[fix])


def apply(text: str, *findings: Diagnostic) -> str:
    """The text with the safe fixes of file `a`."""
    return mended(text, safe_fixes(findings, "a"))


def test_fixes_that_do_not_touch_go_in_together() -> None:
    """In any order of the findings; a fix of several edits goes in whole."""
    found = [finding((4, 5, "E")), finding((0, 1, "A"), (2, 2, "_"))]
    assert apply("abcde", *found) == apply("abcde", *reversed(found)) == "Ab_cdE"


def test_of_two_that_touch_the_first_goes_in() -> None:
    """Also where one ends as the other begins: together they might not mean what each means alone."""
    assert apply("abcde", finding((0, 2, "X")), finding((1, 3, "Y"))) == "Xcde"
    assert apply("abcde", finding((0, 2, "X")), finding((2, 3, "Y"))) == "Xcde"
    assert apply("abcde", finding((0, 2, "X")), finding((3, 4, "Y"))) == "XcYe"
    assert apply("abcde", finding((2, 2, "X")), finding((2, 2, "Y"))) == "abXcde"


def test_only_safe_fixes_of_this_file() -> None:
    """What a person should look at stays, and what reaches into another file."""
    assert apply("abc", finding((0, 1, "X"), safe=False), finding((1, 2, "Y"), file="b")) == "abc"
    assert apply("abc", finding((1, 2, "Y"))) == "aYc"


def test_line_ends_and_the_byte_order_mark_stay() -> None:
    """Spans count in the normalised text; what is put in gets the line ends of the file."""
    text = "\ufeffab\r\ncd\r\nef"
    assert apply(text, finding((3, 5, "X\nY"))) == "\ufeffab\r\nX\r\nY\r\nef"
    assert apply("ab\rcd", finding((3, 5, "X"))) == "ab\rX"
    assert apply(text, finding((8, 8, "!"))) == text + "!"


@settings(max_examples=80)
@given(
    st.text(alphabet="ab\r\n\ufeff", max_size=12),
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 3), st.sampled_from(["", "x", "x\ny"])), max_size=4
    ),
)
def test_mending_and_normalising_commute(text: str, wanted: list[tuple[int, int, str]]) -> None:
    """Whatever the line ends, the mended text is the mended normal text."""
    plain = normalise(text)
    found = [finding((min(at, len(plain)), min(at + more, len(plain)), new)) for at, more, new in wanted]
    if text.count("\ufeff") <= int(text.startswith("\ufeff")) and "\r" not in text.replace("\r\n", ""):
        after = normalise(apply(text, *found))
        assert after == apply(plain, *found)


def test_the_safe_fixes_of_all_pages_help_and_come_to_an_end() -> None:
    """Each example that has safe fixes has fewer errors with them, and then none is left to apply."""
    tried = 0
    for path in sorted(PAGES.glob("*.fail.flow")):
        texts = texts_of(path.read_bytes().decode())
        found = before = check(MemoryReader(texts), "main.flow").diagnostics
        if not safe_fixes(found, "main.flow"):
            continue
        tried += 1
        for _ in range(MAX_ROUNDS):
            fixes = safe_fixes(found, "main.flow")
            if not fixes:
                break
            texts["main.flow"] = mended(texts["main.flow"], fixes)
            found = check(MemoryReader(texts), "main.flow").diagnostics
        assert safe_fixes(found, "main.flow") == (), path.name
        assert len(found) < len(before), path.name
    assert tried >= 3


def test_fixes_that_change_nothing_are_none() -> None:
    """Of several findings with the same words one less is progress; a finding that stays is not."""
    two = [finding((0, 1, "A")), finding((4, 5, "E"))]
    fixes = safe_fixes(two, "a")
    assert not helps(two, two, fixes)
    assert helps(two, two[:1], fixes)
    assert helps(two, [], fixes)
    assert not helps([], [], ())
