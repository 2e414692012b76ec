"""Session files of an agent: every version is read, twice is once, and the stream folds to the same rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.chat.session_files import session_file
from windtunnel.simulator.chat.importing import Imported, read_session, synthesise
from windtunnel.simulator.chat.parts import ENDED_TOOL, Row, ToolPart
from windtunnel.simulator.chat.reducer import reduce_event
from windtunnel.simulator.chat.rows import branch_rows, fold_log
from windtunnel.simulator.chat.view import ViewState, rebuilt_pending, seen_live


def rows_of(imported: Imported) -> tuple[Row, ...]:
    """What a reader of the imported log sees."""
    return branch_rows(fold_log(imported.entries))


def folded(imported: Imported, seed: int) -> ViewState:
    """What a client has after a stream of the file's current branch."""
    state = ViewState()
    for event in synthesise(imported.path, seed):
        state = reduce_event(state, event)
    assert state.resync is None
    return state


def pending_in(rows: tuple[Row, ...]) -> list[str]:
    """The calls that have not ended."""
    return [
        part.id
        for row in rows
        for part in row.parts
        if isinstance(part, ToolPart) and part.state not in ENDED_TOOL
    ]


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("seed", [1])
def test_a_large_file_of_each_version(version: int, seed: int) -> None:
    """A59, A166, A220: about 1,000 lines, 50 to 90 turns, dangling calls: stream fold == log fold, nothing
    pending.
    """
    writer = session_file(seed, 1_000, version)
    imported = read_session(writer.text())
    assert imported.problems == ()
    rows = rows_of(imported)
    assert writer.dangling >= 6
    assert 30 <= sum(row.role == "user" for row in rows) <= 120
    assert pending_in(rows) == []
    state = folded(imported, seed)
    assert seen_live(state).rows == rows
    assert (state.activity, state.pending, rebuilt_pending(state)) == ("idle", (), ())


@pytest.mark.parametrize("seed", range(5))
def test_branches_are_left_out_of_the_view(seed: int) -> None:
    """C37: the rows are the path from the root to the last line, whatever stands between in the file."""
    imported = read_session(session_file(seed, 150, 3, branches=True).text())
    rows = rows_of(imported)
    assert rows == branch_rows(fold_log(imported.path)) == seen_live(folded(imported, seed)).rows
    assert len({row.id for row in rows}) == len(rows)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_reading_twice_is_reading_once(version: int) -> None:
    """The same file again, or a longer one of the same session, adds only what is new."""
    text = session_file(7, 80, version).text()
    once = read_session(text)
    assert read_session(text, once) == once
    lines = text.splitlines(keepends=True)
    short = read_session("".join(lines[:40]))
    if version > 1:
        assert read_session(text, short).entries == once.entries
    else:
        assert short.sources == once.sources[: len(short.sources)]


def line(**fields: Any) -> str:
    """A line of a file."""
    return json.dumps(fields, ensure_ascii=False) + "\n"


HEADER = line(type="session", version=3, id="s")


def entry(name: str, parent: str | None, role: str, content: Any, **more: Any) -> str:
    """A message line."""
    message = {"role": role, "content": content} | more
    return line(type="message", id=name, parentId=parent, message=message)


def test_damage_is_reported_and_skipped() -> None:
    """A broken line, a wrong kind, an id with another content and a parent that is missing: the rest is
    read.
    """
    text = (
        HEADER
        + entry("a", None, "user", "one")
        + "{broken\n"
        + "[]\n"
        + entry("a", None, "user", "two")
        + entry("b", "nowhere", "assistant", [{"type": "text", "text": "x"}], stopReason="stop")
        + entry("c", "b", "user", "three")
        + '{"type":"message","id":"d'
    )
    imported = read_session(text)
    assert [problem.line for problem in imported.problems] == [3, 4, 5, 6, 8]
    assert [row.id for row in rows_of(imported)] == ["a", "b", "c"]


def test_a_line_separator_does_not_end_a_line() -> None:
    """C39: U+2028, U+2029 and U+0085 stand inside a text."""
    imported = read_session(HEADER + entry("a", None, "user", "one\u2028two\u2029three\x85four"))
    assert imported.problems == ()
    assert rows_of(imported)[0].text == "one\u2028two\u2029three\x85four"


def test_a_result_belongs_to_the_call_of_its_own_branch() -> None:
    """V12, S50: the same call id twice; each result goes to the nearest message above it, an orphan to
    none.
    """
    call = [{"type": "toolCall", "id": "call-1", "name": "look", "arguments": {}}]
    text = (
        HEADER + entry("u1", None, "user", "x") + entry("a1", "u1", "assistant", call, stopReason="toolUse")
    )
    text += entry("r1", "a1", "toolResult", "first", toolCallId="call-1", isError=False)
    text += entry("a2", "r1", "assistant", call, stopReason="toolUse")
    text += entry("r2", "a2", "toolResult", "second", toolCallId="call-1", isError=True)
    text += entry("r3", "r2", "toolResult", "third", toolCallId="call-1", isError=False)
    imported = read_session(text)
    parts = [part for row in rows_of(imported) for part in row.parts if isinstance(part, ToolPart)]
    assert [(part.state, part.output, part.error) for part in parts] == [
        ("output-available", '"first"', None),
        ("output-error", None, "second"),
    ]
    assert imported.skipped == (("orphan result", 1),)


@pytest.mark.parametrize(
    ("stop", "state", "status"),
    [
        ("aborted", "aborted", "aborted"),
        ("error", "output-error", "error"),
        ("toolUse", "aborted", "aborted"),
    ],
)
def test_dangling_calls_are_settled(stop: str, state: str, status: str) -> None:
    """C30: under aborted, error and toolUse a call without a result is closed; a result that is there is
    kept.
    """
    calls = [{"type": "toolCall", "id": f"call-{n}", "name": "look", "arguments": {"n": n}} for n in (1, 2)]
    text = HEADER + entry("u1", None, "user", "x") + entry("a1", "u1", "assistant", calls, stopReason=stop)
    text += entry("r1", "a1", "toolResult", "done", toolCallId="call-1", isError=False)
    text += entry("u2", "r1", "user", "again")
    imported = read_session(text)
    row = rows_of(imported)[1]
    assert [part.state for part in row.parts if isinstance(part, ToolPart)] == ["output-available", state]
    assert row.status == status
    assert seen_live(folded(imported, 3)).rows == rows_of(imported)


def test_a_step_prompt_is_a_card() -> None:
    """A workflow step's prompt in a file carries its step; it is no message of the person."""
    details = {
        "runId": "r",
        "nodeId": "sum",
        "attemptId": "a1",
        "completion": "assistant",
        "maxOutputChars": 9,
    }
    text = HEADER + line(
        type="custom_message", id="a", parentId=None, customType="workflow", content="do it", details=details
    )
    (row,) = rows_of(read_session(text))
    assert row.step is not None
    assert (row.step.node, row.step.completion, row.step.max_output_chars) == ("sum", "assistant", 9)


@given(st.lists(st.sampled_from(session_file(3, 40).text().splitlines()), max_size=30), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_any_lines_in_any_order(lines: list[str], seed: int) -> None:
    """Lines may come twice, out of order or cut: nothing is raised, the stream folds to the rows, nothing
    hangs open.
    """
    cut = [text[: len(text) - (seed * 7 % 5 == place % 5) * (seed % 9)] for place, text in enumerate(lines)]
    imported = read_session("\n".join(cut))
    rows = rows_of(imported)
    assert pending_in(rows) == []
    assert seen_live(folded(imported, seed)).rows == rows
    assert read_session("\n".join(cut), imported).entries == imported.entries
