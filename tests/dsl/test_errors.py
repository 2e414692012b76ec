"""Every message of the parser, drawn as a user sees it: one case per file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Golden
from windtunnel.dsl import CODES, Applicability, Diagnostic, Source, parse, render

CASES = sorted((Path(__file__).parent.parent / "cases" / "dsl" / "errors").glob("*.flow"))


def apply(source: Source, diagnostics: tuple[Diagnostic, ...]) -> str:
    """The text with the first safe fix of each finding."""
    edits = [
        edit
        for each in diagnostics
        for fix in each.fixes[:1]
        if fix.applicability is Applicability.SAFE
        for edit in fix.edits
    ]
    text = source.text
    for edit in sorted(edits, key=lambda edit: edit.place.span, reverse=True):
        text = text[: edit.place.span.start] + edit.text + text[edit.place.span.end :]
    return text


@pytest.mark.parametrize("flow", CASES, ids=lambda path: path.stem)
def test_findings(flow: Path, golden: Golden) -> None:
    source = Source(flow.name, flow.read_bytes().decode())
    found = parse(source).diagnostics
    golden(
        f"dsl/errors/{flow.stem}.txt", "".join(f"{render(each, {source.name: source})}\n\n" for each in found)
    )


@pytest.mark.parametrize("flow", CASES, ids=lambda path: path.stem)
def test_safe_fixes_help(flow: Path) -> None:
    """What a safe fix mends is not reported again, and nothing new is."""
    source = Source(flow.name, flow.read_bytes().decode())
    before = parse(source).diagnostics
    mended = {
        (each.code, each.message) for each in before if each.fixes and each.fixes[0].applicability == "safe"
    }
    text = apply(source, before)
    after = parse(Source(flow.name, text)).diagnostics
    assert len(after) <= len(before), [each.message for each in after]
    if mended:
        assert len(after) < len(before), text


def test_every_code_of_the_band_has_a_case() -> None:
    """Each code of syntax is met in a case; limits and encodings have tests of their own."""
    met = {
        each.code
        for flow in CASES
        for each in parse(Source(flow.name, flow.read_bytes().decode())).diagnostics
    }
    elsewhere = {"WT0012", "WT0013", "WT0014", "WT0015", "WT0024"}
    assert met | elsewhere == {code for code in CODES if code.startswith("WT00")}
