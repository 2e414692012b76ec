"""`--report`: the page of a run, of a counterexample, of a token, and of every scenario."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from windtunnel.simulator import cli

HELLO = "examples/hello.flow"


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Invoke = Callable[..., Said]


@pytest.fixture
def invoke(capfd: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command."""

    def run(*arguments: object) -> Said:
        code = cli.run([str(argument) for argument in arguments])
        sys.stdout.flush()
        return Said(code, *capfd.readouterr())

    return run


def data_of(file: Path) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', file.read_text("utf-8"))
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    return read


def test_run_writes_a_page_beside_the_story(invoke: Invoke, tmp_path: Path) -> None:
    """The story is told all the same; the page holds the source and says how to do it again."""
    page = tmp_path / "run.html"
    done = invoke("run", HELLO, "--seed", 5, "--input", '{"name": "Ada"}', "--report", page)
    assert done.code == 0, done.err
    assert "the run is completed" in done.out
    assert f"report: {page}" in done.err
    data = data_of(page)
    assert data["again"] == f'windtunnel run {HELLO} --seed 5 --input \'{{"name": "Ada"}}\''
    assert data["places"]["greet"][0] == HELLO
    assert data["good"]


def test_explore_writes_the_counterexample_and_replay_the_same(invoke: Invoke, tmp_path: Path) -> None:
    """The first violation, with what was searched; the token in it leads to an equal page."""
    found, again = tmp_path / "found.html", tmp_path / "again.html"
    assert invoke("explore", HELLO, "--fault", "W01", "--faults", 1, "--report", found).code == 1
    data = data_of(found)
    assert not data["good"]
    assert data["breaks"][0][1].startswith("one-visible-response")
    assert "1 violation" in data["notes"][0]
    token = data["again"].split()[-1]
    assert invoke("replay", token, "--report", again).code == 1
    replayed = data_of(again)
    assert replayed["rows"] == data["rows"]
    assert replayed["holdings"] == data["holdings"]


def test_the_small_world_of_a_fault_has_a_source_too(invoke: Invoke, tmp_path: Path) -> None:
    """Without a file the workflow is one of ours; its text stands in the page."""
    page = tmp_path / "w.html"
    assert invoke("explore", "--fault", "W01", "--faults", 1, "--report", page).code == 1
    assert data_of(page)["files"]


def test_explore_without_a_violation_shows_the_quiet_run(invoke: Invoke, tmp_path: Path) -> None:
    """The proof stands above the run without faults."""
    page = tmp_path / "sound.html"
    assert invoke("explore", HELLO, "--faults", 0, "--report", page).code == 0
    data = data_of(page)
    assert data["notes"] == [data["notes"][0], "This is the run without faults."]
    assert "holds" in data["notes"][0]


def test_a_page_for_every_scenario(invoke: Invoke, tmp_path: Path) -> None:
    """Named after its title, unique, with a list of all; a failing one has its break where it shows."""
    flow = tmp_path / "x.flow"
    scenario = 'scenario "TITLE" for x { provider { say says "Hi" } expect run.output == "WANTED" }\n'
    text = 'language 1\nworkflow x {\n input {}\n agent say { prompt "Hi" expectedOutput assistant }\n'
    text += " edges { start -> say -> exit done }\n}\n"
    text += scenario.replace("TITLE", "it says <hi>").replace("WANTED", "Hi")
    text += scenario.replace("TITLE", "it says: hi!").replace("WANTED", "Ho")
    text += scenario.replace("TITLE", "index").replace("WANTED", "Hi")
    flow.write_text(text, "utf-8")
    done = invoke("test", flow, "--report", tmp_path / "pages")
    assert done.code == 1
    names = sorted(file.name for file in (tmp_path / "pages").iterdir())
    assert names == ["index.html", "it-says-hi-2.html", "it-says-hi.html", "scenario-index.html"]
    index = (tmp_path / "pages" / "index.html").read_text("utf-8")
    assert "it says &lt;hi&gt;" in index
    assert "2 passed, 1 failed" in index
    broken = data_of(tmp_path / "pages" / "it-says-hi-2.html")
    assert [each[2:] for each in broken["breaks"]] == [[f"{flow}:8:60", ['run.output = "Hi"']]]
    assert broken["again"].startswith("windtunnel test")
    assert str(flow) in broken["files"]


def test_pages_from_several_cores_are_those_from_one(invoke: Invoke, tmp_path: Path) -> None:
    """The same bytes, and where a file is drawn from does not matter."""
    files = ("examples/hello.scenarios.flow", "examples/charge.scenarios.flow")
    for cores, folder in ((1, "one"), (2, "two")):
        assert invoke("test", *files, "-j", cores, "--report", tmp_path / folder).code == 0
    one = {file.name: file.read_bytes() for file in (tmp_path / "one").iterdir()}
    assert len(one) > 4
    assert one == {file.name: file.read_bytes() for file in (tmp_path / "two").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", HELLO, "--report", "x.txt"), "end the name 'x.txt' in .html"),
        (("replay", "wt1.x", "--report", "x"), "end the name 'x' in .html"),
        (("explore", HELLO, "--report", "x.svg"), "end the name 'x.svg' in .html"),
        (("run", HELLO, "--report", "/nowhere/x.html"), "cannot write /nowhere/x.html"),
        (("run", HELLO, "--store", "x.db", "--report", "x.html"), "leave --store out"),
        (("test", "examples/hello.scenarios.flow", "--report", "README.md"), "cannot write into README.md"),
    ],
)
def test_what_cannot_be_written_is_wrong_usage(invoke: Invoke, arguments: tuple[str, ...], said: str) -> None:
    """Before anything runs where the name tells it."""
    done = invoke(*arguments)
    assert done.code == 2
    assert said in done.err
