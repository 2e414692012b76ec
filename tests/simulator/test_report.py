"""Reports: aligned columns, a trace as a story, an exploration in words."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.simulator.report.columns import cells, clip, plain, table
from windtunnel.simulator.report.story import MIN_WIDTH, Mood, moment, mood, story, story_lines
from windtunnel.simulator.report.summary import MAX_LISTED, bounds, crash_points, exploration, verdict


def event(seq: int, type_: str, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "at": seq * 700, "process": "host", "scope": "run", "type": type_, **more}


TRACE = [
    event(
        1,
        "run_started",
        payload={"workflow": "plain-summary", "revision": 1, "input": {"source": "a\nb", "maxChars": 20}},
    ),
    event(2, "node_started", nodeId="summarize", attemptId="a1", payload={"nodeType": "agent"}),
    event(
        3,
        "agent_prompt_sent",
        nodeId="summarize",
        attemptId="a1",
        payload={"kind": "step", "completion": "assistant", "prompt": "Summarize.\n\n<source>\n" + "x" * 300},
    ),
    event(
        4, "message_end", process="provider", attemptId="a1", payload={"role": "assistant", "text": "Both."}
    ),
    event(5, "crashed", process="world", payload={"torn": True}),
    event(6, "duplicated", process="world", payload={"what": "the answer"}),
    event(7, "submission_refused", nodeId="summarize", payload={"reason": "This step wants an answer."}),
    event(
        8, "node_failed", nodeId="summarize", payload={"outcome": "failed", "error": "no answer\u202e\x07"}
    ),
    event(
        9,
        "node_finished",
        nodeId="summarize",
        attemptId="a1",
        payload={"outcome": "ok", "output": "Both.", "receipt": {"cut": True}},
    ),
    event(90_000, "run_completed", payload={"exit": "done", "finalOutput": {"text": "Both."}}),
]

REPORT: dict[str, Any] = {
    "schema": "windtunnel.exploration.v1",
    "workflow": "autoplan",
    "revision": 2,
    "digest": "sha256:00",
    "bounds": {"faults": 2, "crashes": 1},
    "complete": True,
    "schedules": 123_456,
    "states": 70_000,
    "transitions": 250_000,
    "distinctCalls": 25_000,
    "collisionBound": 1.3e-10,
    "seconds": 2.5,
    "violations": [],
    "coverage": {
        "edges": {"covered": 9, "total": 9, "missed": []},
        "exits": {"covered": 1, "total": 2, "missed": ["blocked"]},
        "crashPoints": {"covered": 1, "total": 14, "missed": [["choose", f"point {at}"] for at in range(13)]},
    },
}
VIOLATION = {"invariant": "one visible answer", "message": "two\nanswers", "token": "wt1.abc"}


def test_a_trace_is_told_line_by_line(golden: Callable[[str, str], None]) -> None:
    golden("report/story.txt", story(TRACE))


def test_no_line_is_wider_than_asked_or_told_on_two_lines() -> None:
    for width in (MIN_WIDTH, 80, 200):
        told = story(TRACE, width=width)
        assert told.count("\n") == len(TRACE) + 1
        assert max(cells(line) for line in told.splitlines()) <= width
    assert story(TRACE, width=1) == story(TRACE, width=MIN_WIDTH)
    assert story([]) == ""


def test_moods_tell_faults_from_failures() -> None:
    assert [mood(each) for each in TRACE[4:8]] == [Mood.FAULT, Mood.FAULT, Mood.BAD, Mood.BAD]
    assert [line.mood for line in story_lines(TRACE)][-1] is Mood.GOOD


def test_nothing_in_a_trace_reaches_the_terminal_raw() -> None:
    """Escapes and marks of direction are told, not obeyed."""
    told = story([event(1, "note", payload={"text": "\x1b[2Jgone\u202e"})])
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "u001b" in told


@pytest.mark.parametrize(
    ("at_ms", "said"),
    [
        (0, "0"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (1_500, "1.5 s"),
        (60_000, "1 min"),
        (125_000, "2 min 5 s"),
        (5_400_000, "1 h 30 min"),
        (7_200_000, "2 h"),
    ],
)
def test_moments_are_told_in_the_unit_a_person_would_use(at_ms: int, said: str) -> None:
    assert moment(at_ms) == said


@given(st.text(), st.integers(1, 30))
def test_clipping_keeps_to_the_width(text: str, width: int) -> None:
    text = plain(text)
    cut = clip(text, width)
    assert cells(cut) <= width
    assert cut == text or cut.endswith("…")


@given(st.lists(st.tuples(st.text().map(plain), st.text().map(plain)), max_size=5))
def test_columns_are_aligned(rows: list[tuple[str, str]]) -> None:
    lines = table([(first, f"|{second}|") for first, second in rows])
    starts = {cells(line) - cells(f"|{second}|") for line, (_, second) in zip(lines, rows, strict=True)}
    assert len(starts) <= 1


def test_wide_letters_count_two_cells() -> None:
    assert cells("a日\u0301") == 3
    assert table([("日本", "x"), ("abc", "y")]) == ["日本  x", "abc   y"]


def test_an_exploration_ends_in_words(golden: Callable[[str, str], None]) -> None:
    golden("report/exploration.txt", exploration(REPORT))


def test_a_violation_comes_with_the_command_that_shows_it(golden: Callable[[str, str], None]) -> None:
    golden("report/exploration-violation.txt", exploration({**REPORT, "violations": [VIOLATION]}))


def test_the_verdict_never_claims_more_than_was_looked_at() -> None:
    whole = copy.deepcopy(REPORT)
    for kind in ("edges", "exits"):
        whole["coverage"].get(kind, {})["missed"] = []
    assert verdict(whole).startswith("✓")
    missed = copy.deepcopy(whole)
    missed["coverage"]["edges"]["missed"] = ['judge "good"']
    assert verdict(missed).startswith("? ")
    assert "1 edge never came to pass" in verdict(missed)
    assert "Give the agents before it an `example`" in exploration(missed)
    assert verdict({**REPORT, "complete": False}).startswith("?")
    assert verdict({**REPORT, "gaps": {"choose": "add an example"}}).startswith("?")
    assert verdict({**REPORT, "complete": False, "violations": [VIOLATION]}).startswith("✗ 1 violation ")
    assert verdict({**REPORT, "violations": [VIOLATION, VIOLATION]}).startswith("✗ 2 violations ")


def test_bounds_are_told_in_words() -> None:
    assert bounds({"bounds": {"faults": 1}}) == "1 fault of any kind"
    assert bounds(REPORT) == "2 faults of any kind (of these at most 1 crash)"
    assert bounds({"bounds": {"crashes": None}}) == "no fault"


def test_long_lists_of_what_was_missed_are_counted() -> None:
    told = exploration(REPORT)
    assert f"point {MAX_LISTED - 1} and 5 more" in told
    shorter = copy.deepcopy(REPORT)
    del shorter["coverage"]["crashPoints"]["missed"][MAX_LISTED:]
    assert f"point {MAX_LISTED - 1}\n" in exploration(shorter)


def test_a_gap_names_the_node() -> None:
    assert "! choose: add an example" in exploration({**REPORT, "gaps": {"choose": "add an example"}})


POINTS: dict[str, Any] = {
    "workflow": "autoplan",
    "revision": 2,
    "total": 24,
    "fired": 24,
    "recovered": 24,
    "labels": [
        {"node": "summary/tell", "label": "while streaming", "points": 3},
        {"node": None, "label": "process restart", "points": 21},
    ],
}


def test_crash_points_are_counted_by_node_and_label(golden: Callable[[str, str], None]) -> None:
    golden("report/crash-points.txt", crash_points(POINTS))
    assert "✗ autoplan" in crash_points({**POINTS, "recovered": 23, "violations": [VIOLATION]})
