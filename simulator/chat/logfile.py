"""The log as a file: entries to lines and back, torn tails, damaged lines.

Lines end at `\\n` and nowhere else. A torn last line is cut off, a damaged line in between is reported and
skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from windtunnel.simulator.chat.entries import (
    Body,
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
    ToolClosed,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.parts import (
    BadJson,
    Json,
    item_json,
    item_of,
    json_text,
    json_value,
    part_json,
    part_of,
    step_json,
    step_of,
    text_at,
    without_none,
)

VERSION: Final = 1
"""The version of the format; a file of a newer one is not read."""

MAX_LINE: Final = 64 * 1024 * 1024
"""The longest line, in characters; a longer one is reported as damaged."""


@dataclass(frozen=True, slots=True)
class LogProblem:
    """A line that could not be used, counted from 1."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class LogImage:
    """What a log file holds. `torn` is the end of the file that has to be cut off; `unended` asks for a
    newline.
    """

    entries: tuple[Entry, ...]
    problems: tuple[LogProblem, ...] = ()
    torn: str = ""
    unended: bool = False


# --- one line -----------------------------------------------------------------------------------------------


def message_json(body: MessageEnded) -> Json:
    """A whole message as JSON."""
    return {
        "messageId": body.message,
        "parts": [part_json(part) for part in body.parts],
        "stopReason": body.stop,
    }


def message_of(data: Json) -> MessageEnded:
    """The whole message that JSON holds."""
    return MessageEnded(data["messageId"], tuple(part_of(part) for part in data["parts"]), data["stopReason"])


def user_json(body: UserMessage) -> Json:
    """A user row as JSON; a step's fields stand beside it."""
    step = {} if body.step is None else {"step": step_json(body.step)}
    return step | without_none(
        {
            "role": "user",
            "turnId": body.turn,
            "text": body.text,
            "clientNonce": body.nonce,
            "clientId": body.client,
            "clientSeq": body.number,
            "consumed": body.consumed or None,
        }
    )


def user_of(data: Json) -> UserMessage:
    """The user row that JSON holds."""
    step = data.get("step")
    return UserMessage(
        data["turnId"],
        data["text"],
        data.get("clientNonce"),
        data.get("clientId"),
        data.get("clientSeq"),
        data.get("consumed", False),
        None if step is None else step_of(step),
    )


def closed_json(body: RunClosed) -> Json:
    """The end of a run as JSON."""
    return without_none(
        {
            "runId": body.run,
            "turnId": body.turn,
            "status": body.status,
            "message": None if body.message is None else message_json(body.message),
            "tools": [
                {"messageId": tool.message, "toolCallId": tool.call, "state": tool.state}
                for tool in body.tools
            ],
            "error": body.error,
            "held": body.held,
            "recovered": body.recovered or None,
        }
    )


def closed_of(data: Json) -> RunClosed:
    """The end of a run that JSON holds."""
    message = data.get("message")
    return RunClosed(
        data["runId"],
        data["turnId"],
        data["status"],
        None if message is None else message_of(message),
        tuple(ToolClosed(tool["messageId"], tool["toolCallId"], tool["state"]) for tool in data["tools"]),
        data.get("error"),
        data["held"],
        data.get("recovered", False),
    )


def ended_json(body: ToolEnded) -> Json:
    """A tool result as JSON."""
    return {
        "messageId": body.message,
        "toolCallId": body.call,
        "output": json_value(body.output),
        "isError": body.is_error,
    }


def ended_of(data: Json) -> ToolEnded:
    """The tool result that JSON holds."""
    output = text_at(data, "output")
    if output is None:
        raise BadJson("a result without output")
    return ToolEnded(data["messageId"], data["toolCallId"], output, data["isError"])


def fields(**names: str) -> tuple[Callable[[Any], Json], Callable[[type[Any]], Callable[[Json], Any]]]:
    """Writer and reader of a body whose attributes stand under other names, missing where None."""

    def write(body: Any) -> Json:
        return without_none({outer: getattr(body, inner) for inner, outer in names.items()})

    def reader(made: type[Any]) -> Callable[[Json], Any]:
        return lambda data: made(**{inner: data[outer] for inner, outer in names.items() if outer in data})

    return write, reader


Codec: TypeAlias = tuple[Callable[[Any], Json], Callable[[Json], Body]]


def plain(made: type[Any], **names: str) -> Codec:
    """The codec of a body that holds only texts, numbers and truths."""
    write, reader = fields(**names)
    return write, reader(made)


CODECS: Final[dict[type[Any], tuple[str, Codec]]] = {
    SessionOpened: ("session", plain(SessionOpened, session="sessionId")),
    EpochStarted: ("epoch", plain(EpochStarted, epoch="epoch", why="why")),
    UserMessage: ("message", (user_json, user_of)),
    MessageOpened: ("message-open", plain(MessageOpened, turn="turnId", first_seq="firstSeq")),
    MessageEnded: ("message-end", (message_json, message_of)),
    ToolEnded: ("tool-result", (ended_json, ended_of)),
    RunOpened: ("run-open", plain(RunOpened, run="runId", turn="turnId")),
    RunClosed: ("run-close", (closed_json, closed_of)),
    RetryStarted: ("retry-start", plain(RetryStarted, turn="turnId", attempt="attempt", delay_ms="delayMs")),
    RetryEnded: (
        "retry-end",
        plain(RetryEnded, turn="turnId", attempt="attempt", outcome="outcome", held="held"),
    ),
    Queued: (
        "queued",
        (lambda body: {"item": item_json(body.item)}, lambda data: Queued(item_of(data["item"]))),
    ),
    Commanded: (
        "command",
        (
            lambda body: without_none(
                {
                    "what": body.what,
                    "receipt": body.receipt,
                    "cleared": list(body.cleared),
                    "barred": list(body.barred),
                }
            ),
            lambda data: Commanded(
                data["what"], data.get("receipt"), tuple(data["cleared"]), tuple(data["barred"])
            ),
        ),
    ),
    Compacted: ("compaction", plain(Compacted, summary="summary", first_kept="firstKeptId")),
    BranchSummary: ("branch-summary", plain(BranchSummary, source="fromId", summary="summary")),
    BranchMoved: ("branch", plain(BranchMoved, epoch="epoch")),
}
READERS: Final = {kind: codec[1] for kind, codec in CODECS.values()} | {"workflow-step": user_of}


def kind_of(body: Body) -> str:
    """The kind under which a body stands in the log."""
    if isinstance(body, UserMessage) and body.step is not None:
        return "workflow-step"
    return CODECS[type(body)][0]


@lru_cache(maxsize=1 << 14)
def line_of(entry: Entry) -> str:
    """An entry as the line that is appended, without its newline."""
    head: Json = {"kind": kind_of(entry.body), "id": entry.id, "parentId": entry.parent, "seq": entry.seq}
    if isinstance(entry.body, SessionOpened):
        head["version"] = VERSION
    if entry.at:
        head["at"] = entry.at
    return json_text(head | CODECS[type(entry.body)][1][0](entry.body))


@lru_cache(maxsize=1 << 14)
def entry_of(line: str) -> Entry:
    """The entry that a line holds; raises BadJson with the reason where it holds none."""
    if len(line) > MAX_LINE:
        raise BadJson(f"longer than {MAX_LINE} characters")
    data = json_value(line)
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise BadJson("no entry of a session log")
    if data["kind"] not in READERS:
        raise BadJson(f"no entry of kind {data['kind']}")
    if data["kind"] == "session" and data.get("version") != VERSION:
        raise BadJson(f"version {data.get('version')}, this reads {VERSION}")
    try:
        entry = Entry(
            data["id"], READERS[data["kind"]](data), data.get("parentId"), data["seq"], data.get("at", 0)
        )
        hash(entry)  # What is no text or number where one belongs cannot be hashed.
    except (KeyError, TypeError, AttributeError) as problem:
        raise BadJson(f"{data['kind']} lacks or garbles {problem}") from None
    if not isinstance(entry.id, str) or not isinstance(entry.seq, int) or not isinstance(entry.at, int):
        raise BadJson(f"{data['kind']} has no id, seq or time")
    return entry


# --- the whole file -----------------------------------------------------------------------------------------


def read_log(text: str) -> LogImage:
    """What a log file holds; damaged lines are reported and skipped, a torn last one is to be cut off."""
    lines = text.split("\n")
    return read_lines(tuple(lines[:-1]), lines[-1])


def read_lines(lines: tuple[str, ...], tail: str = "") -> LogImage:
    """The same for a file already cut at `\\n`; `tail` is what stands after the last newline."""
    entries: list[Entry] = []
    problems: list[LogProblem] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entries.append(entry_of(line.removesuffix("\r")))
        except BadJson as problem:
            problems.append(LogProblem(number, str(problem)))
    if not tail:
        return LogImage(tuple(entries), tuple(problems))
    try:
        return LogImage((*entries, entry_of(tail)), tuple(problems), unended=True)
    except BadJson:
        problems.append(LogProblem(len(lines) + 1, "the last line is not finished"))
        return LogImage(tuple(entries), tuple(problems), tail)


def write_log(entries: Iterable[Entry]) -> str:
    """The text of a log file."""
    return "".join(line_of(entry) + "\n" for entry in entries)
