"""A small deterministic world: tabs, one server, its disk, a mock model and tools, and links that misbehave.

A world is frozen; `moves` lists what can happen next, the quiet way first, and `after_move` does one of
them. Which one is the only choice, so a run is its list of choices. Moves that cost something are faults, or
jump the queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from windtunnel.simulator.chat import client
from windtunnel.simulator.chat.client import SetTimer, Tab, TabOut
from windtunnel.simulator.chat.conversation import DEFAULTS
from windtunnel.simulator.chat.entries import read_lines
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.host import Host, Push, Reply, Told, Write, heartbeat
from windtunnel.simulator.chat.requests import (
    Answer,
    CloseStream,
    CommandName,
    OpenStream,
    Request,
    StreamClosed,
    StreamMessage,
    StreamResync,
)
from windtunnel.simulator.chat.server import (
    Done,
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
from windtunnel.simulator.chat.turns import (
    AbortModel,
    AbortTool,
    CallModel,
    CallSummary,
    CompactDone,
    Content,
    Heard,
    ModelDelta,
    ModelDone,
    ModelFailed,
    ModelPartEnd,
    MoveBranch,
    RetryDue,
    RunTool,
    Settings,
    StartRetryTimer,
    StopRetryTimer,
    ToolDone,
)

Kind: TypeAlias = Literal[
    "reorder", "drop", "delay", "duplicate", "disconnect", "crash", "append", "reload", "timeout"
]
"""What a move that costs something is."""

When: TypeAlias = Literal["now", "quiet", "calling", "streaming", "tools", "retrying", "compacting", "queued"]

Script: TypeAlias = tuple[ModelDelta | ModelPartEnd | ModelDone | ModelFailed, ...]
"""What the model says to one call; the number of the call is filled in."""


@dataclass(frozen=True, slots=True)
class Act:
    """What the person does in a tab, as soon as the session is so.

    `what` is `send` (or `prompt`, `steer`), `remove` (the item of the `pick`-th message of that tab),
    `reload`, `open` (a session), `branch` (to the `pick`-th row), or a command.
    """

    what: str
    text: str = ""
    when: When = "quiet"
    tab: int = 0
    pick: int = 0


@dataclass(frozen=True, slots=True)
class Setting:
    """What is fixed in a world: the acts, what the model says call by call, and which faults may happen."""

    acts: tuple[Act, ...]
    scripts: tuple[Script, ...] = ()
    kinds: frozenset[Kind] = frozenset()
    settings: Settings = DEFAULTS
    tabs: int = 1
    sessions: tuple[str, ...] = ("s",)
    replay_limit: int = 1_000
    faults: Faults = SOUND
    late_calls: bool = False


@dataclass(frozen=True, slots=True)
class Stream:
    """A connection: what is on its way, oldest first; `StreamClosed("lost")` at the end tells of a broken
    one.
    """

    tab: int
    conn: str
    session: str
    messages: tuple[StreamMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class Disk:
    """A log file: whole lines, a torn tail, and the lines that are being appended."""

    session: str
    lines: tuple[str, ...] = ()
    tail: str = ""
    writing: tuple[str, ...] | None = None
    reads: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the model, and what it will still say."""

    session: str
    script: tuple[Heard, ...]
    waited_for: bool = True


@dataclass(frozen=True, slots=True)
class Late:
    """A message that comes when everything else has come: one that was delayed, or the copy of one."""

    tab: int
    message: Request | Answer | StreamMessage
    conn: str = ""


@dataclass(frozen=True, slots=True)
class Ghost:
    """What a bystander remembers, for the properties only.

    `sent` are (nonce, session) of what the person said, `acknowledged` the nonces answered 202 as accepted,
    `wanted` the nonces the person removed, by receipt, `said` what calls that were waited for said to the
    end, `failures` how many broke off, `inside` requests that the server took and did not answer, `broke`
    whether a process or an append broke.
    """

    sent: tuple[tuple[str, str], ...] = ()
    acknowledged: frozenset[str] = frozenset()
    wanted: tuple[tuple[str, tuple[str, ...]], ...] = ()
    said: tuple[tuple[str, str], ...] = ()
    failures: int = 0
    inside: frozenset[str] = frozenset()
    broke: bool = False


UNSEEN: Final = Ghost()


@dataclass(frozen=True, slots=True)
class World:
    """Everything, at one moment."""

    setting: Setting
    server: Server
    tabs: tuple[Tab, ...]
    disks: tuple[Disk, ...]
    requests: tuple[tuple[int, Request], ...] = ()
    answers: tuple[tuple[int, Answer], ...] = ()
    streams: tuple[Stream, ...] = ()
    late: tuple[Late, ...] = ()
    calls: tuple[Call, ...] = ()
    tools: tuple[tuple[str, RunTool], ...] = ()
    timers: tuple[tuple[str, str | int], ...] = ()
    act: int = 0
    script: int = 0
    loads: int = 1
    ghost: Ghost = UNSEEN


@dataclass(frozen=True, slots=True)
class Move:
    """What happens next: `what`, to the `place`-th of its kind. `kind` is None for what happens anyway."""

    what: str
    place: int = 0
    kind: Kind | None = None
    detail: int = 0

    def __str__(self) -> str:
        cost = "" if self.kind is None else f" [{self.kind}]"
        return f"{self.what} {self.place}{f'.{self.detail}' if self.detail else ''}{cost}"


def first_world(setting: Setting) -> World:
    """The world before anything happened: the tabs are just being opened."""
    world = World(
        setting,
        Server(settings=setting.settings, replay_limit=setting.replay_limit, faults=setting.faults),
        (),
        tuple(Disk(session) for session in setting.sessions),
    )
    for number in range(setting.tabs):
        tab, outs = client.load_tab(f"tab{number}", setting.sessions[0], faults=setting.faults)
        world = replace(world, tabs=(*world.tabs, tab))
        world = sent_by(world, number, outs)
    return world


# --- what is done -------------------------------------------------------------------------------------------


def with_tab(world: World, number: int, tab: Tab) -> World:
    """The world with another state of a tab."""
    return replace(world, tabs=(*world.tabs[:number], tab, *world.tabs[number + 1 :]))


def sent_by(world: World, number: int, outs: Iterable[TabOut]) -> World:
    """What a tab sends goes onto its link; its timers are set."""
    for out in outs:
        if isinstance(out, SetTimer):
            key = (f"{number} {out.name}", 0)
            timers = tuple(timer for timer in world.timers if timer != key)
            world = replace(world, timers=(*timers, key))
        else:
            world = replace(world, requests=(*world.requests, (number, out)))
    return world


def tab_did(world: World, number: int, done: tuple[Tab, tuple[TabOut, ...]]) -> World:
    """A tab moved on."""
    tab, outs = done
    return sent_by(with_tab(world, number, tab), number, outs)


def disk_of(world: World, session: str) -> Disk:
    """The log file of a session."""
    return next(disk for disk in world.disks if disk.session == session)


def with_disk(world: World, disk: Disk) -> World:
    """The world with another content of a log file."""
    disks = tuple(disk if each.session == disk.session else each for each in world.disks)
    return replace(world, disks=disks)


def server_did(world: World, done: Done) -> World:
    """The server moved on: its effects reach the disk, the links, the model and the tools."""
    server, outs = done
    world = replace(world, server=server)
    for session, out in outs:
        world = one_effect(world, session, out)
    return world


def one_effect(world: World, session: str, out: object) -> World:
    """One effect of the server."""
    match out:
        case ReadLog():
            disk = disk_of(world, session)
            return with_disk(world, replace(disk, reads=disk.reads + 1))
        case Write(lines):
            disk = disk_of(world, session)
            return with_disk(world, replace(disk, writing=(disk.writing or ()) + lines))
        case Reply(answer):
            owner = int(answer.request.split(".")[0].removeprefix("tab"))
            ghost = replace(world.ghost, inside=world.ghost.inside - {answer.request})
            return replace(world, ghost=ghost, answers=(*world.answers, (owner, answer)))
        case Push(conn, message):
            streams = tuple(
                replace(stream, messages=(*stream.messages, message)) if stream.conn == conn else stream
                for stream in world.streams
            )
            return replace(world, streams=streams)
        case CallModel(call) | CallSummary(call):
            return call_model(world, session, call, isinstance(out, CallSummary))
        case AbortModel(call):
            return abort_call(world, session, call)
        case RunTool():
            return replace(world, tools=(*world.tools, (session, out)))
        case AbortTool(message, call):
            gone = [
                each
                for each in world.tools
                if (each[0], each[1].message, each[1].call) == (session, message, call)
            ]
            return replace(world, tools=tuple(each for each in world.tools if each not in gone))
        case StartRetryTimer(attempt):
            return replace(world, timers=(*world.timers, (session, attempt)))
        case StopRetryTimer():
            return replace(world, timers=tuple(timer for timer in world.timers if timer[0] != session))
        case _:
            assert isinstance(out, Told), f"an effect of the server: {out}"
            return world


def call_model(world: World, session: str, call: int, summary: bool) -> World:
    """The model is asked; it will say what the next script says."""
    if summary:
        return replace(world, calls=(*world.calls, Call(session, (CompactDone(call, "so far"),))))
    scripts = world.setting.scripts
    words = scripts[world.script] if world.script < len(scripts) else says(f"reply {world.script}")
    script = tuple(replace(each, call=call) for each in words)
    return replace(world, script=world.script + 1, calls=(*world.calls, Call(session, script)))


def abort_call(world: World, session: str, number: int) -> World:
    """A call is not waited for any more; a late word may still come."""
    calls: list[Call] = []
    for each in world.calls:
        first = each.script[0]
        if each.session == session and getattr(first, "call", None) == number:
            if world.setting.late_calls:
                calls.append(Call(session, (ModelFailed(number, "the call was aborted"),), False))
        else:
            calls.append(each)
    return replace(world, calls=tuple(calls))


def says(*pieces: str, stop: str = "stop") -> Script:
    """A script: one text, in pieces."""
    deltas = tuple(ModelDelta(0, 0, "text", piece) for piece in pieces)
    return (*deltas, ModelPartEnd(0, 0), ModelDone(0, (Content("text", "".join(pieces)),), stop))


# --- what can happen ----------------------------------------------------------------------------------------


def base_moves(world: World) -> Iterator[Move]:
    """What happens anyway, the quiet way first: oldest first, the disk before the links, the person at the
    end.
    """
    for place, disk in enumerate(world.disks):
        if disk.writing is not None:
            yield Move("append done", place)
        if disk.reads:
            yield Move("log read", place)
    for place, stream in enumerate(world.streams):
        if stream.messages:
            yield Move("stream", place)
    yield from (Move("answer", place) for place in range(len(world.answers)))
    yield from (Move("request", place) for place in range(len(world.requests)))
    if act_is_due(world):
        yield Move("act")
    yield from (Move("model", place) for place in range(len(world.calls)))
    yield from (Move("tool", place) for place in range(len(world.tools)))
    yield from (Move("timer", place) for place in range(len(world.timers)))
    for number, tab in enumerate(world.tabs):
        for place, _ in enumerate(unanswered(world, number, tab)):
            yield Move("no answer", number, detail=place)
        if stream_is_gone(world, number, tab):
            yield Move("no stream", number)
    for place, stream in enumerate(world.streams):
        if wants_heartbeat(world, stream):
            yield Move("heartbeat", place)
    yield from (Move("late", place) for place in range(len(world.late)))


def waiting_requests(tab: Tab) -> tuple[str, ...]:
    """The requests that a tab waits for."""
    hydrating = () if tab.hydrating is None else (tab.hydrating,)
    return (
        *hydrating,
        *(post.request for post in tab.posting),
        *(command.request for command in tab.commands),
    )


def unanswered(world: World, number: int, tab: Tab) -> list[str]:
    """The requests that will not be answered any more: they are on no link and not in the server."""
    waiting = waiting_requests(tab)
    if not waiting:
        return []
    on_links = [*(request for _, request in world.requests), *(answer for _, answer in world.answers)]
    names = {getattr(each, "request", None) for each in (*on_links, *(each.message for each in world.late))}
    return [name for name in waiting if name not in names and name not in world.ghost.inside]


def stream_is_gone(world: World, number: int, tab: Tab) -> bool:
    """Whether a tab waits for a stream that will not come."""
    if tab.conn is None or any(stream.conn == tab.conn for stream in world.streams):
        return False
    asked = (*(each for _, each in world.requests), *(each.message for each in world.late))
    return not any(isinstance(each, OpenStream) and each.conn == tab.conn for each in asked)


def wants_heartbeat(world: World, stream: Stream) -> bool:
    """Whether a stream is quiet and its reader is not where the session is."""
    host = session_of(world.server, stream.session)
    tab = world.tabs[stream.tab]
    if stream.messages or tab.conn != stream.conn or isinstance(host, Opening):
        return False
    if host is None:  # Nobody answers at the other end.
        return True
    if host.jobs:
        return False
    if all(reader.conn != stream.conn for reader in host.subscribers):
        return True
    return (tab.view.epoch, tab.view.last) != (host.window.epoch, host.window.latest)


def act_is_due(world: World) -> bool:
    """Whether the session is as the next act wants it."""
    if world.act >= len(world.setting.acts):
        return False
    act = world.setting.acts[world.act]
    if act.when == "now":
        return True
    host = session_of(world.server, world.tabs[act.tab].session)
    if act.when == "quiet":
        return is_quiet(world)
    if not isinstance(host, Host):
        return False
    match act.when:
        case "calling" | "tools" | "retrying" | "compacting":
            return host.loop.phase == act.when
        case "streaming":
            return host.opened is not None and bool(host.opened.parts)
        case _:
            return bool(host.settled.nonces) and bool(host.transcript.queue)


def is_quiet(world: World) -> bool:
    """Whether nothing happens but by the person, or much later."""
    waiting = replace(world, act=len(world.setting.acts), late=())
    return next(base_moves(waiting), None) is None


def fault_moves(world: World) -> Iterator[Move]:
    """What costs something: links that misbehave, processes and tabs that end."""
    kinds = world.setting.kinds
    if "crash" in kinds and (world.server.sessions or any(disk.writing for disk in world.disks)):
        yield Move("crash", 0, "crash")
        for place, disk in enumerate(world.disks):
            if disk.writing is not None:
                yield from (
                    Move("crash in append", place, "crash", cut) for cut in range(2 * len(disk.writing) + 1)
                )
    if "append" in kinds:
        yield from (
            Move("append failed", place, "append")
            for place, disk in enumerate(world.disks)
            if disk.writing is not None
        )
    for kind in ("drop", "delay", "duplicate"):
        if kind in kinds:
            for link, count in (("request", len(world.requests)), ("answer", len(world.answers))):
                yield from (Move(f"{kind} {link}", place, kind) for place in range(count))
            for place, stream in enumerate(world.streams):
                if stream.messages:
                    yield Move(f"{kind} stream", place, kind)
    for place, stream in enumerate(world.streams):
        if "reorder" in kinds and len(stream.messages) > 1:
            yield Move("swap stream", place, "reorder")
        if "disconnect" in kinds and not broken(stream):
            yield Move("disconnect", place, "disconnect")
    if "reload" in kinds:
        yield from (Move("reload", number, "reload") for number in range(len(world.tabs)))
    if "timeout" in kinds:
        for number, tab in enumerate(world.tabs):
            yield from (
                Move("early timeout", number, "timeout", place) for place in range(len(waiting_requests(tab)))
            )


def broken(stream: Stream) -> bool:
    """Whether a connection is known to be gone."""
    return bool(stream.messages) and stream.messages[-1] == StreamClosed("lost")


def moves(world: World, budget: int) -> tuple[Move, ...]:
    """All that can happen; the first is the quiet way, and the only one without a budget.

    Nothing means that the run is over. Jumping the queue costs like a fault.
    """
    base = tuple(base_moves(world))
    if not base or budget <= 0:
        return base[:1]
    jumps: tuple[Move, ...] = ()
    if "reorder" in world.setting.kinds:
        jumps = tuple(replace(move, kind="reorder") for move in base[1:])
    return (base[0], *jumps, *fault_moves(world))


# --- doing it -----------------------------------------------------------------------------------------------


def after_move(world: World, move: Move) -> World:
    """The world after a move that it allows."""
    match move.what:
        case "append done" | "log read" | "append failed" | "crash" | "crash in append":
            return disk_move(world, move)
        case "stream" | "swap stream" | "disconnect" | "heartbeat":
            return stream_move(world, move)
        case "answer":
            number, answer = world.answers[move.place]
            return deliver_answer(replace(world, answers=cut_out(world.answers, move.place)), number, answer)
        case "request":
            number, request = world.requests[move.place]
            world = replace(world, requests=cut_out(world.requests, move.place))
            return deliver_request(world, number, request)
        case "late":
            return deliver_late(world, move.place)
        case "act":
            return act_move(world)
        case "model" | "tool" | "timer":
            return outside_move(world, move)
        case "no answer" | "early timeout" | "no stream" | "reload":
            return tab_move(world, move)
        case _:
            return link_move(world, move)


def disk_move(world: World, move: Move) -> World:
    """The disk did what it was asked, or could not, or the process ended."""
    disk = world.disks[move.place]
    match move.what:
        case "append done":
            assert disk.writing is not None, "an append is under way"
            world = with_disk(world, replace(disk, lines=disk.lines + disk.writing, writing=None))
            return server_did(world, append_done(world.server, disk.session))
        case "append failed":
            world = with_disk(world, replace(disk, writing=None))
            ghost = replace(world.ghost, broke=True)
            world = forget_outside(replace(world, ghost=ghost), disk.session)
            world = server_did(world, append_failed(world.server, disk.session, "disk full"))
            return settle_inside(world)
        case "log read":
            image = read_lines(disk.lines, disk.tail)
            repaired = (*disk.lines, disk.tail) if image.unended else disk.lines
            world = with_disk(world, replace(disk, lines=repaired, tail="", reads=disk.reads - 1))
            return server_did(world, log_read(world.server, disk.session, image))
        case _:
            return crash(world, move)


def crash(world: World, move: Move) -> World:
    """The server's process ends. Of an append under way a beginning may be on disk, and the last line
    torn.
    """
    for place, disk in enumerate(world.disks):
        kept = disk
        if disk.writing is not None and move.what == "crash in append" and place == move.place:
            whole, torn = divmod(move.detail, 2)
            lines = disk.lines + disk.writing[:whole]
            tail = disk.writing[whole][: len(disk.writing[whole]) // 2] if torn else ""
            kept = replace(disk, lines=lines, tail=tail)
        world = with_disk(world, replace(kept, writing=None, reads=0))
    for session in world.setting.sessions:
        world = forget_outside(world, session)
    streams = tuple(replace(stream, messages=(StreamClosed("lost"),)) for stream in world.streams)
    server = replace(world.server, sessions=())
    ghost = replace(world.ghost, inside=frozenset(), broke=True)
    return replace(world, server=server, streams=streams, ghost=ghost)


def forget_outside(world: World, session: str) -> World:
    """What a session had asked of model, tools and clock goes with its process."""
    return replace(
        world,
        calls=tuple(call for call in world.calls if call.session != session),
        tools=tuple(tool for tool in world.tools if tool[0] != session),
        timers=tuple(timer for timer in world.timers if timer[0] != session),
    )


def settle_inside(world: World) -> World:
    """What waited in a session that is gone will not be answered."""
    held = [each for _, each in world.server.sessions]
    kept: set[str] = set()
    for each in held:
        if isinstance(each, Opening):
            kept |= {
                request.request
                for request in each.waiting
                if not isinstance(request, OpenStream | CloseStream)
            }
        else:
            kept |= {answer.request for job in each.jobs for answer in job.answers}
    return replace(world, ghost=replace(world.ghost, inside=world.ghost.inside & kept))


def with_stream(world: World, place: int, stream: Stream | None) -> World:
    """The world with another state of a connection, or without it."""
    kept = () if stream is None else (stream,)
    return replace(world, streams=(*world.streams[:place], *kept, *world.streams[place + 1 :]))


def stream_move(world: World, move: Move) -> World:
    """Something happened on a connection."""
    stream = world.streams[move.place]
    match move.what:
        case "stream":
            return take_message(world, move.place, stream)
        case "swap stream":
            one, two, *rest = stream.messages
            return with_stream(world, move.place, replace(stream, messages=(two, one, *rest)))
        case "disconnect":
            lost = replace(stream, messages=(StreamClosed("lost"),))
            world = with_stream(world, move.place, lost)
            held = session_of(world.server, stream.session)
            if not isinstance(held, Host):
                return world
            return server_did(world, ask(world.server, CloseStream(stream.conn, stream.session)))
        case _:
            held = session_of(world.server, stream.session)
            said: StreamMessage = StreamClosed("lost")
            if isinstance(held, Host) and any(reader.conn == stream.conn for reader in held.subscribers):
                said = heartbeat(held)
            return with_stream(world, move.place, replace(stream, messages=(said,)))


def take_message(world: World, place: int, stream: Stream) -> World:
    """A tab takes the next message off a connection."""
    message = stream.messages[0]
    over = isinstance(message, StreamClosed | StreamResync)
    world = with_stream(world, place, None if over else replace(stream, messages=stream.messages[1:]))
    world = replace(world, server=taken(world.server, stream.session, stream.conn))
    return deliver_event(world, stream.tab, stream.conn, message)


def deliver_event(world: World, number: int, conn: str, message: StreamMessage) -> World:
    """A message of a stream reaches its tab."""
    return tab_did(world, number, client.hear_stream(world.tabs[number], conn, message))


def cut_out(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    """All but one."""
    return (*items[:place], *items[place + 1 :])


def link_move(world: World, move: Move) -> World:
    """A message is lost, comes much later, or comes once more, much later."""
    verb, link = move.what.split(" ")
    late: Late
    if link == "stream":
        stream = world.streams[move.place]
        late = Late(stream.tab, stream.messages[0], stream.conn)
        if verb != "duplicate":
            world = replace(world, server=taken(world.server, stream.session, stream.conn))
            world = with_stream(world, move.place, replace(stream, messages=stream.messages[1:]))
    elif link == "answer":
        late = Late(*world.answers[move.place])
        if verb != "duplicate":
            world = replace(world, answers=cut_out(world.answers, move.place))
    else:
        late = Late(*world.requests[move.place])
        if verb != "duplicate":
            world = replace(world, requests=cut_out(world.requests, move.place))
    return world if verb == "drop" else replace(world, late=(*world.late, late))


def deliver_late(world: World, place: int) -> World:
    """What was delayed comes."""
    late = world.late[place]
    world = replace(world, late=cut_out(world.late, place))
    if isinstance(late.message, Answer):
        return deliver_answer(world, late.tab, late.message)
    if isinstance(late.message, get_args(StreamMessage)):
        return deliver_event(world, late.tab, late.conn, late.message)
    return deliver_request(world, late.tab, late.message)


def deliver_answer(world: World, number: int, answer: Answer) -> World:
    """An answer reaches its tab."""
    tab = world.tabs[number]
    if answer.status == 202 and answer.code in ("accepted", "duplicate"):
        nonces = [post.item.nonce for post in tab.posting if post.request == answer.request]
        acknowledged = world.ghost.acknowledged.union(nonce for nonce in nonces if nonce is not None)
        world = replace(world, ghost=replace(world.ghost, acknowledged=acknowledged))
    return tab_did(world, number, client.hear_answer(tab, answer))


def deliver_request(world: World, number: int, request: Request) -> World:
    """A request reaches the server."""
    if isinstance(request, CloseStream):
        streams = tuple(stream for stream in world.streams if stream.conn != request.conn)
        world = replace(world, streams=streams)
    elif isinstance(request, OpenStream):
        if all(stream.conn != request.conn for stream in world.streams):
            stream = Stream(number, request.conn, request.session)
            world = replace(world, streams=(*world.streams, stream))
    else:
        ghost = replace(world.ghost, inside=world.ghost.inside | {request.request})
        world = replace(world, ghost=ghost)
    return server_did(world, ask(world.server, request))


def outside_move(world: World, move: Move) -> World:
    """The model, a tool or a clock says something."""
    if move.what == "timer":
        name, value = world.timers[move.place]
        rest = (*world.timers[: move.place], *world.timers[move.place + 1 :])
        world = replace(world, timers=rest)
        if name in world.setting.sessions:
            return server_did(world, happened(world.server, name, RetryDue(int(value))))
        number, timer = name.split(" ")
        return tab_did(world, int(number), client.fired(world.tabs[int(number)], timer))
    if move.what == "tool":
        session, run = world.tools[move.place]
        world = replace(world, tools=(*world.tools[: move.place], *world.tools[move.place + 1 :]))
        heard = ToolDone(run.message, run.call, f'"{run.name} done"', run.name.startswith("bad"))
        return server_did(world, happened(world.server, session, heard))
    call = world.calls[move.place]
    rest_calls = (replace(call, script=call.script[1:]),) if len(call.script) > 1 else ()
    calls = (*world.calls[: move.place], *rest_calls, *world.calls[move.place + 1 :])
    heard_word = call.script[0]
    ghost = world.ghost
    if call.waited_for and isinstance(heard_word, ModelDone) and heard_word.stop in ("stop", "toolUse"):
        words = "\n".join(each.text for each in heard_word.contents if each.kind == "text")
        ghost = replace(ghost, said=(*ghost.said, (call.session, words)))
    if call.waited_for and isinstance(heard_word, ModelFailed):
        ghost = replace(ghost, failures=ghost.failures + 1)
    world = replace(world, calls=calls, ghost=ghost)
    return server_did(world, happened(world.server, call.session, heard_word))


def tab_move(world: World, move: Move) -> World:
    """Something happened in a tab, by itself."""
    tab = world.tabs[move.place]
    match move.what:
        case "no answer":
            name = unanswered(world, move.place, tab)[move.detail]
            return tab_did(world, move.place, client.timed_out(tab, name))
        case "early timeout":
            return tab_did(world, move.place, client.timed_out(tab, waiting_requests(tab)[move.detail]))
        case "no stream":
            assert tab.conn is not None, "a stream is waited for"
            return tab_did(world, move.place, client.lost(tab, tab.conn))
        case _:
            assert move.what == "reload", f"a move: {move}"
            return reload_tab(world, move.place)


def reload_tab(world: World, number: int) -> World:
    """A page is loaded again: what was on its way to the old one is lost."""
    tab = world.tabs[number]
    streams = tuple(stream for stream in world.streams if stream.tab != number)
    gone = [stream for stream in world.streams if stream.tab == number]
    answers = tuple(each for each in world.answers if each[0] != number)
    late = tuple(
        each for each in world.late if each.tab != number or isinstance(each.message, get_args(Request))
    )
    timers = tuple(timer for timer in world.timers if not str(timer[0]).startswith(f"{number} "))
    world = replace(world, streams=streams, answers=answers, timers=timers, late=late)
    world = replace(world, loads=world.loads + 1)
    for stream in gone:
        if isinstance(session_of(world.server, stream.session), Host):
            world = server_did(world, ask(world.server, CloseStream(stream.conn, stream.session)))
    return tab_did(world, number, client.reload(tab, str(world.loads)))


def act_move(world: World) -> World:
    """The person does the next thing."""
    act = world.setting.acts[world.act]
    world = replace(world, act=world.act + 1)
    tab = world.tabs[act.tab]
    match act.what:
        case "send" | "prompt" | "steer":
            kind = "followup" if act.what == "send" else act.what
            before = {one.item.nonce for one in tab.outgoing}
            done = client.send(tab, act.text, kind)
            posted = {post.item.nonce for post in done[0].posting} | {
                one.item.nonce for one in done[0].outgoing
            }
            new = sorted(nonce for nonce in posted - before if nonce is not None)[-1:]
            sent = tuple((nonce, tab.session) for nonce in new)
            world = replace(world, ghost=replace(world.ghost, sent=world.ghost.sent + sent))
            return tab_did(world, act.tab, done)
        case "remove":
            nonce = world.ghost.sent[act.pick][0]
            done = client.press(tab, "clear", (nonce,))
            wanted = tuple((command.receipt, command.nonces) for command in done[0].commands[-1:])
            world = replace(world, ghost=replace(world.ghost, wanted=world.ghost.wanted + wanted))
            return tab_did(world, act.tab, done)
        case "reload":
            return reload_tab(world, act.tab)
        case "open":
            return tab_did(world, act.tab, client.switch(tab, act.text))
        case "branch":
            row = tab.view.rows[act.pick]
            return server_did(world, happened(world.server, tab.session, MoveBranch(row.id)))
        case _:
            return tab_did(world, act.tab, client.press(tab, command_name(act.what)))


def command_name(what: str) -> CommandName:
    """A command that the person gives."""
    match what:
        case "stop" | "interrupt" | "send" | "continue":
            return what
        case _:
            assert what == "release", f"an act: {what}"
            return "send"
