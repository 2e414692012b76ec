"""A host that dies and comes back: adopt, resume or send, and never do again what is done."""

from __future__ import annotations

import pytest

from tests.simulator.driving import Wanted, behaves, crash_after, crash_after_row, drive, labelled, move
from tests.simulator.flows import ANSWER, DECIDE, LOOP, events, flow, says, script, steps, submits, types
from windtunnel.simulator import Run
from windtunnel.simulator.providers.behaviour import SILENCE


def visible(run: Run) -> list[str]:
    """The finished answers in the session."""
    return [entry["text"] for entry in run.session if entry.get("stop") in ("stop", "length")]


def prompts(run: Run) -> list[str]:
    """The kinds of the prompts in the session."""
    return [entry["prompt"] for entry in run.session if entry["kind"] == "step"]


def test_a_crash_before_the_prompt_sends_it_once() -> None:
    """B261, B279: no prompt on the branch: send it, in the same attempt."""
    run = drive(flow(ANSWER), crash_after("node_started", "say"))
    assert prompts(run) == ["step"]
    assert len(visible(run)) == 1
    assert len(events(run, "node_started")) == 2
    assert run.status == "completed"


def test_a_torn_prompt_is_no_prompt() -> None:
    """R28: half a line is cut off, and the prompt is sent again, once."""
    run = drive(flow(ANSWER), crash_after_row("step", torn=True))
    assert prompts(run) == ["step"]
    assert run.status == "completed"


@pytest.mark.parametrize(
    "crash",
    [
        pytest.param(crash_after_row("step"), id="B280 after the prompt"),
        pytest.param(crash_after("agent_prompt_sent"), id="B281 while the model answers"),
    ],
)
def test_a_crash_after_the_prompt_resumes_the_attempt(crash: Wanted) -> None:
    """B260: the prompt stands without an answer: one sentence more, in the same attempt."""
    run = drive(flow(ANSWER), crash)
    assert prompts(run) == ["step", "resume"]
    assert len(visible(run)) == 1
    assert len({e["attemptId"] for e in run.session if e["kind"] == "step"}) == 1
    kinds = [event["payload"]["kind"] for event in events(run, "agent_prompt_sent")]
    assert kinds[-1] == "resume"
    assert events(run, "run_resumed")[0]["payload"]["resumeAt"] == "say"


def test_a_crash_after_the_answer_adopts_it() -> None:
    """R40g, B259, B282, B283: same attempt, no further prompt, one answer, the exact text."""
    run = drive(flow(ANSWER), crash_after_row("assistant"), provider=script(say=[says("only once")]))
    assert prompts(run) == ["step"]
    assert visible(run) == ["only once"]
    finished = events(run, "node_finished")[0]
    assert finished["attemptId"] == events(run, "node_started")[0]["attemptId"]
    assert finished["payload"]["receipt"]["entryId"] == run.session[-1]["id"]
    assert run.output == {"text": "only once"}


def test_an_answer_that_is_too_long_fails_also_after_a_crash() -> None:
    """What is adopted is judged like any answer, and not asked for again."""
    run = drive(flow(ANSWER), crash_after_row("assistant"), provider=script(say=[says("x" * 61)]))
    assert run.status == "failed"
    assert prompts(run) == ["step"]


def test_a_crash_between_result_and_route_does_not_run_the_node_again() -> None:
    """B284, R26: what is finished stays so; the run goes on with the route."""
    run = drive(flow(ANSWER), crash_after("node_finished", "say"))
    assert steps(run) == ["say", "kept"]
    assert len(events(run, "run_resumed")) == 1
    assert run.status == "completed"


def test_a_submit_step_runs_again_in_a_fresh_attempt() -> None:
    """R26: the interrupted step keeps its visit and gets a new attempt."""
    run = drive(flow(DECIDE), crash_after("agent_prompt_sent", "pick"))
    started = events(run, "node_started")
    assert [event["nodeId"] for event in started] == ["pick", "pick", "kept"]
    assert started[0]["attemptId"] != started[1]["attemptId"]
    assert events(run, "run_resumed")[0]["payload"]["resumedAttemptId"] == started[0]["attemptId"]


def test_a_submission_that_was_accepted_survives() -> None:
    """A crash right after acceptance neither loses nor repeats it."""
    run = drive(
        flow(DECIDE), crash_after("node_finished", "pick"), provider=script(pick=[submits({"n": 7}), SILENCE])
    )
    assert run.output == {"n": 7}
    assert steps(run) == ["pick", "kept"]


def test_a_crash_of_the_restart_changes_nothing() -> None:
    """A crash inside recovery lands where the first one did."""
    run = drive(flow(ANSWER), crash_after_row("assistant"), crash_after("run_resumed"))
    assert prompts(run) == ["step"]
    assert len(visible(run)) == 1
    assert len(events(run, "run_resumed")) == 2


def test_an_older_visit_is_not_adopted() -> None:
    """B262, B289: the answer of the first visit is not taken for the second."""
    run = drive(
        flow(LOOP),
        behaves('submits verdict "again"', "judge"),
        crash_after("node_started", "say"),
        behaves('submits verdict "good"', "judge"),
    )
    answers = [e["payload"]["receipt"] for e in events(run, "node_finished") if e["nodeId"] == "say"]
    assert len({receipt["entryId"] for receipt in answers}) == len(answers) == 2
    assert len(visible(run)) == 2


def test_an_answer_below_a_message_of_the_person_is_not_adopted() -> None:
    """R40h, W06: what the model says to the person is not the step's answer, also not after a crash."""
    run = drive(
        flow(ANSWER),
        crash_after("agent_prompt_sent"),
        move("followup", engine="recover", loop="idle"),
    )
    assert visible(run) == ["Noted.", "An answer from say."]
    assert run.output == {"text": "An answer from say."}
    assert prompts(run) == ["step", "resume"]


def test_escape_holds_the_step_and_release_resumes_it() -> None:
    """B232: run paused, no failure, no reminder; the partial row is aborted; the same attempt goes on."""
    run = drive(flow(ANSWER), move("escape", loop="streaming"))
    assert [t for t in types(run) if t in ("run_paused", "run_resumed", "node_failed")] == [
        "run_paused",
        "run_resumed",
    ]
    assert prompts(run) == ["step", "resume"]
    assert len(visible(run)) == 1


def test_escape_after_the_answer_adopts_it_on_release() -> None:
    """The turn was over but for its settlement: the answer counts once the person lets the run go on."""
    run = drive(flow(ANSWER), move("escape", loop="stopping"))
    assert prompts(run) == ["step"]
    assert len(visible(run)) == 1
    assert run.status == "completed"


def test_escape_in_a_submit_step_costs_no_reminder() -> None:
    """The attempt goes on with one sentence; its reminders are all still there."""
    run = drive(
        flow(DECIDE),
        move("escape", loop="asked", engine="pending"),
        provider=script(pick=[SILENCE, SILENCE, SILENCE]),
    )
    kinds = [event["payload"]["kind"] for event in events(run, "agent_prompt_sent")]
    assert kinds == ["step", "resume", "reminder", "reminder"]


def test_a_crash_while_paused_stays_paused() -> None:
    """Only the person lets a held run go on."""
    run = drive(flow(ANSWER), move("escape", loop="streaming"), crash_after("run_paused"))
    resumed = events(run, "run_resumed")
    assert len(resumed) == 1
    released = [event["seq"] for event in run.events if event["type"] == "released"]
    assert released[0] < resumed[0]["seq"]
    assert run.status == "completed"


def test_a_follow_up_never_changes_the_answer() -> None:
    """The answer is frozen when the loop would stop; the follow-up's reply comes after it in the same run."""
    run = drive(flow(ANSWER), move("followup", loop="streaming"))
    assert run.output == {"text": "An answer from say."}
    assert visible(run) == ["An answer from say.", "Noted."]
    assert len(events(run, "agent_settled")) == 1
    assert events(run, "agent_settled")[0]["seq"] < events(run, "node_finished")[0]["seq"]


def test_breaking_off_a_follow_up_changes_nothing_for_the_step() -> None:
    """An escape in the follow-up's own turn neither holds nor fails the step that was answered before it."""
    run = drive(
        flow(ANSWER),
        move("followup", loop="streaming"),
        labelled("the agent loop goes on"),
        move("escape", loop="asked"),
    )
    assert "run_paused" not in types(run)
    assert run.output == {"text": "An answer from say."}


def test_a_queue_is_held_after_an_error_until_the_person_writes_again() -> None:
    """A run that ends badly drains nothing; the next message goes behind what waits, and releases it."""
    held = drive(flow(ANSWER), move("followup", loop="streaming"), move("escape", loop="streaming"))
    rows = [entry["kind"] for entry in held.session]
    assert rows.count("queued") == 1
    assert "user" not in rows
    released = drive(
        flow(ANSWER),
        move("followup", loop="streaming"),
        move("escape", loop="streaming"),
        move("followup", loop="idle", engine="held"),
    )
    rows = [entry["kind"] for entry in released.session]
    assert rows.count("user") == 2
    assert released.status == "completed"


def test_the_persons_own_turn_is_not_the_steps() -> None:
    """W06, W29: a prompt waits for the end of the person's own turn, which completes and fails nothing."""
    run = drive(flow(DECIDE), move("followup", engine="ready", loop="idle"))
    assert run.status == "completed"
    assert [event["payload"]["kind"] for event in events(run, "agent_prompt_sent")] == ["step"]


def test_a_late_settlement_says_nothing_about_a_later_step() -> None:
    """A report that comes twice, the second time late, ends and reminds nothing."""
    run = drive(flow(LOOP), labelled("which will come again", "say"), labelled("again", "judge"))
    assert run.status == "completed"
    assert events(run, "node_failed") == []


def test_a_crash_closes_open_tool_calls() -> None:
    """No call is left open: what the lost process had asked for gets a result that says so."""
    run = drive(
        flow(DECIDE), crash_after_row("assistant"), provider=script(pick=[submits({"n": 1}), SILENCE] * 2)
    )
    closed = [entry for entry in run.session if entry["kind"] == "tool"]
    assert closed[0]["text"] == "The call was not finished."
    assert run.status == "completed"
