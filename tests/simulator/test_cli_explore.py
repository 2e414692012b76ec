"""Running, exploring and replaying from the command line, on the workflows that come with windtunnel."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from windtunnel.simulator import cli
from windtunnel.simulator.commands import console, progress, telling
from windtunnel.simulator.commands import input as input_of_run
from windtunnel.simulator.faults import FAULTS
from windtunnel.simulator.report.folding import folded
from windtunnel.simulator.report.story import story

FLOW = "builtin:plain-summary"
LABELS = (
    "before prompt delivery",
    "after prompt delivery",
    "while streaming",
    "after message_end, before agent_settled",
    "after settlement, before persistence",
    "after persistence, before routing",
    "process restart",
    "session reload",
)


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Said]


@pytest.fixture
def windtunnel(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Said:
        code = cli.run(arguments)
        sys.stdout.flush()
        return Said(code, *capfd.readouterr())

    return call


def test_a_quiet_run_is_told_as_a_story(windtunnel: Cli) -> None:
    said = windtunnel("run", FLOW, "--input", '{"source": {"a": 1}, "purpose": "tell the team"}')
    assert (said.code, said.err) == (console.CLEAN, "")
    lines = said.out.splitlines()
    assert lines[0].split() == ["time", "process", "event", "what", "happened"]
    assert "tell the team" in said.out
    assert lines[-1] == "✓ the run is completed, by exit done"


def test_on_a_terminal_the_story_has_colour_and_the_same_words(
    windtunnel: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = windtunnel("run", FLOW).out
    monkeypatch.setattr(telling, "wants_colour", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    coloured = windtunnel("run", FLOW).out
    assert "\x1b[32m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_a_run_as_json_is_one_event_a_line(windtunnel: Cli) -> None:
    said = windtunnel("run", FLOW, "--json")
    events = [json.loads(line) for line in said.out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "run_completed"
    assert said.code == console.CLEAN


def test_the_input_may_come_from_a_file_or_from_standard_input(
    windtunnel: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = '{"source": 1, "purpose": "said in a file"}'
    (tmp_path / "in.json").write_text(given, encoding="utf-8")
    from_file = windtunnel("run", FLOW, "--input", "@in.json", "--json")
    assert "said in a file" in from_file.out
    with (tmp_path / "in.json").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert windtunnel("run", FLOW, "--input", "@-", "--json").out == from_file.out


def test_a_seed_repeats_itself_and_seeds_differ(windtunnel: Cli) -> None:
    outs = [windtunnel("run", FLOW, "--json", "--seed", str(seed)).out for seed in (1, 1, 2, 3, 4)]
    assert outs[0] == outs[1]
    assert len(set(outs)) > 1


def test_explore_proves_within_bounds_and_covers_everything(windtunnel: Cli) -> None:
    """The shape of the report, complete, and each kind of coverage whole."""
    said = windtunnel("explore", "builtin:autoplan", "--faults", "1", "--json")
    assert (said.code, said.err) == (console.CLEAN, "")
    report = json.loads(said.out)
    assert set(report) >= {
        "schema",
        "workflow",
        "revision",
        "digest",
        "bounds",
        "complete",
        "schedules",
        "states",
        "transitions",
        "distinctCalls",
        "seconds",
        "violations",
        "coverage",
        "gaps",
    }
    assert report["complete"] is True
    assert report["violations"] == []
    assert report["gaps"] == {}
    assert report["bounds"] == {"faults": 1}
    for share in ("edges", "exits", "outcomes", "crashPoints"):
        assert report["coverage"][share]["missed"] == [], share
        assert report["coverage"][share]["covered"] == report["coverage"][share]["total"] > 0
    assert report["seconds"] > 0


def test_explore_ends_in_words_for_a_person(windtunnel: Cli) -> None:
    said = windtunnel("explore", FLOW)
    assert said.code == console.CLEAN
    assert said.out.startswith("✓ plain-summary revision 1 holds: every schedule with at most 2 faults")
    assert "crash points × nodes" in said.out
    assert said.err == ""


@pytest.mark.parametrize("fault", [fault.id for fault in FAULTS])
def test_a_seeded_fault_is_found_told_and_replayed(windtunnel: Cli, fault: str) -> None:
    """Exit code 1, the invariant, its story, and a token that gives the same trace again."""
    found = windtunnel("explore", "--fault", fault, "--json")
    assert found.code == console.FINDINGS
    (violation,) = json.loads(found.out)["violations"][:1]
    told = windtunnel("explore", "--fault", fault)
    assert told.code == console.FINDINGS
    assert f"windtunnel replay {violation['token']}" in told.out
    assert f"How it comes to “{violation['invariant']}”" in told.out
    replayed = windtunnel("replay", violation["token"])
    assert replayed.code == console.FINDINGS
    assert f"✗ {violation['invariant']}: {violation['message']}" in replayed.out
    events = [
        json.loads(line) for line in windtunnel("replay", violation["token"], "--json").out.splitlines()
    ]
    # How wide the columns are depends on the other lines.
    spoken = [" ".join(line.split()) for line in story(folded(events, keep_last=True)).splitlines()]
    shown = [" ".join(line.split()) for line in told.out.splitlines()]
    assert shown[-len(spoken) :] == spoken


def test_a_replay_is_the_same_byte_for_byte_in_another_process(windtunnel: Cli) -> None:
    """Also under another hash seed."""
    token = json.loads(windtunnel("explore", "--fault", "W01", "--json").out)["violations"][0]["token"]
    here = windtunnel("replay", token, "--json").out
    command = [sys.executable, "-m", "windtunnel.simulator.cli", "replay", token, "--json"]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}  # noqa: TID251
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert done.returncode == console.FINDINGS
        assert done.stdout.decode("utf-8") == here


def test_a_token_of_a_file_that_changed_is_refused(windtunnel: Cli, tmp_path: Path) -> None:
    flow = """language 1
workflow small {
  revision 1
  exits { done: text }
  agent say { prompt "Say it." expectedOutput assistant }
  edges { start -> say -> exit done }
}
"""
    (tmp_path / "small.flow").write_text(flow, encoding="utf-8")
    found = windtunnel("explore", "small.flow", "--fault", "W01", "--json")
    token = json.loads(found.out)["violations"][0]["token"]
    assert windtunnel("replay", token).code == console.FINDINGS
    (tmp_path / "small.flow").write_text(flow.replace("Say it.", "Say it now."), encoding="utf-8")
    changed = windtunnel("replay", token)
    assert changed.code == console.USAGE
    assert "small.flow has changed since this token was made" in changed.err
    (tmp_path / "small.flow").unlink()
    assert "cannot read small.flow" in windtunnel("replay", token).err
    damaged = token[:9] + ("A" if token[9] != "A" else "B") + token[10:]
    assert "damaged" in windtunnel("replay", damaged).err


def test_crash_points_are_fired_and_survived(windtunnel: Cli) -> None:
    """Each point fired, restarted and run to an end, with the labels that an assistant node has."""
    said = windtunnel("crashpoints", "builtin:autoplan", "--json")
    report = json.loads(said.out)
    assert said.code == console.CLEAN
    assert report["total"] == report["fired"] == report["recovered"] == len(report["points"]) > 0
    for node in ("summary/summarize", "obstacle/summarize"):
        labels = {row["label"] for row in report["labels"] if row["node"] == node}
        assert labels >= set(LABELS)
    told = windtunnel("crashpoints", FLOW)
    assert told.code == console.CLEAN
    assert "recovered to an end" in told.out


def test_caps_of_single_kinds_bind(windtunnel: Cli) -> None:
    def states(*options: str) -> Any:
        return json.loads(windtunnel("explore", FLOW, "--json", *options).out)["states"]

    whole = states()
    assert states("--crashes", "0") < whole
    assert states("--duplicates", "0") < whole
    assert states("--provider-faults", "0") < whole
    assert states("--faults", "0") < states("--faults", "1") < whole


def test_progress_is_shown_on_a_terminal_and_leaves_the_result_alone(
    windtunnel: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = json.loads(windtunnel("explore", FLOW, "--json").out)
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    said = windtunnel("explore", FLOW, "--json")
    assert "states/s" in said.err
    report = json.loads(said.out)
    assert {**report, "seconds": 0} == {**quiet, "seconds": 0}


def test_a_notification_is_explored_like_any_node(windtunnel: Cli, tmp_path: Path) -> None:
    flow = """language 1
workflow small {
  revision 1
  exits { done: { text: text } }
  notify tell { kind final message "Hello." }
  compute out = { text: "x" }
  edges { start -> tell -> out -> exit done }
}
"""
    (tmp_path / "small.flow").write_text(flow, encoding="utf-8")
    said = windtunnel("explore", "small.flow", "--json")
    assert said.code == console.CLEAN
    report = json.loads(said.out)
    assert (report["complete"], report["violations"]) == (True, [])
    assert report["coverage"]["crashPoints"]["missed"] == []


def test_a_node_for_which_nothing_valid_can_be_made_is_named(windtunnel: Cli, tmp_path: Path) -> None:
    """An example of the author helps."""
    flow = """language 1
workflow small {
  revision 1
  exits { done: { code: text } }
  agent say {
    prompt "Say the code."
    expectedOutput { code: text }
    validate { require startsWith(output.code, "K-") and len(output.code) == 12 else "not a code" }
  }
  edges { start -> say -> exit done }
}
"""
    (tmp_path / "small.flow").write_text(flow, encoding="utf-8")
    said = windtunnel("explore", "small.flow")
    assert "? small revision 1: nothing broke, but" in said.out
    assert "! say: nothing that was made is accepted (not a code); add an example" in said.out
    example = flow.replace("    validate", '    example { code: "K-1234567890" }\n    validate')
    (tmp_path / "small.flow").write_text(example, encoding="utf-8")
    assert windtunnel("explore", "small.flow").out.startswith("✓ small revision 1 holds")


def test_an_input_file_has_a_limit(windtunnel: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = b'{"source": 1, "purpose": "x"}'
    (tmp_path / "in.json").write_bytes(given)
    monkeypatch.setattr(input_of_run, "MAX_INPUT", len(given))
    assert windtunnel("run", FLOW, "--input", "@in.json").code == console.CLEAN
    monkeypatch.setattr(input_of_run, "MAX_INPUT", len(given) - 1)
    refused = windtunnel("run", FLOW, "--input", "@in.json")
    assert refused.code == console.USAGE
    assert "more than 28 bytes" in refused.err


def test_a_write_that_fails_leaves_nothing_behind(
    windtunnel: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    said = windtunnel("compile", FLOW, "-o", "out.json")
    assert said.code == console.USAGE
    assert "cannot write out.json: no space left on device" in said.err
    assert list(tmp_path.iterdir()) == []


def test_hosts_and_what_else_may_happen_are_options(windtunnel: Cli) -> None:
    """A worker without a session cannot answer in it; an unknown happening lists those that there are."""
    usual = json.loads(windtunnel("explore", FLOW, "--faults", "0", "--json").out)
    alone = json.loads(
        windtunnel("explore", FLOW, "--faults", "0", "--host", "detached", "--no-origin", "--json").out
    )
    assert usual["coverage"]["exits"]["missed"] == []
    assert alone["coverage"]["exits"]["missed"] != []
    assert alone["failures"][0]["error"] == "Assistant completion requires an origin session."
    two = windtunnel("crashpoints", FLOW, "--second-host", "--json")
    labels = {label for point in json.loads(two.out)["points"] for label in point["labels"]}
    assert "claim loss" in labels
    said = windtunnel("explore", FLOW, "--also", "nope")
    assert said.code == console.USAGE
    assert "there are branch," in said.err
