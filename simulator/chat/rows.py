"""The cold fold: entries of the log to rows, queue and activity. A snapshot is this fold at one position.

It knows nothing of events: what a live reader sees is folded elsewhere, from the stream, and both must agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from windtunnel.simulator.chat.entries import (
    BranchMoved,
    BranchSummary,
    Commanded,
    Compacted,
    Entry,
    EpochStarted,
    MessageEnded,
    MessageOpened,
    Queued,
    RetryEnded,
    RetryStarted,
    RunClosed,
    RunOpened,
    SessionOpened,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.parts import (
    ENDED_TOOL,
    Item,
    Json,
    Notice,
    Part,
    Row,
    RowStatus,
    RunStatus,
    TextPart,
    ToolPart,
    ToolState,
    close_part,
    item_json,
    item_of,
    json_value,
    row_json,
    row_of,
)

Activity: TypeAlias = Literal["idle", "running", "retrying"]

STOPPED: Final[dict[str, tuple[RowStatus, ToolState]]] = {
    "error": ("error", "output-error"),
    "aborted": ("aborted", "aborted"),
}
"""What a message and its unfinished tools become when it, or its run, ended badly."""


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree, with its row if it has one."""

    id: str
    parent: str | None
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The fold of a log: the tree with its rows, the queue, what goes on, and the position (`epoch`,
    `seq`).
    """

    nodes: tuple[Node, ...] = ()
    leaf: str | None = None
    open: str | None = None
    queue: tuple[Item, ...] = ()
    held: bool = False
    activity: Activity = "idle"
    outcome: RunStatus | None = None
    turn: str | None = None
    notices: tuple[Notice, ...] = ()
    mode: bool = False
    epoch: int = 1
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a reader is given to start from: content and position of one cut.

    `open` is the message that streams, with its parts so far; `expected` the next number of each client.
    """

    epoch: int
    seq: int
    rows: tuple[Row, ...] = ()
    open: Row | None = None
    queue: tuple[Item, ...] = ()
    held: bool = False
    activity: Activity = "idle"
    outcome: RunStatus | None = None
    turn: str | None = None
    notices: tuple[Notice, ...] = ()
    mode: bool = True
    expected: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What every reader must agree on at a quiet point."""

    rows: tuple[Row, ...]
    queue: tuple[Item, ...]
    held: bool
    activity: Activity
    outcome: RunStatus | None
    turn: str | None
    notices: tuple[Notice, ...]


# --- rows ---------------------------------------------------------------------------------------------------


def settled_status(row: Row, stop: str) -> RowStatus:
    """The status of a row whose message ended with `stop`: it streams on while its tools run."""
    if stop in STOPPED:
        return STOPPED[stop][0]
    return "streaming" if row.pending else "done"


def end_message(row: Row, body: MessageEnded) -> Row:
    """The row as its whole message says; tools that ended keep their end, a row that ended badly stays."""
    if row.status in ("aborted", "error"):
        return row
    ended = {part.id: part for part in row.parts if isinstance(part, ToolPart) and part.state in ENDED_TOOL}
    parts: tuple[Part, ...] = tuple(
        ended.get(part.id, part) if isinstance(part, ToolPart) else part for part in body.parts
    )
    if body.stop in STOPPED:
        parts = tuple(close_part(part, STOPPED[body.stop][1]) for part in parts)
    row = replace(row, parts=parts)
    return replace(row, status=settled_status(row, body.stop))


def output_text(output: str) -> str:
    """A tool's output as words."""
    value = json_value(output)
    return value if isinstance(value, str) else output


def end_tool(row: Row, body: ToolEnded, still_open: bool) -> Row:
    """The row with the result at the call that asked for it; the first end of a call counts."""
    parts: list[Part] = []
    for part in row.parts:
        if isinstance(part, ToolPart) and part.id == body.call and part.state not in ENDED_TOOL:
            if body.is_error:
                part = replace(part, state="output-error", partial="", error=output_text(body.output))
            else:
                part = replace(part, state="output-available", partial="", output=body.output)
        parts.append(part)
    row = replace(row, parts=tuple(parts))
    if row.status == "streaming" and not still_open and not row.pending:
        return replace(row, status="done")
    return row


def close_tool(row: Row, call: str, state: ToolState, status: RowStatus) -> Row:
    """The row with a call that will have no result."""
    parts = tuple(
        close_part(part, state) if isinstance(part, ToolPart) and part.id == call else part
        for part in row.parts
    )
    return replace(row, parts=parts, status=status)


# --- the fold -----------------------------------------------------------------------------------------------


def with_row(transcript: Transcript, row: Row) -> Transcript:
    """The transcript with another content of a row that it has."""
    nodes = transcript.nodes
    for index in range(len(nodes) - 1, -1, -1):
        if nodes[index].id == row.id:
            node = replace(nodes[index], row=row)
            return replace(transcript, nodes=(*nodes[:index], node, *nodes[index + 1 :]))
    return transcript


def row_at(transcript: Transcript, name: str) -> Row | None:
    """The row with an id, newest first."""
    for node in reversed(transcript.nodes):
        if node.id == name:
            return node.row
    return None


def plant(transcript: Transcript, entry: Entry, row: Row | None) -> Transcript:
    """The transcript with one more place in the tree, which becomes the leaf."""
    return replace(transcript, nodes=(*transcript.nodes, Node(entry.id, entry.parent, row)), leaf=entry.id)


def user_row(entry: Entry, body: UserMessage) -> Row:
    """A user message as a row."""
    parts = (TextPart(f"{entry.id}.1", body.text),)
    return Row(entry.id, "user", body.turn, parts, "done", body.nonce, body.step, entry.at)


def close_run(transcript: Transcript, body: RunClosed) -> Transcript:
    """A run is over, with its open message and its open tools."""
    if body.message is not None:
        transcript = apply_message(transcript, body.message)
    status, _ = STOPPED.get(body.status, ("done", "aborted"))
    for tool in body.tools:
        row = row_at(transcript, tool.message)
        if row is not None:
            transcript = with_row(transcript, close_tool(row, tool.call, tool.state, status))
    notices = transcript.notices
    if body.error is not None:
        notices = (*notices, Notice(body.error, body.turn))
    return replace(transcript, activity="idle", outcome=body.status, held=body.held, notices=notices)


def apply_message(transcript: Transcript, body: MessageEnded) -> Transcript:
    """A message is whole."""
    row = row_at(transcript, body.message)
    if row is None:
        return transcript
    still = None if transcript.open == body.message else transcript.open
    return replace(with_row(transcript, end_message(row, body)), open=still)


def without(queue: tuple[Item, ...], nonces: Iterable[str | None]) -> tuple[Item, ...]:
    """The queue without the items of these nonces."""
    gone = frozenset(nonces) - {None}
    return tuple(item for item in queue if item.nonce not in gone)


def apply_entry(transcript: Transcript, entry: Entry) -> Transcript:
    """The transcript after one more entry. Pure; entries that name rows it does not have change nothing
    else.
    """
    return replace(apply_body(transcript, entry), seq=entry.seq)


def apply_body(transcript: Transcript, entry: Entry) -> Transcript:
    """What one entry says, without its position."""
    match entry.body:
        case SessionOpened():
            return replace(transcript, mode=True)
        case EpochStarted(epoch):
            return replace(transcript, epoch=epoch, mode=True)
        case UserMessage(turn, _, nonce, consumed=consumed) as body:
            planted = plant(transcript, entry, user_row(entry, body))
            if consumed:
                planted = replace(planted, queue=without(planted.queue, (nonce,)))
            return replace(planted, turn=turn)
        case MessageOpened(turn):
            row = Row(entry.id, "assistant", turn, (), "streaming", at=entry.at)
            return replace(plant(transcript, entry, row), open=entry.id)
        case MessageEnded() as body:
            return apply_message(transcript, body)
        case ToolEnded(message) as body:
            owner = row_at(transcript, message)
            if owner is None:
                return transcript
            return with_row(transcript, end_tool(owner, body, transcript.open == message))
        case RunOpened(_, turn):
            return replace(transcript, activity="running", turn=turn, held=False)
        case RunClosed() as body:
            return close_run(transcript, body)
        case RetryStarted():
            return replace(transcript, activity="retrying")
        case RetryEnded(_, _, outcome, held):
            return transcript if outcome == "started" else replace(transcript, activity="idle", held=held)
        case Queued(item):
            return replace(transcript, queue=(*transcript.queue, item), held=False)
        case Commanded(_, _, cleared):
            queue = without(transcript.queue, cleared)
            held = transcript.held and bool(queue) and entry.body.what != "send"
            return replace(transcript, queue=queue, held=held)
        case Compacted() | BranchSummary():
            return plant(transcript, entry, None)
        case BranchMoved(epoch):
            return replace(transcript, leaf=entry.parent, epoch=epoch, mode=True)


def fold_log(entries: Iterable[Entry], start: Transcript | None = None) -> Transcript:
    """The transcript of a whole log, or of more entries after `start`."""
    transcript = Transcript() if start is None else start
    for entry in entries:
        transcript = apply_entry(transcript, entry)
    return transcript


def branch_rows(transcript: Transcript, faults: Faults = SOUND) -> tuple[Row, ...]:
    """The rows of the current branch, root to leaf; the open message is among them, without parts."""
    if "C37" in faults:
        return tuple(node.row for node in transcript.nodes if node.row is not None)
    places = {node.id: node for node in transcript.nodes}
    path: list[Row] = []
    leaf = transcript.leaf
    met: set[str] = set()
    while leaf is not None and leaf in places and leaf not in met:
        met.add(leaf)
        row = places[leaf].row
        path += () if row is None else (row,)
        leaf = places[leaf].parent
    return tuple(reversed(path))


def snapshot_of(
    transcript: Transcript,
    open_row: Row | None = None,
    seq: int | None = None,
    expected: tuple[tuple[str, int], ...] = (),
    faults: Faults = SOUND,
) -> Snapshot:
    """The snapshot of one cut: the fold, and the open message with its parts at position `seq`."""
    rows = branch_rows(transcript, faults)
    if "C05" in faults:
        rows = tuple(replace(row, id=f"{transcript.seq}-{index}") for index, row in enumerate(rows))
    if "C14" in faults:
        rows = ()
    opened = open_row
    if opened is None and transcript.open is not None:
        opened = row_at(transcript, transcript.open)
    if opened is not None and "C32" in faults:
        opened = replace(opened, parts=())
    return Snapshot(
        transcript.epoch,
        transcript.seq if seq is None else seq,
        tuple(row for row in rows if row.id != transcript.open),
        opened,
        transcript.queue,
        transcript.held,
        transcript.activity,
        transcript.outcome,
        transcript.turn,
        transcript.notices,
        transcript.mode,
        expected,
    )


def seen(snapshot: Snapshot) -> Seen:
    """What a reader of the snapshot sees."""
    rows = snapshot.rows if snapshot.open is None else (*snapshot.rows, snapshot.open)
    return Seen(
        rows,
        snapshot.queue,
        snapshot.held,
        snapshot.activity,
        snapshot.outcome,
        snapshot.turn,
        snapshot.notices,
    )


# --- JSON ---------------------------------------------------------------------------------------------------


def snapshot_json(snapshot: Snapshot) -> Json:
    """A snapshot as JSON."""
    return {
        "epoch": snapshot.epoch,
        "seq": snapshot.seq,
        "rows": [row_json(row) for row in snapshot.rows],
        "open": None if snapshot.open is None else row_json(snapshot.open),
        "queue": [item_json(item) for item in snapshot.queue],
        "held": snapshot.held,
        "activity": snapshot.activity,
        "outcome": snapshot.outcome,
        "turnId": snapshot.turn,
        "notices": [
            {"message": notice.message, "turnId": notice.turn, "code": notice.code}
            for notice in snapshot.notices
        ],
        "mode": snapshot.mode,
        "expected": dict(snapshot.expected),
    }


def snapshot_from(data: Json) -> Snapshot:
    """The snapshot that JSON holds."""
    opened = data["open"]
    return Snapshot(
        data["epoch"],
        data["seq"],
        tuple(row_of(row) for row in data["rows"]),
        None if opened is None else row_of(opened),
        tuple(item_of(item) for item in data["queue"]),
        data["held"],
        data["activity"],
        data["outcome"],
        data["turnId"],
        tuple(Notice(notice["message"], notice["turnId"], notice["code"]) for notice in data["notices"]),
        data["mode"],
        tuple(sorted(data["expected"].items())),
    )
