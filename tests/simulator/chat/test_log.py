"""The session log as handlers see it."""

from __future__ import annotations

import pytest

from windtunnel.simulator.chat.log import (
    MANY,
    NEW,
    Answer,
    Branch,
    Log,
    age,
    append,
    branch,
    conversation,
    repair,
    tear,
)
from windtunnel.simulator.events import CURRENT, OLDER, Row

PROMPT = Row("step", "Say it.", node="say", attempt=CURRENT, completion="assistant", prompt="step")
RESUME = Row("step", "Go on.", node="say", attempt=CURRENT, completion="assistant", prompt="resume")


def answer(text: str, stop: str = "stop", *calls: str) -> Row:
    """An assistant row."""
    return Row("assistant", text, stop=stop, calls=calls)


def log(*rows: Row) -> Log:
    """A log with these entries."""
    found = NEW
    for row in rows:
        found = append(found, row)
    return found


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ((), None),
        ((answer("before"),), None),
        ((PROMPT,), None),
        ((PROMPT, answer("yes")), "yes"),
        ((PROMPT, answer("cut", "length")), "cut"),
        ((PROMPT, answer("first"), answer("last")), "last"),
        ((PROMPT, answer("look", "toolUse", "read")), None),
        ((PROMPT, answer("look", "toolUse", "read"), Row("tool"), answer("seen")), "seen"),
        ((PROMPT, answer("yes"), answer("oops", "error")), None),
        ((PROMPT, answer("part", "aborted")), None),
        ((PROMPT, answer("yes"), Row("user", "and?"), answer("well")), "yes"),
        ((PROMPT, Row("user", "and?"), answer("well")), None),
        ((PROMPT, answer("old"), RESUME), None),
        ((PROMPT, RESUME, answer("new")), "new"),
    ],
)
def test_which_answer_belongs_to_an_attempt(rows: tuple[Row, ...], found: str | None) -> None:
    """B195, B262: the last finished one below its last prompt, with no user row between."""
    seen = branch(log(*rows), "say").answer
    assert (None if seen is None else seen.text) == found


def test_a_new_attempt_leaves_the_past_behind() -> None:
    """An answer is kept as an older one where its node can come again, and nowhere else."""
    before = log(PROMPT, answer("one"))
    kept = age(before, frozenset({"say"}))
    assert branch(kept, "say") == Branch(False, None, Answer("one", "stop"))
    assert age(before, frozenset()) == age(log(PROMPT), frozenset())
    again = age(append(append(kept, PROMPT), answer("two")), frozenset({"say"}))
    assert branch(again, "say").older == Answer("two", "stop")


def test_the_queue_and_open_calls_are_counted() -> None:
    """A follow-up is counted until it is consumed; calls until each has its result."""
    queued = log(Row("queued", "a"), Row("queued", "b"))
    assert conversation(queued).queue == 2
    assert conversation(append(queued, Row("user", consumes=True))).queue == 1
    assert conversation(append(queued, Row("user", "own"))).queue == 2
    open_ = log(PROMPT, answer("", "toolUse", "read", "workflow"))
    assert conversation(open_).open == 2
    assert conversation(append(open_, Row("tool"))).open == 1
    assert log(*[Row("queued")] * (MANY + 1)) == log(*[Row("queued")] * MANY)


def test_a_torn_line_must_be_cut_before_anything_follows() -> None:
    """W16: glueing two records together is impossible, not unlikely."""
    torn = tear(log(PROMPT))
    assert conversation(torn).torn
    with pytest.raises(AssertionError, match="glued"):
        append(torn, answer("x"))
    assert repair(torn) == log(PROMPT)


def test_a_prompt_of_an_older_attempt_is_never_written() -> None:
    """The engine prompts for the attempt in flight, or not at all."""
    with pytest.raises(AssertionError, match="current attempt"):
        append(NEW, Row("step", attempt=OLDER))
