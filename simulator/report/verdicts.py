"""What became of scenarios, in words: one line each, and of a failing one its story with the break marked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from windtunnel.simulator.report.columns import clip, plain
from windtunnel.simulator.report.folding import folded
from windtunnel.simulator.report.story import DEFAULT_WIDTH, SIGNS, Mood, StoryLine, story_lines
from windtunnel.simulator.scenario.verdict import Broken, Status, Verdict

SCHEMA: Final = "windtunnel.test.v1"
MARKS: Final = {Status.PASSED: "✓", Status.FAILED: "✗", Status.REFUSED: "-"}
MAX_VALUE: Final = 200
"""Cells of a value."""


def headline(verdict: Verdict) -> str:
    """One line: how it ended, and the title."""
    return f"{MARKS[verdict.status]} {plain(verdict.scenario.title)}"


def told(verdict: Verdict, *, width: int = DEFAULT_WIDTH, full: bool = False) -> list[StoryLine]:
    """Why a scenario did not pass: its story with the first break where it shows, then every other break.

    Quiet visits are folded unless the story is to be `full`.
    """
    first = verdict.broken[0] if verdict.broken else None
    others = list(verdict.broken)
    lines: list[StoryLine] = []
    if verdict.events:
        events = verdict.events if full else folded(verdict.events, keep_last=True)
        story = story_lines(events, width=width)
        # The first line of a story names the columns.
        at = 1 + sum(first is None or event["seq"] <= first.seq for event in events)
        lines += story[:at]
        lines += [] if first is None else _lines(first)
        lines += story[at:]
        others = others[1:]
        lines += [StoryLine(Mood.PLAIN, "")] if others else []
    for broken in others:
        lines += _lines(broken)
    return lines


def text(verdict: Verdict, *, width: int = DEFAULT_WIDTH) -> str:
    """The same as plain text, each line with its sign; it ends in a newline."""
    return "".join(f"{SIGNS[line.mood]} {line.text}".rstrip() + "\n" for line in told(verdict, width=width))


def again(verdict: Verdict) -> str:
    """The command that runs the scenario again."""
    title = verdict.scenario.title.replace("'", "'\\''")
    return f"windtunnel test {verdict.scenario.where.file} -k '\"{title}\"'"


def _lines(broken: Broken) -> list[StoryLine]:
    """A break in a few lines: what and where, why, and what was looked at."""
    message = plain(broken.message)
    if not broken.text:
        return [StoryLine(Mood.BAD, f"{message}  ({broken.where})")]
    found = [
        StoryLine(Mood.BAD, f"{plain(broken.text)}  ({broken.where})"),
        StoryLine(Mood.PLAIN, f"  {message}"),
    ]
    values = [f"    {plain(name)} = {value_text(value)}" for name, value in broken.values]
    return found + [StoryLine(Mood.PLAIN, each) for each in values]


def value_text(value: JsonValue) -> str:
    """A value on one line."""
    return clip(plain(json.dumps(value, ensure_ascii=False, sort_keys=True)), MAX_VALUE)


def summary(verdicts: Sequence[Verdict]) -> str:
    """`3 passed, 1 failed`: how many ended how."""
    counts = [(sum(each.status is status for each in verdicts), status.value) for status in Status]
    words = {"refused": "not simulated yet"}
    said = ", ".join(f"{count} {words.get(name, name)}" for count, name in counts if count)
    return said or "no scenarios"


def to_json(verdicts: Sequence[Verdict]) -> dict[str, JsonValue]:
    """`{schema, passed, failed, refused, scenarios: […]}`."""
    counts = {status.value: sum(each.status is status for each in verdicts) for status in Status}
    listed: list[JsonValue] = [each.to_json() for each in verdicts]
    return {"schema": SCHEMA, **counts, "scenarios": listed}
