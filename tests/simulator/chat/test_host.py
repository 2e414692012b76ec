"""One session: append before fan-out, positions, epochs, streams without a seam, answers, recovery."""

from __future__ import annotations

import pytest

from tests.simulator.chat.sessions import Session
from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.entries import EpochStarted, MessageEnded, RunClosed, RunOpened, UserMessage
from windtunnel.simulator.chat.host import drained, serve, unsubscribe, write_failed
from windtunnel.simulator.chat.parts import Item, ToolPart
from windtunnel.simulator.chat.reducer import hydrate, reduce_event
from windtunnel.simulator.chat.requests import (
    GetSnapshot,
    OpenStream,
    PostMessage,
    PutHistory,
    StreamClosed,
    StreamEvent,
    StreamResync,
)
from windtunnel.simulator.chat.turns import CallModel, Content, ModelDone, Settings
from windtunnel.simulator.chat.view import ViewState, seen_live
from windtunnel.simulator.chat.window import Cursor


def test_the_mode_comes_first() -> None:
    """A47, A61, A70, A111, A218, S53, C01: `pi-mode` is the first event of a session, and of every new
    epoch.
    """
    session = Session()
    session.follow()
    session.post("a")
    session.say("A")
    assert session.kinds()[0] == "pi-mode"
    session.post("b", 2)
    session.stream("half")
    session.start()
    session.follow(session.host.window.first - 1, 2, "y")
    assert session.kinds("y")[0] == "pi-mode"


def test_events_of_every_message() -> None:
    """A41, A74, A216, A217: the first answer and a follow-up's are told by the same events."""
    session = Session()
    session.follow()
    session.post("a")
    session.stream("A")
    session.post("b", 2)
    session.say()
    session.say("B")
    kinds = session.kinds()
    assert kinds == [
        "pi-mode",
        "pi-agent-start",
        "pi-message-start",
        "pi-message-end",
        "pi-message-start",
        "pi-text-start",
        "pi-text-delta",
        "pi-queue-updated",
        "pi-message-end",
        "pi-message-start",
        "pi-message-end",
        "pi-followup-consumed",
        "pi-queue-updated",
        "pi-message-start",
        "pi-text-start",
        "pi-text-delta",
        "pi-message-end",
        "pi-agent-end",
    ]
    assert [event.seq for event in session.events()] == list(range(1, len(kinds) + 1))


def test_nothing_is_seen_before_it_is_written() -> None:
    """V32, S44, C41: a blocked append delivers nothing, starts nothing after it and calls no model."""
    session = Session(slow_disk=True)
    session.follow()
    session.post("a")
    assert (session.pushed, session.effects, session.answers) == ([], [], [])
    session.disk()
    assert session.kinds() == ["pi-mode"]
    session.disk()
    assert session.kinds()[1:] == ["pi-agent-start", "pi-message-start", "pi-message-end"]
    assert isinstance(session.effects[0], CallModel)
    assert session.answers[0].code == "accepted"


def test_a_failed_append_closes_the_stream() -> None:
    """V32, C16: nothing is delivered, every stream ends with the error, who waits is told; the number is
    not taken.
    """
    session = Session(slow_disk=True)
    session.disk()
    session.follow(1)
    session.post("a")
    session.host, outs = write_failed(session.host, "disk full")
    session.take(outs)
    assert session.events() == []
    assert session.pushed == [("x", StreamClosed("disk full"))]
    assert session.answers[0].status == 503
    session.host, outs = serve(session.host, GetSnapshot("r9", "s"))
    session.take(outs)
    assert session.answers[-1].code == "append_failed"
    session.slow_disk = False
    session.start()
    assert session.post("a").code == "accepted"


def test_replay_and_live_without_a_seam() -> None:
    """V29: what is published while a reader comes is sent once, in order, whether from the window or live."""
    session = Session(slow_disk=True)
    session.disk()
    session.post("a")
    session.follow(0)
    session.disk()
    assert [event.seq for event in session.events()] == [1, 2, 3, 4]
    session.host = unsubscribe(session.host, "x")
    session.slow_disk = False
    session.say("A")
    assert [event.seq for event in session.events()] == [1, 2, 3, 4]


def test_a_restart_goes_on_with_the_numbers() -> None:
    """V31, A171, A200b, Authority 3: without an open message the same events are replayed and the next
    number follows.
    """
    session = Session()
    session.post("a")
    session.fail()
    session.follow(0, conn="x")
    before = session.events("x")
    session.start()
    session.follow(0, conn="y")
    assert session.events("y") == before
    session.post("b", 2)
    assert session.events("y")[len(before)].seq == before[-1].seq + 1
    assert session.snapshot().epoch == 1


def test_an_open_message_voids_the_cursors() -> None:
    """Authority 3, A49: a crash in mid-answer: the row keeps its id and is aborted, the epoch is new."""
    session = Session()
    session.post("a")
    session.stream("Hel", "lo")
    streamed = session.snapshot().open
    assert streamed is not None
    last = session.host.window.latest
    session.start()
    rows = session.rows()
    assert [(row.role, row.status) for row in rows] == [("user", "done"), ("assistant", "aborted")]
    assert rows[1].id == streamed.id
    assert session.snapshot().epoch == 2
    session.follow(last, 1)
    assert [type(message) for _, message in session.pushed] == [StreamResync]


def test_a_torn_tail_voids_the_cursors() -> None:
    """F17, S23: the torn line is cut off and the epoch is new; what was whole stays."""
    session = Session()
    session.post("a")
    session.say("A")
    session.tail = session.lines[-1][:20]
    before = session.texts()
    session.start()
    assert session.texts() == before
    epochs = session.bodies(EpochStarted)
    assert [(body.epoch, body.why) for body in epochs if isinstance(body, EpochStarted)] == [(2, "torn")]


@pytest.mark.parametrize("moment", ["calling", "streaming", "tools", "retrying", "idle"])
def test_recovery_closes_what_was_open(moment: str) -> None:
    """C30, S22, F6: after a restart nothing is open or pending, the queue is held, and recovering again
    does nothing.
    """
    session = Session()
    session.post("a")
    if moment == "streaming":
        session.stream("x")
    elif moment == "tools":
        session.use("look")
    elif moment == "retrying":
        session.fail(retryable=True)
    elif moment == "idle":
        session.say("x")
    if moment != "idle":
        session.post("b", 2)
    session.start()
    snapshot = session.snapshot()
    assert (snapshot.activity, snapshot.open) == ("idle", None)
    assert all(row.status != "streaming" and not row.pending for row in snapshot.rows)
    assert snapshot.held == (moment != "idle")
    lines = list(session.lines)
    session.start()
    assert session.lines == lines
    if moment != "idle":
        session.command("send")
        session.say("to b")
        assert session.texts()[-2:] == ["b", "to b"]


def test_recovery_in_the_middle_of_recovery() -> None:
    """F6, F7: the log is cut after each line that recovery writes; the next one ends in the same rows."""
    session = Session()
    session.post("a")
    session.stream("x")
    before = list(session.lines)
    session.start()
    after, rows = list(session.lines), session.rows()
    for cut in range(len(before), len(after)):
        again = Session(lines=after[:cut])
        assert again.rows() == rows
        assert again.snapshot().epoch > 1
        torn = Session(lines=after[:cut], tail=after[cut][:15])
        assert torn.rows() == rows


def test_an_item_that_nobody_held_starts_after_a_restart() -> None:
    """C35, L1: accepted, then a crash before its run: the next opening runs it."""
    session = Session()
    session.post("a")
    session.say("A")
    session.post("b", 2)
    cut = next(place for place, line in enumerate(session.lines) if '"clientNonce":"c2"' in line)
    queued = session.lines[:cut]
    again = Session(lines=queued)
    assert again.post("b", 2).code == "accepted"
    again.say("B")
    assert again.texts() == ["a", "A", "b", "B"]


def test_a_slow_reader_is_cut_off() -> None:
    """C42: more than the limit on its way to one reader ends that stream; the others go on."""
    session = Session()
    session.follow(0, conn="slow")
    session.follow(0, conn="fast")
    limit = session.host.backlog_limit
    session.post("a")
    session.stream(*("x" for _ in range(limit - 6)))
    for _ in range(len(session.events("fast"))):
        session.host = drained(session.host, "fast")
    assert not any(isinstance(message, StreamClosed) for _, message in session.pushed)
    assert session.host.subscribers[0].backlog == limit
    session.stream("y")
    assert ("slow", StreamClosed("slow_subscriber")) in session.pushed
    session.stream("z")
    assert session.events("fast")[-1].seq == session.host.window.latest
    assert len(session.events("slow")) == limit


def test_a_cursor_that_cannot_be_continued() -> None:
    """V27, V28, F33, F34: too old, ahead, or of another epoch: a resync with the reason, never a silent
    skip.
    """
    session = Session(replay_limit=3)
    session.post("a")
    session.say("A")
    latest = session.host.window.latest
    for cursor, code in (
        (Cursor(1, 0), "replay_gap"),
        (Cursor(1, latest + 1), "cursor_ahead"),
        (Cursor(7, latest), "epoch_changed"),
    ):
        session.host, outs = serve(session.host, OpenStream(code, "s", cursor))
        session.take(outs)
        assert session.pushed[-1] == (code, StreamResync(code, latest, latest - 2))
        assert all(reader.conn != code for reader in session.host.subscribers)


def test_the_snapshot_in_mid_answer_has_the_text_so_far() -> None:
    """C32, A200: content and position of one cut: snapshot and tail fold to what a reader from the start
    has.
    """
    session = Session()
    session.follow()
    session.post("a")
    session.stream("Hel", "lo ")
    snapshot = session.snapshot()
    assert snapshot.open is not None
    assert snapshot.open.text == "Hello "
    session.stream("wor", "ld")
    session.hear(ModelDone(session.call, (Content("text", "Hello world"),)))
    late, early = hydrate(ViewState(), snapshot), ViewState()
    for event in session.events():
        late, early = reduce_event(late, event), reduce_event(early, event)
    assert seen_live(late) == seen_live(early)
    assert late.rows[-1].text == "Hello world"


def test_what_was_said_before_the_reader_left_is_kept() -> None:
    """A49: the reader disconnects in mid-answer: the answer goes on and is whole in the history."""
    session = Session()
    session.follow()
    session.post("a")
    session.stream("one ", "two ")
    session.host = unsubscribe(session.host, "x")
    session.stream("three")
    session.hear(ModelDone(session.call, (Content("text", "one two three"),)))
    assert [(row.text, row.status) for row in session.rows()] == [("a", "done"), ("one two three", "done")]


def test_what_was_said_before_the_stop_is_kept() -> None:
    """A49: the person stops in mid-answer: the row keeps its id and its text, and is aborted."""
    session = Session()
    session.post("a")
    session.stream("one ", "two ")
    streamed = session.snapshot().open
    session.command("stop")
    row = session.rows()[1]
    assert streamed is not None
    assert (row.id, row.text, row.status) == (streamed.id, "one two ", "aborted")
    session.start()
    assert session.rows()[1] == row


def test_history_is_read_only() -> None:
    """C07, A165, A168, A169, A231, S54: an old client's write is refused with a stable code."""
    session = Session()
    session.host, outs = serve(session.host, PutHistory("r1", "s"))
    session.take(outs)
    assert (session.answers[0].status, session.answers[0].code) == (409, "history_is_canonical")


def test_one_entry_closes_everything() -> None:
    """C30: the end of a run holds the open message and the state of its open tools."""
    session = Session(Settings(tools="parallel"))
    session.post("a")
    session.use("look", "find")
    session.done("look")
    session.command("stop")
    closed = session.bodies(RunClosed)[-1]
    assert isinstance(closed, RunClosed)
    assert [tool.call for tool in closed.tools] == ["call-find"]
    states = [part.state for part in session.rows()[1].parts if isinstance(part, ToolPart)]
    assert states == ["output-available", "aborted"]


def test_two_posts_with_one_nonce_at_once() -> None:
    """C13, F37: both arrive while an append is under way: one is accepted, the other is a duplicate."""
    session = Session(slow_disk=True)
    session.disk()
    first = session.post("a", 1, "n")
    second = session.post("a", 1, "n")
    assert (first.status, second.status) == (0, 0)
    session.disk()
    assert [answer.code for answer in session.answers] == ["accepted", "duplicate"]
    assert len(session.bodies(UserMessage)) == 1


def test_ids_are_given_out_once() -> None:
    """C05, A52: the id of the live event, of the final, of the snapshot and of the cold load is one."""
    session = Session()
    session.follow()
    session.post("a")
    session.say("A")
    live = [event.body.message for event in session.events() if isinstance(event.body, wire.MessageStart)]
    final = [event.body.message for event in session.events() if isinstance(event.body, wire.MessageEnd)]
    snapshot = [row.id for row in session.snapshot().rows]
    session.start()
    assert live == final == snapshot == [row.id for row in session.rows()]
    session.post("b", 2)
    session.say("B")
    names = [entry.id for entry in session.entries]
    assert len(set(names)) == len(names)


def test_an_answer_has_a_position_that_is_no_cursor() -> None:
    """V25, C25: the receipt says where the stream was; the next events are still to be read."""
    session = Session()
    session.follow()
    answer = session.post("a")
    assert answer.position == Cursor(1, session.host.window.latest)


def test_late_requests_of_a_reader_that_is_gone() -> None:
    """Leaving twice, and a second opening of the same connection, are harmless."""
    session = Session()
    session.follow()
    session.follow()
    assert len(session.host.subscribers) == 1
    session.host = unsubscribe(unsubscribe(session.host, "x"), "x")
    session.host, outs = serve(session.host, PostMessage("r1", "s", Item("x", "n9", "other", 1)))
    assert not any(isinstance(getattr(out, "message", None), StreamEvent) for out in outs)


def test_runs_close_in_the_log_before_the_next_opens() -> None:
    """Every run that opens closes once, in order, and messages end once."""
    session = Session()
    for number in range(1, 4):
        session.post("x", number)
        session.say("y")
    marks = [
        type(entry.body).__name__
        for entry in session.entries
        if isinstance(entry.body, RunOpened | RunClosed)
    ]
    assert marks == ["RunOpened", "RunClosed"] * 3
    ended = [body.message for body in session.bodies(MessageEnded) if isinstance(body, MessageEnded)]
    assert len(set(ended)) == len(ended) == 3
