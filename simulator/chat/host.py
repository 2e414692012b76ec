"""The host of one session: it numbers what the loop does, appends it, and only then lets anyone see it.

The loop runs ahead of the disk; its batches wait in line as jobs. A job is done when its append is done:
then the window, the snapshot, the subscribers and the answers move, all in one step, so that content and
position are always of one cut. An append that fails delivers nothing and ends every stream with that error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.chunks import may_travel
from windtunnel.simulator.chat.conversation import step
from windtunnel.simulator.chat.entries import (
    BranchMoved,
    Commanded,
    Entry,
    EpochStarted,
    MessageOpened,
)
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.followups import (
    Admission,
    admit_entry,
    expected_of,
    fold_admission,
    judge,
    receipt_of,
    unknown,
)
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.logfile import LogImage, line_of
from windtunnel.simulator.chat.parts import Row
from windtunnel.simulator.chat.pen import Conversation
from windtunnel.simulator.chat.projection import Projection, project
from windtunnel.simulator.chat.reopening import reopen
from windtunnel.simulator.chat.requests import (
    Answer,
    CloseStream,
    GetSnapshot,
    Heartbeat,
    OpenStream,
    PostCommand,
    PostMessage,
    PutHistory,
    RawChunk,
    Request,
    StreamClosed,
    StreamEvent,
    StreamMessage,
    StreamResync,
)
from windtunnel.simulator.chat.rows import Snapshot, Transcript, apply_entry, fold_log, snapshot_of
from windtunnel.simulator.chat.turns import (
    Accept,
    Batch,
    Clear,
    Continue,
    Effect,
    Heard,
    Interrupt,
    LoopEvent,
    Send,
    Settings,
    Stop,
)
from windtunnel.simulator.chat.window import REPLAY_LIMIT, Cursor, Resync, Window, after, publish

SUBSCRIBER_LIMIT: Final = 256
"""How many events may be on their way to one reader before it is cut off."""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A reader of the stream, and how many messages it has not taken yet."""

    conn: str
    backlog: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A batch with its numbers, waiting for its turn at the disk."""

    entries: tuple[Entry, ...]
    events: tuple[wire.Event, ...]
    effects: tuple[Effect, ...]
    told: tuple[LoopEvent, ...]
    opened: Row | None
    raw: tuple[RawChunk, ...] = ()
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Host:
    """`loop`, `admission`, `projection`, `epoch` and `seq` run ahead; the rest is what the disk and readers
    have.

    `writing` is true while the first job is being appended. `broken` is the error that ended the session's
    streams.
    """

    session: str
    loop: Conversation
    admission: Admission
    projection: Projection
    epoch: int
    seq: int
    transcript: Transcript
    settled: Admission
    window: Window
    opened: Row | None = None
    subscribers: tuple[Subscriber, ...] = ()
    jobs: tuple[Job, ...] = ()
    writing: bool = False
    broken: str | None = None
    late: tuple[Answer, ...] = ()
    backlog_limit: int = SUBSCRIBER_LIMIT
    faults: Faults = SOUND


@dataclass(frozen=True, slots=True)
class Write:
    """Append these lines, synced, in one write."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer a request."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Push:
    """Send a message down a stream."""

    conn: str
    message: StreamMessage


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the reference agent, for whoever runs in the same process."""

    event: LoopEvent


Out: TypeAlias = Write | Reply | Push | Told | Effect


# --- opening ------------------------------------------------------------------------------------------------


def replayable(entries: tuple[Entry, ...], limit: int) -> tuple[Projection, Window]:
    """The projection after a log, and the window of its last events that can be made again without a hole."""
    projection = Projection()
    window = Window(limit=limit)
    epoch = 1
    for entry in entries:
        projection, bodies = project(projection, entry)
        if isinstance(entry.body, EpochStarted | BranchMoved):
            epoch = entry.body.epoch
        first = entry.seq - len(bodies) + 1
        if epoch != window.epoch or first != window.latest + 1:
            window = replace(window, epoch=epoch, latest=first - 1, events=())
        for position, body in enumerate(bodies, start=first):
            window = publish(window, wire.Event(epoch, position, body))
        window = replace(window, latest=entry.seq)
    return projection, window


def open_host(
    session: str,
    image: LogImage,
    settings: Settings,
    faults: Faults = SOUND,
    replay_limit: int = REPLAY_LIMIT,
    backlog_limit: int = SUBSCRIBER_LIMIT,
) -> tuple[Host, tuple[Out, ...]]:
    """A host on what the log holds; the first thing it does is to close what was open."""
    transcript = fold_log(image.entries)
    admission = fold_admission(image.entries)
    projection, window = replayable(image.entries, replay_limit)
    loop, batch = reopen(session, image, transcript, settings, faults)
    host = Host(
        session,
        loop,
        admission,
        projection,
        transcript.epoch,
        transcript.seq,
        transcript,
        admission,
        window,
        backlog_limit=backlog_limit,
        faults=faults,
    )
    return enqueue(host, batch)


# --- jobs ---------------------------------------------------------------------------------------------------


def enqueue(host: Host, batch: Batch, answers: tuple[Answer, ...] = ()) -> tuple[Host, tuple[Out, ...]]:
    """Number a batch and put it in line."""
    events: list[wire.Event] = []
    entries: list[Entry] = []
    raw: list[RawChunk] = []
    epoch, seq, projection, admission = host.epoch, host.seq, host.projection, host.admission
    for entry in batch.entries:
        if isinstance(entry.body, BranchMoved):
            entry = replace(entry, body=BranchMoved(epoch + 1))
        if isinstance(entry.body, EpochStarted | BranchMoved):
            epoch = entry.body.epoch
        if isinstance(entry.body, MessageOpened):
            entry = replace(entry, body=replace(entry.body, first_seq=seq + 1))
        projection, bodies = project(projection, entry)
        events += [wire.Event(epoch, seq + place, body) for place, body in enumerate(bodies, start=1)]
        seq += len(bodies)
        entries.append(replace(entry, seq=seq))
        admission = admit_entry(admission, entries[-1])
    mode = projection.mode and not ("C01" in host.faults and len(host.transcript.nodes) <= 2)
    for body in batch.stream:
        seq += 1
        events.append(wire.Event(epoch, seq, body))
        raw += raw_chunks(body, mode)
    if not (entries or events or batch.effects or batch.events or answers):
        return host, ()
    job = Job(tuple(entries), tuple(events), batch.effects, batch.events, batch.opened, tuple(raw), answers)
    host = replace(
        host,
        epoch=epoch,
        seq=seq,
        projection=projection,
        admission=admission,
        jobs=(*host.jobs, job),
    )
    return pump(host)


def raw_chunks(body: wire.EventBody, mode: bool) -> tuple[RawChunk, ...]:
    """What the transport itself would say for a delta, as far as it may."""
    if isinstance(body, wire.ProseDelta) and may_travel(f"{body.kind}-delta", mode):
        return (RawChunk(f"{body.kind}-delta", body.delta),)
    return ()


def pump(host: Host) -> tuple[Host, tuple[Out, ...]]:
    """Do the jobs that need no disk, and hand the first that does to it."""
    outs: tuple[Out, ...] = ()
    while host.jobs and not host.writing and host.broken is None:
        if host.jobs[0].entries:
            lines = tuple(line_of(entry) for entry in host.jobs[0].entries)
            return replace(host, writing=True), (*outs, Write(lines))
        host, more = finish(host)
        outs += more
    return host, outs


def written(host: Host) -> tuple[Host, tuple[Out, ...]]:
    """The append is done and synced."""
    if not host.writing:
        return host, ()
    host, outs = finish(replace(host, writing=False))
    host, more = pump(host)
    return host, outs + more


def write_failed(host: Host, error: str) -> tuple[Host, tuple[Out, ...]]:
    """The append failed: nobody is told what it held. The session has to be opened again from its log."""
    refused = tuple(
        Reply(replace(answer, status=503, code="append_failed", cleared=()))
        for job in host.jobs
        for answer in job.answers
    )
    closed = tuple(Push(reader.conn, StreamClosed(error)) for reader in host.subscribers)
    host = replace(host, broken=error, jobs=(), writing=False, subscribers=())
    return host, (*refused, *closed)


def finish(host: Host) -> tuple[Host, tuple[Out, ...]]:
    """The first job is durable: move everything that shows it, in one step."""
    job = host.jobs[0]
    transcript, settled, window = host.transcript, host.settled, host.window
    for entry in job.entries:
        transcript = apply_entry(transcript, entry)
        settled = admit_entry(settled, entry)
    for event in job.events:
        window = publish(window, event)
    host = replace(
        host,
        transcript=transcript,
        settled=settled,
        window=window,
        opened=job.opened,
        jobs=host.jobs[1:],
    )
    host, pushes = fan_out(host, (*job.raw, *(StreamEvent(event) for event in job.events)))
    host, replies = reply(host, job.answers)
    return host, (*pushes, *replies, *(Told(event) for event in job.told), *job.effects)


def reply(host: Host, answers: tuple[Answer, ...]) -> tuple[Host, tuple[Reply, ...]]:
    """Answer with the position that the log has now."""
    position = Cursor(host.window.epoch, host.window.latest)
    if "C26" in host.faults:
        host = replace(host, late=(*host.late, *(each for each in answers if each.code == "interrupt")))
        answers = tuple(each for each in answers if each.code != "interrupt")
        if host.loop.phase == "idle":
            answers, host = (*answers, *host.late), replace(host, late=())
    return host, tuple(Reply(replace(answer, position=position)) for answer in answers)


def fan_out(host: Host, messages: tuple[StreamMessage, ...]) -> tuple[Host, tuple[Push, ...]]:
    """Send to every reader; one that takes too little is cut off."""
    pushes: list[Push] = []
    kept: list[Subscriber] = []
    for reader in host.subscribers:
        if reader.backlog + len(messages) > host.backlog_limit:
            pushes.append(Push(reader.conn, StreamClosed("slow_subscriber")))
            continue
        pushes += [Push(reader.conn, message) for message in messages]
        kept.append(Subscriber(reader.conn, reader.backlog + len(messages)))
    return replace(host, subscribers=tuple(kept)), tuple(pushes)


def drained(host: Host, conn: str) -> Host:
    """A reader took a message."""
    readers = tuple(
        Subscriber(reader.conn, max(0, reader.backlog - 1)) if reader.conn == conn else reader
        for reader in host.subscribers
    )
    return replace(host, subscribers=readers)


# --- what it hears ------------------------------------------------------------------------------------------


def hear(host: Host, heard: Heard, answers: tuple[Answer, ...] = ()) -> tuple[Host, tuple[Out, ...]]:
    """Something happened to the loop."""
    if host.broken is not None:
        return host, ()
    loop, batch = step(host.loop, heard)
    return enqueue(replace(host, loop=loop), batch, answers)


def serve(host: Host, request: Request) -> tuple[Host, tuple[Out, ...]]:
    """A request from a tab."""
    if isinstance(request, CloseStream):
        return unsubscribe(host, request.conn), ()
    if host.broken is not None:
        if isinstance(request, OpenStream):
            return host, (Push(request.conn, StreamClosed(host.broken)),)
        return host, (Reply(Answer(request.request, 503, "append_failed")),)
    match request:
        case OpenStream():
            return subscribe(host, request)
        case GetSnapshot(name):
            snapshot = snapshot_at(host)
            return host, (Reply(Answer(name, 200, "snapshot", snapshot=snapshot, session=host.session)),)
        case PostMessage():
            return post(host, request)
        case PostCommand():
            return command(host, request)
        case PutHistory(name):
            return host, (Reply(Answer(name, 409, "history_is_canonical")),)


def snapshot_at(host: Host) -> Snapshot:
    """The history and its position, of one cut."""
    return snapshot_of(host.transcript, host.opened, host.window.latest, host.settled.expected, host.faults)


def subscribe(host: Host, request: OpenStream) -> tuple[Host, tuple[Out, ...]]:
    """What the reader missed, and from the same step on all that follows."""
    found = after(host.window, request.cursor)
    if isinstance(found, Resync):
        return host, (Push(request.conn, StreamResync(found.code, found.latest, found.first)),)
    host = unsubscribe(host, request.conn)
    readers = (*host.subscribers, Subscriber(request.conn, len(found.events)))
    pushes = tuple(Push(request.conn, StreamEvent(event)) for event in found.events)
    return replace(host, subscribers=readers), pushes


def unsubscribe(host: Host, conn: str) -> Host:
    """A reader is gone."""
    return replace(host, subscribers=tuple(reader for reader in host.subscribers if reader.conn != conn))


def heartbeat(host: Host) -> Heartbeat:
    """Where the stream is."""
    return Heartbeat(host.window.epoch, host.window.latest)


def post(host: Host, request: PostMessage) -> tuple[Host, tuple[Out, ...]]:
    """A message of the person: judged now, answered when what it changed is durable."""
    item = request.item
    known = host.settled if "C13" in host.faults else host.admission
    verdict = judge(known, item, host.faults)
    status = 202 if verdict in ("accepted", "duplicate", "deleted") else 409
    expected = expected_of(known, item.client) + (verdict == "accepted")
    answer = Answer(request.request, status, verdict, expected)
    if verdict == "accepted":
        return hear(host, Accept(item), (answer,))
    return enqueue(host, Batch(opened=last_opened(host)), (answer,))


def last_opened(host: Host) -> Row | None:
    """The message that streams after every job in line."""
    return host.jobs[-1].opened if host.jobs else host.opened


def command(host: Host, request: PostCommand) -> tuple[Host, tuple[Out, ...]]:
    """A wish of the person; it happens once, and is answered when it is accepted, not when a run ends."""
    done = receipt_of(host.admission, request.receipt)
    if done is not None:
        answer = Answer(request.request, 202, done.what, cleared=done.cleared)
        return enqueue(host, Batch(opened=last_opened(host)), (answer,))
    heard: Heard
    match request.what:
        case "stop":
            heard = Stop(request.receipt)
        case "interrupt":
            heard = Interrupt(request.receipt)
        case "send":
            heard = Send(request.receipt)
        case "continue":
            heard = Continue(request.receipt)
        case "clear":
            missing = unknown(host.admission, request.nonces)
            heard = Clear(request.nonces, request.receipt, missing)
    loop, batch = step(host.loop, heard)
    obeyed = [entry.body for entry in batch.entries if isinstance(entry.body, Commanded)]
    cleared = obeyed[0].cleared if obeyed else ()
    answer = Answer(request.request, 202, request.what, cleared=cleared)
    return enqueue(replace(host, loop=loop), batch, (answer,))
