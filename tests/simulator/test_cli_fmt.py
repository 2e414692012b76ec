"""`windtunnel fmt`: what it writes, what it leaves alone, and that this repository is formatted."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.dsl import Source, format_parsed, parse
from windtunnel.simulator.cli import run
from windtunnel.simulator.commands import console

ROOT = Path(__file__).parent.parent.parent
LOOSE = """language 1
workflow w {   input { a : text }
  agent b { prompt "x ${input.a}" }  # kept
 edges { start->b->exit done } }
"""


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is not in its canonical form, in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "loose.flow"
    file.write_text(LOOSE, "utf-8")
    return file


def test_fmt_writes_the_canonical_form_once(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fmt", "loose.flow"]) == console.CLEAN
    assert "loose.flow written" in capsys.readouterr().err
    formatted = flow.read_text("utf-8")
    assert "# kept" in formatted
    assert "start -> b -> exit done" in formatted
    assert run(["fmt", "--check", "."]) == console.CLEAN
    assert flow.read_text("utf-8") == formatted


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_check_and_diff_write_nothing_and_tell(
    flow: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fmt", option, "loose.flow"]) == console.FINDINGS
    said = capsys.readouterr()
    assert ("+  input { a: text }" in said.out) == (option == "--diff")
    assert ("would change" in said.err) == (option == "--check")
    assert flow.read_text("utf-8") == LOOSE


def test_a_file_with_errors_is_left_alone(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = LOOSE.replace("edges", "egdes")
    flow.write_text(broken, "utf-8")
    assert run(["fmt", "loose.flow"]) == console.FINDINGS
    assert flow.read_text("utf-8") == broken
    said = capsys.readouterr().err
    assert "`egdes` has no meaning here" in said
    assert "1 file with errors left as before" in said


@pytest.mark.parametrize("path", ["none.flow", "builtin:autoplan", ""])
def test_what_cannot_be_formatted_is_wrong_usage(flow: Path, path: str) -> None:
    assert run(["fmt", path]) == console.USAGE
    assert flow.read_text("utf-8") == LOOSE


def test_every_file_of_the_repository_is_formatted() -> None:
    """Those with errors cannot be; its own cases, and files as authors wrote them, must not be."""
    files = [
        path
        for folder in ("compiler", "examples", "simulator", "tests")
        for path in sorted((ROOT / folder).rglob("*.flow"))
        if not any(path.is_relative_to(ROOT / "tests" / "cases" / raw) for raw in ("dsl", "compiler/authors"))
    ]
    assert len(files) > 100
    for path in files:
        text = path.read_text("utf-8")
        parsed = parse(Source(path.name, text))
        if not any(each.severity == "error" for each in parsed.diagnostics):
            assert format_parsed(parsed) == text, f"{path.relative_to(ROOT)} is not formatted"
