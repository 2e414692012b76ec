"""The commands on a store: run, runs, resume, cancel, torture, across processes that die and race."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.store.test_sqlite import in_child
from windtunnel.simulator import cli
from windtunnel.simulator.commands.console import CLEAN, FINDINGS, USAGE
from windtunnel.simulator.durable import wall
from windtunnel.simulator.durable.driving import Place, work
from windtunnel.simulator.durable.mirroring import Mirrored
from windtunnel.simulator.events import Event
from windtunnel.simulator.report.stored import torture_text
from windtunnel.simulator.store.records import Claim, Line
from windtunnel.simulator.store.sqlite import SqliteStore, open_store

FLOW = """language 1
workflow small {
  revision 1
  input { topic: text(1..20) }
  exits { done: { text: text, n: int } }
  agent say { prompt "Say something of ${input.topic}." expectedOutput assistant { maxChars 60 } }
  agent pick { prompt "Pick a number for ${say}." expectedOutput { n: int(0..9) } }
  compute kept = { text: say, n: pick.n }
  edges { start -> say -> pick -> kept -> exit done }
}
"""

TINY = """language 1
workflow tiny {
  revision 1
  input { topic: text(1..20) }
  exits { done: { text: text } }
  compute kept = { text: input.topic }
  edges { start -> kept -> exit done }
}
"""


@pytest.fixture
def flow_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A workflow in the working folder, where the store will lie too."""
    monkeypatch.chdir(tmp_path)
    Path("small.flow").write_text(FLOW, encoding="utf-8")
    return "small.flow"


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def windtunnel(capfd: pytest.CaptureFixture[str]) -> Run:
    """A command line in this process: its exit code, what it printed and what it said."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = cli.run(arguments)
        out, err = capfd.readouterr()
        return code, out, err

    return run


def queued(windtunnel: Run, flow_file: str) -> None:
    """One run in the store, not begun."""
    code, out, err = windtunnel("run", flow_file, "--store", "run.db", "--queue")
    assert (code, out, err) == (CLEAN, "", "run-1 in run.db\n")


def killed_after(type_: str, *arguments: str) -> None:
    """Run a command in a process that dies right after it committed such a line."""

    def dies() -> None:
        commit = SqliteStore.commit

        def last(self: SqliteStore, claim: Claim, lines: tuple[Line, ...]) -> Any:
            commit(self, claim, lines)
            if any(line.event.type == type_ for line in lines):
                os.kill(os.getpid(), signal.SIGKILL)

        SqliteStore.commit = last  # type: ignore[method-assign]
        cli.run(arguments)

    assert in_child(dies) == -signal.SIGKILL


def test_a_run_really_runs_on_a_store(windtunnel: Run, flow_file: str) -> None:
    """It is told as a story; an assistant answer is called an assistant response."""
    code, out, err = windtunnel("run", flow_file, "--store", "run.db")
    assert (code, err) == (CLEAN, "run-1 in run.db\n")
    assert "run-1: small revision 1, completed" in out
    assert "say   assistant response  ok              1" in out
    assert "pick  submission          ok              1" in out
    assert "kept  computed value      ok              1" in out
    assert out.endswith("✓ run-1 is completed, by exit done\n")
    assert sorted(entry.name for entry in Path().iterdir()) == ["run.db", "run.db.sessions", "small.flow"]
    lines = Path("run.db.sessions/run-1.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines].count("step") == 2


def test_the_trace_is_printed_as_it_is_stored(windtunnel: Run, flow_file: str) -> None:
    """NDJSON, numbered from 1 without a gap, the same now and later."""
    _, out, _ = windtunnel("run", flow_file, "--store", "run.db", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    code, told, _ = windtunnel("runs", "run.db", "run-1", "--json")
    stored = json.loads(told)
    assert code == CLEAN
    assert stored["trace"] == lines
    assert (stored["status"], stored["interrupted"], stored["claimedBy"]) == ("completed", False, None)
    assert stored["receipts"][0]["nodeId"] == "say"


def test_runs_are_listed(windtunnel: Run, flow_file: str) -> None:
    """Each on a line; as JSON with everything but the trace."""
    queued(windtunnel, flow_file)
    windtunnel("run", flow_file, "--store", "run.db")
    code, out, _ = windtunnel("runs", "run.db")
    assert code == CLEAN
    assert [line.split() for line in out.splitlines()] == [
        ["run", "workflow", "status", "lines"],
        ["run-1", "small", "revision", "1", "queued", "0"],
        ["run-2", "small", "revision", "1", "completed", "10"],
    ]
    listed = json.loads(windtunnel("runs", "run.db", "--json")[1])
    assert [(run["run"], run["status"], run["reference"]) for run in listed] == [
        ("run-1", "queued", flow_file),
        ("run-2", "completed", flow_file),
    ]


def test_a_claimed_run_is_starting(windtunnel: Run, flow_file: str) -> None:
    """Before its first line it is queued, then starting, and can be named all along."""
    queued(windtunnel, flow_file)
    assert " queued, " not in windtunnel("runs", "run.db", "run-1")[1]
    with open_store(Path("run.db")) as store:
        store.claim("run-1", wall.owner(), wall.now_ms(), 60_000)
    code, out, _ = windtunnel("runs", "run.db", "run-1")
    assert code == CLEAN
    assert "run-1: small revision 1, starting" in out
    assert f"held by {wall.owner()}" in out


@pytest.mark.parametrize("type_", ["run_started", "agent_prompt_sent", "node_finished"])
def test_a_killed_run_is_resumed_by_another_process(windtunnel: Run, flow_file: str, type_: str) -> None:
    """A54: what was done is not done again; nothing stays running for ever."""
    killed_after(type_, "run", flow_file, "--store", "run.db")
    listed = json.loads(windtunnel("runs", "run.db", "--json")[1])
    assert (listed[0]["status"], listed[0]["interrupted"]) == ("running", True)
    assert "running, nobody works on it" in windtunnel("runs", "run.db")[1]
    code, out, _ = windtunnel("resume", "run.db", "run-1", flow_file)
    assert code == CLEAN
    assert "✓ run-1 is completed" in out
    told = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    types = [line["type"] for line in told["trace"]]
    assert (types.count("node_finished"), types.count("run_started")) == (3, 1)
    assert types.count("run_resumed") == 1


def test_what_is_over_is_not_resumed_or_cancelled(windtunnel: Run, flow_file: str) -> None:
    """R31: with its status."""
    windtunnel("run", flow_file, "--store", "run.db")
    for what in ("resume", "cancel"):
        code, _, err = windtunnel(what, "run.db", "run-1")
        assert code == USAGE
        assert f"cannot {what} workflow run run-1 with status completed" in err


def test_a_changed_definition_is_refused(windtunnel: Run, flow_file: str) -> None:
    """W17, A53: nothing is written, no switch forces it, and what to do instead is said."""
    killed_after("agent_prompt_sent", "run", flow_file, "--store", "run.db")
    before = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    Path(flow_file).write_text(FLOW.replace("Pick a number", "Pick one number"), encoding="utf-8")
    code, _, err = windtunnel("resume", "run.db", "run-1", flow_file)
    assert code == USAGE
    assert "the definition changed since run-1 was begun: revision 1, sha256:" in err
    assert f"restart it with `windtunnel run {flow_file} --store run.db`" in err
    assert windtunnel("resume", "run.db", "run-1", flow_file, "--force")[0] == USAGE
    assert json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1]) == before
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN
    assert "Pick a number" in json.dumps(json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1]))


def test_layout_changes_no_definition(windtunnel: Run, flow_file: str) -> None:
    """The digest of behaviour decides, not the text."""
    queued(windtunnel, flow_file)
    Path(flow_file).write_text(FLOW.replace("  agent", "\n    agent"), encoding="utf-8")
    assert windtunnel("resume", "run.db", "run-1", flow_file)[0] == CLEAN


def test_a_terminal_run_is_drawn_from_its_own_snapshot(windtunnel: Run, flow_file: str) -> None:
    """Also when the file is gone."""
    windtunnel("run", flow_file, "--store", "run.db")
    Path(flow_file).unlink()
    code, _, err = windtunnel("runs", "run.db", "run-1", "-o", "run.svg")
    assert (code, err) == (CLEAN, "")
    drawn = Path("run.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in drawn for name in ("say", "pick", "kept"))
    assert "taken" in drawn
    assert "run-1: small revision 1, completed" in windtunnel("runs", "run.db", "run-1")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("runs", "run.db", "-o", "x.svg"), "name the RUN to draw"),
        (("runs", "run.db", "run-1", "-o", "x.gif"), "cannot tell the format of x.gif"),
        (("runs", "none.db"), "there is no store none.db"),
        (("runs", "small.flow"), "small.flow is not a store of windtunnel"),
        (("runs", "."), "there is no store ."),
        (("resume", "run.db", "run-9"), "there is no run run-9 in run.db"),
        (("cancel", "run.db", "run-9"), "there is no run run-9 in run.db"),
        (("run", "small.flow", "--queue"), "--queue needs the --store"),
        (("run", "small.flow", "--store", "run.db", "--seed", "1"), "--seed draws faults"),
        (("run", "small.flow", "--store", "run.db", "--input", "{}"), "topic"),
        (("run", "small.flow", "--store", "."), "it is a folder"),
        (("run", "small.flow", "--store", "no/such/run.db"), "no such file or directory"),
    ],
)
def test_wrong_usage_is_told(windtunnel: Run, flow_file: str, arguments: tuple[str, ...], said: str) -> None:
    """In words, never as a traceback."""
    queued(windtunnel, flow_file)
    code, out, err = windtunnel(*arguments)
    assert (code, out) == (USAGE, "")
    assert said in err
    assert "Traceback" not in err


# --- answers ------------------------------------------------------------------------------------------------

ASKS = """language 1
workflow question {
  revision 1
  input { topic: text(1..20) }
  exits { done: { said: text } }
  decision ok {
    title "May we?"
    subject { topic: input.topic }
    choices {
      yes "Yes"
      no "No" asks why: text(1..10) "Why not?"
    }
    after 1h choose yes
  }
  compute kept = { said: input.topic }
  compute left = { said: ok.no.why }
  edges {
    start -> ok
    ok.yes -> kept -> exit done
    ok.no -> left -> exit done
  }
}
"""

OPINION = """language 1
workflow opinion {
  revision 1
  input { topic: text(1..20) }
  exits { done: { said: text } }
  checkpoint look { show "What of ${input.topic}?" answer text(1..10) }
  compute kept = { said: look }
  edges { start -> look -> kept -> exit done }
}
"""


@pytest.fixture
def asked(windtunnel: Run, flow_file: str) -> dict[str, Any]:
    """A run that waits for a decision, as JSON."""
    Path("asks.flow").write_text(ASKS, encoding="utf-8")
    code, out, _ = windtunnel("run", "asks.flow", "--store", "run.db")
    assert code == CLEAN
    assert "ok waits for an answer: May we?" in out
    assert "  no: No, asks for why\n  yes: Yes\n  within 1 h, then yes is taken" in out
    assert out.endswith("✓ run-1 is waiting\n")
    told: dict[str, Any] = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    return told


def test_an_answer_continues_a_run(windtunnel: Run, asked: dict[str, Any]) -> None:
    """R35: under a new id; commands accept either, and what was chosen is kept with the request."""
    code, out, _ = windtunnel("answer", "run.db", "run-1", "no", "--value", '"It rains"')
    assert code == CLEAN
    assert "run-1: question revision 1, completed as run-1.2" in out
    told = json.loads(windtunnel("runs", "run.db", "run-1.2", "--json")[1])
    assert (told["run"], told["current"], told["status"]) == ("run-1", "run-1.2", "completed")
    (decision,) = told["decisions"]
    assert (decision["state"], decision["request"]) == ("answered", asked["decisions"][0]["request"])
    assert decision["outcome"]["output"] == {
        "choice": "no",
        "input": {"why": "It rains"},
        "provenance": "human",
    }
    assert told["trace"][-1]["payload"]["finalOutput"] == {"said": "It rains"}
    assert "run-1" in windtunnel("runs", "run.db")[1].splitlines()[1]


def test_the_first_answer_wins(windtunnel: Run, asked: dict[str, Any]) -> None:
    """R16, W15: the same again changes nothing, another one is refused; no run is continued twice."""
    assert windtunnel("answer", "run.db", "run-1", "yes")[0] == CLEAN
    before = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    for name in ("run-1", "run-1.2"):
        assert windtunnel("answer", "run.db", name, "yes")[0] == CLEAN
        code, _, err = windtunnel("answer", "run.db", name, "no", "--value", '"Late"')
        assert (code, err) == (FINDINGS, "✗ nothing is asked\n")
    assert json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1]) == before


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), USAGE, "say what you choose: no, yes"),
        (("maybe",), FINDINGS, "There is no choice maybe."),
        (("no",), FINDINGS, "null"),
        (("no", "--value", '"much too long a reason"'), FINDINGS, "10"),
        (("no", "--value", "{"), USAGE, "not JSON"),
        (("yes", "--value", "1"), FINDINGS, "yes"),
        (("yes", "--request", "sha256:other"), FINDINGS, "another request"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    windtunnel: Run, asked: dict[str, Any], arguments: tuple[str, ...], code: int, said: str
) -> None:
    """In words; the run still waits, and can still be answered."""
    found, _, err = windtunnel("answer", "run.db", "run-1", *arguments)
    assert found == code
    assert said in err
    assert json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1]) == asked
    digest = asked["decisions"][0]["request"]["digest"]
    assert windtunnel("answer", "run.db", "run-1", "yes", "--request", digest)[0] == CLEAN


def test_an_answer_after_the_deadline_is_refused(
    windtunnel: Run, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37: the default is recorded, and the run goes on with it."""
    now = wall.now_ms
    monkeypatch.setattr(wall, "now_ms", lambda: now() + 3_600_001)
    code, _, err = windtunnel("answer", "run.db", "run-1", "no", "--value", '"Late"')
    assert code == FINDINGS
    assert "too late" in err or "time" in err
    told = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    assert (told["status"], told["decisions"][0]["state"]) == ("completed", "defaulted")
    assert told["decisions"][0]["outcome"]["provenance"] == "timeout"


def test_a_waiting_run_is_resumed_when_its_time_is_up(
    windtunnel: Run, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R31, R37: not before."""
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert code == USAGE
    assert "cannot resume workflow run run-1 with status waiting; answer it with `windtunnel answer" in err
    now = wall.now_ms
    monkeypatch.setattr(wall, "now_ms", lambda: now() + 3_600_001)
    code, out, _ = windtunnel("resume", "run.db", "run-1")
    assert code == CLEAN
    assert "completed as run-1.2" in out


def test_a_waiting_run_can_be_cancelled(windtunnel: Run, asked: dict[str, Any]) -> None:
    """After that nothing can be answered."""
    assert windtunnel("cancel", "run.db", "run-1")[0] == CLEAN
    told = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    assert (told["status"], told["decisions"][0]["state"]) == ("cancelled", "cancelled")
    code, _, err = windtunnel("answer", "run.db", "run-1", "yes")
    assert (code, err) == (FINDINGS, "✗ nothing is asked\n")


def test_a_checkpoint_takes_an_answer_of_its_own(windtunnel: Run, flow_file: str) -> None:
    """Exactly as it is written, spaces and all."""
    Path("opinion.flow").write_text(OPINION, encoding="utf-8")
    windtunnel("run", "opinion.flow", "--store", "run.db")
    code, out, _ = windtunnel("answer", "run.db", "run-1", "--value", '" good\\n "')
    assert code == CLEAN
    told = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    assert told["trace"][-1]["payload"]["finalOutput"] == {"said": " good\n "}
    assert "answer of a person" in out


def test_several_answers_at_once_have_one_winner(windtunnel: Run, asked: dict[str, Any]) -> None:
    """W14: one fence decides; the run is continued once."""
    children = []
    for choice in (("yes",), ("no", "--value", '"No"'), ("yes",)):
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(cli.run(("answer", "run.db", "run-1", *choice)))
            finally:
                os._exit(99)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert CLEAN in codes
    assert 99 not in codes
    told = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    types = [line["type"] for line in told["trace"]]
    assert types.count("decision_answered") == 1
    assert sum("continuedFrom" in line["payload"] for line in told["trace"]) == 1


def test_who_asked_for_nothing_gets_no_answer(windtunnel: Run, flow_file: str) -> None:
    """Nothing an agent says is a request."""
    windtunnel("run", flow_file, "--store", "run.db")
    code, _, err = windtunnel("answer", "run.db", "run-1", "yes")
    assert code == USAGE
    assert "this run has asked for nothing" in err


# --- cancel -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", [None, "agent_prompt_sent", "node_finished"])
def test_a_run_is_cancelled_from_another_process(windtunnel: Run, flow_file: str, type_: str | None) -> None:
    """R24: whether it never began, or its process died in a step or between two."""
    if type_ is None:
        queued(windtunnel, flow_file)
    else:
        killed_after(type_, "run", flow_file, "--store", "run.db")
    assert windtunnel("cancel", "run.db", "run-1") == (CLEAN, "", "✓ run-1 is cancelled\n")
    told = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    types = [line["type"] for line in told["trace"]]
    assert (told["status"], types[-1]) == ("cancelled", "run_cancelled")
    assert types.count("node_failed") == (type_ == "agent_prompt_sent")
    assert "run_resumed" not in types
    assert windtunnel("cancel", "run.db", "run-1")[0] == USAGE


@pytest.mark.parametrize(("type_", "code"), [("run_cancelled", CLEAN), ("run_failed", FINDINGS)])
def test_cancel_goes_through_whoever_holds_the_run(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch, type_: str, code: int
) -> None:
    """Another process hears of it; if the run ends otherwise first, that is said."""
    queued(windtunnel, flow_file)
    with open_store(Path("run.db")) as store:
        claim = store.claim("run-1", "7@elsewhere", wall.now_ms(), 60_000)
        assert isinstance(claim, Claim)

        def other(most_ms: int = 0) -> None:
            assert [asked.what for asked in store.asked("run-1")] == ["cancel"]
            lines = (Line(1, 0, "host", Event("run", "run_started")), Line(2, 0, "host", Event("run", type_)))
            store.commit(claim, lines)

        monkeypatch.setattr(wall, "nap", other)
        found, _, err = windtunnel("cancel", "run.db", "run-1")
    assert found == code
    assert ("is cancelled" in err) == (code == CLEAN)


# --- claims -------------------------------------------------------------------------------------------------


def test_a_lease_is_waited_for(windtunnel: Run, flow_file: str) -> None:
    """Who holds the run is told; when the lease is over, the run goes on here."""
    queued(windtunnel, flow_file)
    with open_store(Path("run.db")) as store:
        store.claim("run-1", "7@elsewhere", wall.now_ms(), 300)
    code, out, err = windtunnel("resume", "run.db", "run-1")
    assert code == CLEAN
    assert "run-1 is held by 7@elsewhere; waiting until its lease is over" in err
    assert "✓ run-1 is completed" in out


def test_a_holder_that_lives_keeps_its_run(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One runner for each run: the second one is told, and changes nothing."""
    queued(windtunnel, flow_file)
    with open_store(Path("run.db")) as store:
        claim = store.claim("run-1", "7@elsewhere", wall.now_ms(), 60_000)
        assert isinstance(claim, Claim)
        monkeypatch.setattr(wall, "nap", lambda: store.renew(claim, wall.now_ms(), 90_000))
        code, out, err = windtunnel("resume", "run.db", "run-1")
        assert (code, out) == (FINDINGS, "")
        assert "✗ 7@elsewhere works on run-1" in err
        assert store.trace("run-1") == ()


def test_a_run_that_is_taken_away_is_told(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R33: a process that comes back after its lease finds another owner, writes nothing and says so."""
    queued(windtunnel, flow_file)
    commit = SqliteStore.commit

    def late(self: SqliteStore, claim: Claim, lines: tuple[Line, ...]) -> Any:
        if lines[0].seq > 3:
            monkeypatch.setattr(SqliteStore, "commit", commit)
            self.claim("run-1", "7@elsewhere", claim.expires_ms, 60_000)
        return commit(self, claim, lines)

    monkeypatch.setattr(SqliteStore, "commit", late)
    code, out, err = windtunnel("resume", "run.db", "run-1")
    assert (code, out) == (FINDINGS, "")
    assert "has lost its claim of run-1; nothing was written" in err
    with open_store(Path("run.db")) as store:
        assert len(store.trace("run-1")) == 3


def test_two_processes_do_not_run_one_run(windtunnel: Run, flow_file: str) -> None:
    """A40, A41: several start at once; every node is done once."""
    queued(windtunnel, flow_file)
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(cli.run(("resume", "run.db", "run-1", "--json")))
            finally:
                os._exit(99)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert CLEAN in codes
    assert set(codes) <= {CLEAN, FINDINGS, USAGE}
    told = json.loads(windtunnel("runs", "run.db", "run-1", "--json")[1])
    types = [line["type"] for line in told["trace"]]
    assert (types.count("run_started"), types.count("node_finished"), types.count("run_completed")) == (
        1,
        3,
        1,
    )
    assert "run_resumed" not in types


def test_a_paused_run_is_released_by_resuming_it(windtunnel: Run, flow_file: str) -> None:
    """Whoever resumes it lets it go on; just working on it would not."""
    killed_after("agent_prompt_sent", "run", flow_file, "--store", "run.db")
    with open_store(Path("run.db")) as store:
        claim = store.claim("run-1", wall.owner(), wall.now_ms(), 10_000, wall.is_dead)
        assert isinstance(claim, Claim)
        seq = store.run("run-1").last_seq + 1
        store.commit(claim, (Line(seq, 500, "host", Event("run", "run_paused")),))
        assert work(Place(store, Path("run.db")), claim).paused
    assert "running, paused" in windtunnel("runs", "run.db")[1]
    code, out, _ = windtunnel("resume", "run.db", "run-1")
    assert code == CLEAN
    assert "✓ run-1 is completed" in out


# --- damage -------------------------------------------------------------------------------------------------


def test_a_damaged_session_is_told(windtunnel: Run, flow_file: str) -> None:
    """With its file and line; a torn last line is none."""
    killed_after("agent_prompt_sent", "run", flow_file, "--store", "run.db")
    log = Path("run.db.sessions/run-1.jsonl")
    whole = log.read_bytes()
    log.write_bytes(b"{}\n" + whole)
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert code == USAGE
    assert "run-1.jsonl is damaged: line 1 is not the entry that belongs there" in err
    log.write_bytes(whole + b'{"id": "entry-3", "ki')
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN
    assert b"entry-3" in log.read_bytes()
    assert log.read_bytes().startswith(whole)


# --- torture ------------------------------------------------------------------------------------------------


def test_torture_says_how_many_points(windtunnel: Run, flow_file: str) -> None:
    """By node, with the verdict of both tiers; as JSON with every point."""
    Path("tiny.flow").write_text(TINY, encoding="utf-8")
    code, out, _ = windtunnel("torture", "tiny.flow", "--faults", "1")
    assert code == CLEAN
    total = int(out.split(" crash points, ")[0].rsplit(" ", 1)[1])
    assert total >= 6
    said = f"{total} of them different, {total} killed for real, {total} ended as the simulation says"
    assert f"✓ tiny revision 1: {total} crash points, {said}" in out
    assert "✓ model and SQLite agree on" in out


def test_torture_fails_where_something_differs(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the point and the difference, and exit code 1."""
    from windtunnel.simulator.durable import torture
    from windtunnel.simulator.durable.torture import Survived, Tortured

    survived = (
        Survived("say", "after node_finished", None),
        Survived("", "before run_started", "the state: no"),
    )
    found = Tortured(survived, 3, 4, 5)
    monkeypatch.setattr(torture, "torture", lambda *_, **__: found)
    code, out, _ = windtunnel("torture", flow_file, "--faults", "0")
    assert code == FINDINGS
    assert "✗ small revision 1: 4 crash points, 3 of them different, 2 killed for real, 1 ended as the" in out
    assert "  5 transitions lie too deep in a run (--depth)" in out
    assert "✗ run: before run_started\n  the state: no" in out
    report = json.loads(windtunnel("torture", flow_file, "--faults", "0", "--json")[1])
    assert (report["schema"], report["total"], report["equal"]) == ("windtunnel.torture.v1", 2, 1)
    assert report["points"][1] == {"node": "", "place": "before run_started", "difference": "the state: no"}


def test_torture_tells_the_first_differences() -> None:
    """At the limit all of them, one past it how many more there are."""
    point = {"node": "say", "place": "after node_finished", "difference": "the state: no"}
    report = {"workflow": "w", "revision": 1, "total": 11, "equal": 0, "different": 11, "crashPoints": 11}
    report |= {"deeperTransitions": 0, "mirrored": Mirrored(1, 1, None)._asdict() | {"faults": 1}}
    for count, more in ((10, False), (11, True)):
        told = torture_text(report | {"points": [point] * count})
        assert told.count("the state: no") == 10
        assert ("and 1 more; --json lists them all" in told) == more


def test_torture_needs_room_for_its_stores(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is none, the mend is said."""

    def none(**_: Any) -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "mkdtemp", none)
    code, _, err = windtunnel("torture", flow_file)
    assert (code, "no usable temporary directory found; set TMPDIR to a folder" in err) == (USAGE, True)
