"""The golden switch: it compares, it writes when asked, and never in CI."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parent / "conftest.py"
QUICK = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider", "--assert=plain")
TEST = 'def test_text(golden):\n    golden("room/case.txt", "new\\n")\n'


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with our conftest, one golden test and an outdated case."""
    monkeypatch.delenv("CI", raising=False)
    (pytester.path / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    pytester.makepyfile(test_it=TEST)
    case = pytester.path / "cases" / "room" / "case.txt"
    case.parent.mkdir(parents=True)
    case.write_text("old\n", encoding="utf-8")
    return pytester


def test_another_text_fails(project: pytest.Pytester) -> None:
    project.runpytest_inprocess(*QUICK).assert_outcomes(failed=1)
    assert (project.path / "cases/room/case.txt").read_text(encoding="utf-8") == "old\n"


def test_a_missing_case_fails(project: pytest.Pytester) -> None:
    (project.path / "cases/room/case.txt").unlink()
    project.runpytest_inprocess(*QUICK).assert_outcomes(failed=1)


def test_the_switch_writes_and_then_it_passes(project: pytest.Pytester) -> None:
    project.runpytest_inprocess(*QUICK, "--update-golden").assert_outcomes(passed=1)
    assert (project.path / "cases/room/case.txt").read_text(encoding="utf-8") == "new\n"
    project.runpytest_inprocess(*QUICK).assert_outcomes(passed=1)


def test_the_switch_is_refused_in_ci(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    outcome = project.runpytest_inprocess(*QUICK, "--update-golden")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    assert (project.path / "cases/room/case.txt").read_text(encoding="utf-8") == "old\n"
