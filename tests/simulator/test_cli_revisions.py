"""`bump`, `check --locked`, `diff`, `check-runs`, `facts` and `builtins`, as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compiler.test_compatibility import CHILD, PARENT
from tests.simulator.test_cli import GOOD, Cli, windtunnel
from windtunnel.compiler.reader import builtin_names
from windtunnel.simulator.commands import bump, console
from windtunnel.simulator.commands.standings import stands

__all__ = ["windtunnel"]


@pytest.fixture
def project(windtunnel: Cli) -> Cli:
    """A parent over a child in a folder, both locked, and a workflow that has nothing to do with them."""
    Path("flows").mkdir()
    write("flows/main.flow", PARENT)
    write("flows/child.flow", CHILD)
    Path("bad.flow").unlink()
    assert windtunnel("bump", "flows/main.flow", "good.flow").code == console.CLEAN
    return windtunnel


def write(name: str, text: str) -> None:
    """A file below the current folder."""
    Path(name).write_bytes(text.encode())


def edit(name: str, old: str, new: str) -> None:
    """Replace a text in a file."""
    text = Path(name).read_text()
    assert old in text
    write(name, text.replace(old, new))


def locked() -> list[str]:
    """The lines of the lock without digests."""
    lines = Path("windtunnel.lock").read_text().splitlines()[1:]
    return [line.partition(" sha256:")[0] for line in lines]


# --- bump and check --locked --------------------------------------------------------------------------------


def test_what_is_new_is_locked_as_it_is(project: Cli) -> None:
    """Every workflow of the files and of what they import; nothing in them is written."""
    assert locked() == ["child 1", "greet 1", "parent 1"]
    assert Path("flows/child.flow").read_text() == CHILD
    said = project("check", "--locked", "flows/main.flow", "good.flow")
    assert said == (console.CLEAN, "", "no findings in 2 files\n")
    assert project("bump", "good.flow") == (console.CLEAN, "everything is as in windtunnel.lock\n", "")


def test_a_change_without_a_revision_is_found_and_told(project: Cli) -> None:
    """At the revision, with what changed, since the snapshot of the locked one was kept."""
    edit("flows/child.flow", "About", "On")
    said = project("check", "--locked", "flows/main.flow")
    assert said.code == console.FINDINGS
    assert said.out.count("error[WT1001]") == 2
    assert "--> flows/child.flow:3:12" in said.out
    assert "note: WT1053 runs: another value of `let wish`\n" in said.out
    assert "another value of `let wish` (in one, two)" in said.out
    assert project("check", "flows/main.flow").code == console.CLEAN


def test_bump_raises_every_parent_whose_graph_changed(project: Cli) -> None:
    """From the child alone: what includes it is found below the lock."""
    edit("flows/child.flow", "About", "On")
    said = project("bump", "flows/child.flow")
    assert said.out.splitlines() == [
        "child goes from 1 to 2 (flows/child.flow)",
        "parent goes from 1 to 2 (flows/main.flow)",
        "wrote windtunnel.lock",
    ]
    assert locked() == ["child 1", "child 2", "greet 1", "parent 1", "parent 2"]
    assert Path("flows/main.flow").read_text() == PARENT.replace("revision 1", "revision 2")
    assert project("check", "--locked", "flows/main.flow").code == console.CLEAN
    assert project("bump", "flows/child.flow").out == "everything is as in windtunnel.lock\n"


def test_a_dry_run_writes_nothing(project: Cli) -> None:
    edit("good.flow", "Greet", "Welcome")
    before = Path("windtunnel.lock").read_text()
    assert project("bump", "good.flow", "--dry-run").out == "greet goes from 1 to 2 (good.flow)\n"
    assert Path("windtunnel.lock").read_text() == before
    assert "revision 1" in Path("good.flow").read_text()


def test_a_revision_that_is_not_written_yet(project: Cli) -> None:
    """It counts as 1, and bump writes the line."""
    edit("good.flow", "  revision 1\n", "")
    assert project("check", "--locked", "good.flow").code == console.CLEAN
    edit("good.flow", "Greet", "Welcome")
    assert project("bump", "good.flow").code == console.CLEAN
    assert Path("good.flow").read_text() == GOOD.replace("revision 1", "revision 2").replace(
        "Greet", "Welcome"
    )


def test_a_declared_rename_is_one_change(project: Cli) -> None:
    """It stands in the lock, and `diff` follows it."""
    assert project("compile", "good.flow", "-o", "old.json").code == console.CLEAN
    edit("good.flow", "hello", "welcome")
    assert project("bump", "good.flow", "--renamed", "hello=welcome").code == console.CLEAN
    assert "greet 2 renamed hello welcome" in Path("windtunnel.lock").read_text()
    said = project("diff", "old.json", "good.flow")
    assert said.code == console.FINDINGS
    assert "WT1044 `hello` is called `welcome` now" in said.out
    assert "WT1041" not in said.out


@pytest.mark.parametrize(
    ("rename", "said"),
    [
        ("hello", "takes OLD=NEW"),
        ("hello=nobody", "no node `nobody`"),
        ("done=welcome", "a node `done` still"),
    ],
)
def test_renames_that_did_not_happen(project: Cli, rename: str, said: str) -> None:
    """Nothing is written."""
    edit("good.flow", "hello", "welcome")
    refused = project("bump", "good.flow", "--renamed", rename)
    assert refused.code == console.USAGE
    assert said in refused.err
    assert locked() == ["child 1", "greet 1", "parent 1"]
    assert "revision 1" in Path("good.flow").read_text()


def test_a_rename_of_what_is_as_locked(project: Cli) -> None:
    assert "as locked" in project("bump", "good.flow", "--renamed", "a=b").err


def test_the_nearest_lock_counts(project: Cli) -> None:
    """A folder with a lock of its own keeps to itself."""
    write("flows/windtunnel.lock", "")
    said = project("check", "--locked", "flows/main.flow", "good.flow", "--format", "concise")
    assert [line.split(" ", 2)[1] for line in said.out.splitlines()] == ["WT1002", "WT1002"]
    assert "`flows/windtunnel.lock`" in said.out
    assert "another lock" in project("bump", "flows/main.flow", "good.flow").err
    assert project("bump", "flows/main.flow").code == console.CLEAN
    assert project("check", "--locked", "flows/main.flow").code == console.CLEAN


def test_a_damaged_lock_is_left_as_it_is(project: Cli) -> None:
    """Both commands name the line; nothing is written over it."""
    text = Path("windtunnel.lock").read_text().replace("greet 1", "<<<<<<< ours\ngreet 1")
    write("windtunnel.lock", text)
    for arguments in (("check", "--locked", "good.flow"), ("bump", "good.flow")):
        said = project(*arguments)
        assert said.code == console.FINDINGS
        assert "WT1004" in said.out + said.err
    assert Path("windtunnel.lock").read_text() == text
    Path("windtunnel.lock").write_bytes(b"\xff")
    assert "WT1004" not in project("bump", "good.flow").err
    assert project("bump", "good.flow").code == console.FINDINGS


def test_files_with_errors_are_not_bumped(project: Cli) -> None:
    """They have no digest; a broken file beside them is no hindrance."""
    edit("good.flow", "-> hello ->", "-> helo ->")
    said = project("bump", "good.flow")
    assert said.code == console.FINDINGS
    assert "WT0206" in said.err
    assert project("bump", "flows/main.flow").code == console.CLEAN
    assert "WT1001" not in project("check", "--locked", "good.flow").out


def test_without_kept_snapshots_the_digests_are_shown(project: Cli) -> None:
    """As in a fresh clone where they were not committed."""
    for file in Path(".windtunnel/locked").iterdir():
        file.unlink()
    edit("good.flow", "Greet", "Welcome")
    assert "note: locked: sha256:" in project("check", "--locked", "good.flow").out
    assert project("bump", "good.flow", "--no-keep").code == console.CLEAN
    assert list(Path(".windtunnel/locked").iterdir()) == []


def test_a_search_for_parents_has_an_end(project: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bump, "MAX_SEARCHED", 3)
    assert project("bump", "good.flow").code == console.CLEAN
    monkeypatch.setattr(bump, "MAX_SEARCHED", 2)
    assert "more than 2 flows" in project("bump", "good.flow").err


# --- diff ---------------------------------------------------------------------------------------------------


def test_diff_says_whom_a_change_concerns(project: Cli) -> None:
    """By weight: runs, callers, text; the lighter ones can be left out."""
    project("compile", "good.flow", "-o", "old.json")
    edit("good.flow", "Greet ", "Welcome ")
    edit("good.flow", "text(1..20)", "text(1..10)")
    edit("good.flow", "maxChars 200", "maxChars 300")
    said = project("diff", "old.json", "good.flow")
    assert said.code == console.FINDINGS
    heads = [line for line in said.out.splitlines() if line and not line.startswith(" ")]
    assert [head.partition(":")[0] for head in heads[1:]] == ["runs", "callers", "text"]
    assert "      - Greet ${input.name}.\n      + Welcome ${input.name}.\n" in said.out
    lighter = project("diff", "old.json", "good.flow", "--at-least", "callers").out
    assert "WT1011" not in lighter
    assert "WT1023" in lighter
    runs = project("diff", "old.json", "good.flow", "--at-least", "runs").out
    assert ("WT1023" in runs, "WT1051" in runs) == (False, True)


def test_diff_of_the_same(project: Cli) -> None:
    """Nothing to tell is no finding; a label is told although runs resume."""
    said = project("diff", "good.flow", "good.flow")
    assert said.code == console.CLEAN
    assert said.out.splitlines()[1:] == [
        "the behaviour is the same: unfinished runs resume",
        "nothing changed",
    ]
    project("compile", "good.flow", "-o", "old.json")
    edit("good.flow", '"greeting"', '"welcoming"')
    said = project("diff", "old.json", "good.flow")
    assert said.code == console.FINDINGS
    assert "unfinished runs resume" in said.out
    assert "WT1012" in said.out
    assert project("diff", "old.json", "good.flow", "--at-least", "callers").code == console.CLEAN


def test_diff_as_json_and_with_a_rename(project: Cli) -> None:
    project("compile", "good.flow", "-o", "old.json")
    edit("good.flow", "hello", "welcome")
    said = project("diff", "old.json", "good.flow", "--renamed", "hello=welcome", "--json")
    found = json.loads(said.out)
    assert found["schema"] == "windtunnel.diff.v1"
    assert found["same"] is False
    assert [(c["code"], c["rank"], c["places"]) for c in found["changes"]] == [
        ("WT1044", "runs", ["welcome"])
    ]
    assert "takes OLD=NEW" in project("diff", "old.json", "good.flow", "--renamed", "hello").err


# --- check-runs ---------------------------------------------------------------------------------------------


def test_check_runs_says_what_becomes_of_each(project: Cli) -> None:
    """B: one that resumes, one that meets a change, one that meets none; what is over is counted."""
    snapshot = json.loads(project("compile", "good.flow").out)
    base = {"workflow": "greet", "revision": 1, "digest": snapshot["digest"], "status": "running"}
    runs = [
        {"run": "a", **base, "at": [{"node": "hello", "phase": "prompt-out"}]},
        {"run": "b", **base, "at": [{"node": "done", "phase": "started"}]},
        {"run": "c", **base, "status": "completed"},
        {"run": "d", **base, "workflow": "parent"},
    ]
    states = {"schema": "windtunnel.runs.v1", "snapshots": {snapshot["digest"]: snapshot}, "runs": runs}
    write("runs.json", json.dumps(states))
    same = project("check-runs", "runs.json", "good.flow")
    assert same.code == console.CLEAN
    assert same.out.splitlines()[-1] == "2 same (1 over, 1 of other workflows)"
    edit("good.flow", "Greet", "Welcome")
    said = project("check-runs", "runs.json", "good.flow")
    assert said.code == console.FINDINGS
    assert said.out.splitlines() == [
        "a: restart, it starts again",
        "  - WT1011 another prompt of `hello`, and the run is there",
        "      finish it under the old definition, or cancel it and start it again",
        "b: untouched, it can meet no change, and starts again all the same",
        "1 restart, 1 untouched (1 over, 1 of other workflows)",
    ]
    verdicts = json.loads(project("check-runs", "runs.json", "good.flow", "--json").out)["verdicts"]
    assert [(v["run"], v["verdict"]) for v in verdicts] == [("a", "restart"), ("b", "untouched")]


def test_check_runs_and_files_that_are_none(project: Cli) -> None:
    write("runs.json", "[]")
    assert "holds no states of runs" in project("check-runs", "runs.json", "good.flow").err
    assert "cannot read none.json" in project("check-runs", "none.json", "good.flow").err


# --- facts and builtins -------------------------------------------------------------------------------------


def test_facts_in_words_and_as_json(project: Cli) -> None:
    """The formula of each workflow, what people see, what guards effects, what is unrouted."""
    said = project("facts", "flows/main.flow")
    assert said.code == console.CLEAN
    assert "steps: at most 10\n  parent: one + two + done = 10\n" in said.out
    assert "turns of the model: at most 21\n" in said.out
    assert "effects: none" in said.out
    assert "  child: write (failed or timed_out)" in said.out
    found = json.loads(project("facts", "flows/main.flow", "--json").out)
    assert (found["schema"], found["turns"]["most"], found["visible"]["least"]) == (
        "windtunnel.facts.v1",
        21,
        0,
    )
    assert found["steps"]["formulas"][0] == {
        "workflow": "parent",
        "mounts": [""],
        "formula": "one + two + done",
        "most": 10,
        "capped": False,
        "reason": None,
    }


def test_the_catalogue_lists_every_built_in(windtunnel: Cli) -> None:
    """B618: name, revision, digest, exits and facts."""
    said = windtunnel("builtins", "plain-summary", "plan-approval")
    assert said.code == console.CLEAN
    heads = [line.split("  ")[0] for line in said.out.splitlines() if line.startswith("builtin:")]
    assert heads == ["builtin:plain-summary", "builtin:plan-approval"]
    assert "  at most 2 steps, 1 turn, 1 visible answer\n" in said.out
    assert "there is no built-in nothing" in windtunnel("builtins", "nothing").err
    found = {each["workflow"]: each for each in json.loads(windtunnel("builtins", "--json").out)["builtins"]}
    assert set(found) == set(builtin_names())
    summary = found["plain-summary"]
    assert summary["exits"] == ["done"]
    assert summary["contract"] == "windtunnel.plain-summary.v1"
    assert (summary["turns"]["most"], summary["visible"]["least"]) == (1, 1)


@pytest.mark.parametrize("command", ["bump", "check-runs", "diff", "explain", "facts", "builtins", "check"])
def test_every_command_has_help_with_an_example(windtunnel: Cli, command: str) -> None:
    said = windtunnel(command, "--help")
    assert said.code == console.CLEAN
    assert f"Example: windtunnel {command}" in said.out


# --- check-runs on a store ----------------------------------------------------------------------------------

ASKS = """language 1
import greet from "./good.flow"
workflow question {
  revision 1
  input { name: text(1..20) = "Ada" }
  exits { yes: { text: text }, no: { text: text } }
  include first = greet { name: input.name }
  decision ask {
    title "Is this a greeting?"
    show first.done.text
    choices {
      yes "Yes"
      no "No"
    }
  }
  compute yes = { text: "it is" }
  compute no = { text: "it is not" }
  edges {
    start -> first
    first.done -> ask
    ask.yes -> yes -> exit yes
    ask.no -> no -> exit no
  }
}
"""


def test_check_runs_reads_a_store(windtunnel: Cli) -> None:
    """W17: a run that waits for an answer, one that never began, and one that is over."""
    write("asks.flow", ASKS)
    assert windtunnel("run", "asks.flow", "--store", "run.db").code == console.CLEAN
    assert windtunnel("run", "asks.flow", "--store", "run.db", "--queue").code == console.CLEAN
    assert windtunnel("run", "good.flow", "--store", "run.db").code == console.CLEAN
    same = windtunnel("check-runs", "run.db", "asks.flow")
    assert same.code == console.CLEAN
    assert same.out.splitlines()[-1] == "2 same (1 of other workflows)"
    edit("good.flow", "Greet", "Welcome")
    said = windtunnel("check-runs", "run.db", "asks.flow", "--json")
    waiting, queued = json.loads(said.out)["verdicts"]
    assert (waiting["verdict"], queued["verdict"]) == ("untouched", "restart")
    assert [reason["place"] for reason in queued["reasons"]] == ["first/hello"]
    edit("asks.flow", 'no "No"', 'never "No"')
    edit("asks.flow", "ask.no", "ask.never")
    waiting, _ = json.loads(windtunnel("check-runs", "run.db", "asks.flow", "--json").out)["verdicts"]
    assert [(reason["code"], reason["now"]) for reason in waiting["reasons"]] == [
        ("WT1056", True),
        ("WT1057", True),
    ]


def test_where_a_run_stands_is_read_off_its_trace() -> None:
    """The last thing that was heard of a node, of an include, or of a question."""

    def line(kind: str, node: str | None = None, **payload: object) -> dict[str, object]:
        return {"type": kind, "nodeId": node, "payload": payload}

    started = [line("run_started"), line("node_started", "a")]
    told = [
        (started[:1], ("", None, None, None)),
        (started, ("a", "started", None, None)),
        ([*started, line("agent_prompt_sent", "a")], ("a", "prompt-out", None, None)),
        ([*started, line("effect_started", "a")], ("a", "effect-started", None, None)),
        ([*started, line("node_finished", "a")], ("a", "ended", "ok", None)),
        ([*started, line("node_failed", "a", outcome="timed_out")], ("a", "ended", "timed_out", None)),
        ([*started, line("include_entered", mountPath="m")], ("m", "started", None, None)),
        ([line("include_exited", mountPath="m", exit="x")], ("m", "ended", "ok", "x")),
    ]
    for trace, expected in told:
        found = stands(trace, waits=False)
        stand = found[0] if found else None
        seen = (stand.node, stand.phase, stand.outcome, stand.way) if stand else ("", None, None, None)
        assert seen == expected
    assert stands(started, waits=True)[0].phase == "asked"
