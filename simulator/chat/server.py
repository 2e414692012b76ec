"""The server: one host per session, opened once, whoever asks first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.host import (
    SUBSCRIBER_LIMIT,
    Host,
    Out,
    drained,
    hear,
    open_host,
    serve,
    write_failed,
    written,
)
from windtunnel.simulator.chat.logfile import LogImage
from windtunnel.simulator.chat.pen import DEFAULTS
from windtunnel.simulator.chat.requests import Request
from windtunnel.simulator.chat.turns import Heard, Settings
from windtunnel.simulator.chat.window import REPLAY_LIMIT


@dataclass(frozen=True, slots=True)
class ReadLog:
    """Read the log of a session."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A session whose log is being read, and who waits for it."""

    waiting: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class Server:
    """The sessions that are open or being opened, by name."""

    sessions: tuple[tuple[str, Host | Opening], ...] = ()
    settings: Settings = DEFAULTS
    replay_limit: int = REPLAY_LIMIT
    backlog_limit: int = SUBSCRIBER_LIMIT
    faults: Faults = SOUND


SessionOut: TypeAlias = tuple[str, Out | ReadLog]
"""What is to be done, and for which session."""

Done: TypeAlias = tuple[Server, tuple[SessionOut, ...]]


def session_of(server: Server, session: str) -> Host | Opening | None:
    """A session, if anyone asked for it yet."""
    return dict(server.sessions).get(session)


def with_session(server: Server, session: str, held: Host | Opening) -> Server:
    """The server with another state of a session."""
    return replace(server, sessions=tuple(sorted((dict(server.sessions) | {session: held}).items())))


def tagged(server: Server, session: str, host: Host, outs: tuple[Out, ...]) -> Done:
    """The server after a host did something."""
    return with_session(server, session, host), tuple((session, out) for out in outs)


def ask(server: Server, request: Request) -> Done:
    """A request; the first for a session has its log read, the others wait with it."""
    session = request.session
    held = session_of(server, session)
    if isinstance(held, Host):
        return tagged(server, session, *serve(held, request))
    if held is None:
        return with_session(server, session, Opening((request,))), ((session, ReadLog()),)
    again: tuple[SessionOut, ...] = ((session, ReadLog()),) if "C23" in server.faults else ()
    return with_session(server, session, Opening((*held.waiting, request))), again


def log_read(server: Server, session: str, image: LogImage) -> Done:
    """The log is here: open the session and serve who waits. A second reading is of no use."""
    held = session_of(server, session)
    if isinstance(held, Host) and "C23" not in server.faults:
        return server, ()
    waiting = held.waiting if isinstance(held, Opening) else ()
    host, outs = open_host(
        session, image, server.settings, server.faults, server.replay_limit, server.backlog_limit
    )
    for request in waiting:
        host, more = serve(host, request)
        outs += more
    return tagged(server, session, host, outs)


def append_done(server: Server, session: str) -> Done:
    """An append is durable."""
    held = session_of(server, session)
    assert isinstance(held, Host), "only an open session appends"
    return tagged(server, session, *written(held))


def append_failed(server: Server, session: str, error: str) -> Done:
    """An append failed; the session is forgotten and opened again from its log when someone asks."""
    held = session_of(server, session)
    assert isinstance(held, Host), "only an open session appends"
    _, outs = write_failed(held, error)
    rest = tuple((name, each) for name, each in server.sessions if name != session)
    return replace(server, sessions=rest), tuple((session, out) for out in outs)


def happened(server: Server, session: str, heard: Heard) -> Done:
    """The model, a tool or a timer said something; for a session that is not open it is too late."""
    held = session_of(server, session)
    if not isinstance(held, Host):
        return server, ()
    return tagged(server, session, *hear(held, heard))


def taken(server: Server, session: str, conn: str) -> Server:
    """A reader took a message off its stream."""
    held = session_of(server, session)
    return with_session(server, session, drained(held, conn)) if isinstance(held, Host) else server
