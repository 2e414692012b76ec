"""What the model is given: pairs of calls and results, whatever happened; compaction is for the model
alone.
"""

from __future__ import annotations

from tests.simulator.chat.sessions import Session
from windtunnel.simulator.chat.context import INTERRUPTED, Result, Said, context_of, context_of_log, unpaired
from windtunnel.simulator.chat.entries import (
    Compacted,
    Entry,
    MessageEnded,
    MessageOpened,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.parts import ToolPart
from windtunnel.simulator.chat.rows import branch_rows, fold_log
from windtunnel.simulator.chat.turns import CompactDone, Content, ModelDone, Settings, ToolDone


def answer(name: str, parent: str, *calls: str) -> tuple[Entry, Entry]:
    """A message with calls."""
    parts = tuple(ToolPart(call, "look", "input-available", "{}") for call in calls)
    return Entry(name, MessageOpened("t"), parent), Entry(f"{name}.end", MessageEnded(name, parts, "toolUse"))


def test_pairs_are_mended_for_the_model_and_not_in_the_log() -> None:
    """A16: a call without a result gets one, results without their call are left out; mending twice is
    mending once.
    """
    entries = (
        Entry("u1", UserMessage("t", "one")),
        *answer("a1", "u1", "c1"),
        Entry("r0", ToolEnded("gone", "c0", '"trimmed"')),
        Entry("r9", ToolEnded("a1", "c9", '"another id"')),
        Entry("u2", UserMessage("t", "two"), "a1"),
    )
    context = context_of_log(entries)
    assert unpaired(context) == ()
    assert context == (
        Said("user", "one"),
        Said("assistant", "", ("c1",)),
        Result("c1", INTERRUPTED, True),
        Said("user", "two"),
    )
    rows = branch_rows(fold_log(entries))
    assert context_of(rows) == context
    assert [part.state for part in rows[1].parts if isinstance(part, ToolPart)] == ["input-available"]


def test_a_strict_provider_sees_what_is_unpaired() -> None:
    """The check itself: a call in the open, a result in the open, a result that comes too late."""
    said = Said("assistant", "", ("c1",))
    assert unpaired((said, Said("user", "x"), Result("c1", "1"))) == ("c1", "c1")
    assert unpaired((Result("c1", "1"),)) == ("c1",)
    assert unpaired((said, Result("c1", "1"), said)) == ("c1",)


def test_after_an_interrupt_the_next_request_is_valid() -> None:
    """A21: user, call, interruption, user: the call has a result that says so."""
    session = Session()
    session.post("a")
    session.use("look")
    session.post("No, retry", 2)
    session.command("interrupt")
    context = context_of_log(session.entries)
    assert unpaired(context) == ()
    assert context[1:] == (
        Said("assistant", "", ("call-look",)),
        Result("call-look", INTERRUPTED, True),
        Said("user", "No, retry"),
    )


def test_a_message_that_ended_in_an_error_goes_with_its_calls() -> None:
    """A22: call and result are left out together; both stay in the transcript."""
    session = Session()
    session.post("a")
    session.hear(ModelDone(session.call, (Content("tool", "{}", "c1", "look"),), "error"))
    session.command("continue")
    assert context_of_log(session.entries) == (Said("user", "a"),)
    assert len(session.rows()) == 2


def test_a_new_message_while_a_tool_runs() -> None:
    """A23: policy: it waits in the queue, the tool goes on; only an interrupt closes the tool."""
    session = Session()
    session.post("a")
    session.use("look")
    session.post("b", 2)
    assert [run.call for run in session.running()] == ["call-look"]
    assert [item.text for item in session.snapshot().queue] == ["b"]
    session.done("look")
    assert unpaired(context_of_log(session.entries)) == ()


def test_a_result_after_a_restart_is_refused_aloud() -> None:
    """A18: a result of a tool whose process is gone is told to be refused; nothing runs twice, nothing
    changes.
    """
    session = Session()
    session.post("a")
    session.use("look")
    run = session.running()[0]
    session.start()
    before = list(session.lines)
    session.hear(ToolDone(run.message, run.call, '"late"'))
    assert session.told[-1] == "tool_result_refused"
    assert session.lines == before
    session.command("continue")
    session.hear(ToolDone(run.message, run.call, '"late"'))
    assert session.told[-1] == "tool_result_refused"
    assert unpaired(context_of_log(session.entries)) == ()


def test_compaction_changes_what_the_model_reads_and_nothing_else() -> None:
    """C21: the transcript stays whole after a reload; the model reads the summary and what came after it."""
    session = Session(Settings(compact_at=2))
    session.post("a")
    session.say("A")
    session.hear(CompactDone(session.call, "they talked about a"))
    session.post("b", 2)
    assert session.texts() == ["a", "A", "b"]
    assert context_of_log(session.entries) == (Said("user", "they talked about a"), Said("user", "b"))
    session.start()
    assert session.texts()[:3] == ["a", "A", "b"]


def test_what_a_compaction_keeps() -> None:
    """Rows from the first kept one on are read again; a kept id that is not there keeps nothing."""
    rows = (Entry("u1", UserMessage("t", "one")), Entry("u2", UserMessage("t", "two"), "u1"))
    for kept, words in (("u2", ["sum", "two"]), ("nowhere", ["sum"]), (None, ["sum"])):
        entries = (*rows, Entry("k", Compacted("sum", kept), "u2"))
        assert [item.text for item in context_of_log(entries) if isinstance(item, Said)] == words
