"""A small deterministic world: tabs, one server, its disk, a mock model and tools, and links that misbehave.

A world is frozen; `moves` lists what can happen next, the quiet way first, and `after_move` does one of
them. Which one is the only choice, so a run is its list of choices. Moves that cost something are faults, or
jump the queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from windtunnel.simulator.chat import client
from windtunnel.simulator.chat.client import SetTimer, Tab, TabOut
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.host import Push, Reply, Told, Write
from windtunnel.simulator.chat.pen import DEFAULTS
from windtunnel.simulator.chat.requests import (
    Answer,
    Request,
    StreamMessage,
)
from windtunnel.simulator.chat.server import (
    Done,
    ReadLog,
    Server,
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
    RunTool,
    Settings,
    StartRetryTimer,
    StopRetryTimer,
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
    """What is fixed in a world: the acts, what the model says call by call, and which faults may happen.

    `copies` are tabs that were copied from the first, with its client id.
    """

    acts: tuple[Act, ...]
    scripts: tuple[Script, ...] = ()
    kinds: frozenset[Kind] = frozenset()
    settings: Settings = DEFAULTS
    tabs: int = 1
    sessions: tuple[str, ...] = ("s",)
    copies: int = 0
    replay_limit: int = 1_000
    backlog_limit: int = 256
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
        Server((), setting.settings, setting.replay_limit, setting.backlog_limit, setting.faults),
        (),
        tuple(Disk(session) for session in setting.sessions),
    )
    for number in range(setting.tabs + setting.copies):
        name, load = (f"tab{number}", "1") if number < setting.tabs else ("tab0", f"copy{number}")
        tab, outs = client.load_tab(name, setting.sessions[0], load, faults=setting.faults)
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
            owner = asker(world, answer.request)
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


def asker(world: World, request: str) -> int:
    """The tab that asked, by the name of its request; a load that is gone is taken for its successor."""
    name, load, _ = request.split(".")
    loads = [number for number, tab in enumerate(world.tabs) if (tab.client, tab.load) == (name, load)]
    clients = [number for number, tab in enumerate(world.tabs) if tab.client == name]
    return (loads + clients)[0]


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
                calls.append(Call(session, (ModelFailed(number, "the call was aborted"),)))
        else:
            calls.append(each)
    return replace(world, calls=tuple(calls))


def says(*pieces: str, stop: str = "stop") -> Script:
    """A script: one text, in pieces."""
    deltas = tuple(ModelDelta(0, 0, "text", piece) for piece in pieces)
    return (*deltas, ModelPartEnd(0, 0), ModelDone(0, (Content("text", "".join(pieces)),), stop))
