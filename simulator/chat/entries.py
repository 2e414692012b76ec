"""The session log: one JSON object a line, append only, with the tree of the conversation inside.

An *entry* has an id, minted once; a parent, if it stands in the tree; the position of the event stream after
it; and a body. The current branch is the path from the root to the leaf, and the leaf is the last entry that
has a parent or is a row: never file order. Lines end at `\\n` and nowhere else. A torn last line is cut off,
a damaged line in between is reported and skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from windtunnel.simulator.chat.parts import (
    Item,
    Part,
    RunStatus,
    Step,
    ToolState,
)


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The first entry of a log."""

    session: str


@dataclass(frozen=True, slots=True)
class EpochStarted:
    """Cursors of older epochs are void; `why` is `interrupted` or `torn`."""

    epoch: int
    why: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of the person or, with `step`, the prompt of a workflow step; a row.

    `consumed` says that it leaves the queue with this very entry.
    """

    turn: str
    text: str
    nonce: str | None = None
    client: str | None = None
    number: int | None = None
    consumed: bool = False
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class MessageOpened:
    """An assistant message begins; a row, whose id is the entry's. Deltas may be sent from `first_seq` on."""

    turn: str
    first_seq: int = 0


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """What the message `message` says, whole. A later one for the same message replaces it."""

    message: str
    parts: tuple[Part, ...]
    stop: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """The result of a call; `output` is a JSON text."""

    message: str
    call: str
    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolClosed:
    """A call that will have no result."""

    message: str
    call: str
    state: ToolState


@dataclass(frozen=True, slots=True)
class RunOpened:
    """An agent run begins in a turn."""

    run: str
    turn: str


@dataclass(frozen=True, slots=True)
class RunClosed:
    """An agent run is over, and with it, in the same entry, its open message and its open tools.

    `held` says that the queue waits for the person; `recovered` that a restart closed the run.
    """

    run: str
    turn: str
    status: RunStatus
    message: MessageEnded | None = None
    tools: tuple[ToolClosed, ...] = ()
    error: str | None = None
    held: bool = False
    recovered: bool = False


@dataclass(frozen=True, slots=True)
class RetryStarted:
    """A run ended with an error that may pass; another begins after `delay_ms`."""

    turn: str
    attempt: int
    delay_ms: int


@dataclass(frozen=True, slots=True)
class RetryEnded:
    """The wait is over: `outcome` is `started` or `cancelled`."""

    turn: str
    attempt: int
    outcome: str
    held: bool = False


@dataclass(frozen=True, slots=True)
class Queued:
    """A message was accepted and waits."""

    item: Item


@dataclass(frozen=True, slots=True)
class Commanded:
    """The person said `clear`, `stop`, `interrupt`, `send` or `continue`; `receipt` is the nonce of the
    command.

    `cleared` left the queue with this entry; `barred` were asked to be removed and are not known yet, so
    they must not be accepted later.
    """

    what: str
    receipt: str | None = None
    cleared: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compacted:
    """The model now reads `summary` for everything before `first_kept`; readers see what they saw."""

    summary: str
    first_kept: str | None = None


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """What happened on the branch that was left at `source`."""

    source: str
    summary: str


@dataclass(frozen=True, slots=True)
class BranchMoved:
    """The leaf moved to the entry's parent; `epoch` is the new one, since rows went away."""

    epoch: int


Body: TypeAlias = (
    SessionOpened
    | EpochStarted
    | UserMessage
    | MessageOpened
    | MessageEnded
    | ToolEnded
    | RunOpened
    | RunClosed
    | RetryStarted
    | RetryEnded
    | Queued
    | Commanded
    | Compacted
    | BranchSummary
    | BranchMoved
)

IN_TREE: Final = (UserMessage, MessageOpened, Compacted, BranchSummary, BranchMoved)
"""The bodies that stand in the tree; the others are facts about the session or about a message."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log. `seq` is the position of the stream after the events of this entry; `at` is in
    ms.
    """

    id: str
    body: Body
    parent: str | None = None
    seq: int = 0
    at: int = 0


def leaf_of(entries: Iterable[Entry]) -> str | None:
    """The id at the end of the current branch; None for an empty tree."""
    leaf: str | None = None
    for entry in entries:
        if isinstance(entry.body, BranchMoved):
            leaf = entry.parent
        elif isinstance(entry.body, IN_TREE):
            leaf = entry.id
    return leaf


def path_of(entries: tuple[Entry, ...], leaf: str | None) -> tuple[Entry, ...]:
    """The entries of the tree from the root to `leaf`; a parent that is missing, or met twice, ends the
    walk.
    """
    nodes = {entry.id: entry for entry in entries if isinstance(entry.body, IN_TREE)}
    path: list[Entry] = []
    met: set[str] = set()
    while leaf is not None and leaf in nodes and leaf not in met:
        met.add(leaf)
        path.append(nodes[leaf])
        leaf = nodes[leaf].parent
    return tuple(reversed(path))
