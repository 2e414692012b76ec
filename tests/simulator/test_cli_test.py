"""`windtunnel test`: what is found, what is told, and with which exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import click
import pytest

from windtunnel.simulator import cli
from windtunnel.simulator.commands import selecting
from windtunnel.simulator.commands.selecting import Selection, files_below
from windtunnel.simulator.commands.staging import workers_for

FLOW = """language 1
workflow hello {
  input { name: text(1..20) = "Ada" }
  agent greet "greeting" {
    prompt "Greet ${input.name}."
    expectedOutput assistant
  }
  edges { start -> greet -> exit done }
}
"""
GOOD = FLOW + 'scenario "it says hello" for hello {\n  provider {\n    greet says "Hello."\n  }\n'
GOOD += '  expect run.output == "Hello."\n}\n'
BAD = GOOD.replace('run.output == "Hello."', 'run.output == "Good day."').replace("it says", "it mumbles")
WRONG = FLOW + 'scenario "it is wrong" for hello {\n  expect visits(gret) == 1\n}\n'
LATER = FLOW + 'scenario "it is reloaded" for hello {\n  person {\n    reloads\n  }\n}\n'


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Said]


@pytest.fixture
def windtunnel(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run `windtunnel test` in a folder with a few files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flows" / "deep").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    write("flows/good.flow", GOOD)
    write("flows/deep/bad.flow", BAD)
    write("flows/none.flow", FLOW)
    write(".hidden/bad.flow", BAD)
    write("wrong.flow", WRONG)
    write("later.flow", LATER)

    def call(*arguments: str) -> Said:
        code = cli.run(("test", *arguments))
        sys.stdout.flush()
        return Said(code, *capfd.readouterr())

    return call


def write(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


def test_scenarios_that_pass_are_listed(windtunnel: Cli) -> None:
    said = windtunnel("flows/good.flow")
    assert said == Said(0, "flows/good.flow\n  ✓ it says hello\n", "1 passed\n")


def test_a_failing_one_is_told_with_its_first_break_and_its_place(windtunnel: Cli) -> None:
    said = windtunnel("flows/deep/bad.flow")
    assert (said.code, said.err) == (1, "1 failed\n")
    lines = said.out.splitlines()
    assert lines[:2] == ["flows/deep/bad.flow", "  ✗ it mumbles hello"]
    marked = next(at for at, line in enumerate(lines) if "✗ expect run.output" in line)
    assert "run completed" in lines[marked - 1]
    assert lines[marked].strip() == '✗ expect run.output == "Good day."  (flows/deep/bad.flow:14:3)'
    assert [line.strip() for line in lines[marked + 1 : marked + 3]] == [
        "does not hold at the end",
        'run.output = "Hello."',
    ]
    assert lines[-1] == "    again: windtunnel test flows/deep/bad.flow -k '\"it mumbles hello\"'"


def test_the_command_that_is_told_runs_that_one(windtunnel: Cli) -> None:
    said = windtunnel("flows", "-k", '"it mumbles hello"')
    assert (said.code, said.err) == (1, "1 failed\n")


def test_folders_are_searched_and_hidden_ones_are_not(windtunnel: Cli) -> None:
    said = windtunnel("flows")
    assert [line for line in said.out.splitlines() if line.endswith(".flow")] == [
        "flows/deep/bad.flow",
        "flows/good.flow",
    ]
    assert (said.code, said.err) == (1, "1 passed, 1 failed\n")


def test_a_file_with_errors_is_told_and_the_others_run(windtunnel: Cli) -> None:
    said = windtunnel()
    assert said.code == 1
    assert "error[WT1204]: there is no node `gret`" in said.err
    assert said.err.endswith("1 passed, 1 failed, 1 not simulated yet, 1 file with errors\n")


def test_what_is_not_simulated_does_not_pass(windtunnel: Cli) -> None:
    said = windtunnel("later.flow")
    assert (said.code, said.err) == (1, "1 not simulated yet\n")
    assert "not simulated yet: a person who reloads  (later.flow:12:5)" in said.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("flows/none.flow",), "there is no scenario in flows/none.flow"),
        (("nowhere",), "cannot read nowhere"),
        (("flows", "-k", "zebra"), "there is no scenario that fits -k 'zebra'"),
        (("flows", "-k", "a and"), "-k lacks a word at its end"),
        (("flows", "-k", "(a"), "-k lacks a `)`"),
        (("flows", "-k", "a )"), "-k cannot be read at ')'"),
        (("flows", "-j", "-1"), "Invalid value for '-j'"),
    ],
)
def test_wrong_usage(windtunnel: Cli, arguments: tuple[str, ...], words: str) -> None:
    said = windtunnel(*arguments)
    assert said.code == 2
    assert words in said.err


def test_json(windtunnel: Cli) -> None:
    said = windtunnel("flows", "--json")
    report = json.loads(said.out)
    assert report["schema"] == "windtunnel.test.v1"
    assert (report["passed"], report["failed"], report["refused"]) == (1, 1, 0)
    bad, good = report["scenarios"]
    assert (good["title"], good["status"], good["broken"]) == ("it says hello", "passed", [])
    (broken,) = bad["broken"]
    assert (broken["cause"], broken["line"], broken["column"]) == ("expectation", 14, 3)
    assert broken["values"] == {"run.output": "Hello."}
    assert bad["run"] == {"status": "completed", "exit": "done"}


def test_junit(windtunnel: Cli) -> None:
    said = windtunnel("flows", "wrong.flow", "later.flow", "--junit", "report.xml")
    assert said.code == 1
    root = ET.parse("report.xml").getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert {name: suite.get("tests") for name, suite in suites.items()} == {
        "flows/deep/bad.flow": "1",
        "flows/good.flow": "1",
        "wrong.flow": "1",
        "later.flow": "1",
    }
    failure = suites["flows/deep/bad.flow"].find("testcase/failure")
    assert failure is not None
    assert "again: windtunnel test" in (failure.text or "")
    assert suites["later.flow"].find("testcase/error") is not None
    assert suites["wrong.flow"].find("testcase/error") is not None
    assert len(suites["flows/good.flow"][0]) == 0


def test_a_title_that_xml_cannot_hold(windtunnel: Cli) -> None:
    write("odd.flow", BAD.replace("it mumbles hello", "it \\u0001 <&> says"))
    assert windtunnel("odd.flow", "--junit", "report.xml").code == 1
    assert ET.parse("report.xml").getroot()[0][0].get("name") == "it \ufffd <&> says"


def test_several_cores_tell_the_same(windtunnel: Cli) -> None:
    one, two = windtunnel("flows", "-j", "1"), windtunnel("flows", "-j", "2")
    assert one == two


def test_everything_can_be_told(windtunnel: Cli) -> None:
    """Quiet visits before the last are folded, unless `--full` asks for them."""
    text = BAD.replace("start -> greet", "start -> warm -> greet").replace(
        "  edges",
        '  agent warm "warming" {\n    prompt "Warm up."\n    expectedOutput { ok: bool }\n  }\n  edges',
    )
    write("two.flow", text)
    short, full = windtunnel("two.flow").out, windtunnel("two.flow", "--full").out
    assert len(short.splitlines()) < len(full.splitlines())
    assert "node started · warm" in full
    assert "node started · warm" not in short


# --- selecting ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ("", True),
        ("says hello", True),
        ("SAYS", True),
        ("good.flow", True),
        ("hello says", False),
        ('"it says"', True),
        ("says and hello", True),
        ("says and zebra", False),
        ("zebra or says", True),
        ("not zebra", True),
        ("not (says or zebra)", False),
        ("zebra or says and hello", True),
        ("not not says", True),
    ],
)
def test_an_expression_selects_by_name(expression: str, fits: bool) -> None:
    assert Selection(expression).fits("flows/good.flow::it says hello") is fits


def test_expressions_have_limits() -> None:
    most = selecting.MAX_NESTED
    assert Selection("(" * most + "a" + ")" * most).fits("a")
    with pytest.raises(click.UsageError, match="too deep"):
        Selection("(" * (most + 1) + "a" + ")" * (most + 1))
    long = "a" * selecting.MAX_EXPRESSION
    assert not Selection(long).fits("a")
    with pytest.raises(click.UsageError, match="at most"):
        Selection(long + "a")


def test_a_file_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("a.flow", GOOD)
    assert files_below(["a.flow", ".", "a.flow"]) == ["a.flow"]


def test_workers_are_started_where_they_pay() -> None:
    assert [workers_for(jobs, 4) for jobs in (1, 15, 16, 31, 32, 99)] == [1, 1, 2, 3, 4, 4]
