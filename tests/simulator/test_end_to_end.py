"""Autoplan mounted in a parent, read from its session log: one prompt, one answer, one next step, also
after a reload.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.driving import Wanted, crash_after, crash_after_row, drive, move
from tests.simulator.flows import events, flow, steps
from windtunnel.simulator import Run

PARENT = """language 1
import autoplan from "builtin:autoplan"

workflow parent {
  revision 1
  exits { planned: { text: text }, stuck: { why: text } }
  include plan = autoplan { problem: "The list is slow." }
  agent go "going on" {
    prompt "The summary said: ${plan.ready.plainSummary.text}"
    expectedOutput { ok: bool }
  }
  compute planned = { text: plan.ready.plainSummary.text }
  compute stuck = { why: plan.blocked.reason }
  edges {
    start -> plan
    plan.ready -> go -> planned -> exit planned
    plan.blocked -> stuck -> exit stuck
  }
}
"""
SUMMARY = "plan/summary/summarize"
RELOADS = {
    "no reload": (),
    "after the prompt": (crash_after_row("step", SUMMARY),),
    "while it answers": (crash_after("agent_prompt_sent", SUMMARY),),
    "after the answer": (crash_after_row("assistant", SUMMARY),),
    "after the result": (crash_after("node_finished", SUMMARY),),
    "twice": (crash_after_row("step", SUMMARY), crash_after_row("assistant", SUMMARY)),
    "an escape": (move("escape", loop="stopping", node=SUMMARY),),
}


def below(session: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """The entries from the summary's prompt up to the next step's."""
    first = next(n for n, entry in enumerate(session) if entry.get("nodeId") == SUMMARY)
    rest = list(session[first:])
    end = next(n for n, entry in enumerate(rest) if entry.get("nodeId") not in (None, SUMMARY))
    return rest[:end]


@pytest.fixture(params=RELOADS, scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    """The run of the parent, with reloads of the session at the summary."""
    wanted: tuple[Wanted, ...] = RELOADS[request.param]
    done = drive(flow(PARENT), *wanted)
    assert (done.status, done.exit, done.violations) == ("completed", "planned", ())
    return done


def test_the_summary_is_prompted_and_answered_once(run: Run) -> None:
    """B662–B666: one prompt (a resume is not another), one normal message, no submission."""
    entries = below(run.session)
    assert [e["prompt"] for e in entries if e["kind"] == "step" and e["prompt"] == "step"] == ["step"]
    assert {e["completion"] for e in entries if e["kind"] == "step"} == {"assistant"}
    answers = [e for e in entries if e["kind"] == "assistant" and e["stop"] == "stop"]
    assert len(answers) == 1
    assert all("calls" not in entry for entry in entries)
    (finished,) = [e for e in events(run, "node_finished") if e["nodeId"] == SUMMARY]
    assert finished["payload"]["output"] == answers[0]["text"]
    assert finished["payload"]["receipt"]["entryId"] == answers[0]["id"]


def test_one_step_of_the_parent_follows(run: Run) -> None:
    """B557, B665: the parent goes on after the summary settled, once, and reads its text."""
    assert steps(run)[-2:] == ["go", "planned"]
    assert steps(run).count(SUMMARY) == 1
    settled = [e["seq"] for e in events(run, "agent_settled")]
    left = next(e for e in events(run, "include_exited") if e["payload"]["mountPath"] == "plan/summary")
    following = next(e for e in events(run, "node_started") if e["nodeId"] == "plan/finalize")
    assert left["payload"]["output"]["text"] == run.output["text"]  # type: ignore[index,call-overload]
    assert any(seq < following["seq"] for seq in settled)
    prompts = [e for e in run.session if e["kind"] == "step" and e["nodeId"] == "go"]
    assert run.output["text"] in prompts[0]["text"]  # type: ignore[index,call-overload]


def test_nothing_else_shows_the_text(run: Run) -> None:
    """B556, B667: no notification, no second presentation."""
    text = run.output["text"]  # type: ignore[index,call-overload]
    assert events(run, "notification_queued") == []
    shown = [e for e in run.session if e["kind"] == "assistant" and e["text"] == text]
    assert len(shown) == 1


def test_the_recommendation_is_no_approval(run: Run) -> None:
    """B571: the prompt of the summary speaks of a recommended plan and never of an approved one."""
    prompt = next(e for e in run.session if e.get("nodeId") == SUMMARY and e["prompt"] == "step")["text"]
    assert "recommended plan" in prompt
    assert "approved plan" not in prompt
