"""The client's fold, case by case: positions, parts, tools, turns, finals, optimistic messages, snapshots."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.chat.streams import (
    assistant,
    call,
    end,
    fold,
    numbered,
    row,
    rows,
    says,
    text,
    texts,
    thought,
    tool,
    user,
)
from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.optimistic import add_optimistic, clear_items, mark_accepted
from windtunnel.simulator.chat.parts import Item, ReasoningPart, Row, Step, TextPart, ToolPart
from windtunnel.simulator.chat.reducer import hear_heartbeat, hydrate, reduce_event
from windtunnel.simulator.chat.rows import Snapshot
from windtunnel.simulator.chat.view import WAITING, NeedsResync, ViewState, rebuilt_pending, screen, seen_live
from windtunnel.simulator.chat.window import Cursor

START = wire.AgentStart("t1")


def end_run(status: str = "ok", turn: str | None = "t1") -> wire.EventBody:
    """A run ends."""
    return wire.AgentEnd(status, turn)  # type: ignore[arg-type]


# --- positions ----------------------------------------------------------------------------------------------


def test_an_old_position_gives_the_same_object_and_a_gap_changes_nothing() -> None:
    """V1, A51, A198, A211, S45, S47: seq 5 again is the same object; seq 7 asks for a resync and changes no
    content.
    """
    state = hydrate(ViewState(), Snapshot(1, 5))
    assert reduce_event(state, wire.Event(1, 5, START)) is state
    gap = reduce_event(state, wire.Event(1, 7, START))
    assert gap.resync == NeedsResync(6, 7, 5)
    assert (gap.turn, gap.last, seen_live(gap)) == (state.turn, 5, seen_live(state))


def test_a_queue_event_that_repeats_or_skips_is_not_applied() -> None:
    """V2: the same position with another content is ignored; a gap keeps the queue."""
    one, two = Item("one", "q1"), Item("two", "q2")
    state = fold(wire.QueueUpdated((one,)))
    assert reduce_event(state, wire.Event(1, 1, wire.QueueUpdated((two,)))) is state
    gap = reduce_event(state, wire.Event(1, 3, wire.QueueUpdated(())))
    assert (gap.queue, gap.resync) == ((one,), NeedsResync(2, 3, 1))


def test_another_epoch() -> None:
    """An event of an older epoch is nothing; one of a newer epoch asks for a snapshot, whatever its
    number.
    """
    state = hydrate(ViewState(), Snapshot(2, 5))
    assert reduce_event(state, wire.Event(1, 6, START)) is state
    newer = reduce_event(state, wire.Event(3, 6, START))
    assert newer.resync is not None
    assert newer.activity == "idle"


def test_a_heartbeat_tells_of_a_lost_last_event() -> None:
    """F31, L6: where the last event was lost, the next sign of life shows it."""
    state = fold(START)
    assert hear_heartbeat(state, 1, 1) is state
    assert hear_heartbeat(state, 1, 2).resync == NeedsResync(2, 2, 1)


def test_an_unknown_kind_is_reported_and_skipped() -> None:
    """An event of a kind from the future takes its number and changes no row."""
    state = fold(wire.Unknown("pi-hologram"), START)
    assert (state.last, state.activity) == (2, "running")
    assert "pi-hologram" in state.warnings[0]


# --- parts --------------------------------------------------------------------------------------------------


def test_user_then_text() -> None:
    """A115, A206, A127: a message of the person, then text in deltas."""
    state = fold(START, user("u1"), assistant("a1"), text("a1", "Hel"), text("a1", "lo"), end_run())
    assert texts(state) == [("user", "hi"), ("assistant", "Hello")]


def test_reasoning_then_text_once() -> None:
    """V3, A207, A128, A132, C10, C18: deltas and a final whose part has another id give each text once."""
    state = fold(
        user("u1", "n1"),
        START,
        assistant("a1"),
        thought("a1", "hm"),
        text("a1", "Hel"),
        text("a1", "lo"),
        wire.ProseEnd("text", "a1", "p1", "Hello"),
        end("a1", TextPart("p1", "Hello")),
    )
    assert len(rows(state)) == 2
    assert row(state, "a1").parts == (ReasoningPart("p0", "hm"), TextPart("p1", "Hello"))
    assert state.streaming is None
    other = fold(assistant("a1"), text("a1", "Hello", "s7"), end("a1", TextPart("p1", "Hello")))
    assert row(other, "a1").parts == (TextPart("p1", "Hello"),)


def test_a_final_makes_up_for_missing_deltas() -> None:
    """A133, A134, S51: what was not streamed is made from the final, in its place."""
    final = (
        ReasoningPart("p0", "hm", "done"),
        TextPart("p1", "Hello"),
        ToolPart("c", "look", "input-available", "{}"),
    )
    state = fold(assistant("a1"), text("a1", "He"), end("a1", *final))
    assert row(state, "a1").parts == final


def test_a_final_keeps_longer_text_and_takes_other_text() -> None:
    """A final that is only the beginning of what was streamed loses nothing; a rewritten one counts."""
    state = fold(assistant("a1"), text("a1", "Hello there"), end("a1", TextPart("p1", "Hello")))
    assert row(state, "a1").text == "Hello there"
    state = fold(assistant("a1"), text("a1", "Hello there"), end("a1", TextPart("p1", "Good day")))
    assert row(state, "a1").text == "Good day"


def test_parts_with_equal_ids_in_two_turns_stay_apart() -> None:
    """A49, C03, F56: the key of a part is message, kind and part."""
    state = fold(START, *says("a1", "first"), wire.AgentStart("t2"), *says("a2", "second", "t2"))
    assert [each.text for each in rows(state)] == ["first", "second"]


def test_text_is_never_dropped_because_it_was_there_before() -> None:
    """C33, F55: the same words again are words again; only the offset tells a repeat."""
    state = fold(
        assistant("a1"), text("a1", "ha", offset=0), text("a1", "ha", offset=2), text("a1", "ha", offset=2)
    )
    assert row(state, "a1").text == "haha"
    state = fold(assistant("a1"), text("a1", "Hello", offset=0), text("a1", "lo there", offset=3))
    assert row(state, "a1").text == "Hello there"


def test_a_delta_beyond_the_end_asks_for_a_snapshot() -> None:
    """C32: a suffix of a text is not shown as the text."""
    state = fold(assistant("a1"), text("a1", "lo", offset=3))
    assert (row(state, "a1").parts, state.resync, state.last) == ((), NeedsResync(2, 2, 1), 1)


def test_a_part_that_ended_takes_no_more() -> None:
    """S51, F49: a late delta of an ended part changes nothing."""
    state = fold(assistant("a1"), text("a1", "Hello"), wire.ProseEnd("text", "a1", "p1"), text("a1", "!"))
    assert row(state, "a1").text == "Hello"


def test_interleaved_calls_and_text() -> None:
    """A31, A129: two calls open at once with text between: each keeps its own input, in the order they
    began.
    """
    state = fold(
        assistant("m1"),
        text("m1", "a"),
        wire.ToolCallStart("m1", "t1", "look"),
        wire.ToolCallStart("m1", "t2", "find"),
        wire.ToolCallDelta("m1", "t2", '{"b":', 0),
        wire.ToolCallDelta("m1", "t1", '{"a"', 0),
        wire.ToolCallEnd("m1", "t1", '{"a":1}'),
        wire.ToolCallEnd("m1", "t2", '{"b":2}'),
        text("m1", "b"),
    )
    assert [part.id for part in row(state, "m1").parts] == ["p1", "t1", "t2"]
    assert (tool(state, "m1", "t1").input, tool(state, "m1", "t2").input) == ('{"a":1}', '{"b":2}')
    assert row(state, "m1").text == "ab"


def test_each_part_once_at_every_prefix() -> None:
    """A32, A38, A39: while a tool runs after its message ended, it is shown once; a row is stable or
    streaming, not both.
    """
    bodies = (START, user("u1"), assistant("a1"), text("a1", "x"), *call("a1"))
    bodies += (end("a1", TextPart("p1", "x"), ToolPart("call-1", "look", "input-available", "{}")),)
    bodies += (wire.ToolResult("a1", "call-1", '"ok"'), *says("a2", "y"), end_run())
    state = ViewState()
    for event in numbered(bodies):
        state = reduce_event(state, event)
        names = [each.id for each in rows(state)]
        keys = [(each.id, type(part), part.id) for each in rows(state) for part in each.parts]
        assert len(set(names)) == len(names)
        assert len(set(keys)) == len(keys)
    assert tool(state, "a1").output == '"ok"'


# --- tools --------------------------------------------------------------------------------------------------


def test_a_result_goes_to_its_call_and_is_no_row() -> None:
    """A50, A130, A191, A208, C02: the result completes the part with its id; an orphan changes nothing."""
    state = fold(START, assistant("a1"), *call("a1"), wire.ToolResult("a1", "call-1", "[1]"))
    assert (tool(state, "a1").state, tool(state, "a1").output) == ("output-available", "[1]")
    assert len(rows(state)) == 1
    orphan = fold(wire.ToolResult("a1", "call-9", "[2]"), state=state)
    assert seen_live(orphan) == seen_live(state)


def test_what_ended_stays_and_what_is_open_is_closed() -> None:
    """V5, C30: an abort closes the open call and leaves the ended one."""
    state = fold(
        START, assistant("a1"), *call("a1"), wire.ToolResult("a1", "call-1", '"ok"'), *call("a1", "call-2")
    )
    state = fold(end_run("aborted"), state=state)
    assert (tool(state, "a1").state, tool(state, "a1", "call-2").state) == ("output-available", "aborted")
    assert (row(state, "a1").status, state.streaming, state.pending) == ("aborted", None, ())


WITH_CALL = (START, assistant("a1"), thought("a1", "hm"), *call("a1"), text("a1", "done"))
FINAL = end(
    "a1",
    ReasoningPart("p0", "hm", "done"),
    ToolPart("call-1", "look", "input-available", "{}"),
    TextPart("p1", "done"),
)


def test_the_final_before_the_result() -> None:
    """V6, C31: the row streams on until its tool ended; order and text stay."""
    state = fold(*WITH_CALL, FINAL)
    assert (row(state, "a1").status, state.pending) == ("streaming", (("a1", "call-1"),))
    assert [type(part) for part in row(state, "a1").parts] == [ReasoningPart, ToolPart, TextPart]
    state = fold(wire.ToolResult("a1", "call-1", '"ok"'), state=state)
    assert (row(state, "a1").status, row(state, "a1").text, state.pending) == ("done", "done", ())


@pytest.mark.parametrize(
    ("status", "row_status", "tool_state"),
    [("aborted", "aborted", "aborted"), ("error", "error", "output-error")],
)
def test_a_bad_end_is_final(status: str, row_status: str, tool_state: str) -> None:
    """V7, V8, S52, F50: after an abort or an error neither a late result nor a late final changes the row."""
    state = fold(*WITH_CALL, FINAL, end_run(status))
    assert (row(state, "a1").status, tool(state, "a1").state) == (row_status, tool_state)
    late = fold(wire.ToolResult("a1", "call-1", '"late"'), state=state)
    late = fold(end("a1", ToolPart("call-1", "look", "output-available", "{}", "", '"late"')), state=late)
    assert rows(late) == rows(state)


def test_the_first_end_of_a_call_counts() -> None:
    """An error beats a late success and a success a late error."""
    opened = fold(START, assistant("a1"), *call("a1"))
    good, bad = wire.ToolResult("a1", "call-1", '"ok"'), wire.ToolResult("a1", "call-1", '"no"', True)
    assert tool(fold(good, bad, state=opened), "a1").state == "output-available"
    failed = tool(fold(bad, good, state=opened), "a1")
    assert (failed.state, failed.error, failed.output) == ("output-error", "no", None)


def test_a_call_id_that_comes_again_in_a_later_turn() -> None:
    """V12, S50: the result of the newer call leaves the older row as it is."""
    state = fold(START, assistant("a1"), *call("a1"), end("a1", stop="toolUse"), end_run("aborted"))
    state = fold(wire.AgentStart("t2"), assistant("a2", "t2"), *call("a2"), state=state)
    before = row(state, "a1")
    state = fold(wire.ToolResult("a2", "call-1", '"ok"'), state=state)
    assert row(state, "a1") == before
    assert tool(state, "a2").state == "output-available"
    strange = fold(wire.AgentStart("t3"), assistant("a3", "t3"), *call("a3"), state=state)
    strange = fold(wire.ToolResult("nobody", "call-1", '"x"'), state=strange)
    assert tool(strange, "a3").output == '"x"'


def test_an_error_of_a_tool_is_words() -> None:
    """A92: `isError` makes the output the error's text."""
    state = fold(assistant("a1"), *call("a1"), wire.ToolResult("a1", "call-1", '"no such file"', True))
    assert tool(state, "a1").error == "no such file"


# --- turns --------------------------------------------------------------------------------------------------


def test_a_late_final_changes_its_own_row() -> None:
    """V10: the final of an older turn rewrites that row alone."""
    state = fold(START, *says("a1", "first"), wire.AgentStart("t2"), *says("a2", "second", "t2"))
    before = row(state, "a2")
    state = fold(end("a1", TextPart("p1", "first updated")), state=state)
    assert [each.text for each in rows(state)] == ["first updated", "second"]
    assert row(state, "a2") is before


def test_a_late_final_leaves_what_streams() -> None:
    """V11, C34: the same while the newer turn streams."""
    state = fold(START, *says("a1", "first"), wire.AgentStart("t2"), assistant("a2", "t2"), text("a2", "sec"))
    streaming = state.streaming
    state = fold(end("a1", TextPart("p1", "first updated")), state=state)
    assert state.streaming is streaming
    assert row(state, "a1").text == "first updated"


def test_a_new_message_while_one_is_open() -> None:
    """V13: a message that starts while another of its turn is open commits that; each keeps its id and its
    parts.
    """
    state = fold(START, assistant("a-tool"), *call("a-tool"), wire.ToolResult("a-tool", "call-1", '"ok"'))
    state = fold(*says("a-final", "done"), state=state)
    assert [(each.id, each.status) for each in rows(state)] == [("a-tool", "done"), ("a-final", "done")]
    assert tool(state, "a-tool").output == '"ok"'


def test_events_of_an_older_turn_are_ignored() -> None:
    """V15, C34: an error and an end of an older turn take their numbers and touch nothing."""
    state = fold(
        START, assistant("a-old"), text("a-old", "x"), wire.AgentStart("t2"), assistant("a-new", "t2")
    )
    state = fold(text("a-new", "y"), state=state)
    stale = fold(wire.Error("late", "t1"), end_run("error", "t1"), state=state)
    assert (seen_live(stale), stale.last) == (seen_live(state), state.last + 2)
    failed = fold(wire.Error("broken", "t2"), state=stale)
    assert (failed.outcome, row(failed, "a-new").status) == ("error", "error")
    assert [(notice.message, notice.turn) for notice in failed.notices] == [("broken", "t2")]


def test_an_interrupted_thought() -> None:
    """V16: reasoning alone, then an abort: the row is aborted, the reasoning done."""
    state = fold(START, assistant("a1"), thought("a1", "hm"), end_run("aborted"))
    assert row(state, "a1").parts == (ReasoningPart("p0", "hm", "done"),)
    assert (row(state, "a1").status, state.activity) == ("aborted", "idle")


def test_a_late_start_takes_its_ordered_place() -> None:
    """A123: an assistant message of an older turn stands after that turn, not at the end."""
    state = fold(START, user("u1"), wire.AgentStart("t2"), user("u2", turn="t2"), assistant("a2", "t2"))
    state = fold(assistant("a1"), text("a1", "late"), state=state)
    assert [each.id for each in rows(state)] == ["u1", "a1", "u2", "a2"]
    assert row(state, "a1").text == "late"
    assert state.streaming is not None
    assert state.streaming.id == "a2"


def test_a_step_prompt_is_a_row_with_its_step() -> None:
    """A workflow step's prompt carries its step and adopts no message of the person."""
    step = Step("r", "sum", "a1", "assistant")
    state = add_optimistic(ViewState(), Item("mine", "n1", "c", 1))
    state = fold(START, wire.MessageStart("u1", "user", "t1", None, "do it", step), state=state)
    assert row(state, "u1").step == step
    assert [entry.item.nonce for entry in state.outbox] == ["n1"]


# --- optimistic messages ------------------------------------------------------------------------------------


def pending(*items: Item) -> ViewState:
    """A state with optimistic messages."""
    state = ViewState()
    for item in items:
        state = add_optimistic(state, item)
    return state


def nonces(state: ViewState) -> list[str | None]:
    """What is optimistic."""
    return [entry.item.nonce for entry in state.outbox]


def test_a_user_start_adopts_its_own_message() -> None:
    """A53, A119, A121, A139, A212, C06, S40: by nonce, also among equal texts."""
    state = pending(Item("same", "n1", "c", 1), Item("same", "n2", "c", 2))
    state = fold(START, user("u1", "n2", "same"), state=state)
    assert nonces(state) == ["n1"]
    state = fold(user("u1", "n2", "same"), state=state)
    assert [each.id for each in rows(state)] == ["u1"]


def test_another_nonce_adopts_nothing() -> None:
    """C06: the message of another tab with the same text is another message."""
    state = fold(user("u1", "other", "same"), state=pending(Item("same", "n1", "c", 1)))
    assert nonces(state) == ["n1"]


def test_without_a_nonce_the_oldest_of_its_kind() -> None:
    """A140, A62: an old server: first in, first out by kind, whatever the text says."""
    state = pending(Item("f", "n1", "c", 1), Item("p", "n2", "c", 2, "prompt"), Item("g", "n3", "c", 3))
    started = fold(START, user("u1", None, "g"), state=state)
    assert nonces(started) == ["n1", "n3"]
    follow = fold(user("u2", None, "g"), state=started)
    assert nonces(follow) == ["n3"]


def test_replayed_under_another_id() -> None:
    """V4: a row with the same nonce takes the newer id, the earlier time, and keeps its place."""
    start = Snapshot(1, 2, (Row("u-state", "user", "t1", (TextPart("x", "hi"),), nonce="n", at=5),))
    state = fold(user("u-replay", "n", at=9), state=hydrate(ViewState(), start))
    assert [(each.id, each.at) for each in rows(state)] == [("u-replay", 5)]


def test_what_waits_is_shown_as_waiting() -> None:
    """A137, A184, A186, A187: a message on its way and one in the queue carry the label; as a row it has
    none.
    """
    state = fold(START, *says("a1", "yes"), state=pending(Item("mine", "n1", "c", 1)))
    assert [(each.row.text, each.label) for each in screen(state)] == [("yes", ""), ("mine", WAITING)]
    state = fold(wire.QueueUpdated((Item("mine", "n1", "c", 1),)), state=state)
    assert [(each.row.text, each.label, each.offered) for each in screen(state)][1:] == [
        ("mine", WAITING, False)
    ]
    state = fold(wire.QueueUpdated((Item("mine", "n1", "c", 1),), True), state=state)
    assert screen(state)[1].offered
    state = fold(user("u1", "n1", "mine", "t2"), state=state)
    assert [(each.row.id, each.label) for each in screen(state)] == [("a1", ""), ("u1", "")]


def test_queue_entries_find_their_message() -> None:
    """V17: by nonce or by number; entries without either are not guessed between two."""
    state = pending(Item("same", "n1", "c", 1), Item("same", "n2", "c", 2))
    assert nonces(fold(wire.QueueUpdated((Item("same", "n2", "c", 2),)), state=state)) == ["n1"]
    assert nonces(fold(wire.QueueUpdated((Item("same", number=2),)), state=state)) == ["n1"]
    assert nonces(fold(wire.QueueUpdated((Item("same"),)), state=state)) == ["n1", "n2"]


def test_a_queue_entry_of_an_old_server_gets_its_selectors() -> None:
    """V18: the only follow-up it can be; the same event again keeps what was given."""
    state = pending(Item("same", "p", "c", 2, "prompt"), Item("same", "f", "c", 1))
    state = fold(wire.QueueUpdated((Item("same"),)), state=state)
    assert (state.queue[0].nonce, state.queue[0].number, nonces(state)) == ("f", 1, ["p"])
    again = fold(wire.QueueUpdated((Item("same"),)), state=state)
    assert (again.queue[0].nonce, nonces(again)) == ("f", ["p"])


def test_an_empty_queue_is_no_removal() -> None:
    """V20: a message that is on its way stays on the screen; removing it by nonce removes it."""
    state = fold(wire.QueueUpdated(()), state=pending(Item("x", "n1", "c", 1)))
    assert nonces(state) == ["n1"]
    assert nonces(clear_items(state, ["n1"])) == []


def test_two_tabs_with_the_same_numbers() -> None:
    """V21, S41: one of two messages with number 1 is removed; the other stays in queue and outbox."""
    state = pending(Item("x", "a", "c1", 1), Item("x", "b", "c2", 1))
    state = fold(wire.QueueUpdated((Item("x", "a", "c1", 1), Item("x", "b", "c2", 1))), state=state)
    state = clear_items(add_optimistic(state, Item("y", "d", "c2", 2)), ["a"])
    assert ([item.nonce for item in state.queue], nonces(state)) == (["b"], ["d"])


def test_after_a_reload_the_snapshot_decides() -> None:
    """V22, C14: what it has in the queue is no longer optimistic; what was accepted before it and is gone
    is warned of.
    """
    state = pending(Item("kept", "n1", "c", 1), Item("stale", "n2", "c", 2))
    state = mark_accepted(mark_accepted(state, "n1", Cursor(1, 3)), "n2", Cursor(1, 4))
    state = hydrate(state, Snapshot(1, 9, queue=(Item("kept", "n1", "c", 1),)))
    assert (len(state.queue), nonces(state), len(state.warnings)) == (1, [], 1)


def test_a_snapshot_from_before_the_acceptance_drops_nothing() -> None:
    """A message accepted at 4 cannot be in a snapshot of 3, and is neither lost nor warned of."""
    state = mark_accepted(pending(Item("x", "n1", "c", 1)), "n1", Cursor(1, 4))
    state = hydrate(state, Snapshot(1, 3))
    assert (nonces(state), state.warnings) == (["n1"], ())


def test_a_message_that_was_not_accepted_is_kept() -> None:
    """V23: a snapshot in mid-answer without rows keeps the prompt, without a warning."""
    state = pending(Item("x", "n1", "c", 1, "prompt"))
    state = hydrate(
        state, Snapshot(1, 3, open=Row("a1", "assistant", "t1", (), "streaming"), activity="running")
    )
    assert (nonces(state), state.warnings) == (["n1"], ())


# --- snapshots ----------------------------------------------------------------------------------------------


def test_an_older_snapshot_is_rejected() -> None:
    """V25, C24, S49: not below what was applied; a state that has nothing yet takes any."""
    live = fold(START)
    assert hydrate(live, Snapshot(1, 0)) is live
    fresh = ViewState()
    assert hydrate(fresh, Snapshot(1, 0)).hydrated
    marked = mark_accepted(pending(Item("x", "n1", "c", 1)), "n1", Cursor(1, 30))
    assert (marked.last, hydrate(marked, Snapshot(1, 0)).last) == (0, 0)


def test_a_late_snapshot_of_the_same_or_a_newer_position_counts() -> None:
    """S49, F35: at or after the last position the state is the snapshot's."""
    state = fold(START, user("u1"))
    newer = Snapshot(1, 7, (Row("u1", "user", "t1"), Row("a1", "assistant", "t1")), turn="t1")
    assert [each.id for each in rows(hydrate(state, newer))] == ["u1", "a1"]
    assert hydrate(state, Snapshot(2, 1)).epoch == 2
    assert hydrate(hydrate(state, Snapshot(2, 1)), newer).epoch == 2


BODIES = (
    wire.Mode(),
    START,
    user("u1", "n1"),
    assistant("a1"),
    text("a1", "Hel", offset=0),
    *call("a1"),
    end("a1", TextPart("p1", "Hello"), ToolPart("call-1", "look", "input-available", "{}"), stop="toolUse"),
    wire.QueueUpdated((Item("next", "n2", "c", 2),)),
    wire.ToolResult("a1", "call-1", '"ok"'),
    user("u2", "n2", "next", "t2"),
    wire.FollowupConsumed("u2", "n2"),
    wire.QueueUpdated(()),
    assistant("a2", "t2"),
    thought("a2", "hm", offset=0),
    text("a2", "yes", offset=0),
    end("a2", ReasoningPart("p0", "hm", "done"), TextPart("p1", "yes"), turn="t2"),
    end_run("ok", "t2"),
)


@given(st.lists(st.integers(0, 3), min_size=len(BODIES), max_size=len(BODIES)), st.integers(0, len(BODIES)))
@settings(max_examples=100, deadline=None)
def test_repeats_change_nothing(repeats: list[int], cut: int) -> None:
    """A142, A210, S45, S46, F28: any repetition of events that came already gives the same state, at every
    prefix.
    """
    events = numbered(BODIES)[:cut]
    state = plain = ViewState()
    for place, event in enumerate(events):
        plain = reduce_event(plain, event)
        state = reduce_event(state, event)
        for back in range(repeats[place]):
            assert reduce_event(state, events[max(0, place - back)]) is state
    assert state == plain
    assert sorted(state.pending) == sorted(rebuilt_pending(state))


@given(st.integers(0, len(BODIES) - 1), st.data())
@settings(max_examples=100, deadline=None)
def test_a_repeat_under_a_new_number(place: int, data: st.DataObject) -> None:
    """F29, S40, S51: an event that comes again later, as a new one, changes no row and no text."""
    cut = data.draw(st.integers(place + 1, len(BODIES)))
    once = fold(*BODIES[:cut])
    twice = fold(*BODIES[:cut], BODIES[place])
    assert [(each.id, each.parts, each.nonce) for each in rows(twice)] == [
        (each.id, each.parts, each.nonce) for each in rows(once)
    ]
    assert (twice.activity, twice.pending, twice.notices) == (once.activity, once.pending, once.notices)


@given(st.permutations(range(len(BODIES))))
@settings(max_examples=100, deadline=None)
def test_any_order_never_applies_a_gap(order: list[int]) -> None:
    """S47, F30: out of order, what is applied is a beginning of the stream, and nothing else."""
    events = numbered(BODIES)
    state = ViewState()
    for place in order:
        state = reduce_event(state, events[place])
    expected = ViewState()
    for event in events[: state.last]:
        expected = reduce_event(expected, event)
    assert seen_live(state) == seen_live(expected)
