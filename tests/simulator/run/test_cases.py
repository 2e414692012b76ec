"""How runs behave, case by case; the names R1 … are those of the reference list of run cases."""

from __future__ import annotations

import hashlib

import pytest

from tests.simulator.driving import behaves, drive, move
from tests.simulator.flows import (
    ANSWER,
    DECIDE,
    LOOP,
    Call,
    Stop,
    Turn,
    builtin,
    events,
    flow,
    run,
    says,
    script,
    steps,
    submits,
    types,
    uses,
)
from windtunnel.simulator import InputRefused, NotSimulated, simulate
from windtunnel.simulator.providers.behaviour import SILENCE, Addressed, Submit, submission
from windtunnel.simulator.run.program import Program

STALL = Turn(stalls=True)


def test_r1_linear() -> None:
    """Two computes: six events, and the second reads the first."""
    done = run(
        "language 1\nworkflow w { revision 1 exits { done: int }\n  compute a = 1\n  compute b = a + 1\n"
        "  edges { start -> a -> b -> exit done }\n}\n"
    )
    assert types(done) == [
        "run_started",
        *("node_started", "node_finished") * 2,
        "run_completed",
    ]
    assert (done.status, done.exit, done.output) == ("completed", "done", 2)


def test_r2_a_loop_starts_a_fresh_attempt_each_visit() -> None:
    """Each revisit is an attempt of its own; the last answer counts."""
    done = run(
        LOOP,
        say__1=[says("one")],
        say__2=[says("two")],
        judge__1=[submits({"verdict": "again"}), SILENCE],
        judge__2=[submits({"verdict": "good"}), SILENCE],
    )
    assert steps(done) == ["say", "judge", "say", "judge", "kept"]
    attempts = [event["attemptId"] for event in events(done, "node_started")]
    assert len(set(attempts)) == 5
    assert done.output == {"text": "two"}


def test_a_used_up_limit_goes_its_own_way() -> None:
    """`limit n then`: the arrow is taken n times, then the other one."""
    again = [submits({"verdict": "again"}), SILENCE]
    done = run(LOOP, say=[says("more")], judge=again)
    assert steps(done) == ["say", "judge"] * 3 + ["kept"]
    assert done.status == "completed"


def test_r3_max_steps() -> None:
    """A run takes at most maxSteps steps, keeps what they gave, and starts no other."""
    text = (
        "language 1\nworkflow w { revision 1 maxSteps 3 exits { done: int }\n  compute a = 1\n"
        '  agent b { prompt "Again?" expectedOutput { more: bool } }\n'
        "  edges { start -> a -> b\n    b -> match .more { true -> b limit 9 then -> a\n false -> exit_ }\n"
        "    exit_ -> exit done }\n  compute exit_ = a\n}\n"
    )
    done = run(text, b=[submits({"more": True}), SILENCE])
    assert steps(done) == ["a", "b", "b"]
    assert done.status == "failed"
    assert "maxSteps=3" in events(done, "run_failed")[0]["payload"]["error"]


def test_r5_and_r6_a_failure_is_routed_or_ends_the_run() -> None:
    """A failed node has no output; its route sees the outcome, and without one the run fails with its
    error.
    """
    silent = [SILENCE] * 3
    routed = run(DECIDE, pick=silent)
    assert (routed.status, routed.exit) == ("completed", "gone")
    unrouted = run(
        DECIDE.replace("    pick on failed -> lost -> exit gone\n", "")
        .replace('  compute lost = { why: "" }\n', "")
        .replace(", gone: { why: text }", ""),
        pick=silent,
    )
    assert unrouted.status == "failed"
    failure = events(unrouted, "node_failed")[0]["payload"]
    assert events(unrouted, "run_failed")[0]["payload"]["error"] == failure["error"]


def test_r7_and_r8_a_timeout_is_an_outcome_of_its_own() -> None:
    """Unrouted it ends the run timed_out; routed the run goes on, and a late answer changes nothing."""
    unrouted = run(ANSWER, say=[STALL])
    assert unrouted.status == "timed_out"
    assert "Timed out after 900000 ms." in events(unrouted, "run_timed_out")[0]["payload"]["error"]
    assert events(unrouted, "node_failed")[0]["at"] > 900_000
    routed = run(DECIDE.replace("on failed", "on timed_out"), pick=[STALL])
    assert (routed.status, routed.exit) == ("completed", "gone")


def test_r9_no_timeout_leaves_only_the_person() -> None:
    """`timeout none` removes the deadline; cancelling still works."""
    snapshot = flow(ANSWER.replace('prompt "Say it."', 'prompt "Say it." timeout none'))
    cancelled = drive(snapshot, move("cancel", engine="pending"), provider=script(say=[STALL]))
    assert cancelled.status == "cancelled"


def test_r11_a_match_on_numbers_and_truth_values() -> None:
    """1.0 takes the arm of 1; true is not 1."""
    text = (
        "language 1\nworkflow w { revision 1 exits { one: int, other: int }\n"
        '  agent a { prompt "?" expectedOutput { n: number } }\n  compute x = 1\n  compute y = 2\n'
        "  edges { start -> a\n    a -> match .n { 1 -> x\n else -> y }\n"
        "    x -> exit one\n    y -> exit other }\n}\n"
    )
    assert run(text, a=[submits({"n": 1.0}), SILENCE]).exit == "one"
    assert run(text, a=[submits({"n": 1.5}), SILENCE]).exit == "other"


def test_r14_an_input_that_does_not_fit_starts_nothing() -> None:
    """B419: the input is refused with the place that is wrong, before anything is written."""
    with pytest.raises(InputRefused, match="/purpose"):
        simulate(builtin("plain-summary"), {"source": 1, "purpose": ""})
    with pytest.raises(InputRefused, match="50000"):
        simulate(builtin("plain-summary"), {"source": "x" * 50_000, "purpose": "p"})


def test_r15_a_refused_submission_can_be_mended() -> None:
    """The model hears why; the step still waits, in the same attempt, with one prompt."""
    done = run(DECIDE, pick=[submits({"n": 99}), submits({"n": 3}), SILENCE])
    assert done.output == {"n": 3}
    (refused,) = events(done, "submission_refused")
    assert "/n" in refused["payload"]["reason"]
    assert len(events(done, "agent_prompt_sent")) == 1
    assert len({event["attemptId"] for event in done.events if event.get("nodeId") == "pick"}) == 1


def test_r16_a_second_submission_is_refused() -> None:
    """After acceptance nothing waits; the state stays."""
    done = run(DECIDE, pick=[submits({"n": 1}), submits({"n": 2}), SILENCE])
    assert done.output == {"n": 1}
    assert [event["payload"]["reason"] for event in events(done, "submission_refused")] == [
        "No workflow step is awaiting output."
    ]


def test_two_submissions_in_one_message_end_the_turn() -> None:
    """W32: the second is refused, and the run goes on."""
    done = run(DECIDE, pick=[uses(submission({"n": 1}), submission({"n": 2})), SILENCE])
    assert done.output == {"n": 1}
    assert len(events(done, "submission_refused")) == 1


def test_r17_a_wrong_step_is_told_which_one_waits() -> None:
    """The refusal names the pending step."""
    wrong = uses(Submit('{"n":1}', Addressed.OTHER_STEP))
    done = run(DECIDE, pick=[wrong, submits({"n": 1}), SILENCE])
    assert "pick is" in events(done, "submission_refused")[0]["payload"]["reason"]


def test_r18_a_stale_attempt_is_refused() -> None:
    """B288: a submission for an attempt that is over changes nothing; the current one can still be
    accepted.
    """
    stale = uses(Submit('{"n":1}', Addressed.STALE_ATTEMPT))
    done = run(DECIDE, pick=[stale, submits({"n": 2}), SILENCE])
    assert done.output == {"n": 2}
    assert "is over" in events(done, "submission_refused")[0]["payload"]["reason"]


def test_r20_reminders_are_bounded() -> None:
    """B150: settling three times without submitting: step, reminder, reminder, failure with the count."""
    failed = run(DECIDE, pick=[SILENCE, submits({"n": 99}), SILENCE, SILENCE])
    kinds = [event["payload"]["kind"] for event in events(failed, "agent_prompt_sent")]
    assert kinds == ["step", "reminder", "reminder"]
    assert "3 times" in events(failed, "node_failed")[0]["payload"]["error"]
    own = run(DECIDE.replace('prompt "Pick."', 'prompt "Pick." nudges 0'), pick=[SILENCE])
    assert len(events(own, "agent_prompt_sent")) == 1


def test_r22_a_prompt_that_cannot_be_made_fails_the_step() -> None:
    """Nothing is sent, and a failure route still works afterwards."""
    big = "${input.big}" * 5
    text = DECIDE.replace('"Pick."', f'"{big}"').replace("revision 1", "revision 1 input { big: text }")
    failed = simulate(flow(text), {"big": "x" * 1_000_000})
    assert failed.exit == "gone"
    assert "4194304" in events(failed, "node_failed")[0]["payload"]["error"]
    assert events(failed, "agent_prompt_sent") == []


def test_r24_cancelling_a_pending_agent() -> None:
    """The node and the run are cancelled in one transaction, the turn is aborted, nothing comes later."""
    cancelled = drive(flow(DECIDE), move("cancel", engine="pending"), provider=script(pick=[STALL]))
    assert types(cancelled)[-2:] == ["node_failed", "run_cancelled"]
    assert events(cancelled, "node_failed")[0]["payload"]["outcome"] == "cancelled"
    assert [event["payload"]["status"] for event in events(cancelled, "agent_end")] == ["aborted"]


def test_cancelling_withdraws_a_prompt_that_was_not_sent() -> None:
    """W31: a prompt that waits behind the person's own turn never starts a turn after the end."""
    cancelled = drive(
        flow(ANSWER),
        move("followup", engine="ready"),
        move("cancel", engine="sending"),
        provider=script(say=[says("late")]),
    )
    assert cancelled.status == "cancelled"
    assert events(cancelled, "agent_prompt_sent") == []
    assert cancelled.violations == ()


def test_r38_an_include_starts_each_invocation_empty() -> None:
    """B414, B416: entered and left with input and output; the second invocation has its own counters."""
    text = (
        'language 1\nimport plain-summary from "builtin:plain-summary"\n'
        "workflow w { revision 1 exits { done: { text: text } }\n"
        '  include s = plain-summary { source: 1, purpose: "p" }\n'
        '  agent judge { prompt "${s.done.text}" expectedOutput { again: bool } }\n'
        "  compute kept = { text: s.done.text }\n"
        "  edges { start -> s\n    s.done -> judge\n"
        "    judge -> match .again { true -> s limit 3 then -> kept\n"
        "      false -> kept }\n    kept -> exit done }\n}\n"
    )
    lines = {
        "s/summarize": [says("short")],
        "judge__1": [submits({"again": True}), SILENCE],
        "judge__2": [submits({"again": False}), SILENCE],
    }
    done = simulate(flow(text), provider=script(**lines))
    assert steps(done) == ["s/summarize", "s/answer", "judge", "s/summarize", "s/answer", "judge", "kept"]
    assert [event["payload"]["invocation"] for event in events(done, "include_entered")] == [1, 2]
    left = events(done, "include_exited")[0]["payload"]
    assert (left["mountPath"], left["exit"], left["output"]) == ("s", "done", {"text": "short"})


def test_a_failure_inside_an_include_ends_the_run() -> None:
    """A failure that the child does not handle is the run's, with its outcome."""
    text = (
        'language 1\nimport plain-summary from "builtin:plain-summary"\n'
        "workflow w { revision 1 exits { done: { text: text } }\n"
        '  include s = plain-summary { source: 1, purpose: "p" }\n'
        "  compute kept = { text: s.done.text }\n"
        "  edges { start -> s\n    s.done -> kept -> exit done }\n}\n"
    )
    assert simulate(flow(text), provider=script(**{"s/summarize": [SILENCE]})).status == "failed"
    assert simulate(flow(text), provider=script(**{"s/summarize": [STALL]})).status == "timed_out"


def test_r40a_the_output_is_the_visible_text() -> None:
    """B53, B197, B249: parts joined with a newline, exactly; receipt with digest, entry and range."""
    done = run(ANSWER, say=[says(" first", "second ")])
    assert done.output == {"text": " first\nsecond "}
    finished = events(done, "node_finished")[0]["payload"]
    receipt = finished["receipt"]
    answer = next(entry for entry in done.session if entry["kind"] == "assistant")
    prompt = next(entry for entry in done.session if entry["kind"] == "step")
    assert receipt["entryId"] == answer["id"]
    assert finished["conversation"] == [prompt["id"], answer["id"]]
    assert receipt["sha256"] == hashlib.sha256(b" first\nsecond ").hexdigest()
    assert (receipt["runId"], receipt["nodeId"], receipt["limit"]) == ("run-1", "say", 60)
    assert len(events(done, "agent_prompt_sent")) == 1


def test_r40b_tool_turns_before_the_answer_do_not_complete() -> None:
    """B57, B226, B227: several tool turns, then the text."""
    done = run(ANSWER, say=[uses(Call("read")), uses(Call("read"), Call("read")), says("done")])
    assert done.output == {"text": "done"}
    assert len(events(done, "turn_end")) == 3


@pytest.mark.parametrize(
    ("turn", "error"),
    [
        (SILENCE, "no visible text"),
        (says(" \n"), "no visible text"),
        (Turn((), Stop.ERROR, error="overloaded"), "overloaded"),
        (Turn((), Stop.ABORTED), "aborted"),
        (says("x" * 61), "61 characters; the limit is 60"),
    ],
)
def test_r40c_and_e_what_does_not_complete_is_not_asked_again(turn: Turn, error: str) -> None:
    """B58, B59, B229, B231: the node fails, with no second prompt."""
    failed = run(ANSWER, say=[turn])
    assert error in events(failed, "node_failed")[0]["payload"]["error"]
    assert len(events(failed, "agent_prompt_sent")) == 1


def test_r40d_a_length_stop_completes_and_says_so() -> None:
    """B230: the exact text counts, and the receipt says that it was cut."""
    done = run(ANSWER, say=[says("cut sho", stop=Stop.LENGTH)])
    assert done.output == {"text": "cut sho"}
    assert events(done, "node_finished")[0]["payload"]["receipt"]["cut"] is True
    whole = run(ANSWER, say=[says("whole")])
    assert "cut" not in events(whole, "node_finished")[0]["payload"]["receipt"]


def test_r40f_a_submission_during_an_answer_gets_the_fixed_words() -> None:
    """B205, B234: refused, and the answer that follows still counts."""
    done = run(ANSWER, say=[submits({"text": "x"}), says("visible")])
    assert events(done, "submission_refused")[0]["payload"]["reason"] == (
        "This step completes with a normal assistant response. Do not submit workflow output."
    )
    assert done.output == {"text": "visible"}


@pytest.mark.parametrize(
    ("turn", "prompts"), [(Turn((), Stop.ABORTED), 1), (Turn((), Stop.ERROR, error="x"), 3)]
)
def test_an_abort_of_the_provider_fails_a_submit_step(turn: Turn, prompts: int) -> None:
    """An abort fails it at once; an error is a turn that settled without submitting."""
    failed = run(DECIDE, pick=[turn] * 3)
    assert failed.exit == "gone"
    assert len(events(failed, "agent_prompt_sent")) == prompts


def test_a_submission_stays_accepted_when_its_turn_is_broken_off() -> None:
    """Escape after acceptance holds the run at the boundary; nothing runs again."""
    held = drive(flow(DECIDE), move("escape", engine="accepted"))
    assert steps(held) == ["pick", "kept"]
    assert [t for t in types(held) if t in ("run_paused", "run_resumed")] == ["run_paused", "run_resumed"]


def test_a_retry_settles_once() -> None:
    """B228: a retryable error asks again in the same run; only the answer after it counts."""
    failing = Turn((), Stop.ERROR, error="overloaded", retryable=True)
    done = run(ANSWER, say=[failing, says("at last")])
    assert done.output == {"text": "at last"}
    assert len(events(done, "agent_settled")) == 1


def test_thinking_is_not_output() -> None:
    """B196, B225: only visible parts are."""
    done = drive(flow(ANSWER), behaves("several parts"))
    assert done.output == {"text": "A\nn answer from say."}


def test_text_after_an_accepted_submission_is_dropped() -> None:
    """What follows acceptance is neither shown nor kept, so log and view agree."""
    done = run(DECIDE, pick=[submits({"n": 1}), says("I have submitted it.")])
    assert [entry["text"] for entry in done.session if entry["kind"] == "assistant"] == [""]
    ended = [event["payload"].get("text") for event in events(done, "message_end")]
    assert "I have submitted it." not in ended


def test_an_answer_stays_visible() -> None:
    """B203: in assistant mode nothing is dropped."""
    done = run(ANSWER, say=[says("seen")])
    assert [entry["text"] for entry in done.session if entry["kind"] == "assistant"] == ["seen"]


def test_the_contract_stands_last_in_the_prompt() -> None:
    """B154–B169: word for word, with the limit, and no word of submitting beyond the ban."""
    prompt = events(run(ANSWER, say=[says("ok")]), "agent_prompt_sent")[0]["payload"]["prompt"]
    assert prompt.endswith(
        "\n\nReply with a normal assistant message.\n"
        "Do not call the workflow tool to complete this step.\n"
        "Your visible reply becomes the workflow step output.\n"
        "Keep it under 60 characters."
    )
    submit = events(run(DECIDE, pick=[submits({"n": 1}), SILENCE]), "agent_prompt_sent")[0]
    assert f'"attempt": "{submit["attemptId"]}"' in submit["payload"]["prompt"]


def test_a_presentation_is_refused_by_name_where_nobody_gives_it() -> None:
    """Nothing pretends: what does not run is named and not passed over."""
    shown = flow(ANSWER.replace("revision 1", 'revision 1\n  presentation "Sum it up."', 1))
    with pytest.raises(NotSimulated, match="the presentation at the end of"):
        Program(shown)
    assert simulate(shown).status == "completed"
