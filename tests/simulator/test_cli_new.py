"""`windtunnel new`: what it writes is clean in every way, and it never harms what is there."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from windtunnel.dsl import Source, format_file
from windtunnel.simulator import cli
from windtunnel.simulator.commands import new
from windtunnel.simulator.commands.console import CLEAN, USAGE

TEMPLATES = ("hello", "approve", "charge", "draft", "fallback", "handbook", "label", "route")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder to begin in."""
    monkeypatch.chdir(tmp_path)


def here() -> list[str]:
    return sorted(os.listdir())


def test_the_templates_are_the_stops_of_the_tour(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(("new", "--list")) == CLEAN
    listed = capsys.readouterr().out.splitlines()
    assert tuple(line.split()[0] for line in listed) == TEMPLATES
    assert all(len(line.split()) > 4 for line in listed), "each line says what it teaches"
    assert here() == []


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_is_written_is_clean(template: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It checks without a hint, is in canonical form, its scenarios pass, one crash breaks nothing."""
    assert cli.run(("new", "our-own", "--template", template)) == CLEAN
    assert here() == ["our-own.flow", "our-own.scenarios.flow"]
    told = capsys.readouterr().out
    for file in here():
        text = Path(file).read_text("utf-8")
        assert format_file(Source(file, text)) == text
        assert f"import {template}" not in text
        assert f"workflow {template}" not in text
    assert cli.run(("check", "--strict", *here())) == CLEAN
    assert cli.run(("test", "our-own.scenarios.flow")) == CLEAN
    assert cli.run(("explore", "our-own.flow", "--faults", "1")) == CLEAN
    capsys.readouterr()
    commands = [line.split()[1:] for line in told.splitlines() if line.startswith("  windtunnel ")]
    assert [words[0] for words in commands] == ["check", "graph", "test", "explore"]
    assert cli.run(commands[1]) == CLEAN
    assert "our-own, revision 1" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a", "snake_case", "with-dashes", "x" * new.MAX_NAME])
def test_names_that_can_be(name: str) -> None:
    assert cli.run(("new", name)) == CLEAN
    assert here() == [f"{name}.flow", f"{name}.scenarios.flow"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x" * (new.MAX_NAME + 1), "at most 60"),
        ("", "is no name"),
        ("1st", "is no name"),
        ("__hidden", "is no name"),
        ("a b", "is no name"),
        ("-", "is no name"),
        ("a-", "is no name"),
        ("ünï", "is no name"),
        ("../up", "is no name"),
        ("sub/flow", "is no name"),
        ("x.flow", "is no name"),
        ("agent", "reserved word"),
        ("autoplan", "comes with windtunnel"),
    ],
)
def test_names_that_cannot_be(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(("new", "--", name)) == USAGE
    assert said in capsys.readouterr().err
    assert here() == []


def test_wrong_usage_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(("new",)) == USAGE
    assert "--list" in capsys.readouterr().err
    assert cli.run(("new", "x", "--template", "y")) == USAGE
    assert "hello, approve" in capsys.readouterr().err


@pytest.mark.parametrize("there", ["mine.flow", "mine.scenarios.flow"])
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_nothing_is_overwritten(there: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even by half: where one file is there, neither is written."""
    path = Path(there)
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("nowhere")
    assert cli.run(("new", "mine")) == USAGE
    assert f"{there} is already there" in capsys.readouterr().err
    assert here() == [there]


def test_somebody_who_is_faster_loses_nothing() -> None:
    """A file that appears after it was looked for stays as it is, and nothing is left behind."""
    Path("b").write_text("mine")
    made = {"a": "ours", "b": "ours"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os.path, "lexists", lambda name: False)
        with pytest.raises(click.UsageError, match="cannot write b: file exists"):
            new.place(made)
    assert here() == ["b"]
    assert Path("b").read_text() == "mine"


def test_a_folder_that_cannot_be_written_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert cli.run(("new", "mine")) == USAGE
    assert "cannot write mine.flow: no space left on device" in capsys.readouterr().err
    assert here() == []
