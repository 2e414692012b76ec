"""All sessions of a server: each is opened once, and after a failure again."""

from __future__ import annotations

from windtunnel.simulator.chat.host import Host, Push, Reply, Write
from windtunnel.simulator.chat.logfile import read_lines
from windtunnel.simulator.chat.parts import Item
from windtunnel.simulator.chat.requests import GetSnapshot, OpenStream, PostMessage, StreamClosed
from windtunnel.simulator.chat.rows import snapshot_from, snapshot_json
from windtunnel.simulator.chat.server import (
    Opening,
    ReadLog,
    Server,
    append_done,
    append_failed,
    ask,
    happened,
    log_read,
    session_of,
    taken,
)
from windtunnel.simulator.chat.turns import ModelDelta
from windtunnel.simulator.chat.window import Cursor

EMPTY = read_lines(())


def test_two_tabs_open_a_cold_session_once() -> None:
    """C23: the log is read once, both are served, and a second reading changes nothing."""
    server, first = ask(Server(), GetSnapshot("r1", "s"))
    server, second = ask(server, OpenStream("x", "s", Cursor(1, 0)))
    assert (first, second) == ((("s", ReadLog()),), ())
    server, outs = log_read(server, "s", EMPTY)
    assert [type(out) for _, out in outs] == [Write, Reply]
    host = session_of(server, "s")
    assert isinstance(host, Host)
    assert [reader.conn for reader in host.subscribers] == ["x"]
    assert log_read(server, "s", EMPTY) == (server, ())


def test_sessions_are_apart() -> None:
    """What happens in one session is nothing to the other."""
    server, _ = ask(Server(), GetSnapshot("r1", "s"))
    server, _ = ask(server, GetSnapshot("r2", "z"))
    server, _ = log_read(server, "s", EMPTY)
    assert isinstance(session_of(server, "z"), Opening)
    server, _ = append_done(server, "s")
    assert isinstance(session_of(server, "z"), Opening)


def test_a_failed_append_forgets_the_session() -> None:
    """V32: streams end with the error; the next request reads the log again."""
    server, _ = ask(Server(), OpenStream("x", "s", Cursor(1, 0)))
    server, _ = log_read(server, "s", EMPTY)
    server, _ = ask(server, PostMessage("r1", "s", Item("a", "n1", "c", 1)))
    server, outs = append_failed(server, "s", "disk full")
    assert ("s", Push("x", StreamClosed("disk full"))) in outs
    assert session_of(server, "s") is None
    _, outs = ask(server, GetSnapshot("r2", "s"))
    assert outs == (("s", ReadLog()),)


def test_what_comes_for_a_session_that_is_not_open() -> None:
    """A late word of the model, and a reader's receipt, find nobody and do nothing."""
    server = Server()
    assert happened(server, "s", ModelDelta(1, 0, "text", "x")) == (server, ())
    assert taken(server, "s", "x") is server


def test_a_snapshot_travels_as_json() -> None:
    """A48, A166: what the endpoint sends is what the reader gets."""
    server, _ = ask(Server(), PostMessage("r1", "s", Item("a", "n1", "c", 1)))
    server, _ = log_read(server, "s", EMPTY)
    server, _ = append_done(server, "s")
    server, _ = append_done(server, "s")
    server, outs = ask(server, GetSnapshot("r2", "s"))
    (reply,) = [out for _, out in outs if isinstance(out, Reply)]
    snapshot = reply.answer.snapshot
    assert snapshot is not None
    assert [row.text for row in snapshot.rows] == ["a"]
    assert snapshot_from(snapshot_json(snapshot)) == snapshot
