"""Every code has a page whose examples are what the page says they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CASES, Golden
from windtunnel.compiler.explanation import MAIN, page, page_text, shown, texts_of
from windtunnel.compiler.revision import LOCK_NAME
from windtunnel.dsl.codes import CODES

PAGES = CASES.parent.parent / "compiler" / "pages"
WITHOUT_EXAMPLE = {
    "WT0012": "a file of 4 MiB",
    "WT0014": "a string of 1 MiB",
    "WT0015": "a file that is no text",
    "WT0024": "fifty mistakes",
    "WT0122": "ten thousand files",
    "WT0220": "a hundred thousand nodes",
}
"""What an example would need."""

HERE = [code for code in CODES if code.startswith(("WT00", "WT10")) and code not in WITHOUT_EXAMPLE]
"""The bands whose examples are checked here; the others are the cases of the checks."""


def test_every_code_has_a_page_and_no_page_is_left_over() -> None:
    """The table of codes and the folder of pages know each other."""
    names = {path.name for path in PAGES.iterdir() if path.suffix in (".txt", ".flow")}
    wanted = {f"{code}.txt" for code in CODES}
    examples = [code for code in CODES if code not in WITHOUT_EXAMPLE]
    wanted |= {f"{code}.{kind}.flow" for code in examples for kind in ("fail", "ok")}
    assert names == wanted


@pytest.mark.parametrize("code", CODES)
def test_a_page_says_what_and_why(code: str) -> None:
    """Two parts, in whole sentences."""
    found = page(code)
    assert found is not None
    assert (found.title, found.severity) == CODES[code]
    for part in (found.meaning, found.reason):
        assert part.rstrip().endswith("."), part


@pytest.mark.parametrize("code", HERE)
def test_examples_have_the_finding_and_lose_it(code: str) -> None:
    """The failing example has the finding; the mended one has not, and nothing worse than a change."""
    found = page(code)
    assert found is not None
    assert found.failing is not None
    assert found.mended is not None
    failing, mended = shown(found.failing), shown(found.mended)
    assert code in failing.codes
    assert code not in mended.codes
    assert not mended.diagnostics
    if not failing.changes:
        assert set(failing.codes) == {code}


def test_a_code_that_is_none_has_no_page() -> None:
    assert page("WT9999") is None
    assert page("../codes") is None


@pytest.mark.parametrize("code", ["WT0204", "WT0012", "WT0017", "WT1001", "WT1056", "WT0104"])
def test_pages_as_they_are_printed(code: str, golden: Golden) -> None:
    """Examples of one file, without an example, of two versions, with a lock, of several files."""
    found = page(code)
    assert found is not None
    text = page_text(found)
    assert all(letter == "\n" or letter.isprintable() for letter in text)
    golden(f"compiler/pages/{code}.txt", text)


def test_sections_of_an_example() -> None:
    texts = texts_of(f"a\n# === {LOCK_NAME}\nb\nc\n# === d.flow\n")
    assert texts == {MAIN: "a\n", LOCK_NAME: "b\nc\n", "d.flow": ""}


def test_pages_speak_of_no_place_outside() -> None:
    """Pages are read by strangers."""
    for path in sorted(Path(PAGES).glob("*.txt")):
        text = path.read_text("utf-8")
        assert text == text.strip() + "\n", path.name
        assert "issue" not in text.lower(), path.name
