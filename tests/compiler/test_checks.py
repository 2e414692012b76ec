"""Every code fires on its failing case and says the expected words; no mended case has a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler.cases import check_file, check_text, codes, concise
from tests.conftest import CASES, Golden
from windtunnel.dsl.codes import CODES

EXPECTED = CASES / "compiler" / "checks"
PAGES = CASES.parent.parent / "compiler" / "pages"
"""The cases are the examples of the pages of the codes; what is expected of them stands with the tests."""
FAILING = sorted(path for path in PAGES.glob("*.fail.flow") if not path.name.startswith("WT10"))
MENDED = sorted(path for path in PAGES.glob("*.ok.flow") if not path.name.startswith("WT10"))
"""Band 10 compares two versions of a file; `test_explanation` makes its examples."""

BUILT_IN = (
    "autodoc",
    "autoimplement",
    "autoplan",
    "monitor",
    "plain-summary",
    "plan-approval",
    "plan-change",
    "sanity-check",
)
ELSEWHERE = {
    "WT0012": "a limit, tested at it and one past it with the sources",
    "WT0014": "a limit, tested at it and one past it with the parser",
    "WT0015": "needs bytes that are no UTF-8; tested with the sources",
    "WT0024": "a limit, tested at it and one past it with the parser",
    "WT0122": "needs more files than a case should hold; tested with the modules",
    "WT0123": "lowering finds it",
    "WT0220": "lowering finds it",
}
"""Codes of this room that have no case here, and why."""


@pytest.mark.parametrize("path", FAILING, ids=lambda path: path.name)
def test_a_failing_case_gives_its_finding_and_no_other(path: Path, golden: Golden) -> None:
    """One cause, one message, at the right line and column."""
    checked = check_file(path)
    assert codes(checked) == [path.name[:6]]
    golden(EXPECTED / f"{path.name[:6]}.expected.txt", concise(checked))


@pytest.mark.parametrize("path", MENDED, ids=lambda path: path.name)
def test_a_mended_case_is_clean(path: Path) -> None:
    """The mend that the page of a code shows leaves no finding at all."""
    assert concise(check_file(path)) == ""


def test_each_code_has_a_failing_and_a_mended_case() -> None:
    """The table of codes and the cases know each other."""
    ours = {code for code in CODES if not code.startswith("WT10")} - set(ELSEWHERE)
    assert {path.name[:6] for path in FAILING} == ours
    assert {path.name[:6] for path in MENDED} == ours


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_built_ins_are_clean(name: str) -> None:
    """B126, B127: what is shipped has no finding that a sensible author would act on."""
    checked = check_text(f'language 1\nimport {name} from "builtin:{name}"\n')
    assert [code for code in codes(checked) if code != "WT0114"] == []


def test_three_unrelated_mistakes_give_three_messages() -> None:
    """All findings of a file come in one run, each with its own line and column."""
    text = """language 1
workflow w {
  input { topic: text, note?: text }
  agent write {
    prompt "About ${input.topic}, with ${input.note}"
    expectedOutput { text: text }
  }
  agent chek {
    promt "Check ${write.text}"
    prompt "Check ${write.txt}"
  }
  edges {
    start -> write -> chek -> exit done
    write on failed -> cheek
  }
}
"""
    found = [line for line in concise(check_text(text)).splitlines() if not line.startswith("  ")]
    assert [line.split(" ")[0] + " " + line.split(" ")[2] for line in found] == [
        "main.flow:5:42 WT0402",
        "main.flow:9:5 WT0503",
        "main.flow:10:27 WT0404",
        "main.flow:14:24 WT0206",
    ]
