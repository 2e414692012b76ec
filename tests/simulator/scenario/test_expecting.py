"""What is expected: at the end, always, at least once, in order; and what is said when it is not so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.scenario.acting import LOOP, TALK, act, line_in, said

HI = 'provider {\ngreet says "Hi."\nsort submits { pile: "a" }\n}\n'


@pytest.mark.parametrize(
    "expectation",
    [
        'run.status == "completed"',
        'run.output.pile == "a"',
        "run.error == null",
        'result(greet).output == "Hi."',
        "result(greet).attempts == 1",
        'result(greet).outcome == "ok"',
        "not result(greet).cut",
        'result(sort).output.pile in ["a"]',
        'result(greet).receipt.runId == "run-1"',
        "prompts(greet) == 1 and prompts(sort) == 1",
        "refused(sort) == 0",
        'visits(greet, "ok") == 1',
        "decisions.winners == 0",
        'effects("mail") + effects("mail", "k") == 0',
        "clock < 1m",
        "queue.ids == []",
        'len([m for m in transcript.canonical if m.role == "assistant"]) == 2',
        "always visible(greet) <= 1",
        "always queue.texts == []",
        'eventually run.status == "running"',
        "eventually visits(sort) == 1",
        "greet -> sort",
    ],
)
def test_what_holds(expectation: str) -> None:
    verdict = act(f"{HI}expect {expectation}")
    assert verdict.passed, said(verdict)


@pytest.mark.parametrize(
    ("expectation", "message", "values"),
    [
        ("run.exit == null", "does not hold at the end", {"run.exit": "done"}),
        ("visible(greet) == 2", "does not hold at the end", {"visible(greet)": 1}),
        ("eventually visits(sort) == 2", "never held", {"visits(sort)": 1}),
        ("always visits(sort) == 0", "does not hold here", {"visits(sort)": 1}),
        ('result(sort).error == "x"', "does not hold at the end", {"result(sort).error": None}),
    ],
)
def test_what_does_not_hold_is_told_with_what_was_looked_at(
    expectation: str, message: str, values: dict[str, Any]
) -> None:
    verdict = act(f"{HI}expect {expectation}")
    (broken,) = verdict.broken
    assert broken.message == message
    assert dict(broken.values) == values
    assert broken.text == f"expect {expectation}"
    assert broken.where.line == line_in(f"{HI}expect {expectation}", TALK, 5)


def test_always_is_marked_where_it_breaks() -> None:
    verdict = act(f"{HI}expect always visits(sort) == 0")
    (broken,) = verdict.broken
    last = verdict.events[broken.seq - 1]
    assert (last["type"], last["nodeId"]) in {("node_started", "sort"), ("agent_prompt_sent", "sort")}
    assert broken.seq < len(verdict.events)


def test_an_order_is_marked_at_the_last_node_that_came() -> None:
    verdict = act("provider {\njudge submits { enough: true }\n}\nexpect part -> judge -> part", LOOP)
    (broken,) = verdict.broken
    assert broken.message == "part did not start again after judge"
    assert verdict.events[broken.seq - 1]["nodeId"] == "judge"


def test_a_node_that_never_ran_has_no_result() -> None:
    verdict = act(
        'provider {\ngreet fails "x"\n}\nexpect result(sort).output == null\nexpect visits(sort) == 0'
    )
    assert verdict.passed, said(verdict)


def test_what_the_run_never_gave_fails_the_expectation_and_raises_nothing() -> None:
    verdict = act(
        'provider {\ngreet fails "x"\n}\nexpect run.output.pile == "a"\nexpect len(run.output.pile) > 0'
    )
    assert len(verdict.broken) == 2


def test_a_crash_counts_attempts_and_not_visits() -> None:
    verdict = act(
        'provider {\nsort submits { pile: "a" } then submits { pile: "a" }\n}\n'
        "faults {\ncrash host before node_finished of sort\n}\n"
        "expect visits(sort) == 1\nexpect result(sort).attempts == 2"
    )
    assert verdict.passed, said(verdict)
