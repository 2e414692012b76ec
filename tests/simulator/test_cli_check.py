"""`check` with all its options, and `explain`."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.compiler.cases import check_file
from tests.compiler.test_explanation import PAGES
from tests.simulator.sarif_form import Log
from tests.simulator.test_cli import BAD, GOOD, Cli, windtunnel
from windtunnel.dsl import CODES
from windtunnel.simulator.commands import console, mending
from windtunnel.simulator.report.sarif import sarif

__all__ = ["windtunnel"]

HINTED = GOOD.replace('prompt "Greet ${input.name}."', 'prompt "Greet ${input.name}."').replace(
    "workflow greet", "type Unused = text\n\nworkflow greet"
)
FIXABLE = GOOD.replace("start -> hello", "start => hello").replace("-> done ->", "--> done ->")
LOOP = """language 1
workflow loop {
  revision 1
  input { topic: text(1..200) }
  exits { done: { text: text } }
  agent write "writing" {
    prompt "Write about ${input.topic}."
    expectedOutput { text: text, mark: "good" | "bad" }
  }
  agent judge {
    prompt "Judge ${input.topic}."
    expectedOutput { mark: "good" | "bad" }
  }
  compute late = { text: write.text }
  edges {
    start -> judge -> match .mark {
      "good" -> late -> exit done
      "bad" -> write -> judge
    }
  }
}
"""


def write(name: str, text: str) -> None:
    """A file of the current folder."""
    Path(name).write_bytes(text.encode())


# --- --fix --------------------------------------------------------------------------------------------------


def test_fix_applies_safe_fixes_and_checks_again(windtunnel: Cli) -> None:
    """What is mended is gone, the file is as it would be written, and a second time nothing happens."""
    write("f.flow", FIXABLE)
    said = windtunnel("check", "f.flow", "--fix")
    assert said == (console.CLEAN, "", "f.flow: 2 fixes applied\nno findings in 1 file\n")
    assert Path("f.flow").read_text() == GOOD
    assert windtunnel("check", "f.flow", "--fix") == (console.CLEAN, "", "no findings in 1 file\n")


def test_fix_keeps_line_ends_mode_and_what_it_cannot_mend(windtunnel: Cli) -> None:
    """A file of another system stays one; findings that need a person stay findings."""
    write("f.flow", FIXABLE.replace("${input.name}", "${input.name}${input.nobody}").replace("\n", "\r\n"))
    Path("f.flow").chmod(0o640)
    said = windtunnel("check", "f.flow", "--fix", "--format", "concise")
    assert said.code == console.FINDINGS
    assert [line.split(" ")[1] for line in said.out.splitlines()] == ["WT0404"]
    assert Path("f.flow").read_bytes() == BAD.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(Path("f.flow").stat().st_mode) == 0o640


def test_fix_leaves_clean_files_and_built_ins_alone(windtunnel: Cli) -> None:
    """A file that needs nothing is not written; a built-in cannot be."""
    before = Path("good.flow").stat().st_mtime_ns
    assert windtunnel("check", "good.flow", "builtin:plain-summary", "--fix").code == console.CLEAN
    assert Path("good.flow").stat().st_mtime_ns == before


def test_fixes_that_make_it_worse_are_not_written(windtunnel: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is checked again before it is written."""
    write("f.flow", FIXABLE)
    monkeypatch.setattr(mending, "mended", lambda text, fixes: text.replace("workflow", "worklow"))
    said = windtunnel("check", "f.flow", "--fix")
    assert said.code == console.FINDINGS
    assert "left as it was" in said.err
    assert Path("f.flow").read_text() == FIXABLE


def test_fix_and_files_that_are_no_text(windtunnel: Cli) -> None:
    """They are findings and stay as they are."""
    Path("f.flow").write_bytes(b"\xff\xfe\x00")
    said = windtunnel("check", "f.flow", "--fix", "--format", "concise")
    assert said.code == console.FINDINGS
    assert "WT0015" in said.out
    assert windtunnel("check", "nothing.flow", "--fix").code == console.USAGE


# --- --strict and severities --------------------------------------------------------------------------------


def test_strict_counts_hints(windtunnel: Cli) -> None:
    """Hints alone are no reason to fail, unless asked for."""
    write("h.flow", HINTED)
    assert windtunnel("check", "h.flow").code == console.CLEAN
    assert windtunnel("check", "h.flow", "--strict").code == console.FINDINGS
    assert windtunnel("check", "good.flow", "--strict").code == console.CLEAN


def test_a_project_sets_severities(windtunnel: Cli) -> None:
    """Raised, lowered or off; the nearest `pyproject.toml` above counts."""
    write("h.flow", HINTED)
    write("pyproject.toml", '[tool.windtunnel.severity]\nWT0115 = "error"\n')
    said = windtunnel("check", "h.flow")
    assert said.code == console.FINDINGS
    assert said.out.startswith("error[WT0115]")
    write("pyproject.toml", '[tool.windtunnel.severity]\nWT0115 = "off"\n')
    assert windtunnel("check", "h.flow", "--strict") == (console.CLEAN, "", "no findings in 1 file\n")
    write("pyproject.toml", "[tool.other]\nx = 1\n")
    assert windtunnel("check", "h.flow", "--strict").code == console.FINDINGS


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('WT0309 = "loud"', "it can be error, warning, hint, off"),
        ('WT9999 = "off"', "there is no finding WT9999"),
        ('WT0301 = "off"', "is an error and stays one"),
        ('WT0301 = "warning"', "is an error and stays one"),
    ],
)
def test_a_table_of_severities_that_means_nothing(windtunnel: Cli, table: str, said: str) -> None:
    """Wrong usage, with the file."""
    write("pyproject.toml", f"[tool.windtunnel.severity]\n{table}\n")
    refused = windtunnel("check", "good.flow")
    assert refused.code == console.USAGE
    assert said in refused.err


def test_a_project_file_that_cannot_be_read(windtunnel: Cli) -> None:
    write("pyproject.toml", "[tool.windtunnel\n")
    assert windtunnel("check", "good.flow").code == console.USAGE
    write("pyproject.toml", "[tool]\nwindtunnel = 3\n")
    assert "is no table" in windtunnel("check", "good.flow").err


# --- files that cannot be read ------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [("nope.flow", "bad.flow"), ("bad.flow", "nope.flow")])
def test_a_file_that_is_not_there_hides_nothing_of_the_others(
    windtunnel: Cli, order: tuple[str, str]
) -> None:
    """All findings of all files in one run, and wrong usage in the end."""
    write("bad.flow", BAD)
    said = windtunnel("check", *order, "gone.flow", "--format", "concise")
    assert said.code == console.USAGE
    assert "WT0404" in said.out
    assert "cannot read nope.flow: no such file or directory" in said.err
    assert "cannot read gone.flow" in said.err


def test_a_pipe_is_no_file(windtunnel: Cli) -> None:
    """A flow is read more than once: it is said what to do."""
    os.mkfifo("pipe.flow")
    said = windtunnel("check", "pipe.flow")
    assert said.code == console.USAGE
    assert "cannot read pipe.flow: it is a pipe or a device" in said.err
    assert "0 files" not in said.err


def test_an_input_on_the_command_line_that_is_no_utf_8(windtunnel: Cli) -> None:
    """Bytes that are no text come as lone surrogates, which say nothing to a person."""
    said = windtunnel("run", "good.flow", "--input", '{"name": "\udcff"}')
    assert said.code == console.USAGE
    assert "the input cannot be used: not UTF-8" in said.err


# --- what other commands say of findings --------------------------------------------------------------------

WARNED = LOOP.replace("text: write.text }", 'text: write?.text ?? "" }')


@pytest.mark.parametrize(
    "arguments",
    [("run", "w.flow"), ("graph", "w.flow"), ("facts", "w.flow"), ("compile", "w.flow"), ("test", "w.flow")],
)
def test_other_commands_count_warnings(windtunnel: Cli, arguments: tuple[str, ...]) -> None:
    """One line, the same for each; what was asked for is not hidden behind what `check` is for."""
    scenario = 'scenario "s" for loop { input { topic: "t" } expect visits(judge) > 0 }\n'
    write("w.flow", WARNED + scenario)
    said = windtunnel(*arguments)
    assert "1 warning in w.flow: see `windtunnel check w.flow`" in said.err
    assert "WT0309" not in said.err + said.out


def test_other_commands_tell_errors_in_full(windtunnel: Cli) -> None:
    write("w.flow", LOOP)
    said = windtunnel("facts", "w.flow")
    assert said.code == console.FINDINGS
    assert "WT0309" in said.err
    assert "WT0401" in said.err


def test_a_project_that_wants_no_warning_is_told_none(windtunnel: Cli) -> None:
    write("w.flow", WARNED)
    write("pyproject.toml", '[tool.windtunnel.severity]\nWT0309 = "off"\n')
    assert "warning" not in windtunnel("facts", "w.flow").err


# --- formats ------------------------------------------------------------------------------------------------


def sarif_of(windtunnel: Cli, *files: str) -> Any:
    """The log of a check."""
    return json.loads(windtunnel("check", *files, "--format", "sarif").out)


def check_sarif(log: Any) -> list[Any]:
    """Hold a log against the standard, and give its results."""
    Log.model_validate(log)
    results: list[Any] = log["runs"][0]["results"]
    return results


def test_sarif_has_places_paths_and_fixes(windtunnel: Cli) -> None:
    """A path that a note tells is a code flow over the nodes it passes; secondary places are related ones."""
    write("my loop.flow", LOOP)
    write("f.flow", FIXABLE.replace("agent hello", "agent done"))
    results = check_sarif(sarif_of(windtunnel, "my loop.flow", "f.flow"))
    by_code = {result["ruleId"]: result for result in results}
    assert set(by_code) >= {"WT0309", "WT0401", "WT0005", "WT0102"}
    flow = by_code["WT0401"]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in flow] == ["judge", "late"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert uris == {"my%20loop.flow", "f.flow"}
    assert by_code["WT0102"]["relatedLocations"][0]["id"] == 1
    (replacement,) = by_code["WT0005"]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == "->"


def test_every_finding_has_a_form_in_sarif() -> None:
    """All the examples of the pages, with their places, paths and fixes."""
    found = 0
    for path in sorted(PAGES.glob("*.fail.flow")):
        checked = check_file(path)
        log = sarif(checked.diagnostics, checked.modules.sources, {}, "1.2.3")
        found += len(check_sarif(json.loads(json.dumps(log))))
    assert found > 100


def test_sarif_without_findings(windtunnel: Cli) -> None:
    """A log all the same, so that a host closes what is mended."""
    said = windtunnel("check", "good.flow", "--format", "sarif")
    assert (said.code, said.err) == (console.CLEAN, "")
    assert check_sarif(json.loads(said.out)) == []


def test_annotations_are_one_line_each(windtunnel: Cli) -> None:
    """Line breaks, commas and colons are escaped, so that a message cannot give commands of its own."""
    write("a,b.flow", LOOP)
    said = windtunnel("check", "a,b.flow", "--format", "github")
    assert said.err == ""
    lines = said.out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(
        "::warning file=a%2Cb.flow,line=6,endLine=6,col=9,endColumn=14,title=WT0309%3A "
    )
    assert "%0Ahelp: " in lines[0]
    assert lines[1].startswith("::error file=a%2Cb.flow,line=14,")


# --- explain ------------------------------------------------------------------------------------------------


def test_explain_prints_a_page(windtunnel: Cli) -> None:
    """By its code, in any case, or by its number alone."""
    said = windtunnel("explain", "WT0204")
    assert said.code == console.CLEAN
    assert said.out.startswith("WT0204: no way to an exit (error)\n")
    assert windtunnel("explain", "wt0204") == windtunnel("explain", "0204") == said


def test_explain_lists_every_code(windtunnel: Cli) -> None:
    said = windtunnel("explain", "--list")
    assert [line.split()[0] for line in said.out.splitlines()] == list(CODES)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--list"),
        (("WT0999",), "there is no finding WT0999"),
        (("../codes",), "there is no finding"),
        (("WT0204", "--list"), "leave out CODE"),
    ],
)
def test_explain_and_wrong_usage(windtunnel: Cli, arguments: tuple[str, ...], said: str) -> None:
    refused = windtunnel("explain", *arguments)
    assert refused.code == console.USAGE
    assert said in refused.err
