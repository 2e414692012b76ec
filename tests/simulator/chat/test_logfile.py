"""The log as a file: lines and back, torn tails, line separators, damage, the tree."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windtunnel.simulator.chat.entries import (
    BranchMoved,
    BranchSummary,
    Commanded,
    Compacted,
    Entry,
    EpochStarted,
    MessageEnded,
    MessageOpened,
    Queued,
    RetryEnded,
    RetryStarted,
    RunClosed,
    RunOpened,
    SessionOpened,
    ToolClosed,
    ToolEnded,
    UserMessage,
    leaf_of,
    path_of,
)
from windtunnel.simulator.chat.logfile import LogProblem, entry_of, line_of, read_log, write_log
from windtunnel.simulator.chat.parts import (
    MAX_DEPTH,
    BadJson,
    Item,
    ReasoningPart,
    Step,
    TextPart,
    ToolPart,
    json_text,
    json_value,
)
from windtunnel.simulator.chat.rows import branch_rows, fold_log

WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
ANY_WORDS = st.text(max_size=8)  # Half a surrogate pair may come from a file.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | ANY_WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
).map(json_text)
STATES = st.sampled_from(
    ["input-streaming", "input-available", "output-available", "output-error", "aborted"]
)
PARTS = st.lists(
    st.builds(TextPart, WORDS, ANY_WORDS)
    | st.builds(ReasoningPart, WORDS, WORDS, st.sampled_from(["streaming", "done"]))
    | st.builds(ToolPart, WORDS, WORDS, STATES, st.none() | JSON, WORDS, st.none() | JSON, st.none() | WORDS),
    max_size=3,
).map(tuple)
STEPS = st.builds(Step, WORDS, WORDS, WORDS, WORDS, WORDS, st.none() | st.integers(1, 9))
ITEMS = st.builds(Item, ANY_WORDS, st.none() | WORDS, st.none() | WORDS, st.none() | st.integers(1, 9), WORDS)
ENDED = st.builds(
    MessageEnded, WORDS, PARTS, st.sampled_from(["stop", "length", "toolUse", "error", "aborted"])
)
NONCES = st.lists(WORDS, max_size=2).map(tuple)
BODIES = st.one_of(
    st.builds(SessionOpened, WORDS),
    st.builds(EpochStarted, st.integers(1, 9), WORDS),
    st.builds(
        UserMessage,
        WORDS,
        ANY_WORDS,
        st.none() | WORDS,
        st.none() | WORDS,
        st.none() | st.integers(1, 9),
        st.booleans(),
        st.none() | STEPS,
    ),
    st.builds(MessageOpened, WORDS, st.integers(1, 99)),
    ENDED,
    st.builds(ToolEnded, WORDS, WORDS, JSON, st.booleans()),
    st.builds(RunOpened, WORDS, WORDS),
    st.builds(
        RunClosed,
        WORDS,
        WORDS,
        st.sampled_from(["ok", "error", "aborted"]),
        st.none() | ENDED,
        st.lists(st.builds(ToolClosed, WORDS, WORDS, STATES), max_size=2).map(tuple),
        st.none() | WORDS,
        st.booleans(),
        st.booleans(),
    ),
    st.builds(RetryStarted, WORDS, st.integers(1, 9), st.integers(1, 9)),
    st.builds(RetryEnded, WORDS, st.integers(1, 9), WORDS, st.booleans()),
    st.builds(Queued, ITEMS),
    st.builds(Commanded, WORDS, st.none() | WORDS, NONCES, NONCES),
    st.builds(Compacted, WORDS, st.none() | WORDS),
    st.builds(BranchSummary, WORDS, WORDS),
    st.builds(BranchMoved, st.integers(1, 9)),
)
ENTRIES = st.lists(
    st.builds(Entry, WORDS, BODIES, st.none() | WORDS, st.integers(0, 99), st.integers(0, 99)), max_size=6
).map(tuple)


@given(ENTRIES)
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read(entries: tuple[Entry, ...]) -> None:
    """Every entry is one line, whatever its texts hold, and comes back equal."""
    text = write_log(entries)
    assert text.count("\n") == len(entries)
    image = read_log(text)
    assert (image.entries, image.problems, image.torn, image.unended) == (entries, (), "", False)
    fold_log(entries)


@given(ENTRIES, st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_a_torn_tail_is_cut_off(entries: tuple[Entry, ...], cut: int) -> None:
    """F17, W16, S23: cut anywhere, the whole lines are there, and the rest is either whole or to be cut
    off.
    """
    text = write_log(entries)
    image = read_log(text[: cut % (len(text) + 1)])
    assert image.entries == entries[: len(image.entries)]
    kept = text[: cut % (len(text) + 1)].removesuffix(image.torn)
    assert read_log(kept + "\n" if image.unended else kept).entries == image.entries


def test_a_line_separator_is_no_line_end() -> None:
    """C39: a file written by others may hold U+2028 raw; a carriage return at the end is taken off."""
    line = '{"kind":"message","id":"a","parentId":null,"seq":1,"turnId":"t","text":"x\u2028y\x85z"}'
    image = read_log(line + "\r\n\n")
    assert image.problems == ()
    assert isinstance(image.entries[0].body, UserMessage)
    assert image.entries[0].body.text == "x\u2028y\x85z"


DAMAGED = {
    "no JSON": "{",
    "a list": "[]",
    "no kind": "{}",
    "an unknown kind": '{"kind":"later","id":"x","seq":1}',
    "a field is missing": '{"kind":"message","id":"x","seq":1,"text":"y"}',
    "another shape": '{"kind":"message-end","id":"x","seq":1,"messageId":"m","parts":3,"stopReason":"stop"}',
    "an object for a text": '{"kind":"session","version":1,"id":"x","seq":1,"sessionId":{}}',
    "a number for an id": '{"kind":"run-open","id":7,"seq":1,"runId":"r","turnId":"t"}',
    "infinity": '{"kind":"run-open","id":"x","seq":1e999,"runId":"r","turnId":"t"}',
    "not a number": '{"kind":"run-open","id":"x","seq":NaN,"runId":"r","turnId":"t"}',
    "a newer version": '{"kind":"session","version":2,"id":"x","seq":1,"sessionId":"s"}',
    "too deep": "[" * 5_000,
    "a part of another kind": (
        '{"kind":"message-end","id":"x","seq":1,"messageId":"m","parts":[{"type":"smell"}],"stopReason":"stop"}'
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_line_is_reported_and_skipped(case: str) -> None:
    """What stands around a damaged line is read, and its number is told."""
    good = line_of(Entry("a", RunOpened("r", "t")))
    image = read_log(f"{good}\n{DAMAGED[case]}\n{good}\n")
    assert len(image.entries) == 2
    assert [problem.line for problem in image.problems] == [2]
    assert isinstance(image.problems[0], LogProblem)


def test_the_depth_of_json_is_bounded() -> None:
    """At the limit it is read, one past it it is not."""
    assert json_value("[" * (MAX_DEPTH - 1) + "1" + "]" * (MAX_DEPTH - 1))
    with pytest.raises(BadJson, match=str(MAX_DEPTH)):
        json_value("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH)


def test_an_unknown_field_is_ignored() -> None:
    """A field from the future does no harm."""
    line = json.dumps(json.loads(line_of(Entry("a", RunOpened("r", "t")))) | {"mood": "good"})
    assert entry_of(line) == Entry("a", RunOpened("r", "t"))


def user(name: str, parent: str | None) -> Entry:
    """A row in the tree."""
    return Entry(name, UserMessage("t", name), parent)


def test_the_branch_is_the_path_to_the_leaf() -> None:
    """C37: a, b, then back to a and c: the branch is a, c; moving the leaf back to b gives a, b."""
    entries = (user("a", None), user("b", "a"), user("c", "a"))
    assert leaf_of(entries) == "c"
    assert [row.id for row in branch_rows(fold_log(entries))] == ["a", "c"]
    moved = (*entries, Entry("m", BranchMoved(2), "b"))
    assert [row.id for row in branch_rows(fold_log(moved))] == ["a", "b"]
    assert [entry.id for entry in path_of(moved, leaf_of(moved))] == ["a", "b"]


def test_a_parent_that_is_missing_or_a_cycle_ends_the_walk() -> None:
    """No loop and no exception in a tree that was damaged."""
    cycle = (user("a", "b"), user("b", "a"), user("c", "lost"))
    assert [entry.id for entry in path_of(cycle, "b")] == ["a", "b"]
    assert [row.id for row in branch_rows(fold_log(cycle))] == ["c"]
