"""The command line: what each command prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from windtunnel.compiler.drawing import FORMATS
from windtunnel.simulator import cli
from windtunnel.simulator.commands import console


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Said]

GOOD = """language 1
workflow greet {
  revision 1
  input { name: text(1..20) }
  exits { done: { text: text } }
  agent hello "greeting" {
    prompt "Greet ${input.name}."
    expectedOutput assistant { maxChars 200 }
  }
  compute done = { text: hello }
  edges { start -> hello -> done -> exit done }
}
"""
BAD = GOOD.replace("${input.name}", "${input.name}${input.nobody}")


@pytest.fixture
def windtunnel(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.flow").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.flow").write_text(BAD, encoding="utf-8")

    def call(*arguments: str) -> Said:
        code = cli.run(arguments)
        sys.stdout.flush()
        return Said(code, *capfd.readouterr())

    return call


def test_help_names_every_command_and_shows_an_example(windtunnel: Cli) -> None:
    said = windtunnel("--help")
    assert said.code == console.CLEAN
    assert all(name in said.out for name in cli.COMMANDS)
    assert "Example:" in said.out


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_every_command_has_help_with_an_example_of_itself(windtunnel: Cli, command: str) -> None:
    said = windtunnel(command, "--help")
    assert said.code == console.CLEAN
    assert f"Example: windtunnel {command} " in said.out
    assert said.err == ""


def test_version(windtunnel: Cli) -> None:
    said = windtunnel("--version")
    assert said.code == console.CLEAN
    assert said.out.startswith("windtunnel 0.")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "Usage"),
        (("chekc", "good.flow"), "did you mean `check`?"),
        (("check",), "Missing argument"),
        (("check", "good.flow", "--nonsense"), "No such option"),
        (("check", "good.flow", "--format", "xml"), "xml"),
        (("check", "no.flow"), "cannot read no.flow: no such file"),
        (("check", "."), "cannot read .: it is a folder"),
        (("check", "a\0b"), "not a usable path"),
        (("compile", "no.flow"), "cannot read no.flow"),
        (("compile", "good.flow", "-o", "."), "it is a folder"),
        (("compile", "good.flow", "-o", "no/such/place.json"), "cannot write no/such/place.json"),
        (("graph", "good.flow", "-o", "picture.txt2"), "cannot tell the format"),
        (("graph", "good.flow", "--expand", "none"), "--expand"),
        (("explore", "good.flow", "--faults", "-1"), "--faults"),
        (("explore", "good.flow", "--faults", "many"), "--faults"),
        (("explore",), "FILE"),
        (("explore", "--fault", "W99"), "W99"),
        (("replay", "nonsense"), "not a replay token"),
        (("run", "good.flow", "--input", "{"), "not JSON"),
        (("run", "good.flow", "--input", "@no.json"), "cannot read the input from no.json"),
        (("run", "good.flow", "--input", '{"name": 3}'), "/name: expected text(1..20), got a number"),
        (("run", "good.flow", "--input", "{}"), "/name: missing"),
        (("run", "good.flow", "--input", '{"name": "a", "more": 1}'), "/more: no such field"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_clear_message(
    windtunnel: Cli, arguments: tuple[str, ...], expected: str
) -> None:
    said = windtunnel(*arguments)
    assert said.code == console.USAGE
    assert expected in said.err
    assert said.out == ""
    assert "Traceback" not in said.err


def test_check_finds_nothing_in_a_clean_file(windtunnel: Cli) -> None:
    said = windtunnel("check", "good.flow", "builtin:plain-summary")
    assert said == Said(console.CLEAN, "", "no findings in 2 files\n")


def test_check_says_file_line_and_column(windtunnel: Cli) -> None:
    said = windtunnel("check", "bad.flow", "good.flow", "--format", "concise")
    assert said.code == console.FINDINGS
    assert said.out.startswith("bad.flow:7:40 WT")
    assert said.out.count("\n") == 1
    assert said.err == "1 error in 2 files\n"


def test_check_draws_the_place_under_the_source(windtunnel: Cli) -> None:
    said = windtunnel("check", "bad.flow")
    assert said.code == console.FINDINGS
    assert 'prompt "Greet ${input.name}${input.nobody}."' in said.out
    assert "^" in said.out


def test_check_as_json_tells_everything(windtunnel: Cli) -> None:
    said = windtunnel("check", "bad.flow", "--format", "json")
    report = json.loads(said.out)
    assert report["schema"] == "windtunnel.check.v1"
    (finding,) = report["findings"]
    assert (finding["file"], finding["line"], finding["severity"]) == ("bad.flow", 7, "error")
    assert finding["code"].startswith("WT")
    assert finding["endColumn"] > finding["column"]
    assert said.err == ""


def test_a_file_outside_is_named_as_the_person_wrote_it(windtunnel: Cli, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    os.chdir(tmp_path / "inner")
    assert windtunnel("check", "../bad.flow", "--format", "concise").out.startswith("../bad.flow:7:40 ")
    whole = str(tmp_path / "bad.flow")
    assert windtunnel("check", whole, "--format", "concise").out.startswith(f"{whole}:7:40 ")


def test_a_file_that_is_not_utf8_is_a_finding(windtunnel: Cli, tmp_path: Path) -> None:
    (tmp_path / "latin.flow").write_bytes(b"language 1\n# caf\xe9\n")
    said = windtunnel("check", "latin.flow", "--format", "concise")
    assert said.code == console.FINDINGS
    assert "WT0015" in said.out


def test_compile_prints_the_snapshot_or_writes_it(windtunnel: Cli, tmp_path: Path) -> None:
    printed = windtunnel("compile", "builtin:autoplan")
    assert printed.code == console.CLEAN
    snapshot = json.loads(printed.out)
    for summary in ("summary/summarize", "obstacle/summarize"):
        assert snapshot["nodes"][summary]["nodeType"] == "agent"
        assert snapshot["nodes"][summary]["expectedOutput"] == {"kind": "assistant-message", "maxChars": 2500}
    written = windtunnel("compile", "builtin:autoplan", "-o", "autoplan.json")
    assert written == Said(console.CLEAN, "", "")
    assert (tmp_path / "autoplan.json").read_text(encoding="utf-8") == printed.out


def test_compile_tells_what_is_wrong_on_standard_error(windtunnel: Cli, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("before", encoding="utf-8")
    said = windtunnel("compile", "bad.flow", "-o", "out.json")
    assert (said.code, said.out) == (console.FINDINGS, "")
    assert "nobody" in said.err
    assert "1 error in 1 file" in said.err
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == "before"


def test_a_file_is_written_whole_with_its_mode_kept(windtunnel: Cli, tmp_path: Path) -> None:
    target = tmp_path / "real.json"
    target.write_text("before", encoding="utf-8")
    target.chmod(0o640)
    (tmp_path / "link.json").symlink_to(target)
    assert windtunnel("compile", "good.flow", "-o", "link.json").code == console.CLEAN
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["workflow"] == "greet"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    there = sorted(path.name for path in tmp_path.iterdir())
    assert there == ["bad.flow", "good.flow", "link.json", "real.json"]


def test_one_workflow_of_several_is_named_behind_the_file(windtunnel: Cli, tmp_path: Path) -> None:
    """A file with two workflows is never a silent choice; `FILE#NAME` names one, also in a replay token."""
    other = GOOD.removeprefix("language 1\n").replace("workflow greet", "workflow wave")
    (tmp_path / "two.flow").write_text(GOOD + other, encoding="utf-8")
    said = windtunnel("compile", "two.flow")
    assert said.code == console.FINDINGS
    assert "`two.flow` declares `greet` and `wave`: which one is meant?" in said.err
    assert "name it behind the file: `two.flow#wave`" in said.err
    for name in ("greet", "wave"):
        assert json.loads(windtunnel("compile", f"two.flow#{name}").out)["workflow"] == name
    assert "declares no workflow `x`" in windtunnel("compile", "two.flow#x").err
    assert windtunnel("compile", "none.flow#x").code == console.USAGE


def test_the_project_is_left_only_when_allowed(
    windtunnel: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import of a file outside of the project is refused, unless `--allow-outside` says otherwise."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "shared.flow").write_text("language 1\ntype Name = text(1..20)\n", encoding="utf-8")
    text = GOOD.replace("language 1\n", 'language 1\nimport Name from "../shared.flow"\n', 1)
    (inside / "here.flow").write_text(text.replace("name: text(1..20)", "name: Name"), encoding="utf-8")
    monkeypatch.chdir(inside)
    refused = windtunnel("check", "here.flow")
    assert refused.code == console.FINDINGS
    assert "WT0110" in refused.out
    assert windtunnel("check", "--allow-outside", "here.flow").code == console.CLEAN


def test_a_file_may_have_a_number_sign_in_its_name(windtunnel: Cli, tmp_path: Path) -> None:
    (tmp_path / "a#b.flow").write_text(GOOD, encoding="utf-8")
    assert windtunnel("compile", "a#b.flow").code == console.CLEAN


def test_graph_draws_an_svg(windtunnel: Cli, tmp_path: Path) -> None:
    said = windtunnel("graph", "builtin:autoplan", "-o", "autoplan.svg")
    assert said == Said(console.CLEAN, "", "")
    picture = (tmp_path / "autoplan.svg").read_text(encoding="utf-8")
    assert picture.startswith("<")
    assert "</svg>" in picture
    assert windtunnel("graph", "builtin:autoplan", "--format", "svg").out == picture


def test_graph_alone_draws_for_the_terminal(windtunnel: Cli) -> None:
    drawn = windtunnel("graph", "builtin:autoplan").out
    assert drawn.splitlines()[0] == "autoplan, revision 2"
    assert "frame" in drawn
    assert windtunnel("graph", "builtin:autoplan", "--ascii").out.isascii()


def test_graph_and_explore_take_a_snapshot_instead_of_a_source(windtunnel: Cli, tmp_path: Path) -> None:
    windtunnel("compile", "good.flow", "-o", "good.json")
    assert windtunnel("graph", "good.json").out == windtunnel("graph", "good.flow").out
    assert windtunnel("explore", "good.json", "--faults", "0").code == console.CLEAN
    text = (tmp_path / "good.json").read_text("utf-8")
    (tmp_path / "cut.json").write_text(text[:-30], "utf-8")
    (tmp_path / "edited.json").write_text(text.replace("greet", "great"), "utf-8")
    for name in ("cut.json", "edited.json"):
        said = windtunnel("graph", name)
        assert said.code == console.USAGE
        assert "no snapshot that can be used" in said.err


def test_graph_marks_what_changed_and_what_was_explored(windtunnel: Cli, tmp_path: Path) -> None:
    plain = windtunnel("graph", "good.flow", "--format", "svg").out
    report = windtunnel("explore", "good.flow", "--faults", "0", "--json").out
    (tmp_path / "report.json").write_text(report, "utf-8")
    covered = windtunnel("graph", "good.flow", "--format", "svg", "--coverage", "report.json").out
    assert "taken" in covered
    assert covered != plain
    assert "changed" not in windtunnel("graph", "good.flow", "--format", "json", "--diff", "good.flow").out
    said = windtunnel("graph", "builtin:autoplan", "--coverage", "report.json")
    assert (said.code, "explore it again" in said.err) == (console.USAGE, True)
    assert windtunnel("graph", "good.flow", "--coverage", "good.flow").code == console.USAGE
    assert windtunnel("graph", "good.flow", "--coverage", "none.json").code == console.USAGE


@pytest.mark.parametrize("form", FORMATS)
def test_graph_draws_in_the_format_of_the_ending(windtunnel: Cli, tmp_path: Path, form: str) -> None:
    said = windtunnel("graph", "good.flow", "-o", f"greet.{form}", "--theme", "dark")
    assert said == Said(console.CLEAN, "", "")
    written = (tmp_path / f"greet.{form}").read_bytes()
    assert (b"hello" in written) == (form != "png")
    printed = windtunnel("graph", "good.flow", "--format", form, "--theme", "dark")
    if form == "png":
        assert (printed.code, printed.out) == (console.USAGE, "")
    else:
        assert printed.out.encode() == written


def test_a_bug_of_ours_is_an_apology_without_a_traceback(
    windtunnel: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the wheel came off\nwhile turning")

    monkeypatch.setattr(cli.windtunnel, "main", broken)
    said = windtunnel("check", "good.flow")
    assert said.code == console.OUR_BUG
    assert "RuntimeError: the wheel came off while turning" in said.err
    assert "sorry" in said.err
    assert "Traceback" not in said.err
    assert "Traceback" in windtunnel("--debug", "check", "good.flow").err


def test_an_interrupt_is_quiet(windtunnel: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.windtunnel, "main", interrupted)
    assert windtunnel("check", "good.flow") == Said(console.STOPPED, "", "stopped\n")


def test_a_reader_that_leaves_is_no_error() -> None:
    """`windtunnel compile … | head -c 10` says nothing of a broken pipe."""
    command = [sys.executable, "-m", "windtunnel.simulator.cli", "compile", "builtin:autoplan"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read(10)
    child.stdout.close()
    assert child.stderr is not None
    errors = child.stderr.read()
    child.stderr.close()
    assert child.wait() == console.CLEAN
    assert errors == b""


def test_output_is_utf8_whatever_the_locale_says() -> None:
    command = [sys.executable, "-m", "windtunnel.simulator.cli", "run", "builtin:plain-summary"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}  # noqa: TID251
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.stderr == b""
    assert "✓" in done.stdout.decode("utf-8")


def test_a_full_disk_and_an_empty_name_are_no_bugs_of_ours(windtunnel: Cli) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "windtunnel.simulator.cli", "compile", "builtin:plain-summary"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, "cannot write the result" in done.stderr) == (console.USAGE, True)
    said = windtunnel("check", "")
    assert (said.code, "the name of a FILE is empty" in said.err) == (console.USAGE, True)


def test_a_device_without_an_end_is_refused(windtunnel: Cli) -> None:
    """What is no file is not read at all, so nothing can go on for ever."""
    said = windtunnel("check", "/dev/zero", "--format", "concise")
    assert said.code == console.USAGE
    assert "/dev/zero" in said.err
