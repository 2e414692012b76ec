"""One browser tab: it follows the stream of a session, posts what the person says one at a time, and starts
anew.

What lasts over a reload is the outbox and the counters, never the history: that comes from the server.
Everything it sends may be lost, doubled or late; each is said again under the same name until it is
answered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.optimistic import (
    add_optimistic,
    clear_items,
    drop_optimistic,
    drop_settled,
    mark_accepted,
)
from windtunnel.simulator.chat.parts import Item
from windtunnel.simulator.chat.reducer import hear_heartbeat, hear_raw, hydrate, reduce_event, warn
from windtunnel.simulator.chat.requests import (
    Answer,
    CloseStream,
    CommandName,
    GetSnapshot,
    Heartbeat,
    OpenStream,
    PostCommand,
    PostMessage,
    RawChunk,
    Request,
    StreamClosed,
    StreamEvent,
    StreamMessage,
    StreamResync,
)
from windtunnel.simulator.chat.view import NeedsResync, Pending, ViewState
from windtunnel.simulator.chat.window import Cursor

FIRST_WAIT_MS: Final = 500
LONGEST_WAIT_MS: Final = 30_000
"""The wait before something is tried again, doubled each time up to the longest."""


NOTHING_SEEN: Final = ViewState()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message that the server has not acknowledged; `number` is given when it is first posted, and kept."""

    session: str
    item: Item


@dataclass(frozen=True, slots=True)
class Tab:
    """`client`, `outgoing`, `numbers` and `minted` last over a reload; the rest does not.

    `posting` and `commands` are requests without an answer, `hydrating` the snapshot that is waited for,
    `conn` the stream that is followed, `failures` what went wrong in a row. `load` tells reloads and copies
    of a tab apart.
    """

    client: str
    session: str
    load: str = "1"
    view: ViewState = NOTHING_SEEN
    outgoing: tuple[Outgoing, ...] = ()
    numbers: tuple[tuple[str, int], ...] = ()
    minted: int = 0
    posting: tuple[PostMessage, ...] = ()
    commands: tuple[PostCommand, ...] = ()
    hydrating: str | None = None
    conn: str | None = None
    failures: int = 0
    faults: Faults = SOUND


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Say `fired(name)` in `delay_ms`; `name` is `connect` or `post`."""

    name: str
    delay_ms: int


TabOut: TypeAlias = Request | SetTimer
Done: TypeAlias = tuple[Tab, tuple[TabOut, ...]]


def mint(tab: Tab, letter: str) -> tuple[Tab, str]:
    """A new name, that no other tab, copy or load of this tab gives."""
    tab = replace(tab, minted=tab.minted + 1)
    return tab, f"{tab.client}.{tab.load}.{letter}{tab.minted}"


def wait_ms(failures: int) -> int:
    """How long to wait after so many failures in a row."""
    return min(FIRST_WAIT_MS << min(failures, 16), LONGEST_WAIT_MS)


# --- connection ---------------------------------------------------------------------------------------------


def fresh_view(tab: Tab) -> ViewState:
    """A view of a session of which only the own outbox is known."""
    outbox = tuple(Pending(each.item) for each in tab.outgoing if each.session == tab.session)
    return ViewState(outbox=outbox, faults=tab.faults)


def load_tab(
    client: str, session: str, load: str = "1", old: Tab | None = None, faults: Faults = SOUND
) -> Done:
    """A tab that was opened, or, with `old`, reloaded with what lasted."""
    tab = Tab(client, session, load, faults=faults)
    if old is not None:
        tab = replace(tab, outgoing=old.outgoing, numbers=old.numbers, minted=old.minted)
    tab = replace(tab, view=fresh_view(tab))
    return then(connect(tab), post_next)


def then(done: Done, more: Callable[[Tab], Done]) -> Done:
    """One thing after another."""
    tab, outs = done
    tab, rest = more(tab)
    return tab, (*outs, *rest)


def connect(tab: Tab) -> Done:
    """Follow the stream from where the view stands; where it stands nowhere, read a snapshot first."""
    if tab.view.hydrated and tab.view.resync is None:
        tab, conn = mint(tab, "c")
        cursor = Cursor(tab.view.epoch, tab.view.last)
        return replace(tab, conn=conn), (OpenStream(conn, tab.session, cursor),)
    tab, request = mint(tab, "r")
    return replace(tab, hydrating=request), (GetSnapshot(request, tab.session),)


def disconnect(tab: Tab) -> Done:
    """Leave the stream."""
    if tab.conn is None:
        return tab, ()
    return replace(tab, conn=None), (CloseStream(tab.conn, tab.session),)


def retry_later(tab: Tab, timer: str) -> Done:
    """Something failed: try again after a while."""
    return replace(tab, failures=tab.failures + 1), (SetTimer(timer, wait_ms(tab.failures)),)


def resync(tab: Tab) -> Done:
    """The view needs a snapshot; what it shows stays until that is here."""
    return then(disconnect(tab), connect)


def lost(tab: Tab, conn: str) -> Done:
    """The stream broke off."""
    if tab.conn != conn:
        return tab, ()
    return retry_later(replace(tab, conn=None), "connect")


def hear_stream(tab: Tab, conn: str, message: StreamMessage) -> Done:
    """A message of a stream; an old stream is closed."""
    if tab.conn != conn:
        return tab, (CloseStream(conn, tab.session),)
    match message:
        case StreamEvent(event):
            view = reduce_event(tab.view, event)
        case Heartbeat(epoch, seq):
            view = hear_heartbeat(tab.view, epoch, seq)
        case RawChunk(_, text):
            view = hear_raw(tab.view, text)
        case StreamResync(_, latest, _):
            view = replace(tab.view, resync=NeedsResync(tab.view.last + 1, latest, tab.view.last))
            return resync(replace(tab, view=view, conn=None))
        case StreamClosed():
            return lost(tab, conn)
    tab = replace(tab, view=view, failures=0)
    return resync(tab) if view.resync is not None else (tab, ())


def hear_snapshot(tab: Tab, answer: Answer) -> Done:
    """A snapshot, awaited or late; how old it is decides whether it counts."""
    awaited = answer.request == tab.hydrating
    if answer.snapshot is not None and answer.session == tab.session:
        tab = replace(tab, view=hydrate(tab.view, answer.snapshot))
        # A number is learnt here only while none is known: a message may be on its way.
        expected = dict(answer.snapshot.expected).get(tab.client, 1)
        if tab.session not in dict(tab.numbers):
            tab = with_number(tab, tab.session, expected)
    if not awaited:
        return tab, ()
    tab = replace(tab, hydrating=None)
    if answer.snapshot is None:
        return retry_later(
            replace(tab, view=warn(tab.view, "the history could not be loaded; trying again")), "connect"
        )
    return retry_later(tab, "connect") if tab.view.resync is not None else connect(tab)


# --- saying something ---------------------------------------------------------------------------------------


def send(tab: Tab, text: str, kind: str = "followup") -> Done:
    """The person says something: it is shown at once and posted when its turn comes."""
    tab, nonce = mint(tab, "n")
    item = Item(text, nonce, tab.client, None, kind)
    tab = replace(
        tab,
        outgoing=(*tab.outgoing, Outgoing(tab.session, item)),
        view=add_optimistic(tab.view, item),
    )
    return post_next(tab)


def with_number(tab: Tab, session: str, number: int) -> Tab:
    """The next number of a session is this."""
    return replace(tab, numbers=tuple(sorted((dict(tab.numbers) | {session: number}).items())))


def post_next(tab: Tab) -> Done:
    """Post the oldest message of each session that waits for no answer."""
    outs: list[TabOut] = []
    busy = [post.session for post in tab.posting]
    sent = {post.item.nonce for post in tab.posting}
    for place, each in enumerate(tab.outgoing):
        parallel = "C08" in tab.faults
        if (each.session in busy and not parallel) or each.item.nonce in sent:
            continue
        busy.append(each.session)
        item = each.item
        if item.number is None:
            item = replace(item, number=dict(tab.numbers).get(each.session, 1) + (place if parallel else 0))
        tab, request = mint(tab, "r")
        session = tab.session if "C11" in tab.faults else each.session
        post = PostMessage(request, session, item)
        outgoing = tuple(Outgoing(one.session, item) if one == each else one for one in tab.outgoing)
        if "C09" in tab.faults:
            outgoing = tuple(one for one in tab.outgoing if one != each)
        tab = replace(tab, outgoing=outgoing, posting=(*tab.posting, post))
        outs.append(post)
    return tab, tuple(outs)


def hear_post(tab: Tab, post: PostMessage, answer: Answer) -> Done:
    """The server answered to a post: go on with the next one, or say the same again with the right number."""
    tab = replace(tab, posting=tuple(each for each in tab.posting if each is not post))
    session = next((one.session for one in tab.outgoing if one.item.nonce == post.item.nonce), post.session)
    if answer.status == 503:
        return retry_later(tab, "post")
    if answer.expected is not None:
        tab = with_number(tab, session, answer.expected)
    if answer.status == 409:
        outgoing = tuple(
            Outgoing(one.session, replace(one.item, number=None))
            if one.item.nonce == post.item.nonce
            else one
            for one in tab.outgoing
        )
        return post_next(replace(tab, outgoing=outgoing))
    tab = replace(
        tab, outgoing=tuple(one for one in tab.outgoing if one.item.nonce != post.item.nonce), failures=0
    )
    view = tab.view
    if answer.code == "deleted":
        view = drop_optimistic(view, (post.item.nonce,))
    elif post.item.nonce is not None:
        view = drop_settled(mark_accepted(view, post.item.nonce, answer.position))
    if "C25" in tab.faults and answer.position is not None:
        view = replace(view, last=max(view.last, answer.position.seq))
    return post_next(replace(tab, view=view))


# --- wishes -------------------------------------------------------------------------------------------------


def press(tab: Tab, what: CommandName, nonces: tuple[str, ...] = ()) -> Done:
    """The person wants to stop, interrupt, send what is held, go on, or remove items."""
    if what == "clear":
        posted = {post.item.nonce for post in tab.posting}
        here = [
            one.item.nonce
            for one in tab.outgoing
            if one.item.nonce in nonces and one.item.number is None and one.item.nonce not in posted
        ]
        tab = replace(
            tab,
            outgoing=tuple(one for one in tab.outgoing if one.item.nonce not in here),
            view=drop_optimistic(tab.view, here),
        )
        nonces = tuple(nonce for nonce in nonces if nonce not in here)
        if not nonces:
            return tab, ()
    tab, receipt = mint(tab, "k")
    tab, request = mint(tab, "r")
    command = PostCommand(request, tab.session, what, receipt, nonces)
    return replace(tab, commands=(*tab.commands, command)), (command,)


def hear_command(tab: Tab, command: PostCommand, answer: Answer) -> Done:
    """The server obeyed, or could not."""
    if answer.status == 503:
        return retry_later(tab, "post")
    commands = tuple(each for each in tab.commands if each is not command)
    tab = replace(tab, commands=commands, failures=0)
    if command.session == tab.session:
        tab = replace(tab, view=clear_items(tab.view, answer.cleared))
    return tab, ()


# --- answers and time ---------------------------------------------------------------------------------------


def hear_answer(tab: Tab, answer: Answer) -> Done:
    """An answer; one to a request that is no longer waited for counts only if it is a snapshot."""
    if answer.code == "snapshot" or answer.request == tab.hydrating:
        return hear_snapshot(tab, answer)
    for post in tab.posting:
        if post.request == answer.request:
            return hear_post(tab, post, answer)
    for command in tab.commands:
        if command.request == answer.request:
            return hear_command(tab, command, answer)
    return tab, ()


def say_anew(tab: Tab, post: PostMessage) -> Tab:
    """Seeded fault C27: what got no answer is said as something new."""
    tab, nonce = mint(tab, "n")
    anew = replace(post.item, nonce=nonce, number=None)
    outgoing = tuple(
        Outgoing(one.session, anew) if one.item.nonce == post.item.nonce else one for one in tab.outgoing
    )
    view = add_optimistic(drop_optimistic(tab.view, (post.item.nonce,)), anew)
    return replace(tab, outgoing=outgoing, view=view)


def timed_out(tab: Tab, request: str) -> Done:
    """No answer came: say the same again, under a new request but the same nonce, number and receipt."""
    if request == tab.hydrating:
        return retry_later(replace(tab, hydrating=None), "connect")
    for post in tab.posting:
        if post.request == request:
            tab = replace(tab, posting=tuple(each for each in tab.posting if each is not post))
            if "C27" in tab.faults:
                tab = say_anew(tab, post)
            return retry_later(tab, "post")
    for command in tab.commands:
        if command.request == request:
            tab, name = mint(tab, "r")
            again = replace(command, request=name)
            rest = tuple(again if each is command else each for each in tab.commands)
            return replace(tab, commands=rest), (again,)
    return tab, ()


def fired(tab: Tab, timer: str) -> Done:
    """The wait is over."""
    if timer == "connect":
        return connect(tab) if tab.conn is None and tab.hydrating is None else (tab, ())
    return post_next(tab)


def reload(tab: Tab, load: str) -> Done:
    """The person reloads the page; `load` is a name that no other load has."""
    return load_tab(tab.client, tab.session, load, tab, tab.faults)


def switch(tab: Tab, session: str) -> Done:
    """The person opens another session; what was written for the old one still goes there."""
    tab, outs = disconnect(tab)
    tab = replace(tab, session=session, hydrating=None)
    tab = replace(tab, view=fresh_view(tab))
    tab, more = connect(tab)
    return tab, (*outs, *more)
