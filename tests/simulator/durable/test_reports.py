"""Reports from users of other systems (A…) and cases of the reference list (R…), on runs of a real store."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.run.test_run_cases import AGAIN
from tests.simulator.store.test_contract import new
from tests.simulator.store.test_sqlite import in_child, kill_at
from tests.simulator.test_cli_store import ASKS, Run, flow_file, killed_after, windtunnel
from windtunnel.simulator import cli
from windtunnel.simulator.commands.console import CLEAN, FINDINGS, USAGE
from windtunnel.simulator.durable import wall
from windtunnel.simulator.store.sqlite import open_store

__all__ = ["flow_file", "windtunnel"]

GATED = """language 1
workflow gated {
  revision 1
  input { order: text(1..9) }
  exits { done: { receipt: text }, stopped: { receipt: text } }
  agent propose { prompt "Propose ${input.order}." expectedOutput assistant { maxChars 60 } }
  decision allow {
    title "Charge it?"
    subject { proposal: propose }
    choices {
      no "No"
      yes "Yes"
    }
  }
  action charge {
    call "payments.charge" with { order: input.order }
    returns { receipt: text(1..20) }
    idempotencyKey "order-${input.order}"
    timeout 30s
  }
  compute kept = { receipt: charge.receipt }
  compute nothing = { receipt: "" }
  edges {
    start -> propose -> allow
    allow.yes -> charge -> kept -> exit done
    allow.no -> nothing -> exit stopped
  }
}
"""
"""A person before an effect."""


def told(windtunnel: Run, run: str = "run-1") -> dict[str, Any]:
    """All that the store holds of a run."""
    found: dict[str, Any] = json.loads(windtunnel("runs", "run.db", run, "--json")[1])
    return found


def kinds(run: dict[str, Any]) -> list[str]:
    """The types of its lines."""
    return [line["type"] for line in run["trace"]]


@pytest.fixture
def gated(windtunnel: Run, flow_file: str) -> dict[str, Any]:
    """A run that waits before its effect."""
    Path("gated.flow").write_text(GATED, encoding="utf-8")
    assert windtunnel("run", "gated.flow", "--store", "run.db")[0] == CLEAN
    return told(windtunnel)


# --- people -------------------------------------------------------------------------------------------------


def test_a_gate_without_anybody_is_not_passed(windtunnel: Run, gated: dict[str, Any]) -> None:
    """A14, A09, A13: the run waits and is not completed; nothing behind the gate happened, nor does it when
    somebody asks for more work, or answers with nothing.
    """
    assert (gated["status"], "effect_started" in kinds(gated)) == ("waiting", False)
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert code == USAGE
    assert "with status waiting; answer it with `windtunnel answer run.db run-1`" in err
    for nothing in ((), ("",), ("", "--value", '""')):
        assert windtunnel("answer", "run.db", "run-1", *nothing)[0] != CLEAN
    assert told(windtunnel) == gated


def test_an_approval_is_used_once(windtunnel: Run, gated: dict[str, Any]) -> None:
    """A10, A03, A18: a crash after it asks nobody again, and the effect happens once, with its key."""
    killed_after("effect_started", "answer", "run.db", "run-1", "yes")
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN
    run = told(windtunnel)
    assert kinds(run).count("decision_requested") == kinds(run).count("decision_answered") == 1
    keys = [line["payload"]["key"] for line in run["trace"] if line["type"] == "effect_started"]
    assert keys == ["order-alpha"] * 2
    outside = Path("run.db.sessions/run-1.outside.jsonl").read_text(encoding="utf-8")
    assert len(outside.splitlines()) == 1
    assert [node["node"] for node in run["nodes"]].count("propose") == 1


def test_an_answer_to_one_visit_is_none_to_the_next(windtunnel: Run, flow_file: str) -> None:
    """A11, A12: the same question again; whoever names what they answer is never taken for the other."""
    Path("again.flow").write_text(AGAIN, encoding="utf-8")
    windtunnel("run", "again.flow", "--store", "run.db")
    (first,) = told(windtunnel)["decisions"]
    digest = first["request"]["digest"]
    assert windtunnel("answer", "run.db", "run-1", "no", "--request", digest)[0] == CLEAN
    before = told(windtunnel)
    assert [one["state"] for one in before["decisions"]] == ["answered", "open"]
    second = before["decisions"][1]
    assert second["request"]["digest"] == digest
    for name in (digest, first["attemptId"]):
        assert windtunnel("answer", "run.db", "run-1", "no", "--request", name)[0] == CLEAN
        code, _, err = windtunnel("answer", "run.db", "run-1", "yes", "--request", name)
        assert code == FINDINGS
        assert ("name the request attempt-4" in err) == (name == digest)
    assert told(windtunnel) == before
    code, _, err = windtunnel("answer", "run.db", "run-1", "yes", "--request", "attempt-99")
    assert (code, err) == (FINDINGS, "✗ this answers another request than the one that is open\n")
    assert windtunnel("answer", "run.db", "run-1", "yes", "--request", second["attemptId"])[0] == CLEAN
    assert told(windtunnel)["status"] == "completed"


def test_an_answer_before_its_question_is_refused(windtunnel: Run, flow_file: str) -> None:
    """A55: it is not kept for later, and whoever gave it is told at once."""
    Path("asks.flow").write_text(ASKS, encoding="utf-8")
    windtunnel("run", "asks.flow", "--store", "run.db", "--queue")
    code, _, err = windtunnel("answer", "run.db", "run-1", "yes")
    assert code == USAGE
    assert "this run has asked for nothing" in err
    windtunnel("resume", "run.db", "run-1")
    assert told(windtunnel)["status"] == "waiting"


@pytest.mark.parametrize("late_ms", [0, 3_600_001])
def test_used_and_late_answers_are_told_apart(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch, late_ms: int
) -> None:
    """A57, A45: who is second hears that nothing is asked, who is late that the time is up; a run that was
    down at its deadline takes its default at once, exactly once.
    """
    Path("asks.flow").write_text(ASKS, encoding="utf-8")
    windtunnel("run", "asks.flow", "--store", "run.db")
    now = wall.now_ms
    monkeypatch.setattr(wall, "now_ms", lambda: now() + late_ms)
    code, _, err = windtunnel("answer", "run.db", "run-1", "no", "--value", '"Rain"')
    assert (code, "The time to answer was up" in err) == ((FINDINGS, True) if late_ms else (CLEAN, False))
    before = told(windtunnel)
    assert (before["status"], before["decisions"][0]["state"]) == (
        "completed",
        "defaulted" if late_ms else "answered",
    )
    for choice in (("yes",), ("no", "--value", '"Late"')):
        assert windtunnel("answer", "run.db", "run-1", *choice)[::2] == (FINDINGS, "✗ nothing is asked\n")
    assert windtunnel("resume", "run.db", "run-1")[0] == USAGE
    assert told(windtunnel) == before


# --- several processes --------------------------------------------------------------------------------------


def test_cancelling_and_resuming_at_once_ends_once(windtunnel: Run, flow_file: str) -> None:
    """A37, A39: one of both wins; there is one end, and whoever came too late is told so."""
    killed_after("agent_prompt_sent", "run", flow_file, "--store", "run.db")
    children = []
    for arguments in (("resume", "run.db", "run-1"), ("cancel", "run.db", "run-1")):
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(cli.run(arguments))
            finally:
                os._exit(99)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert 99 not in codes
    run = told(windtunnel)
    ends = [kind for kind in kinds(run) if kind in ("run_completed", "run_cancelled", "run_failed")]
    assert ends == [f"run_{run['status']}"]
    assert kinds(run)[-1] == ends[0]


@pytest.mark.parametrize("word", ["INSERT OR IGNORE INTO snapshots", "INSERT INTO runs", "COMMIT"])
def test_a_run_is_listed_with_its_definition_or_not_at_all(tmp_path: Path, word: str) -> None:
    """A60, A54: a process that dies while it begins a run leaves nothing of it; the next is run-1."""
    path = tmp_path / "run.db"
    with open_store(path, create=True):
        pass

    def die() -> None:
        store = open_store(path)
        kill_at(store, word)
        store.create(new())

    assert in_child(die) == -signal.SIGKILL
    with open_store(path) as store:
        assert store.runs() == ()
        assert store.connection.execute("SELECT count(*) FROM content").fetchone() == (0,)
        record = store.create(new())
        assert (record.run, store.content(record.snapshot)) == ("run-1", "{}")


def test_r14_an_input_that_does_not_fit_leaves_no_store(windtunnel: Run, flow_file: str) -> None:
    """R14: nothing is written, not even a file."""
    code, _, err = windtunnel("run", flow_file, "--store", "run.db", "--input", '{"topic": ""}')
    assert code == USAGE
    assert "/topic" in err
    assert not Path("run.db").exists()


def test_r33_a_claim_that_is_lost_keeps_the_log_as_it_is(windtunnel: Run, flow_file: str) -> None:
    """R33: a torn end is cut off only by whoever holds the claim, under its lock."""
    killed_after("agent_prompt_sent", "run", flow_file, "--store", "run.db")
    log = Path("run.db.sessions/run-1.jsonl")
    torn = log.read_bytes() + b'{"id": "entry-3"'
    log.write_bytes(torn)
    with open_store(Path("run.db")) as store:
        store.claim("run-1", "7@elsewhere", wall.now_ms() + 10**6, 10**9, wall.is_dead)
        assert windtunnel("runs", "run.db", "run-1")[0] == CLEAN
    assert log.read_bytes() == torn


# --- the audit ----------------------------------------------------------------------------------------------

RUN_CASES = frozenset(
    f"R{number}"
    for number in (
        *(1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 20, 22),
        *(23, 24, 25, 26, 28, 30, 31, 33, 35, 37, 38, 40),
    )
)
REPORTS = frozenset(
    f"A{number:02}"
    for number in (
        *(2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 16, 18, 20, 21, 22, 23, 25, 28, 29, 31, 32, 33, 34, 36, 37),
        *(39, 40, 41, 42, 44, 45, 47, 49, 51, 53, 54, 55, 56, 57, 60),
    )
)


def named_by_tests(folder: Path) -> set[str]:
    """The cases that the names and docstrings of tests name."""
    found: set[str] = set()
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found |= {name.upper() for name in re.findall(r"(?<![a-z])[ra]\d+", node.name)}
                found |= set(re.findall(r"\b[RA]\d+", ast.get_docstring(node) or ""))
    return found


def test_every_case_is_a_test() -> None:
    """Each case of both lists is named by a test; the README says where a case is tested by its nearest."""
    root = Path(__file__).parents[3]
    assert (RUN_CASES | REPORTS) - named_by_tests(root / "tests" / "simulator") == set()
    nearest = (root / "simulator" / "README.md").read_text(encoding="utf-8").split("## Cases", 1)[1]
    listed = set(re.findall(r"\b[RA]\d+", nearest.split("\n## ", 1)[0]))
    assert listed <= RUN_CASES | REPORTS
    assert {"A02", "A04", "A06", "A34", "R9", "R10", "R25"} <= listed
