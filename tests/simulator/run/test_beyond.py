"""Effects, notifications and decisions: what happens outside, once; who answers, once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.simulator.driving import Wanted, crash_after, crash_after_row, drive, labelled, move
from tests.simulator.flows import ASK, PAY, events, flow, steps
from windtunnel.simulator import Run, explore, simulate
from windtunnel.simulator.events import Answered, Commit
from windtunnel.simulator.run import decisions
from windtunnel.simulator.run.program import Decision, Program
from windtunnel.simulator.run.state import Position, Request
from windtunnel.simulator.run.state import Run as State
from windtunnel.simulator.run.transition import Engine, View
from windtunnel.simulator.world import Option, World

SHELL = """language 1
workflow sh {
  revision 1
  exits { done: { code: int }, gone: { why: text } }
  shell list "listing" { run ["ls", "-l"] timeout 30s }
  compute kept = { code: list.exitCode }
  compute lost = { why: result(list)?.error ?? "" }
  edges {
    start -> list -> kept -> exit done
    list on failed -> lost -> exit gone
  }
}
"""

CHECKPOINT = """language 1
workflow look {
  revision 1
  exits { done: { said: text } }
  checkpoint look { show "Look at this." answer "good" | "bad" }
  compute kept = { said: look }
  edges { start -> look -> kept -> exit done }
}
"""

EXPIRES = ASK.replace("after 1h choose later", "expires 2h").replace(
    "approve.later -> late -> exit gone",
    "approve.later -> late -> exit gone\n    approve on timed_out -> late",
)


def after_effect(world: World, state: Any, option: Option) -> bool:
    """A crash right after an effect was applied."""
    return option.cut is not None and option.move.handler == "outside"


def outcome(run: Run) -> tuple[str, str | None]:
    """How the run ended."""
    return run.status, run.exit


@pytest.mark.parametrize(
    "text", [PAY, ASK, SHELL, CHECKPOINT, EXPIRES], ids=["pay", "ask", "sh", "look", "exp"]
)
def test_every_schedule_with_one_and_two_faults_holds(text: str) -> None:
    """Nothing breaks, nothing is left out, and every arrow is taken."""
    for faults in (1, 2):
        found = explore(flow(text), faults=faults)
        assert found.complete
        assert found.crash_points.missed == found.edges.missed == found.exits.missed == ()
    assert found.outcomes.missed == ()


def test_an_effect_is_said_before_it_is_called_and_applied_before_its_node_ends() -> None:
    run = simulate(flow(PAY))
    told = [event["type"] for event in run.events if event.get("nodeId") == "charge"]
    assert told == ["node_started", "effect_started", "effect_applied", "node_finished"]
    started, applied = events(run, "effect_started")[0], events(run, "effect_applied")[0]
    assert started["payload"] == {"argument": {"cents": 100}, "call": "charge", "key": "order-1"}
    assert applied["process"] == "provider"


def test_an_effect_is_applied_once_though_the_host_dies_before_it_is_recorded() -> None:
    """W23: the second attempt calls with the same key and gets the same answer."""
    run = drive(flow(PAY), after_effect)
    assert run.violations == ()
    assert [event["payload"]["key"] for event in events(run, "effect_started")] == ["order-1", "order-1"]
    assert len(events(run, "effect_applied")) == 1
    assert outcome(run) == ("completed", "done")


def test_a_failed_effect_goes_by_its_route() -> None:
    run = drive(flow(SHELL), labelled("the effect: exits with 1"))
    assert outcome(run) == ("completed", "gone")
    assert run.output == {"why": "The command ended with exit code 1: No."}


@pytest.mark.parametrize("way", ["does nothing and never replies", "is applied, but never replies"])
def test_an_effect_that_never_replies_times_out(way: str) -> None:
    """R7, W18: without a route of its own the run is timed out, not failed."""
    run = drive(flow(PAY), labelled(f"the effect: {way}"))
    assert run.status == "timed_out"
    assert events(run, "node_failed")[0]["payload"]["error"] == "Timed out after 60000 ms."
    assert events(run, "run_timed_out")[0]["at"] >= 60_000


def test_a_notification_is_queued_with_the_end_of_its_node_and_shown_once() -> None:
    """W22: a crash after it was shown and before that was recorded shows it once."""
    run = drive(flow(PAY), crash_after_row("notice"))
    assert run.violations == ()
    shown = [entry for entry in run.session if entry["kind"] == "notice"]
    assert [(entry["nodeId"], entry["index"], entry["text"]) for entry in shown] == [
        ("tell", 1, "Paid: alpha")
    ]
    delivered = events(run, "notification_delivered")
    assert [event["payload"] for event in delivered] == [{"index": 1}]


def test_a_run_waits_and_its_answer_continues_it() -> None:
    """R35: another run, which carries everything over and names the one it continues."""
    run = drive(flow(ASK), labelled("answers no"))
    assert outcome(run) == ("completed", "gone")
    asked, waits = events(run, "decision_requested")[0], events(run, "run_waiting")[0]
    assert waits["payload"]["finalOutput"]["digest"] == asked["payload"]["digest"]
    first, second = events(run, "run_started")
    assert (first["runId"], second["runId"]) == ("run-1", "run-2")
    assert second["payload"]["continuedFrom"] == "run-1"
    won = events(run, "decision_answered")[0]["payload"]
    assert won["digest"] == asked["payload"]["digest"]
    assert won["output"] == {"choice": "no", "input": {"reason": "alpha"}, "provenance": "human"}
    assert steps(run) == ["approve", "lost"]


def test_nobody_answers_and_the_default_is_taken_in_time() -> None:
    run = drive(flow(ASK), labelled("the time to answer is up"))
    over = events(run, "decision_defaulted")[0]
    assert over["at"] >= 3_600_000
    assert over["payload"]["output"] == {"choice": "later", "provenance": "timeout"}
    assert outcome(run) == ("completed", "gone")


def test_an_expired_request_times_its_node_out() -> None:
    run = drive(flow(EXPIRES), labelled("the time to answer is up"))
    assert events(run, "node_failed")[0]["payload"]["outcome"] == "timed_out"
    assert outcome(run) == ("completed", "gone")


LATE: list[tuple[Wanted, ...]] = [
    (labelled("answers yes, and it will come again"), labelled("an answer again")),
    (labelled("answers yes; another one"), labelled("an answer again")),
    (labelled("the time to answer is up, twice"), labelled("the end of the time to answer again")),
]


@pytest.mark.parametrize("wanted", LATE, ids=["same", "other", "clock"])
def test_whoever_comes_second_changes_nothing(wanted: tuple[Wanted, ...]) -> None:
    """R37, W14, W15: one winner, one continuation."""
    run = drive(flow(ASK), *wanted)
    assert run.violations == ()
    assert len(events(run, "decision_answered")) + len(events(run, "decision_defaulted")) == 1
    assert len(events(run, "run_started")) == 2


def test_an_answer_when_the_time_is_up_is_refused_and_the_timeout_recorded() -> None:
    run = drive(flow(ASK), move("timeout", engine="waiting"))
    assert events(run, "answer_refused")[0]["payload"]["reason"] == "The time to answer was up."
    assert len(events(run, "decision_defaulted")) == 1


def test_a_cancelled_request_is_never_answered() -> None:
    run = drive(flow(ASK), move("cancel", engine="waiting"))
    assert run.status == "cancelled"
    assert [event["type"] for event in run.events if event["scope"] == "decision"] == [
        "decision_requested",
        "decision_cancelled",
    ]


def test_a_crash_leaves_one_live_request() -> None:
    """W13: before the request another attempt asks; after it the restarted host waits for the same one."""
    before = drive(flow(ASK), crash_after("node_started", "approve"), labelled("answers yes"))
    after = drive(flow(ASK), crash_after("decision_requested"), labelled("answers yes"))
    assert len(events(before, "decision_requested")) == len(events(after, "decision_requested")) == 1
    assert outcome(before) == outcome(after) == ("completed", "done")


def test_a_checkpoint_is_asked_and_answered_like_a_decision() -> None:
    run = simulate(flow(CHECKPOINT))
    assert run.output in ({"said": "good"}, {"said": "bad"})
    assert events(run, "decision_requested")[0]["payload"]["kind"] == "checkpoint"


def answer(choice: str, value: str | None, digest: str = "d") -> str:
    """What becomes of an answer to the request of ASK: its output, or why it is refused."""
    program = Program(flow(ASK))
    view = View(
        Position("waiting", node="approve", phase="started"), State(request=Request("d", True, "later"))
    )
    _, actions = decisions.answered(program, Engine("waiting"), view, Answered(digest, choice, value))
    if isinstance(actions[0], Commit):
        said: str = actions[0].events[0].get("output").text  # type: ignore[union-attr]
        return said
    return str(actions[0].event.get("reason"))  # type: ignore[union-attr]


def test_an_answer_is_kept_exactly_and_held_to_its_bounds() -> None:
    """R35: a text as it was typed; too long, unexpected, unknown or for another request is refused."""
    typed = "  two\n lines "
    assert json.loads(answer("no", json.dumps(typed)))["input"] == {"reason": typed}
    assert json.loads(answer("no", json.dumps("x" * 40)))["choice"] == "no"
    assert "40" in answer("no", json.dumps("x" * 41))
    assert answer("yes", '"why not"') == "The choice yes asks for nothing."
    assert answer("maybe", None) == "There is no choice maybe."
    assert answer("yes", None, "other") == "This answers another request."
    assert "null" in answer("no", None).lower() or "missing" in answer("no", None)


def test_a_decision_is_asked_in_the_words_of_its_node() -> None:
    node = Program(flow(ASK)).nodes["approve"]
    assert isinstance(node, Decision)
    assert [choice.id for choice in node.choices] == ["later", "no", "yes"]
