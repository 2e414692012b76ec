"""Reads an agent's session file (versions 1, 2 and 3) into a log of ours, and makes a stream it could have
had.

Reading is idempotent by entry id and content digest: what is known already is not read again, and an id that
comes with another content is reported; a missing parent is taken to be the line before. A call without a
result is settled where its run ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.entries import (
    BranchMoved,
    BranchSummary,
    Compacted,
    Entry,
    MessageEnded,
    MessageOpened,
    RunClosed,
    RunOpened,
    SessionOpened,
    ToolClosed,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.logfile import MAX_LINE, LogProblem
from windtunnel.simulator.chat.parts import (
    BadJson,
    Json,
    Part,
    ReasoningPart,
    RunStatus,
    Step,
    TextPart,
    ToolPart,
    json_text,
    json_value,
    sound_json,
)
from windtunnel.simulator.chat.projection import Projection, project

NEWEST: Final = 3
"""The newest version of the format that is known."""

STOPS: Final = ("stop", "length", "toolUse", "error", "aborted")

Known: TypeAlias = tuple[str, str]
"""The id of an entry and the digest of its content."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """One line of the file: its id, minted for version 1, its parent, and what it says."""

    id: str
    parent: str | None
    digest: str
    data: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A session file as a log of ours; `path` is the log of its current branch alone.

    `skipped` counts what has no row, by kind.
    """

    session: str
    version: int
    entries: tuple[Entry, ...]
    path: tuple[Entry, ...]
    sources: tuple[Foreign, ...]
    problems: tuple[LogProblem, ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()


# --- lines --------------------------------------------------------------------------------------------------


def digest_of(data: Json) -> str:
    """The digest of an entry's content."""
    return hashlib.sha256(json_text(data).encode()).hexdigest()


def objects_in(text: str) -> Iterator[tuple[int, Json | str]]:
    """The JSON objects of a file with their line numbers, or what is wrong with a line."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE:
            yield number, f"longer than {MAX_LINE} characters"
            continue
        try:
            data = json_value(line)
        except BadJson as problem:
            yield number, f"not JSON: {problem}"
            continue
        if isinstance(data, dict) and isinstance(data.get("type"), str):
            yield number, data
        else:
            yield number, "no entry of a session"


@dataclass(slots=True)
class Reading:
    """What is known while a file is read."""

    session: str = ""
    version: int = 1
    sources: list[Foreign] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    repeats: dict[str, int] = field(default_factory=dict)
    problems: list[LogProblem] = field(default_factory=list)

    def line(self, number: int, data: Json) -> None:
        """Take one line in."""
        if data["type"] == "session":
            self.header(number, data)
            return
        digest = digest_of(data)
        name = data.get("id")
        if isinstance(name, str) and name:
            parent = data.get("parentId")
            if parent is not None and parent not in self.digests:
                self.problems.append(LogProblem(number, f"{name} has a parent that is not there"))
                parent = self.sources[-1].id if self.sources else None
        elif self.version == 1:
            count = self.repeats[digest] = self.repeats.get(digest, 0) + 1
            name = f"{digest[:12]}-{count}"
            parent = self.sources[-1].id if self.sources else None
        else:
            self.problems.append(LogProblem(number, "an entry without an id"))
            return
        known = self.digests.get(name)
        if known is not None and known != digest:
            self.problems.append(LogProblem(number, f"{name} was there already, with another content"))
        if known is None:
            self.digests[name] = digest
            self.sources.append(Foreign(name, parent, digest, json_text(data)))

    def header(self, number: int, data: Json) -> None:
        """Take the header in."""
        version = data.get("version", 1)
        self.session = self.session or str(data.get("id", ""))
        if not isinstance(version, int) or version not in range(1, NEWEST + 1):
            self.problems.append(LogProblem(number, f"version {version}, read as version {NEWEST}"))
            version = NEWEST
        self.version = version


def read_session(text: str, before: Imported | None = None) -> Imported:
    """A session file as a log; with `before`, what that has already is not taken again. Never raises."""
    reading = Reading()
    if before is not None:
        reading = Reading(before.session, before.version, list(before.sources))
        reading.digests = {source.id: source.digest for source in before.sources}
    for number, data in objects_in(text):
        if isinstance(data, str):
            reading.problems.append(LogProblem(number, data))
        else:
            reading.line(number, data)
    if not reading.session:
        reading.problems.append(LogProblem(1, "no session header"))
    sources = tuple(reading.sources)
    first = Entry("session", SessionOpened(reading.session))
    writer = Writer(sources)
    return Imported(
        reading.session,
        reading.version,
        stamped((first, *writer.write(sources))),
        stamped((first, *Writer(sources).write(current_branch(sources)))),
        sources,
        tuple(reading.problems),
        tuple(sorted(writer.skipped.items())),
    )


def current_branch(sources: tuple[Foreign, ...]) -> tuple[Foreign, ...]:
    """The lines from the root to the last one."""
    by_id = {source.id: source for source in sources}
    path: list[Foreign] = []
    met: set[str] = set()
    name = sources[-1].id if sources else None
    while name is not None and name not in met:
        met.add(name)
        path.append(by_id[name])
        name = by_id[name].parent
    return tuple(reversed(path))


def stamped(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries with the positions that a stream without deltas would have."""
    projection = Projection()
    seq = 0
    done: list[Entry] = []
    for entry in entries:
        projection, bodies = project(projection, entry)
        seq += len(bodies)
        done.append(replace(entry, seq=seq))
    return tuple(done)


# --- messages -----------------------------------------------------------------------------------------------


def blocks_of(content: Any) -> list[Json]:
    """The content blocks of a message, whichever way they are written."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def words_of(content: Any) -> str:
    """The text of a message or result; an image is named, since a row holds none."""
    words = []
    for block in blocks_of(content):
        if block.get("type") == "text":
            words.append(str(block.get("text", "")))
        elif block.get("type") == "image":
            words.append(f"[{block.get('mimeType', 'image')}]")
    return "\n".join(words)


def parts_of(content: Any) -> tuple[Part, ...]:
    """The parts of an assistant message, in their order. Calls that are named alike are told apart."""
    parts: list[Part] = []
    for block in blocks_of(content):
        name = f"p{len(parts) + 1}"
        match block.get("type"):
            case "text":
                parts.append(TextPart(name, str(block.get("text", ""))))
            case "thinking":
                parts.append(ReasoningPart(name, str(block.get("thinking", "")), "done"))
            case "toolCall":
                call = str(block.get("id", "")) or "call"
                count = sum(part.id == call or part.id.startswith(f"{call}~") for part in parts)
                given = sound_json(json_text(block.get("arguments", {})))
                unique = call if not count else f"{call}~{count + 1}"
                parts.append(ToolPart(unique, str(block.get("name", "")), "input-available", given))
            case _:
                pass
    return tuple(parts)


def step_in(data: Json) -> Step | None:
    """The workflow step whose prompt an injected message is, if it is one."""
    details = data.get("details")
    if not isinstance(details, dict):
        return None
    names = ("runId", "nodeId", "attemptId", "completion")
    if not all(isinstance(details.get(name), str) for name in names):
        return None
    limit = details.get("maxOutputChars")
    run, node, attempt, completion = (str(details[name]) for name in names)
    kind = str(details.get("kind", "step"))
    return Step(run, node, attempt, completion, kind, limit if isinstance(limit, int) else None)


def time_of(message: Json) -> int:
    """When a message was written, in ms; 0 where the file does not say."""
    at = message.get("timestamp")
    return at if isinstance(at, int) else 0


# --- the log ------------------------------------------------------------------------------------------------


class Writer:
    """Turns the lines of a session file into entries of ours; lives for one file."""

    def __init__(self, sources: tuple[Foreign, ...]) -> None:
        self.sources = sources
        self.data: dict[str, Json] = {source.id: json_value(source.data) for source in sources}
        self.parents = {source.id: source.parent for source in sources}
        self.planted: dict[str, str | None] = {}
        self.entries: list[Entry] = []
        self.skipped: dict[str, int] = {}
        self.calls: dict[str, dict[str, str]] = {}
        self.run: RunOpened | None = None
        self.status: RunStatus = "ok"
        self.error: str | None = None
        self.open_calls: list[tuple[str, str]] = []
        self.results: dict[tuple[str, str], ToolEnded] = {}
        self.leaf: str | None = None
        self.turns: dict[str, str] = {}

    def write(self, chosen: tuple[Foreign, ...]) -> tuple[Entry, ...]:
        """The entries of the chosen lines; what the other lines say about those is known."""
        self.find_results()
        for source in chosen:
            self.one(source)
        self.close()
        if chosen:
            leaf = self.planted[chosen[-1].id]
            if leaf != self.leaf:
                self.entries.append(Entry("leaf", BranchMoved(2), leaf))
        return tuple(self.entries)

    def find_results(self) -> None:
        """Give each result to the nearest message above it that made the call; an orphan belongs to none."""
        for source in self.sources:
            message = self.message_in(source)
            if message.get("role") == "assistant":
                self.calls[source.id] = {
                    part.id: part.id.split("~")[0]
                    for part in parts_of(message.get("content"))
                    if isinstance(part, ToolPart)
                }
            elif message.get("role") == "toolResult":
                owner = self.owner_of(source, str(message.get("toolCallId", "")))
                if owner is None:
                    self.skip("orphan result")
                    continue
                output = json_text(words_of(message.get("content")))
                self.results[owner] = ToolEnded(*owner, output, message.get("isError") is True)

    def owner_of(self, source: Foreign, call: str) -> tuple[str, str] | None:
        """The message and the part that a result answers."""
        name = source.parent
        met: set[str] = set()
        while name is not None and name not in met:
            met.add(name)
            for part, made in self.calls.get(name, {}).items():
                if made == call and (name, part) not in self.results:
                    return name, part
            name = self.parents.get(name)
        return None

    def message_in(self, source: Foreign) -> Json:
        """The message of a line, empty for another kind."""
        data = self.data[source.id]
        message = data.get("message")
        return message if data["type"] == "message" and isinstance(message, dict) else {}

    def skip(self, kind: str) -> None:
        """Count what has no row."""
        self.skipped[kind] = self.skipped.get(kind, 0) + 1

    def one(self, source: Foreign) -> None:
        """One line of the file."""
        data, message = self.data[source.id], self.message_in(source)
        parent = None if source.parent is None else self.planted.get(source.parent)
        self.planted[source.id] = parent
        if message.get("role") == "user":
            self.user(source, parent, words_of(message.get("content")), None, time_of(message))
        elif message.get("role") == "assistant":
            self.assistant(source, parent, message)
        elif message.get("role") == "toolResult":
            self.result(source, message)
        elif data["type"] == "custom_message" and step_in(data) is not None:
            self.user(source, parent, words_of(data.get("content")), step_in(data), 0)
        elif data["type"] == "compaction":
            kept = data.get("firstKeptEntryId")
            body = Compacted(str(data.get("summary", "")), kept if isinstance(kept, str) else None)
            self.plant(source, parent, body, 0)
        elif data["type"] == "branch_summary":
            gone = BranchSummary(str(data.get("fromId", "")), str(data.get("summary", "")))
            self.plant(source, parent, gone, 0)
        else:
            self.skip(str(message.get("role") or data["type"]))

    def plant(self, source: Foreign, parent: str | None, body: Any, at: int) -> None:
        """A place in the tree; one that does not follow the last begins a run of its own."""
        if parent != self.leaf:
            self.close()
        self.entries.append(Entry(source.id, body, parent, 0, at))
        self.planted[source.id] = self.leaf = source.id
        self.turns[source.id] = self.turns.get(parent or "", f"turn.{source.id}")

    def user(self, source: Foreign, parent: str | None, text: str, step: Step | None, at: int) -> None:
        """A message of the person, or the prompt of a step: a turn begins."""
        self.close()
        self.begin(source.id, f"turn.{source.id}")
        assert self.run is not None, "a run has begun"
        self.plant_in_run(source, parent, UserMessage(self.run.turn, text, step=step), at)

    def plant_in_run(self, source: Foreign, parent: str | None, body: Any, at: int) -> None:
        """A row of the run that is open."""
        assert self.run is not None, "a run has begun"
        self.turns[source.id] = self.run.turn
        self.entries.append(Entry(source.id, body, parent, 0, at))
        self.planted[source.id] = self.leaf = source.id

    def begin(self, name: str, turn: str) -> None:
        """A run begins."""
        self.run = RunOpened(f"run.{name}", turn)
        self.entries.append(Entry(f"{name}.run", self.run))

    def assistant(self, source: Foreign, parent: str | None, message: Json) -> None:
        """A message of the model. One that ended badly takes the results it has with it."""
        if self.run is None or parent != self.leaf:
            self.close()
            self.begin(source.id, self.turns.get(parent or "", f"turn.{source.id}"))
        assert self.run is not None, "a run has begun"
        self.plant_in_run(source, parent, MessageOpened(self.run.turn), time_of(message))
        stop = message.get("stopReason")
        stop = stop if stop in STOPS else "stop"
        parts = parts_of(message.get("content"))
        if stop in ("error", "aborted"):
            parts = tuple(self.with_result(source.id, part) for part in parts)
            self.status = "error" if stop == "error" else "aborted"
            given = message.get("errorMessage")
            self.error = (
                (str(given) if given else "the model stopped with an error") if stop == "error" else None
            )
        else:
            self.status, self.error = "ok", None
            self.open_calls += [(source.id, part.id) for part in parts if isinstance(part, ToolPart)]
        self.entries.append(Entry(f"{source.id}.end", MessageEnded(source.id, parts, stop)))

    def with_result(self, message: str, part: Part) -> Part:
        """A part with the result that the file has for it."""
        ended = self.results.pop((message, part.id), None)
        if not isinstance(part, ToolPart) or ended is None:
            return part
        if ended.is_error:
            return replace(part, state="output-error", error=json_value(ended.output))
        return replace(part, state="output-available", output=ended.output)

    def result(self, source: Foreign, message: Json) -> None:
        """The result of a call, where the file has it, unless its run is over."""
        call = str(message.get("toolCallId", ""))
        for key in self.open_calls:
            if self.calls[key[0]][key[1]] == call and key in self.results:
                self.settle(key, self.results.pop(key))
                return

    def settle(self, key: tuple[str, str], ended: ToolEnded) -> None:
        """A call has its result."""
        self.open_calls.remove(key)
        self.entries.append(Entry(f"{key[0]}.{key[1]}.result", ended))

    def close(self) -> None:
        """The run is over: results that come later in the file belong here, calls without one are settled."""
        if self.run is None:
            return
        for key in tuple(self.open_calls):
            if key in self.results:
                self.settle(key, self.results.pop(key))
        status: RunStatus = self.status
        if self.open_calls and status == "ok":
            status = "aborted"
        state: Any = "output-error" if status == "error" else "aborted"
        tools = tuple(ToolClosed(*key, state) for key in self.open_calls)
        closed = RunClosed(self.run.run, self.run.turn, status, None, tools, self.error)
        self.entries.append(Entry(f"{self.run.run}.closed", closed))
        self.run, self.status, self.error, self.open_calls = None, "ok", None, []


# --- the stream it could have been --------------------------------------------------------------------------


class Splitter:
    """Cuts texts into pieces, the same way for the same seed on every platform."""

    def __init__(self, seed: int) -> None:
        self.state = seed * 2 + 1

    def below(self, limit: int) -> int:
        """A number from 0 up to, not including, `limit`."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % limit

    def pieces(self, text: str) -> Iterator[str]:
        """The text in pieces of one to 40 characters."""
        place = 0
        while place < len(text):
            size = 1 + self.below(40)
            yield text[place : place + size]
            place += size


def synthesise(entries: tuple[Entry, ...], seed: int) -> tuple[wire.Event, ...]:
    """A stream that these entries could have had: deltas, some of which are missing, before whole
    messages.
    """
    wholes: dict[str, MessageEnded] = {}
    for entry in entries:
        ended = entry.body.message if isinstance(entry.body, RunClosed) else entry.body
        if isinstance(ended, MessageEnded):
            wholes.setdefault(ended.message, ended)
    splitter = Splitter(seed)
    projection = Projection()
    epoch = 1
    bodies: list[tuple[int, wire.EventBody]] = []
    for entry in entries:
        projection, more = project(projection, entry)
        if isinstance(entry.body, BranchMoved):
            epoch = entry.body.epoch
        bodies += [(epoch, body) for body in more]
        if isinstance(entry.body, MessageOpened) and entry.id in wholes:
            for part in wholes[entry.id].parts:
                bodies += [(epoch, body) for body in part_stream(entry.id, part, splitter)]
    return tuple(wire.Event(at, seq, body) for seq, (at, body) in enumerate(bodies, start=1))


def part_stream(message: str, part: Part, splitter: Splitter) -> Iterator[wire.EventBody]:
    """The events of one part; one in eight parts is never streamed, one in eight loses its end."""
    fate = splitter.below(8)
    if fate == 0:
        return
    if isinstance(part, ToolPart):
        yield wire.ToolCallStart(message, part.id, part.name)
        given, place = part.input or "{}", 0
        for piece in splitter.pieces(given):
            yield wire.ToolCallDelta(message, part.id, piece, place)
            place += len(piece)
        if fate != 1:
            yield wire.ToolCallEnd(message, part.id, given)
        return
    kind: wire.Prose = "text" if isinstance(part, TextPart) else "reasoning"
    yield wire.ProseStart(kind, message, part.id)
    place = 0
    for piece in splitter.pieces(part.text):
        yield wire.ProseDelta(kind, message, part.id, piece, place)
        place += len(piece)
    if fate != 1:
        yield wire.ProseEnd(kind, message, part.id, part.text)
