"""Server to client events as frozen data, their JSON form, and the chunks they travel in.

An *event* is a position (`epoch`, `seq`) and a body. Unknown fields are ignored; an unknown kind decodes to
`Unknown`, which a reader reports and skips.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from windtunnel.simulator.chat.parts import (
    Item,
    Part,
    Role,
    RunStatus,
    Step,
)

Prose: TypeAlias = Literal["text", "reasoning"]


@dataclass(frozen=True, slots=True)
class Mode:
    """From here on the projection owns the history of the session."""

    enabled: bool = True


@dataclass(frozen=True, slots=True)
class AgentStart:
    """An agent run begins."""

    turn: str | None = None


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """An agent run is over."""

    status: RunStatus = "ok"
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class MessageStart:
    """A message begins; a user's is whole at once."""

    message: str
    role: Role
    turn: str | None = None
    nonce: str | None = None
    text: str | None = None
    step: Step | None = None
    at: int = 0


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole message."""

    id: str
    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class MessageEnd:
    """A message is whole: `final` is what it says. `stop` is why it ended; None from an old server."""

    message: str
    role: Role
    final: Whole
    turn: str | None = None
    stop: str | None = None


@dataclass(frozen=True, slots=True)
class ProseStart:
    """A text or reasoning part begins."""

    kind: Prose
    message: str
    part: str


@dataclass(frozen=True, slots=True)
class ProseDelta:
    """More of a text or reasoning part; `offset` is where it goes, in code points, None from an old
    server.
    """

    kind: Prose
    message: str
    part: str
    delta: str
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class ProseEnd:
    """A text or reasoning part is whole."""

    kind: Prose
    message: str
    part: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A tool call begins."""

    message: str
    call: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the input's text."""

    message: str
    call: str
    delta: str
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """The input is whole; a JSON text."""

    message: str
    call: str
    input: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A call ended; `output` is a JSON text."""

    message: str
    call: str
    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class QueueUpdated:
    """The whole queue; `held` says that it waits for the person."""

    queue: tuple[Item, ...]
    held: bool = False


@dataclass(frozen=True, slots=True)
class FollowupConsumed:
    """A queued item became the user message `message`."""

    message: str
    nonce: str | None = None


@dataclass(frozen=True, slots=True)
class RetryStart:
    """Another run begins after `delay_ms`."""

    attempt: int
    delay_ms: int
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class RetryEnd:
    """The wait before the retry is over: `started` or `cancelled`."""

    attempt: int
    outcome: str
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """Something went wrong in a turn."""

    message: str
    turn: str | None = None
    code: str = "run_failed"


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of a kind that this reader does not know."""

    kind: str


EventBody: TypeAlias = (
    Mode
    | AgentStart
    | AgentEnd
    | MessageStart
    | MessageEnd
    | ProseStart
    | ProseDelta
    | ProseEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | ToolResult
    | QueueUpdated
    | FollowupConsumed
    | RetryStart
    | RetryEnd
    | Error
    | Unknown
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the stream of a session."""

    epoch: int
    seq: int
    body: EventBody
