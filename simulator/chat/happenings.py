"""What a move does to a world."""

from __future__ import annotations

from typing import Any, get_args

from windtunnel.simulator.chat import client
from windtunnel.simulator.chat.chances import (
    unanswered,
    waiting_requests,
)
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.host import Host, heartbeat
from windtunnel.simulator.chat.logfile import read_lines
from windtunnel.simulator.chat.network import (
    Ghost,
    Late,
    Move,
    Stream,
    World,
    server_did,
    tab_did,
    with_disk,
)
from windtunnel.simulator.chat.requests import (
    Answer,
    CloseStream,
    CommandName,
    Heartbeat,
    OpenStream,
    RawChunk,
    Request,
    StreamClosed,
    StreamEvent,
    StreamMessage,
    StreamResync,
)
from windtunnel.simulator.chat.server import (
    Opening,
    append_done,
    append_failed,
    ask,
    happened,
    log_read,
    session_of,
    taken,
)
from windtunnel.simulator.chat.turns import (
    Heard,
    ModelDone,
    ModelFailed,
    MoveBranch,
    RetryDue,
    ToolDone,
)

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
    if isinstance(late.message, StreamEvent | StreamResync | StreamClosed | Heartbeat | RawChunk):
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
    ghost = overheard(world, call.session, heard_word)
    world = replace(world, calls=calls, ghost=ghost)
    return server_did(world, happened(world.server, call.session, heard_word))


def overheard(world: World, session: str, heard: Heard) -> Ghost:
    """What a bystander keeps of what the model says to a loop that waits for it."""
    host = session_of(world.server, session)
    ghost = world.ghost
    if not isinstance(host, Host) or not isinstance(heard, ModelDone | ModelFailed):
        return ghost
    if (host.loop.phase, host.loop.call) != ("calling", heard.call):
        return ghost
    if isinstance(heard, ModelFailed) or heard.stop == "error":
        return replace(ghost, failures=ghost.failures + 1)
    if heard.stop == "aborted":
        return ghost
    words = "\n".join(each.text for each in heard.contents if each.kind == "text")
    return replace(ghost, said=(*ghost.said, (session, words)))


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
            if act.pick >= len(tab.view.rows):
                return world
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
