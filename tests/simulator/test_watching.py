"""A run as a picture: its course, the command that draws it, and what a person sees while it runs."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.compiler.drawn import Page
from windtunnel.compiler import compile_file
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import cli, simulate
from windtunnel.simulator.commands import watching
from windtunnel.simulator.commands.console import CLEAN, FINDINGS, USAGE
from windtunnel.simulator.report.course import course_of

FLOW = """language 1
workflow small {
  revision 1
  input { topic: text(1..20) }
  exits { done: { text: text }, gone: { text: text } }
  agent say { prompt "Say something of ${input.topic}." expectedOutput { text: text(1..60) } timeout 1m }
  decision approve {
    title "Publish this?"
    show say.text
    choices {
      publish "Publish"
      drop "Drop"
    }
  }
  compute kept = { text: say.text }
  compute thrown = { text: say.text }
  edges {
    start -> say -> approve
    approve.publish -> kept -> exit done
    approve.drop -> thrown -> exit gone
  }
}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with the workflow in it."""
    monkeypatch.chdir(tmp_path)
    Path("small.flow").write_text(FLOW)


def small() -> Snapshot:
    compiled = compile_file("small.flow")
    assert compiled.snapshot is not None, compiled.diagnostics
    return compiled.snapshot


def line(kind: str, node: str | None = None, **payload: Any) -> dict[str, Any]:
    """One line of a trace, as far as a course needs it."""
    return {"type": kind, "payload": payload} | ({} if node is None else {"nodeId": node})


def test_the_course_of_a_run_follows_its_trace() -> None:
    trace = [
        line("run_started"),
        line("node_started", "a", via="start"),
        line("node_failed", "a", outcome="timed_out"),
        line("node_started", "b", via="a timed_out"),
        line("node_finished", "b", outcome="ok"),
        line("node_started", "b", via="b"),
    ]
    course = course_of(trace, "run-1")
    assert course.taken == {"start", "a timed_out", "b"}
    assert course.states == {"a": "failed", "b": "current"}
    assert course.visits == {"a": 1, "b": 2}
    assert course.told == "run-1 not over yet"
    ended = course_of([*trace, line("run_cancelled")])
    assert ended.states == {"a": "failed", "b": "failed"}
    assert ended.told == "cancelled"


@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ([], "r not begun"),
        ([line("run_started")], "r not over yet"),
        ([line("run_waiting")], "r waiting for a person"),
        ([line("run_paused")], "r paused"),
        ([line("run_paused"), line("run_resumed")], "r not over yet"),
        ([line("run_completed", exit="done")], "r completed, by exit done"),
        ([line("run_failed")], "r failed"),
    ],
)
def test_a_course_says_how_the_run_stands(trace: list[dict[str, Any]], told: str) -> None:
    assert course_of(trace, "r").told == told


def drawn(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The picture of a run as data."""
    capsys.readouterr()
    assert cli.run(("graph", "--format", "json", *arguments)) == CLEAN
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def marks(picture: dict[str, Any]) -> dict[str, str]:
    return {box["id"]: box["status"] for sheet in picture["sheets"] for box in sheet["boxes"]}


def test_graph_draws_the_path_of_a_run_on_a_store(capsys: pytest.CaptureFixture[str]) -> None:
    """Where it waits, then how it went; from what was run, whatever became of the file since."""
    assert cli.run(("run", "small.flow", "--store", "run.db")) == CLEAN
    waiting = drawn(capsys, "--run", "run.db", "run-1")
    assert waiting["notes"][0] == "run-1 waiting for a person"
    assert marks(waiting) == {
        "start": "taken",
        "say": "taken",
        "approve": "current",
        "kept": "missed",
        "exit/done": "missed",
        "thrown": "missed",
        "exit/gone": "missed",
    }
    assert drawn(capsys, "small.flow", "--run", "run.db", "run-1") == waiting
    Path("small.flow").write_text("language 1\n")
    assert cli.run(("answer", "run.db", "run-1", "drop")) == CLEAN
    over = drawn(capsys, "--run", "run.db", "run-1")
    assert over["notes"] == ["run-1 completed, by exit gone", "4 of 6 arrows taken"]
    assert marks(over) == {
        "start": "taken",
        "say": "taken",
        "approve": "taken",
        "kept": "missed",
        "exit/done": "missed",
        "thrown": "taken",
        "exit/gone": "taken",
    }


def test_graph_refuses_runs_that_it_cannot_draw(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(("run", "small.flow", "--store", "run.db", "--queue")) == CLEAN
    Path("other.flow").write_text(Path("small.flow").read_text().replace("Publish this?", "Print this?"))
    for arguments, said in (
        (("--run", "run.db", "run-7"), "there is no run run-7"),
        (("--run", "none.db", "run-1"), "there is no store none.db"),
        (("--run", "small.flow", "run-1"), "small.flow"),
        (("other.flow", "--run", "run.db", "run-1"), "another version"),
        (("--run", "run.db", "run-1", "--diff", "small.flow"), "one picture for each"),
        ((), "FILE"),
    ):
        assert cli.run(("graph", *arguments)) == USAGE
        assert said in capsys.readouterr().err
    assert not Path("none.db").exists()
    assert drawn(capsys, "--run", "run.db", "run-1")["notes"][0] == "run-1 not begun"


@pytest.mark.parametrize("form", ["svg", "txt", "mmd", "dot", "html"])
def test_where_a_run_is_does_not_stand_in_colour_alone(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(("run", "small.flow", "--store", "run.db")) == CLEAN
    capsys.readouterr()
    assert cli.run(("graph", "--run", "run.db", "run-1", "--format", form)) == CLEAN
    out = capsys.readouterr().out
    assert re.search(r"(?m)^▶ +◆ approve" if form == "txt" else "the run is here", out)


# --- while it runs -----------------------------------------------------------------------------------------


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal of 80 columns and 24 lines that somebody looks at."""
    told = io.StringIO()

    def console() -> Console:
        return Console(file=told, force_terminal=True, width=80, height=24, highlight=False, no_color=True)

    monkeypatch.setattr(watching, "_console", console)
    monkeypatch.setattr(watching, "is_watched", lambda: True)
    return told


def test_a_run_on_a_store_is_drawn_while_it_runs(
    screen: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(("run", "small.flow", "--store", "run.db")) == CLEAN
    assert "▶ ◆ approve" in screen.getvalue()
    assert "run-1: small revision 1, waiting" in capsys.readouterr().out
    assert cli.run(("answer", "run.db", "run-1", "publish")) == CLEAN
    *_, last = screen.getvalue().split("small, revision 1")
    assert "run-1 completed, by exit done" in last
    assert "✓ ◎ done" in last


def test_a_simulated_run_is_drawn_before_its_story(
    screen: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(("run", "small.flow")) == CLEAN
    assert "✓ ◆ approve" in screen.getvalue()
    assert "run started" in capsys.readouterr().out


def test_nothing_is_drawn_for_programs(
    screen: io.StringIO, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.run(("run", "small.flow", "--json")) == CLEAN
    monkeypatch.setattr(watching, "is_watched", lambda: False)
    assert cli.run(("run", "small.flow", "--store", "run.db")) == CLEAN
    assert cli.run(("resume", "run.db", "run-9")) in (FINDINGS, USAGE)
    assert screen.getvalue() == ""


def test_a_frame_keeps_the_title_the_include_and_the_place() -> None:
    compiled = compile_file("builtin:plan-change").snapshot
    assert compiled is not None
    events = simulate(compiled, seed=3).events
    inside = next(
        number for number, event in enumerate(events) if str(event.get("nodeId", "")).count("/") == 2
    )
    trace = events[: inside + 1]
    where = str(events[inside]["nodeId"])
    for lines in (8, 12, 30):
        shown = [text for text, _style in watching.frame(compiled, trace, 100, lines, "run-1")]
        assert len(shown) <= lines
        assert shown[0].startswith("plan-change, revision ")
        assert shown[1] == "run-1 not over yet"
        assert any(text.startswith("▶") and where.rpartition("/")[2] in text for text in shown)
        assert any(text.startswith(f"── {where.rpartition('/')[0]}: ") for text in shown)
        assert "bold blue" in [style for _text, style in watching.frame(compiled, trace, 100, lines)]
    whole = watching.frame(compiled, trace, 100, 10_000)
    assert watching.frame(compiled, trace, 100, len(whole)) == whole
    assert len(watching.frame(compiled, trace, 100, len(whole) - 1)) == len(whole) - 1


def test_findings_are_told_in_the_page_at_what_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    """Under the node of every mount, else under the workflow."""
    text = Path("small.flow").read_text().replace("Say something of ${input.topic}.", "Say something.")
    Path("small.flow").write_text(text)
    outer = """language 1
import small from "small.flow"
workflow outer {
  revision 1
  input { topic: text(1..20) }
  exits { done: { text: text }, gone: { text: text } }
  include one = small { topic: input.topic }
  include two = small { topic: input.topic }
  edges {
    start -> one
    one.done -> two
    one.gone -> two
    two.done -> kept -> exit done
    two.gone -> lost -> exit gone
  }
  compute kept = { text: two.done.text }
  compute lost = { text: two.gone.text }
}
"""
    Path("outer.flow").write_text(outer)
    capsys.readouterr()
    assert cli.run(("graph", "outer.flow", "-o", "x.html")) == CLEAN
    picture = Page(Path("x.html").read_text()).scripts["picture"]
    boxes = {box["id"]: box for sheet in json.loads(picture)["sheets"] for box in sheet["boxes"]}
    found = {
        name: heading
        for name, box in boxes.items()
        for heading, _text in box.get("details", [])
        if heading.startswith(("hint", "warning"))
    }
    assert {"one/say", "two/say"} <= {*found} or {"one", "two"} <= {*found}
    assert cli.run(("compile", "outer.flow")) == CLEAN
    Path("outer.json").write_text(capsys.readouterr().out)
    assert cli.run(("graph", "outer.json", "-o", "x.html")) == CLEAN
    assert "WT0" not in Page(Path("x.html").read_text()).scripts["picture"]


@pytest.mark.parametrize(("term", "shown"), [("xterm", True), ("dumb", False)])
def test_a_terminal_must_be_able_to_draw_anew(
    term: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Colours do not matter: rich leaves them out where that was asked for."""
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", terminal)
    assert watching.is_watched() is shown
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    assert not watching.is_watched()
