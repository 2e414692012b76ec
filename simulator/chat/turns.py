"""What the agent loop hears, asks for and tells, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from windtunnel.simulator.chat.entries import Entry
from windtunnel.simulator.chat.parts import Item, Row, Step
from windtunnel.simulator.chat.wire import EventBody

RETRIES: Final = 2
"""How often a run is repeated after errors that may pass."""

FIRST_BACKOFF_MS: Final = 1_000
LONGEST_BACKOFF_MS: Final = 30_000
"""The wait before the first retry, doubled each time up to the longest."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the loop behaves. `compact_at` is the number of rows on the branch that makes it compact itself.

    `templates` are pairs of a name and a text: a message `/name words` becomes the text, with `$ARGS`
    replaced.
    """

    tools: Literal["sequence", "parallel"] = "sequence"
    followups: Literal["one", "all"] = "one"
    steering: Literal["one", "all"] = "one"
    retries: int = RETRIES
    compact_at: int | None = None
    templates: tuple[tuple[str, str], ...] = ()


# --- what it hears ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accept:
    """A message was admitted."""

    item: Item


@dataclass(frozen=True, slots=True)
class Stop:
    """Abort what runs and clear the queue."""

    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Abort what runs and go on with the first item that waits."""

    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Clear:
    """Remove these items; `unknown` are the nonces among them that were never accepted."""

    nonces: tuple[str, ...]
    receipt: str | None = None
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Send:
    """Release a queue that is held."""

    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the turn that was interrupted, without a new user message."""

    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class PromptStep:
    """The prompt of a workflow step; it is heard while the loop is idle and ignored otherwise."""

    text: str
    step: Step


@dataclass(frozen=True, slots=True)
class Announce:
    """Something that a workflow tells people: a row of its own, which the model is not asked about.

    It is heard while the loop is idle and ignored otherwise.
    """

    text: str
    step: Step


@dataclass(frozen=True, slots=True)
class MoveBranch:
    """Go on from another entry of the tree; heard while idle, ignored otherwise."""

    target: str


@dataclass(frozen=True, slots=True)
class ModelDelta:
    """More of the content at `index`. A tool call is named by `tool` and `name` in its first delta."""

    call: int
    index: int
    kind: Literal["text", "reasoning", "tool"]
    text: str
    tool: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelPartEnd:
    """The content at `index` is whole; `input` is the JSON text of a tool call's input."""

    call: int
    index: int
    input: str = "{}"


@dataclass(frozen=True, slots=True)
class Content:
    """One piece of a whole message; `text` is the input's JSON text for a tool call."""

    kind: Literal["text", "reasoning", "tool"]
    text: str
    tool: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelDone:
    """The message is whole; `stop` is `stop length toolUse error aborted`."""

    call: int
    contents: tuple[Content, ...]
    stop: str = "stop"


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The call broke off."""

    call: int
    error: str
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class ToolDone:
    """A tool ended; `output` is a JSON text."""

    message: str
    call: str
    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A tool that runs says how far it is; nothing of it is kept."""

    message: str
    call: str
    text: str


@dataclass(frozen=True, slots=True)
class RetryDue:
    """The wait before the retry is over."""

    attempt: int


@dataclass(frozen=True, slots=True)
class CompactDone:
    """The summary is there, or None when it failed."""

    call: int
    summary: str | None


Heard: TypeAlias = (
    Accept
    | Stop
    | Interrupt
    | Clear
    | Send
    | Continue
    | PromptStep
    | Announce
    | MoveBranch
    | ModelDelta
    | ModelPartEnd
    | ModelDone
    | ModelFailed
    | ToolDone
    | ToolProgress
    | RetryDue
    | CompactDone
)


# --- what it asks for ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model for the next message."""

    call: int


@dataclass(frozen=True, slots=True)
class AbortModel:
    """Nobody waits for this call any more."""

    call: int


@dataclass(frozen=True, slots=True)
class CallSummary:
    """Ask the model for a summary of the conversation."""

    call: int


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run a tool; `input` is a JSON text."""

    message: str
    call: str
    name: str
    input: str


@dataclass(frozen=True, slots=True)
class AbortTool:
    """Nobody waits for this tool any more."""

    message: str
    call: str


@dataclass(frozen=True, slots=True)
class StartRetryTimer:
    """Say `RetryDue(attempt)` in `delay_ms`."""

    attempt: int
    delay_ms: int


@dataclass(frozen=True, slots=True)
class StopRetryTimer:
    """Nobody waits for the retry any more."""


Effect: TypeAlias = (
    CallModel | AbortModel | CallSummary | RunTool | AbortTool | StartRetryTimer | StopRetryTimer
)


# --- what it tells ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """An event of the reference agent, by its name; `subject` is the id of what it is about."""

    type: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step wants done, in this order, and nothing of it if the append fails.

    Append `entries` in one write; send their events, then `stream`; then ask for `effects`. `opened` is the
    message that streams after it, with its parts so far.
    """

    entries: tuple[Entry, ...] = ()
    stream: tuple[EventBody, ...] = ()
    effects: tuple[Effect, ...] = ()
    events: tuple[LoopEvent, ...] = ()
    opened: Row | None = None
