"""What people answer, when it arrives, and what effects return."""

from __future__ import annotations

import pytest

from tests.simulator.scenario.acting import act, said
from windtunnel.simulator.scenario.verdict import Verdict

ASK = """language 1
workflow order {
  input { item: text(1..20) = "tea" }
  exits { ordered: { choice: text, why: text }, late: { why: text }, told: { minutes: int } }
  decision ask {
    title "Order ${input.item}?"
    choices {
      yes "Yes"
      again "Ask again"
      no "No" asks why: text(1..20) "Why?"
      wait "Wait"
    }
    expires 5m
  }
  checkpoint minutes {
    show "How long?"
    answer { minutes: int(1..60) }
  }
  compute ordered = { choice: "yes", why: "" }
  compute refused = { choice: "no", why: ask.no.why }
  compute late = { why: "late" }
  compute told = { minutes: minutes.minutes }
  edges {
    start -> ask
    ask.yes -> ordered
    ask.again -> ask limit 3 then -> late
    ask.no -> refused
    ask.wait -> minutes -> told -> exit told
    ask on timed_out -> late
    ordered, refused on failed -> late
    ordered -> exit ordered
    refused -> exit ordered
    late -> exit late
  }
}
"""
ASK = ASK.replace("    ordered, refused on failed -> late\n", "")

PAY = """language 1
workflow charge {
  input { cents: int(1..) = 5 }
  action pay {
    call "bank.charge" with { cents: input.cents }
    returns { receipt: text(1..) }
    idempotencyKey "charge-${input.cents}"
    timeout 30s
  }
  shell log {
    run ["git", "log"]
    timeout 10s
  }
  shell facts {
    run ["facts"]
    returns { count: int }
    timeout 10s
  }
  notify tell {
    kind final
    message "Paid: ${pay.receipt}"
  }
  compute paid = { receipt: pay.receipt, said: log.stdout, count: facts.count }
  edges {
    start -> pay -> log -> facts -> tell -> paid -> exit paid
    pay on failed -> pay limit 2 then -> unpaid
    unpaid -> exit unpaid
  }
  compute unpaid = { why: "no" }
}
"""


def types(verdict: Verdict) -> list[str]:
    return [event["type"] for event in verdict.events]


# --- answers ------------------------------------------------------------------------------------------------


def test_a_choice_is_taken() -> None:
    verdict = act(
        'person {\nanswers ask with yes\n}\nexpect run.output.choice == "yes"\n'
        'expect result(ask).provenance == "human"\n'
        "expect decisions.winners == 1 and decisions.requested == 1",
        ASK,
    )
    assert verdict.passed, said(verdict)


def test_what_a_choice_asks_for_is_given_to_the_letter() -> None:
    verdict = act(
        'person {\nanswers ask with no { why: "  cold\\n" }\n}\nexpect run.output.why == "  cold\\n"', ASK
    )
    assert verdict.passed, said(verdict)


def test_a_checkpoint_is_answered() -> None:
    body = "person {\nanswers ask with wait\nanswers minutes with { minutes: 7 }\n}\n"
    verdict = act(f"{body}expect run.output.minutes == 7", ASK)
    assert verdict.passed, said(verdict)


def test_a_line_without_a_moment_answers_each_time() -> None:
    verdict = act(
        'person {\nanswers ask with again\n}\nexpect visits(ask) == 4\nexpect run.exit == "late"', ASK
    )
    assert verdict.passed, said(verdict)


def test_a_line_with_a_moment_goes_before_it_and_once() -> None:
    verdict = act(
        """person {
          answers ask with again
          answers ask with yes after decision_requested of ask visit 3
        }
        expect visits(ask) == 3
        expect run.output.choice == "yes\"""",
        ASK,
    )
    assert verdict.passed, said(verdict)


def test_nobody_answers_until_the_time_is_up() -> None:
    verdict = act('expect run.exit == "late"\nexpect clock >= 5m and clock < 5m + 1s', ASK)
    assert verdict.passed, said(verdict)


def test_an_answer_at_a_time_is_in_time_or_late() -> None:
    in_time = act(
        'person {\nanswers ask with yes at 4m\n}\nexpect run.exit == "ordered"\nexpect clock < 5m', ASK
    )
    assert in_time.passed, said(in_time)
    late = act('person {\nanswers ask with yes at 6m\n}\nexpect run.exit == "late"', ASK)
    assert said(late) == ["“answers at 360000ms” was never possible before the run was over"]


def test_a_delayed_answer_comes_too_late_and_changes_nothing() -> None:
    verdict = act(
        "person {\nanswers ask with yes at 4m\n}\nfaults {\ndelay answer of ask for 2m\n}\n"
        'expect run.exit == "late"\nexpect decisions.winners == 1\nexpect result(ask).outcome == "timed_out"',
        ASK,
    )
    assert verdict.passed, said(verdict)
    assert types(verdict)[-1] == "answer_refused"


def test_a_delayed_answer_that_is_still_in_time_counts() -> None:
    verdict = act(
        "person {\nanswers ask with yes at 1m\n}\nfaults {\ndelay answer for 2m\n}\n"
        'expect run.exit == "ordered"\nexpect clock >= 3m',
        ASK,
    )
    assert verdict.passed, said(verdict)


def test_an_answer_that_is_lost() -> None:
    verdict = act(
        'person {\nanswers ask with yes\n}\nfaults {\ndrop answer\n}\nexpect run.exit == "late"', ASK
    )
    assert verdict.passed, said(verdict)


def test_an_answer_that_comes_twice_counts_once() -> None:
    verdict = act(
        "person {\nanswers ask with again after decision_requested of ask visit 1\nanswers ask with yes\n}\n"
        "faults {\nduplicate answer of ask visit 1\n}\n"
        'expect visits(ask) == 2\nexpect run.output.choice == "yes"',
        ASK,
    )
    assert verdict.passed, said(verdict)
    assert types(verdict).count("answer_refused") == 1


@pytest.mark.parametrize(
    "moment",
    ["after decision_requested of ask", "before decision_answered of ask", "after decision_answered of ask"],
)
def test_the_host_dies_around_an_answer(moment: str) -> None:
    verdict = act(
        f"person {{\nanswers ask with yes\n}}\nfaults {{\ncrash host {moment} for 5s\n}}\n"
        'expect run.exit == "ordered"\nexpect decisions.requested == 1\nexpect visits(ask) == 1',
        ASK,
    )
    assert verdict.passed, said(verdict)


def test_an_answer_that_died_with_the_host_is_lost() -> None:
    """Who answers once, at a time, does not answer again."""
    verdict = act(
        "person {\nanswers ask with yes at 1m\n}\nfaults {\ncrash host before decision_answered\n}\n"
        'expect run.exit == "late"',
        ASK,
    )
    assert verdict.passed, said(verdict)


def test_the_deadline_passes_while_the_host_is_down() -> None:
    verdict = act(
        "person {\nanswers ask with yes at 6m\n}\nfaults {\ncrash host at 4m for 10m\n}\n"
        'expect run.exit == "late"\nexpect decisions.winners == 1',
        ASK,
    )
    assert verdict.passed, said(verdict)


def test_a_run_that_nobody_answers_waits() -> None:
    flow = ASK.replace("    expires 5m\n", "").replace("    ask on timed_out -> late\n", "")
    verdict = act(
        'expect run.status == "waiting"\nexpect run.exit == null\nexpect decisions.winners == 0', flow
    )
    assert verdict.passed, said(verdict)


def test_a_line_that_answers_nothing_is_told() -> None:
    verdict = act("person {\nanswers minutes with { minutes: 3 }\nanswers ask with yes\n}", ASK)
    assert said(verdict) == ["“answers” was never possible before the run was over"]


# --- effects ------------------------------------------------------------------------------------------------

PAID = 'pay returns { receipt: "r-1" }\n'


def test_effects_return_what_is_written() -> None:
    verdict = act(
        f"""provider {{
          {PAID}
          log returns {{ stdout: "fix: a", exitCode: 0 }}
          facts returns {{ count: 3 }}
        }}
        expect run.output == {{ receipt: "r-1", said: "fix: a", count: 3 }}
        expect effects("bank.charge", "charge-5") == 1 and effects("bank.charge") == 1
        expect [m.text for m in transcript.canonical if m.role == "notice"] == ["Paid: r-1"]""",
        PAY,
    )
    assert verdict.passed, said(verdict)


def test_a_command_may_print_anything() -> None:
    verdict = act('provider {\nfacts returns { stdout: "?" }\n}\nexpect run.status == "failed"', PAY)
    assert verdict.passed, said(verdict)


def test_a_failing_effect_is_tried_again_as_the_edges_say() -> None:
    verdict = act(
        f'provider {{\npay visit 1 fails "502"\n{PAID}}}\nexpect run.exit == "paid"\nexpect visits(pay) == 2',
        PAY,
    )
    assert verdict.passed, said(verdict)
    verdict = act('provider {\npay fails "502"\n}\nexpect run.exit == "unpaid"\nexpect visits(pay) == 3', PAY)
    assert verdict.passed, said(verdict)


def test_an_effect_that_never_replies_is_timed_out() -> None:
    verdict = act(
        'provider {\npay stalls\n}\nexpect run.status == "timed_out"\nexpect effects("bank.charge") == 0\n'
        "expect clock >= 30s",
        PAY,
    )
    assert verdict.passed, said(verdict)


def test_an_effect_can_be_applied_and_never_reply() -> None:
    verdict = act(
        'provider {\npay returns { receipt: "r" }, stalls\n}\n'
        'expect effects("bank.charge") == 1\nexpect run.status == "timed_out"',
        PAY,
    )
    assert verdict.passed, said(verdict)


@pytest.mark.parametrize("moment", ["after effect_applied of pay", "before node_finished of pay"])
def test_an_effect_with_a_key_is_applied_once_across_a_crash(moment: str) -> None:
    """The second call meets the first, so the script need not say it again."""
    verdict = act(
        f'provider {{\n{PAID}}}\nfaults {{\ncrash host {moment}\n}}\nexpect run.exit == "paid"\n'
        'expect effects("bank.charge", "charge-5") == 1\nexpect result(pay).attempts == 2',
        PAY,
    )
    assert verdict.passed, said(verdict)


def test_an_effect_without_a_key_is_called_again() -> None:
    flow = PAY.replace('    idempotencyKey "charge-${input.cents}"\n', "").replace(
        "    pay on failed -> pay limit 2 then -> unpaid\n", "    pay on failed -> unpaid\n"
    )
    body = "faults {\ncrash host after effect_applied of pay\n}\n"
    verdict = act(f"provider {{\n{PAID}}}\n{body}", flow)
    assert said(verdict) == [
        "the script of pay has only one message for visit 1, and the model is asked for one more"
    ]
    twice = PAID.replace("\n", ' then returns { receipt: "r-2" }\n')
    verdict = act(f'provider {{\n{twice}}}\n{body}expect effects("bank.charge") == 2', flow)
    assert verdict.passed, said(verdict)


def test_a_reply_that_comes_twice_changes_nothing() -> None:
    verdict = act(
        f'provider {{\n{PAID}}}\nfaults {{\nduplicate effect_applied of pay\n}}\nexpect run.exit == "paid"',
        PAY,
    )
    assert verdict.passed, said(verdict)
    assert types(verdict).count("duplicated") == 1


def test_a_notification_is_shown_once_across_a_crash() -> None:
    for moment in ("after notification_queued of tell", "before notification_delivered of tell"):
        verdict = act(
            f"provider {{\n{PAID}}}\nfaults {{\ncrash host {moment}\n}}\n"
            'expect count([m for m in transcript.canonical if m.text == "Paid: r-1"]) == 1',
            PAY,
        )
        assert verdict.passed, said(verdict)
