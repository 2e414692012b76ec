"""A tab by itself: what it sends, in which order, and what it makes of answers, silence and reloads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.client import (
    LONGEST_WAIT_MS,
    SetTimer,
    Tab,
    TabOut,
    fired,
    hear_answer,
    hear_stream,
    load_tab,
    lost,
    press,
    reload,
    send,
    switch,
    timed_out,
    wait_ms,
)
from windtunnel.simulator.chat.parts import Row, TextPart
from windtunnel.simulator.chat.requests import (
    Answer,
    CloseStream,
    GetSnapshot,
    OpenStream,
    PostCommand,
    PostMessage,
    StreamClosed,
    StreamEvent,
    StreamResync,
)
from windtunnel.simulator.chat.rows import Snapshot
from windtunnel.simulator.chat.view import seen_live
from windtunnel.simulator.chat.window import Cursor

Kind = TypeVar("Kind")


def of(kind: type[Kind], outs: Iterable[TabOut]) -> list[Kind]:
    """The outs of one kind."""
    return [out for out in outs if isinstance(out, kind)]


def live(session: str = "s", seq: int = 0, rows: tuple[Row, ...] = ()) -> Tab:
    """A tab that follows the stream of a session."""
    tab, outs = load_tab("c", session)
    (get,) = of(GetSnapshot, outs)
    snapshot = Snapshot(1, seq, rows)
    tab, outs = hear_answer(tab, Answer(get.request, 200, "snapshot", snapshot=snapshot, session=session))
    assert of(OpenStream, outs)[0].cursor == Cursor(1, seq)
    return tab


def accept(tab: Tab, post: PostMessage, code: str = "accepted") -> tuple[Tab, tuple[TabOut, ...]]:
    """The server accepts a post."""
    number = post.item.number or 0
    return hear_answer(tab, Answer(post.request, 202, code, number + 1, Cursor(1, 5)))


def test_messages_are_posted_one_at_a_time() -> None:
    """A138, A149, A152, C08, S36: q1, its 202, q2, its 202, q3; numbered without a gap."""
    tab = live()
    posted: list[PostMessage] = []
    for text in "abc":
        tab, outs = send(tab, text)
        posted += of(PostMessage, outs)
    assert len(posted) == 1
    while len(posted) < 3:
        tab, outs = accept(tab, posted[-1])
        posted += of(PostMessage, outs)
    assert [(post.item.text, post.item.number) for post in posted] == [("a", 1), ("b", 2), ("c", 3)]
    tab, outs = accept(tab, posted[-1])
    assert (of(PostMessage, outs), tab.outgoing) == ([], ())


def test_a_message_is_shown_before_the_server_has_it() -> None:
    """A137: optimistic, with its nonce, until the stream brings it."""
    tab, _ = send(live(), "hi")
    assert [entry.item.text for entry in tab.view.outbox] == ["hi"]
    nonce = tab.view.outbox[0].item.nonce
    start = wire.MessageStart("u1", "user", "t1", nonce, "hi")
    assert tab.conn is not None
    tab, _ = hear_stream(tab, tab.conn, StreamEvent(wire.Event(1, 1, start)))
    assert (tab.view.outbox, [row.id for row in tab.view.rows]) == ((), ["u1"])


def test_silence_is_met_with_the_same_again() -> None:
    """C09, C27, C29, S43: nothing is rolled back; same nonce, same number, a bounded and growing wait."""
    tab, outs = send(live(), "hi")
    (first,) = of(PostMessage, outs)
    waits = []
    for _ in range(9):
        (post,) = tab.posting
        assert (post.item, [one.item.nonce for one in tab.outgoing]) == (first.item, [first.item.nonce])
        tab, outs = timed_out(tab, post.request)
        waits += [timer.delay_ms for timer in of(SetTimer, outs)]
        tab, outs = fired(tab, "post")
        assert len(of(PostMessage, outs)) == 1
    assert waits == sorted(waits)
    assert waits[-1] == wait_ms(99) == LONGEST_WAIT_MS
    tab, _ = accept(tab, tab.posting[0], "duplicate")
    assert (tab.outgoing, tab.failures) == ((), 0)


def test_a_refusal_teaches_the_number() -> None:
    """A154, F40, F41: out of order or in conflict: the expected number is taken and the same message
    posted again.
    """
    for code in ("followup_out_of_order", "followup_conflict"):
        tab, outs = send(live(), "hi")
        (post,) = of(PostMessage, outs)
        tab, outs = hear_answer(tab, Answer(post.request, 409, code, 7))
        (again,) = of(PostMessage, outs)
        assert (again.item.nonce, again.item.number) == (post.item.nonce, 7)


def test_a_deleted_message_leaves_the_screen() -> None:
    """C36: the server says that it was removed: it is neither posted again nor shown."""
    tab, outs = send(live(), "hi")
    tab, _ = hear_answer(tab, Answer(of(PostMessage, outs)[0].request, 202, "deleted", 1))
    assert (tab.outgoing, tab.view.outbox) == ((), ())


def test_removing_what_was_never_posted_needs_no_server() -> None:
    """A waiting message is removed here; one that is on its way is removed by the server, by nonce."""
    tab, _ = send(live(), "a")
    tab, _ = send(tab, "b")
    first, second = (one.item.nonce or "" for one in tab.outgoing)
    tab, outs = press(tab, "clear", (second,))
    assert (outs, len(tab.outgoing)) == ((), 1)
    tab, outs = press(tab, "clear", (first,))
    assert of(PostCommand, outs)[0].nonces == (first,)


def test_a_command_is_said_again_under_its_receipt() -> None:
    """C26: a lost answer to stop or interrupt is asked for again; the receipt makes it happen once."""
    tab, outs = press(live(), "interrupt")
    (command,) = of(PostCommand, outs)
    tab, outs = timed_out(tab, command.request)
    (again,) = of(PostCommand, outs)
    assert again.receipt == command.receipt
    assert again.request != command.request
    tab, _ = hear_answer(tab, Answer(again.request, 202, "interrupt"))
    assert tab.commands == ()


def test_a_message_goes_to_the_session_it_was_written_for() -> None:
    """C11: the tab moves to another session while a post is lost and another waits: both go to the old
    one.
    """
    tab, outs = send(live(), "a")
    tab, _ = send(tab, "b")
    (post,) = of(PostMessage, outs)
    tab, _ = switch(tab, "z")
    tab, outs = send(tab, "c")
    assert [(each.session, each.item.text) for each in of(PostMessage, outs)] == [("z", "c")]
    tab, _ = timed_out(tab, post.request)
    tab, outs = fired(tab, "post")
    assert [(each.session, each.item.text) for each in of(PostMessage, outs)] == [("s", "a")]
    assert [entry.item.text for entry in tab.view.outbox] == ["c"]


def test_a_late_snapshot_of_another_session() -> None:
    """A snapshot of the session that was left is nothing to the one that is open."""
    tab, outs = load_tab("c", "s")
    (get,) = of(GetSnapshot, outs)
    tab, _ = switch(tab, "z")
    old = Snapshot(1, 9, (Row("x", "user"),))
    tab, _ = hear_answer(tab, Answer(get.request, 200, "snapshot", snapshot=old, session="s"))
    assert tab.view.rows == ()


def test_a_reload_keeps_the_outbox_and_no_history() -> None:
    """A167, C07, C14, S54: after a reload messages are posted again under their nonces; rows come from the
    server.
    """
    tab = live(rows=(Row("u1", "user"),), seq=3)
    tab, outs = send(tab, "hi")
    (post,) = of(PostMessage, outs)
    fresh, outs = reload(tab, "2")
    assert (fresh.view.rows, fresh.conn) == ((), None)
    (again,) = of(PostMessage, outs)
    assert again.item == post.item
    assert len(of(GetSnapshot, outs)) == 1
    assert [entry.item.nonce for entry in fresh.view.outbox] == [post.item.nonce]
    _, outs = send(fresh, "new")
    assert of(PostMessage, outs) == []


def test_two_loads_never_mint_one_nonce() -> None:
    """Two copies of a tab have the same counters and still say different things."""
    tab = live()
    one, _ = send(reload(tab, "2")[0], "x")
    two, _ = send(reload(tab, "3")[0], "y")
    assert one.outgoing[0].item.nonce != two.outgoing[0].item.nonce


def test_a_history_that_cannot_be_loaded_is_no_empty_chat() -> None:
    """C22: what is shown stays, it is said, and it is tried again."""
    tab = live(rows=(Row("u1", "user"),), seq=3)
    assert tab.conn is not None
    tab, outs = hear_stream(tab, tab.conn, StreamResync("replay_gap", 9, 8))
    (get,) = of(GetSnapshot, outs)
    tab, outs = hear_answer(tab, Answer(get.request, 503, "append_failed"))
    assert [row.id for row in tab.view.rows] == ["u1"]
    assert len(tab.view.warnings) == 1
    assert of(SetTimer, outs)[0].name == "connect"
    tab, outs = fired(tab, "connect")
    assert len(of(GetSnapshot, outs)) == 1


def test_a_gap_leaves_the_stream_and_asks_for_a_snapshot() -> None:
    """A200, F31: rows stay while the snapshot is fetched; then the stream is opened where it ends."""
    tab = live(rows=(Row("u1", "user"),), seq=3)
    conn = tab.conn
    assert conn is not None
    tab, outs = hear_stream(tab, conn, StreamEvent(wire.Event(1, 5, wire.Mode())))
    assert of(CloseStream, outs)[0].conn == conn
    (get,) = of(GetSnapshot, outs)
    assert [row.id for row in tab.view.rows] == ["u1"]
    rows = (Row("u1", "user"), Row("a1", "assistant", parts=(TextPart("p", "yes"),)))
    answer = Answer(get.request, 200, "snapshot", snapshot=Snapshot(1, 8, rows), session="s")
    tab, outs = hear_answer(tab, answer)
    assert of(OpenStream, outs)[0].cursor == Cursor(1, 8)
    assert seen_live(tab.view).rows == rows
    assert tab.view.resync is None


def test_an_older_snapshot_during_a_resync_is_asked_for_again() -> None:
    """L6: the resync ends only with a snapshot that is new enough; no tight loop."""
    tab = live(seq=3)
    assert tab.conn is not None
    tab, outs = hear_stream(tab, tab.conn, StreamEvent(wire.Event(1, 5, wire.Mode())))
    (get,) = of(GetSnapshot, outs)
    tab, outs = hear_answer(tab, Answer(get.request, 200, "snapshot", snapshot=Snapshot(1, 2), session="s"))
    assert (of(GetSnapshot, outs), of(SetTimer, outs)[0].name) == ([], "connect")
    assert tab.view.resync is not None


def test_a_lost_stream_is_opened_again_at_the_cursor() -> None:
    """F33, C20: with back-off, once; a stream that was left before is closed, not followed."""
    tab = live(seq=3)
    old = tab.conn
    assert old is not None
    tab, outs = hear_stream(tab, old, StreamClosed("slow_subscriber"))
    assert of(OpenStream, outs) == []
    tab, outs = fired(tab, "connect")
    assert of(OpenStream, outs)[0].cursor == Cursor(1, 3)
    assert fired(tab, "connect") == (tab, ())
    tab, outs = hear_stream(tab, old, StreamEvent(wire.Event(1, 4, wire.Mode())))
    assert (of(CloseStream, outs)[0].conn, tab.view.last) == (old, 3)
    assert lost(tab, old) == (tab, ())


def test_a_post_opens_no_second_stream() -> None:
    """C20: saying something while a stream is followed posts, and nothing else."""
    tab = live()
    _, outs = send(tab, "hi")
    assert [type(out) for out in outs] == [PostMessage]


def test_answers_that_nobody_waits_for() -> None:
    """C25: an answer that comes twice, or to a request that was given up, changes nothing."""
    tab, outs = send(live(), "hi")
    (post,) = of(PostMessage, outs)
    done, _ = accept(tab, post)
    assert accept(done, post) == (done, ())
    assert done.view.last == tab.view.last
    assert timed_out(done, post.request) == (done, ())
