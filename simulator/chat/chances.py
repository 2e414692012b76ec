"""What can happen next in a world, the quiet way first."""

from __future__ import annotations

from collections.abc import Iterator

from windtunnel.simulator.chat.client import Tab
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.host import Host
from windtunnel.simulator.chat.network import (
    Move,
    Stream,
    World,
)
from windtunnel.simulator.chat.requests import (
    OpenStream,
    StreamClosed,
)
from windtunnel.simulator.chat.server import (
    Opening,
    session_of,
)

# --- what can happen ----------------------------------------------------------------------------------------


def base_moves(world: World) -> Iterator[Move]:
    """What happens anyway, the quiet way first. An act whose moment never comes is done when nothing else
    is left.
    """
    waiting = True
    for move in timely_moves(world):
        waiting = False
        yield move
    if waiting and world.act < len(world.setting.acts):
        yield Move("act")


def timely_moves(world: World) -> Iterator[Move]:
    """Oldest first, the disk before the links, the person before the model, what was delayed at the end."""
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
    return next(timely_moves(waiting), None) is None


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
