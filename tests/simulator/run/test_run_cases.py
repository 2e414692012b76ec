"""More cases of the reference list (R…) and reports from other systems (A…), on a simulated run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.driving import behaves, crash_after, drive, labelled, move
from tests.simulator.flows import (
    ANSWER,
    DECIDE,
    LOOP,
    PAY,
    Stop,
    Turn,
    events,
    flow,
    run,
    says,
    script,
    steps,
    submits,
    types,
)
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.simulator import Run, simulate
from windtunnel.simulator.providers.behaviour import SILENCE
from windtunnel.simulator.world import ENGINE, Option, State, World

STALL = Turn(stalls=True)

CHILD = """language 1
workflow child {{
  revision 1
  {child}
  exits {{ ready: {{ n: int }} }}
  agent work {{ prompt "Work." expectedOutput {{ n: int(0..9) }} }}
  compute fin = {{ n: work.n }}
  edges {{
    start -> work
    work -> match .n {{
      0 -> fin
      else -> work limit 7 then -> fin
    }}
    fin -> exit ready
  }}
}}
workflow parent {{
  revision 1
  {parent}
  exits {{ done: {{ n: int }} }}
  compute s = 1
  include repair = child {{}}
  compute end = {{ n: repair.ready.n }}
  edges {{
    start -> s -> repair
    repair.ready -> end -> exit done
  }}
}}
"""

AGAIN = """language 1
workflow again {
  revision 1
  exits { done: { said: text }, never: { said: text } }
  agent draft { prompt "Draft." expectedOutput { n: int(0..9) } }
  decision ok {
    title "Good enough?"
    subject { n: draft.n }
    choices {
      no "No"
      yes "Yes"
    }
    after 1h choose no
  }
  compute kept = { said: ok.provenance }
  compute lost = { said: ok.provenance }
  edges {
    start -> draft -> ok
    ok.yes -> kept -> exit done
    ok.no -> draft limit 3 then -> lost
    lost -> exit never
  }
}
"""
"""A decision in a loop."""

TWICE = """language 1
workflow child {
  revision 1
  exits { done: { first: text, second: text } }
  checkpoint ask1 { show "First?" answer text(1..9) }
  checkpoint ask2 { show "Second, after ${ask1}?" answer text(1..9) }
  compute both = { first: ask1, second: ask2 }
  edges { start -> ask1 -> ask2 -> both -> exit done }
}
workflow parent {
  revision 1
  exits { done: { first: text, second: text } }
  include pair = child {}
  compute kept = pair.done
  edges {
    start -> pair
    pair.done -> kept -> exit done
  }
}
"""
"""Two requests in an included workflow."""


def error(run: Run, type_: str = "run_failed") -> str:
    """Why a run ended badly."""
    said: str = events(run, type_)[0]["payload"]["error"]
    return said


def problems(text: str) -> list[str]:
    """What the compiler refuses."""
    compiled = compile_workflow(MemoryReader({"test.flow": text}), "test.flow")
    return [f"{found.code} {found.message}" for found in compiled.diagnostics]


# --- the reference list -------------------------------------------------------------------------------------


def test_r9_a_timeout_is_none_or_a_whole_time() -> None:
    """R9: `none` outlives the default of fifteen minutes; zero is refused before anything runs."""
    text = ANSWER.replace('prompt "Say it."', 'prompt "Say it." timeout none')
    stuck = run(text, say=[STALL])
    assert (stuck.status, events(stuck, "node_failed")) == ("running", [])
    assert problems(text.replace("timeout none", "timeout 0s"))


def test_r10_and_b22_no_value_is_left_without_an_arm() -> None:
    """R10: a match that may miss does not compile, so a switch never misses at run time."""
    text = LOOP.replace('      "again" -> say limit 2 then -> kept\n', "")
    assert any('"again"' in said for said in problems(text))


def test_r13_a_value_that_cannot_be_made_fails_its_node() -> None:
    """R13: no NaN gets into the state: dividing by zero gives null, and the types say so beforehand."""
    text = DECIDE.replace("{ n: int }, gone", "{ n: number }, gone").replace(
        "{ n: pick.n }", "{ n: 1 / pick.n }"
    )
    assert problems(text)
    safe = flow(text.replace("1 / pick.n", "1 / pick.n ?? -1"))
    done = simulate(safe, provider=script(pick=[submits({"n": 0}), SILENCE]))
    assert done.output == {"n": -1}


def test_r25_an_abort_is_a_failure_of_its_node() -> None:
    """R25: it goes the way of a failure, and does not cancel the run."""
    done = run(DECIDE, pick=[Turn((), Stop.ABORTED)])
    assert (done.status, done.exit) == ("completed", "gone")
    assert events(done, "node_failed")[0]["payload"]["outcome"] == "failed"


def test_r30_a_request_and_its_waiting_are_one_transaction() -> None:
    """R30: no crash falls between them, and after them the checkpoint is not run again."""
    snapshot = flow(TWICE)
    done = drive(snapshot, crash_after("run_waiting"))
    assert len(events(done, "decision_requested")) == 2
    committed = [event["type"] for event in done.events if event["process"] == "host"]
    at = committed.index("decision_requested")
    assert committed[at + 1] == "run_waiting"
    assert steps(done) == ["pair/ask1", "pair/ask2", "pair/both", "kept"]


def test_r38_the_parent_sees_exit_and_output_only() -> None:
    """R38: the steps of a mounted workflow in its order; entered and left once."""
    lines = {"repair/work": [submits({"n": 0}), SILENCE]}
    done = simulate(flow(CHILD.format(child="", parent="")), provider=script(**lines))
    assert steps(done) == ["s", "repair/work", "repair/fin", "end"]
    assert [event["payload"]["invocation"] for event in events(done, "include_entered")] == [1]
    (left,) = events(done, "include_exited")
    assert (left["payload"]["exit"], left["payload"]["output"]) == ("ready", {"n": 0})
    assert done.output == {"n": 0}


@pytest.mark.parametrize(
    ("child", "parent", "taken"),
    [
        ("maxSteps 3", "", ["s", *["repair/work"] * 3]),
        ("", "maxSteps 5", ["s", *["repair/work"] * 4]),
        ("maxSteps 2", "maxSteps 5", ["s", *["repair/work"] * 2]),
    ],
)
def test_r38_limits_of_child_and_parent_hold_before_a_step(child: str, parent: str, taken: list[str]) -> None:
    """R38: the step that is one too many is not begun, whoever set the limit."""
    text = CHILD.format(child=child, parent=parent)
    lines = {"repair/work": [submits({"n": 7}), SILENCE]}
    done = simulate(flow(text), provider=script(**lines))
    assert (done.status, steps(done)) == ("failed", taken)
    assert "maxSteps=" in error(done)


def test_r40i_the_answer_of_an_earlier_visit_is_not_adopted() -> None:
    """R40 (i), R2: a second visit is a new attempt with a prompt and an answer of its own."""
    done = drive(
        flow(LOOP),
        crash_after("node_started", "say"),
        behaves('submits verdict "again"', "judge"),
        crash_after("node_started", "say"),
        behaves('submits verdict "good"', "judge"),
    )
    finished = [event for event in events(done, "node_finished") if event["nodeId"] == "say"]
    assert len({event["attemptId"] for event in finished}) == len(finished) == 2
    assert len({event["payload"]["receipt"]["entryId"] for event in finished}) == 2


# --- reports: crash and resume ------------------------------------------------------------------------------


def test_a02_a04_a_step_that_needs_several_tries_repeats_no_other() -> None:
    """A02, A04: the steps before it ran once; a failed try costs a reminder, not the run."""
    text = LOOP.replace("limit 2", "limit 9")
    silent = [SILENCE, SILENCE, submits({"verdict": "good"}), SILENCE]
    done = run(text, say=[says("one")], judge=silent)
    assert steps(done) == ["say", "judge", "kept"]
    kinds = [event["payload"]["kind"] for event in events(done, "agent_prompt_sent")]
    assert kinds == ["step", "step", "reminder", "reminder"]


def test_a03_what_is_done_before_a_request_is_not_done_again() -> None:
    """A03: after the answer only what follows the request runs, also in a host that started anew."""
    done = drive(flow(AGAIN), crash_after("run_waiting"), labelled("answers yes"))
    assert steps(done) == ["draft", "ok", "kept"]
    assert len(events(done, "agent_prompt_sent")) == 1


def test_a34_the_loser_of_a_race_is_ignored() -> None:
    """A34: one answer wins, another comes late, the host dies: what is folded again has one winner."""
    done = drive(
        flow(AGAIN),
        labelled("answers yes; another one"),
        labelled("an answer again"),
        crash_after("node_finished", "kept"),
    )
    assert done.violations == ()
    assert len(events(done, "decision_answered")) == 1
    assert (done.status, done.exit) == ("completed", "done")


def test_a36_cancelling_does_the_same_things_in_the_same_order() -> None:
    """A36: a pending turn with a timer; a hundred times, the same bytes."""

    def cancelled() -> tuple[str, ...]:
        stalled = script(pick=[STALL])
        return drive(flow(DECIDE), move("cancel", engine="pending"), provider=stalled).trace

    first = cancelled()
    assert {cancelled() for _ in range(100)} == {first}


def test_a39_the_first_end_wins() -> None:
    """A39: a result that comes after the cancellation changes nothing; after the end nothing is cancelled."""
    late = drive(
        flow(DECIDE),
        move("cancel", engine="pending"),
        provider=script(pick=[submits({"n": 1}), SILENCE]),
    )
    assert late.status == "cancelled"
    ends = [type_ for type_ in types(late) if type_ in ("run_cancelled", "run_completed", "run_failed")]
    assert ends == ["run_cancelled"]
    assert "node_finished" not in types(late)


def test_a44_each_visit_has_a_timer_of_its_own() -> None:
    """A44: the time of a visit that is over never ends a later one; visits do not multiply."""
    text = LOOP.replace("expectedOutput { verdict", "timeout 5m expectedOutput { verdict")
    again = [submits({"verdict": "again"}), SILENCE]
    done = run(text, say=[says("more")], judge=again)
    assert steps(done) == ["say", "judge"] * 3 + ["kept"]
    assert events(done, "node_failed") == []
    assert done.status == "completed"


def test_a47_a_report_that_comes_twice_is_one_result() -> None:
    """A47: no second attempt, no second effect."""
    done = drive(
        flow(PAY), labelled("what its effect returned, which will come again"), labelled("returned again")
    )
    assert [event["type"] for event in done.events if event.get("nodeId") == "charge"] == [
        "node_started",
        "effect_started",
        "effect_applied",
        "node_finished",
    ]


def test_a56_a_step_that_hangs_is_taken_up_again() -> None:
    """A56: a run that waits only for its own work is never left: restarted, it tries again or times out."""

    def dies(world: World, state: State, option: Option) -> bool:
        return option.cut is not None and "is applied, but never replies" in option.move.label

    hangs = labelled("the effect: is applied, but never replies")
    done = drive(flow(PAY), dies)
    assert [event["payload"]["key"] for event in events(done, "effect_started")] == ["order-1"] * 2
    assert (done.status, len(events(done, "effect_applied"))) == ("completed", 1)
    assert drive(flow(PAY), hangs).status == "timed_out"


# --- reports: people ----------------------------------------------------------------------------------------


def test_a06_a12_an_answered_request_is_not_asked_again() -> None:
    """A06, A12: two requests in a row: each has its own answer, the first is never taken for the second."""
    done = drive(flow(TWICE), crash_after("decision_answered"))
    asked = events(done, "decision_requested")
    assert [event["nodeId"] for event in asked] == ["pair/ask1", "pair/ask2"]
    assert len({event["payload"]["digest"] for event in asked}) == 2
    answers: list[Any] = [event["payload"]["output"] for event in events(done, "decision_answered")]
    assert done.output == {"first": answers[0], "second": answers[1]}
    assert len(events(done, "run_started")) == 3


def test_a11_each_visit_asks_anew() -> None:
    """A11: an answer to one visit that comes again does not answer the next, although all is the same."""

    def while_the_next_waits(world: World, state: State, option: Option) -> bool:
        return (
            "an answer again" in option.move.label and world.engines.values[state[ENGINE]].phase == "waiting"
        )

    done = drive(
        flow(AGAIN),
        labelled("answers no, and it will come again"),
        while_the_next_waits,
        labelled("answers yes"),
    )
    asked = events(done, "decision_requested")
    assert len({event["payload"]["digest"] for event in asked}) == 1
    assert len({event["attemptId"] for event in asked}) == len(asked) == 2
    assert len(events(done, "answer_refused")) == 1
    assert steps(done) == ["draft", "ok"] * 2 + ["kept"]
    assert done.violations == ()
