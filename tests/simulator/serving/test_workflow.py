"""A workflow in the conversation: the same engine, with the conversation as its agent."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.serving.servers import Client, event_in, process, running
from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.rows import seen
from windtunnel.simulator.durable.filing import Write, hand_over
from windtunnel.simulator.durable.lines import texts, written
from windtunnel.simulator.serving import sessionlog
from windtunnel.simulator.serving.running import store_path
from windtunnel.simulator.store.records import Claim, Line, RunRecord
from windtunnel.simulator.store.sqlite import SqliteStore, open_store

SUBMITS = """\
language 1
workflow two-steps {
  revision 1
  input { task: text(1..100) }
  exits { done: { text: text(1..) } }
  agent plan "planning" {
    prompt "Plan ${input.task}"
    expectedOutput { steps: [text(1..50); 1..3] }
  }
  agent tell "telling" {
    prompt "Tell ${plan.steps[0] ?? "nothing"}"
    expectedOutput assistant { maxChars 500 }
  }
  compute done = { text: tell }
  edges { start -> plan -> tell -> done -> exit done }
}
"""

ASKS = """\
language 1
workflow consent {
  revision 1
  input { task: text(1..100) }
  exits { yes: { task: text }, no: { task: text } }
  decision approve "asking" {
    title "Do it?"
    subject { task: input.task }
    choices {
      yes "Yes"
      no "No"
    }
  }
  compute yes = { task: input.task }
  compute no = { task: input.task }
  edges {
    start -> approve
    approve.yes -> yes
    approve.no -> no
    yes -> exit yes
    no -> exit no
  }
}
"""


def until_run(server: Client, status: str, wish: str | None = None) -> dict[str, Any]:
    """How the workflow stands once it stands so; `wish` is said when the stream is open."""
    frames = server.frames(f"{server.snapshot().epoch}.{server.snapshot().seq}")
    found = next(frames)[1]["data"]
    if wish is not None:
        found = server.run(wish).data
    for _, chunk in frames:
        if found.get("status") == status:
            break
        if chunk["type"] == "data-run":
            found = chunk["data"]
        if found.get("status") == status:
            break
    frames.close()
    return dict(found)


def trace_of(log: Path, run: str = "run-1") -> list[dict[str, Any]]:
    """The trace of a run, read beside the server."""
    with open_store(store_path(log)) as store:
        return [json.loads(line) for line in texts(written(run, store.trace(run)))]


def flow_in(tmp_path: Path, text: str) -> str:
    """A workflow in a file."""
    file = tmp_path / "flow.flow"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_run_is_begun_prompted_and_ended(tmp_path: Path) -> None:
    """A submission and an answer in the chat: both steps are entries of the conversation, both are finished
    by what was said there, and the receipt names the row.
    """
    with running(tmp_path / "chat.jsonl", flow=flow_in(tmp_path, SUBMITS)) as server:
        assert until_run(server, "completed", "start")["exit"] == "done"
        snapshot = server.snapshot()
        assert seen(snapshot) == seen(server.cold())
        steps = [row for row in snapshot.rows if row.step is not None]
        assert [(row.step.node, row.step.kind) for row in steps if row.step] == [
            ("plan", "step"),
            ("tell", "step"),
        ]
        answers = [row for row in snapshot.rows if row.text == "An answer from tell."]
        trace = trace_of(server.log)
        receipts = [line["payload"]["receipt"] for line in trace if "receipt" in line["payload"]]
        assert [receipt["entryId"] for receipt in receipts] == [row.id for row in answers]
        assert until_run(server, "completed", "start")["run"] == "run-2"
        assert len([row for row in server.snapshot().rows if row.step is not None]) == 4


def test_a_follow_up_does_not_answer_for_the_step(tmp_path: Path) -> None:
    """What a person writes while a step runs is answered in its own turn; the step's output is its own."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        server.run("start")
        server.gate.let(1)
        assert server.post("and you?", 1).status == 202
        server.gate.open()
        assert until_run(server, "completed")["output"] == {"text": "An answer from summarize."}
        rows = [row.text for row in server.snapshot().rows if row.role == "user" and row.step is None]
        assert rows == ["and you?"]


def test_a_person_pauses_a_run_and_lets_it_go_on(tmp_path: Path) -> None:
    """Stop is an escape: the run is paused, and a resume prompt of the same attempt goes on with it."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        server.run("start")
        server.gate.let(2)
        assert server.command("stop").status == 202
        paused = until_run(server, "running")
        while not paused["paused"]:
            paused = until_run(server, "running")
        server.gate.open()
        assert until_run(server, "completed", "release")["exit"] == "done"
        kinds = [row.step.kind for row in server.snapshot().rows if row.step is not None]
        assert kinds == ["step", "resume"]


def test_a_run_is_cancelled_in_mid_answer(tmp_path: Path) -> None:
    """The agent's turn is aborted with it, and its row is closed."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        server.run("start")
        server.gate.let(2)
        frames = server.frames("1.1")
        next(chunk for _, chunk in frames if chunk["type"] == "data-pi-message-update")
        assert server.run("cancel").data["status"] == "cancelled"
        ended = [event_in(chunk) for _, chunk in take_until(frames, "data-pi-agent-end")][-1]
        assert ended is not None
        assert ended.body == wire.AgentEnd("aborted", server.snapshot().turn)
        assert server.run("start").data["run"] == "run-2"
        assert server.run("start").data["code"] == "run_in_progress"
        server.gate.open()


def take_until(frames: Any, kind: str) -> Any:
    """Frames up to one of a kind."""
    for frame in frames:
        yield frame
        if frame[1]["type"] == kind:
            return


@pytest.mark.parametrize("pieces", [0, 2])
def test_a_killed_server_goes_on_with_its_run(tmp_path: Path, pieces: int) -> None:
    """S17, A05, A53: killed while a step is asked, or in the middle of its answer: the next process resumes
    the same attempt of the same run, with the definition that it was begun with.
    """
    log = tmp_path / "chat.jsonl"
    with process(log, 300 if pieces else 600_000) as first:
        frames = first.frames("1.1")
        next(frames)
        first.run("start")
        wanted = "data-pi-message-update" if pieces else "data-pi-message-start"
        next(chunk for _, chunk in frames if chunk["type"] == wanted)
        first.kill()
    with running(log) as second:
        assert until_run(second, "completed")["exit"] == "done"
        snapshot = second.snapshot()
        assert snapshot.epoch == (2 if pieces else 1)
        kinds = [(row.step.kind, row.step.attempt) for row in snapshot.rows if row.step is not None]
        assert kinds == [("step", "attempt-1"), ("resume", "attempt-1")]
        assert seen(snapshot) == seen(second.cold())
    started = [line for line in trace_of(log) if line["type"] == "node_started"]
    assert [line["nodeId"] for line in started] == ["summarize", "answer"]


def test_a_person_decides_in_the_page(tmp_path: Path) -> None:
    """A09, A14: the run waits until somebody answers; another digest and another choice are refused."""
    with running(tmp_path / "chat.jsonl", flow=flow_in(tmp_path, ASKS)) as server:
        waits = until_run(server, "waiting", "start")
        digest = waits["request"]["digest"]
        wrong = server.ask("POST", "/api/run", {"what": "answer", "choice": "yes", "digest": "sha256:0"})
        assert wrong.data["code"] == "answer_refused"
        said = server.ask("POST", "/api/run", {"what": "answer", "choice": "no", "digest": digest})
        assert (said.status, said.data["exit"]) == (200, "no")
        again = server.ask("POST", "/api/run", {"what": "answer", "choice": "yes", "digest": digest})
        assert again.status == 409


TELLS = """\
language 1
workflow tells {
  revision 1
  input { task: text(1..100) }
  exits { done: { task: text } }
  notify first "telling" { message "Begun: ${input.task}" }
  agent work "working" {
    prompt "Do ${input.task}"
    expectedOutput { ok: true }
  }
  notify last "telling" { message "Ended: ${input.task}" }
  compute done = { task: input.task }
  edges { start -> first -> work -> last -> done -> exit done }
}
"""


def test_people_are_told_once_each_in_order(tmp_path: Path) -> None:
    """A notification is a row, recorded as delivered when it stands there, maybe by a later process."""
    flow, log = flow_in(tmp_path, TELLS), tmp_path / "chat.jsonl"
    with running(log, flow=flow) as server:
        until_run(server, "completed", "start")
    with running(log, flow=flow) as server:
        assert notices(server, 2) == ["Begun: alpha", "Ended: alpha"]
        assert seen(server.snapshot()) == seen(server.cold())
    with running(log, flow=flow) as server:
        server.snapshot()
        assert notices(server, 2) == ["Begun: alpha", "Ended: alpha"]
    told = [line["nodeId"] for line in trace_of(log) if line["type"] == "notification_delivered"]
    assert told == ["first", "last"]


def test_every_step_of_a_larger_workflow_is_a_card(tmp_path: Path) -> None:
    """The built-in autoplan, to its end."""
    with running(tmp_path / "chat.jsonl", flow="builtin:autoplan") as server:
        ended = until_run(server, "completed", "start")
        trace = trace_of(server.log)
        sent = [line["nodeId"] for line in trace if line["type"] == "agent_prompt_sent"]
        steps = [row.step.node for row in server.snapshot().rows if row.step is not None]
        assert steps == sent
        assert ended["trouble"] == ""
        assert seen(server.snapshot()) == seen(server.cold())


def crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[str, list[Path]]:
    """A run to its end, and what would be on disk had its server died before, inside and after each append
    to the log, and after each commit of the store.
    """
    flow, base = flow_in(tmp_path, text), tmp_path / "whole"
    base.mkdir()
    left: list[Path] = []
    append, commit = hand_over, SqliteStore.commit

    def copied() -> None:
        left.append(tmp_path / f"crash-{len(left)}")
        shutil.copytree(base, left[-1])

    def appended(handle: int, data: bytes, write: Write) -> None:
        for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
            copied()
            append(handle, piece, write)

    def committed(self: SqliteStore, claim: Claim, lines: tuple[Line, ...]) -> RunRecord:
        record = commit(self, claim, lines)
        copied()
        return record

    with monkeypatch.context() as patched:
        patched.setattr(sessionlog, "hand_over", appended)
        patched.setattr(SqliteStore, "commit", committed)
        with running(base / "chat.jsonl", flow=flow) as server:
            until_run(server, "completed", "start")
    return flow, left


def notices(server: Client, many: int) -> list[str]:
    """What people were told, once so much was told."""
    for _ in range(5_000):
        rows = server.snapshot().rows
        told = [row.text for row in rows if row.step is not None and row.step.kind == "notice"]
        if len(told) >= many:
            return told
    raise AssertionError("people are not told")


@pytest.mark.parametrize(
    ("text", "nodes", "told"),
    [
        (SUBMITS, ["plan", "tell", "done"], []),
        (TELLS, ["first", "work", "last", "done"], ["Begun: alpha", "Ended: alpha"]),
    ],
)
def test_wherever_the_server_dies_the_run_ends_as_it_would_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, nodes: list[str], told: list[str]
) -> None:
    """S21, F1, F2, F5, F24, F25, A54: each node is finished once, people are told once, nothing stays open,
    the readers agree; every third point here.
    """
    flow, left = crashes(tmp_path, monkeypatch, text)
    assert len(left) > 20
    begun = 0
    for folder in left[::3]:
        with running(folder / "chat.jsonl", flow=flow) as server:
            if "run" not in server.ask("GET", "/api/run").data:
                continue
            begun += 1
            assert until_run(server, "completed")["exit"] == "done", folder.name
            assert notices(server, len(told)) == told, folder.name
            snapshot = server.snapshot()
            assert seen(snapshot) == seen(server.cold()), folder.name
            assert not any(row.pending or row.status == "streaming" for row in snapshot.rows), folder.name
            finished = [line["nodeId"] for line in trace_of(server.log) if line["type"] == "node_finished"]
            assert finished == nodes, folder.name
    assert begun > 5
