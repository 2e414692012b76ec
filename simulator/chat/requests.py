"""What a browser tab and the server say to each other besides events, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from windtunnel.simulator.chat.parts import Item
from windtunnel.simulator.chat.rows import Snapshot
from windtunnel.simulator.chat.window import Cursor
from windtunnel.simulator.chat.wire import Event

CommandName: TypeAlias = Literal["clear", "stop", "interrupt", "send", "continue"]


@dataclass(frozen=True, slots=True)
class GetSnapshot:
    """The canonical history, whole."""

    request: str
    session: str


@dataclass(frozen=True, slots=True)
class OpenStream:
    """The events after a cursor, and all that follow; `conn` names the connection."""

    conn: str
    session: str
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class CloseStream:
    """The reader is gone."""

    conn: str
    session: str


@dataclass(frozen=True, slots=True)
class PostMessage:
    """A message of the person."""

    request: str
    session: str
    item: Item


@dataclass(frozen=True, slots=True)
class PostCommand:
    """A wish of the person; `receipt` makes it happen once."""

    request: str
    session: str
    what: CommandName
    receipt: str
    nonces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PutHistory:
    """An old client's wish to store its own view of the history."""

    request: str
    session: str


Request: TypeAlias = GetSnapshot | OpenStream | CloseStream | PostMessage | PostCommand | PutHistory


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request, with its HTTP status and a stable code.

    `expected` is the number that the client must use next; `position` is where the stream was when it was
    given, which a reader must not take for its own cursor.
    """

    request: str
    status: int
    code: str
    expected: int | None = None
    position: Cursor | None = None
    snapshot: Snapshot | None = None
    cleared: tuple[str, ...] = ()
    session: str = ""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of the stream."""

    event: Event


@dataclass(frozen=True, slots=True)
class StreamResync:
    """The cursor cannot be continued; read a snapshot. Nothing more comes on this connection."""

    code: str
    latest: int
    first: int


@dataclass(frozen=True, slots=True)
class StreamClosed:
    """The server ends the connection: `slow_subscriber`, or the error of an append that failed."""

    code: str


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Where the stream is, said when it is quiet, so that a lost last event is noticed."""

    epoch: int
    seq: int


@dataclass(frozen=True, slots=True)
class RawChunk:
    """A chunk of the transport's own, older protocol; in the mode none that speaks for the assistant is
    sent.
    """

    name: str
    text: str


StreamMessage: TypeAlias = StreamEvent | StreamResync | StreamClosed | Heartbeat | RawChunk
