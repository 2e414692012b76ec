"""One run as a scenario wants it: who acts when, where a crash falls, what is said of a line without use."""

from __future__ import annotations

import pytest

from tests.simulator.scenario.acting import LOOP, TALK, act, line_in, said
from windtunnel.simulator.scenario import directing
from windtunnel.simulator.scenario.verdict import Cause, Verdict

MISSING = "the script of sort has only one message for visit 1, and the model is asked for one more"
SORTED = 'sort submits { pile: "a" }'


def types(verdict: Verdict) -> list[str]:
    return [event["type"] for event in verdict.events]


def at(verdict: Verdict, event: str) -> int:
    """When an event happened first."""
    moment: int = next(each["at"] for each in verdict.events if each["type"] == event)
    return moment


# --- scripts ------------------------------------------------------------------------------------------------


def test_without_a_provider_everything_is_made_up() -> None:
    assert act('expect run.exit == "done"').passed


def test_a_node_without_a_line_is_made_up() -> None:
    verdict = act(f'provider {{\n{SORTED}\n}}\nexpect visible(greet) == 1\nexpect run.exit == "done"')
    assert verdict.passed


def test_a_request_that_no_script_answers_ends_the_run() -> None:
    """The attempt after the crash has no message left; the place of the line is told."""
    body = 'provider {\nsort submits { pile: "a" }\n}\nfaults {\ncrash host before node_finished of sort\n}'
    verdict = act(body)
    assert said(verdict) == [MISSING]
    assert verdict.broken[0].cause is Cause.SCRIPT
    assert verdict.broken[0].where.line == line_in(body, TALK, 2)
    assert verdict.broken[0].seq == len(verdict.events)


def test_a_tool_result_that_nobody_goes_on_from_ends_the_run() -> None:
    verdict = act('provider {\nsort submits { pile: "b" } then submits { pile: "b" }, calls read({})\n}')
    assert said(verdict) == [MISSING.replace("one message", "2 messages")]


@pytest.mark.parametrize("verb", ["settles", 'fails "down"'])
def test_a_line_that_ends_without_an_output_goes_on_so(verb: str) -> None:
    """The prompt and every reminder are answered alike, until the node fails."""
    verdict = act(f'provider {{\nsort {verb}\n}}\nexpect run.status == "failed"\nexpect prompts(sort) == 3')
    assert verdict.passed, said(verdict)


def test_a_refused_submission_without_another_message_is_told() -> None:
    verdict = act('provider {\nsort submits { pile: "b" }\n}')
    assert said(verdict) == [MISSING]


def test_what_follows_an_accepted_submission_need_not_be_written() -> None:
    assert act(f'provider {{\n{SORTED}\n}}\nexpect run.exit == "done"').passed
    assert act('provider {\nsort submits { pile: "a" }, says "Done."\n}\nexpect run.exit == "done"').passed


def test_a_line_that_is_never_used_is_told_and_so_are_messages() -> None:
    verdict = act('provider {\ngreet fails "down"\nsort submits { pile: "a" }\n}')
    assert said(verdict) == ["this line of sort is never used"]
    verdict = act('provider {\ngreet says "Hi." then says "Hi again."\n}')
    assert said(verdict) == ["this line of greet has 2 messages, of which only 1 are used"]


def test_visits_are_counted_over_the_whole_run() -> None:
    """Each invocation of an include starts empty, and its nodes go on counting for the script."""
    verdict = act(
        """provider {
          part/tell visit 1 says "one"
          part/tell says "later"
          judge visit 3 submits { enough: true }
          judge submits { enough: false }
        }
        expect visits(part) == 3
        expect visits(part/tell) == 3
        expect visits(part/tell, "ok") == 3
        expect count([m for m in transcript.canonical if m.text == "later"]) == 2""",
        LOOP,
    )
    assert verdict.passed, said(verdict)


def test_a_visit_that_no_line_answers_is_told() -> None:
    verdict = act('provider {\npart/tell visit 2 says "two"\n}', LOOP)
    assert said(verdict) == ["no line of the script answers visit 1 of part/tell"]


# --- people -------------------------------------------------------------------------------------------------


def test_a_time_waits_for_nothing_else_to_go_on() -> None:
    verdict = act(
        'provider {\ngreet stalls\n}\nperson {\ncancels at 10s\n}\nexpect run.status == "cancelled"'
    )
    assert verdict.passed
    assert at(verdict, "cancel_requested") - 10_000 in range(3)


def test_the_timer_comes_first_when_it_is_first() -> None:
    verdict = act(
        'provider {\ngreet stalls\n}\nperson {\ncancels at 31s\n}\nexpect run.status == "timed_out"'
    )
    assert said(verdict) == ["“cancels at 31000ms” was never possible before the run was over"]


def test_lines_of_one_moment_go_in_their_order() -> None:
    verdict = act(
        """person {
          sends "one" after message_start of greet
          sends "two" after message_start of greet
        }
        expect [m.text for m in transcript.canonical if m.role == "user"] == ["one", "two"]
        expect eventually queue.texts == ["one", "two"]"""
    )
    assert verdict.passed, said(verdict)


def test_a_paused_run_waits_for_the_person() -> None:
    body = 'provider {\ngreet says "Hi."\n}\nperson {\npresses escape after message_update of greet\n}\n'
    verdict = act(body + 'expect run.status == "paused"')
    assert verdict.passed, said(verdict)
    assert types(verdict)[-1] == "run_paused"


def test_what_a_person_can_never_do_is_told() -> None:
    verdict = act("person {\nresumes after node_started of greet\n}")
    assert said(verdict) == [
        "“resumes after node_started of greet” was never possible before the run was over"
    ]


# --- crashes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "written"), [("before", False), ("after", True)], ids=["before", "after"]
)
def test_a_crash_falls_exactly_at_its_event(relation: str, written: bool) -> None:
    verdict = act(f"faults {{\ncrash host {relation} turn_end of greet\n}}")
    before = types(verdict)[: types(verdict).index("crashed")]
    assert ("turn_end" in before) is written


def test_a_transaction_is_there_whole_or_not_at_all() -> None:
    for relation, there in (("before", False), ("after", True)):
        verdict = act(
            f"faults {{\ncrash host {relation} node_finished of greet\n}}\nexpect visible(greet) == 1"
        )
        before = types(verdict)[: types(verdict).index("crashed")]
        assert ("node_finished" in before) is there
        assert verdict.passed, said(verdict)


def test_a_torn_row_is_mended() -> None:
    verdict = act(
        'provider {\ngreet says "one" then says "two"\n}\nfaults {\ncrash host during message_end of greet\n}'
    )
    assert verdict.passed, said(verdict)
    crashed = next(event for event in verdict.events if event["type"] == "crashed")
    assert crashed["payload"]["torn"] is True


def test_nothing_dies_inside_what_is_written_in_one_piece() -> None:
    verdict = act("faults {\ncrash host during run_started\n}")
    assert said(verdict) == ["run_started is written in one piece, so nothing can die inside it"]
    assert verdict.broken[0].cause is Cause.FAULT


def test_the_host_stays_down_as_long_as_it_is_said() -> None:
    verdict = act("faults {\ncrash host after message_end of greet for 2m\n}\nexpect clock > 2m")
    assert verdict.passed, said(verdict)
    assert at(verdict, "restarted") - at(verdict, "crashed") >= 120_000


def test_a_crash_without_a_moment_is_the_first_thing() -> None:
    verdict = act('faults {\ncrash host\n}\nexpect run.exit == "done"')
    assert verdict.passed, said(verdict)
    assert types(verdict)[0] == "crashed"


def test_a_crash_at_a_time() -> None:
    verdict = act(
        'provider {\ngreet stalls then says "Hi."\n}\n'
        'faults {\ncrash host at 10s\n}\nexpect run.exit == "done"'
    )
    assert verdict.passed, said(verdict)
    assert at(verdict, "crashed") - 10_000 in range(3)


def test_two_crashes_at_one_event_fall_one_after_the_other() -> None:
    verdict = act(
        "faults {\ncrash host after run_resumed\ncrash host after run_resumed\n"
        "crash host after run_started\n}"
    )
    assert verdict.passed, said(verdict)
    assert types(verdict).count("crashed") == 3


def test_a_fault_that_never_comes_about_is_told() -> None:
    verdict = act("faults {\ncrash host after run_failed\nduplicate submission of greet\n}")
    assert said(verdict) == [
        "“crash host after run_failed” never came about",
        "“duplicate submission of greet” never came about",
    ]


# --- repetitions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    ["message_end of greet", "turn_end of greet", "agent_settled of greet", "submission of sort"],
)
def test_a_report_that_comes_twice_changes_nothing(event: str) -> None:
    verdict = act(f'faults {{\nduplicate {event}\n}}\nexpect run.exit == "done"\nexpect visits(sort) == 1')
    assert verdict.passed, said(verdict)
    assert types(verdict).count("duplicated") == 1


@pytest.mark.parametrize(
    "event", ["message_start of greet", "message_update of greet", "message_end of sort"]
)
def test_a_piece_of_a_stream_that_comes_twice_changes_nothing(event: str) -> None:
    verdict = act(f'faults {{\nduplicate {event}\n}}\nexpect run.exit == "done"\nexpect visible(greet) == 1')
    assert verdict.passed, said(verdict)


# --- the end ------------------------------------------------------------------------------------------------


def test_the_same_scenario_gives_the_same_trace() -> None:
    body = "faults {\ncrash host after message_end of greet\n}\n"
    body += 'person {\nsends "x" after message_start of greet\n}'
    assert act(body).trace == act(body).trace


def test_a_run_without_end_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit a run still passes, one past it does not."""
    monkeypatch.setattr(directing, "MAX_TRANSITIONS", 10)
    verdict = act('expect run.exit == "done"')
    assert said(verdict)[0] == "the run takes more than 10 transitions"


def test_the_input_may_be_made_up() -> None:
    assert act("expect visits(greet) == 1").passed
