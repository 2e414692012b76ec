"""What must hold in every world of the conversation. Nothing here asks which seeded fault is on.

Each property takes worlds and says what is wrong, or None. `step_problems` judges one move, `end_problems` a
run that has nothing more to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from windtunnel.simulator.chat.client import Tab
from windtunnel.simulator.chat.entries import (
    BranchMoved,
    Commanded,
    Entry,
    EpochStarted,
    MessageEnded,
    MessageOpened,
    Queued,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.host import Host, snapshot_at
from windtunnel.simulator.chat.logfile import entry_of
from windtunnel.simulator.chat.network import Disk, World
from windtunnel.simulator.chat.rows import Transcript, fold_log, seen, snapshot_of
from windtunnel.simulator.chat.server import Opening, session_of
from windtunnel.simulator.chat.view import rebuilt_pending, seen_live


class Problem(NamedTuple):
    """A property that does not hold, and how that shows."""

    property: str
    message: str


StepProperty: TypeAlias = Callable[[World, World], str | None]


@lru_cache(maxsize=1 << 12)
def entries_of(lines: tuple[str, ...]) -> tuple[Entry, ...]:
    """The entries of a log."""
    return tuple(entry_of(line) for line in lines)


@lru_cache(maxsize=1 << 12)
def cold(lines: tuple[str, ...]) -> Transcript:
    """What someone reads who opens the log."""
    return fold_log(entries_of(lines))


def changed(before: World, world: World) -> Iterator[Tab]:
    """The tabs that the move touched; the others were judged before."""
    for old, tab in zip(before.tabs, world.tabs, strict=True):
        if tab is not old:
            yield tab


def logs(before: World, world: World) -> Iterator[Disk]:
    """The log files that the move touched."""
    for old, disk in zip(before.disks, world.disks, strict=True):
        if disk.lines is not old.lines:
            yield disk


def hosts(world: World) -> Iterator[tuple[Disk, Host]]:
    """The sessions that are open, with their logs."""
    for disk in world.disks:
        host = session_of(world.server, disk.session)
        if isinstance(host, Host):
            yield disk, host


def followers(world: World) -> Iterator[tuple[Tab, Disk, Host]]:
    """The tabs that have everything that was sent: nothing is on the way and nothing is being appended."""
    for disk, host in hosts(world):
        if host.jobs or host.broken is not None:
            continue
        for tab in world.tabs:
            quiet = not any(stream.messages for stream in world.streams if stream.conn == tab.conn)
            if (
                tab.session == disk.session
                and tab.conn is not None
                and quiet
                and tab.view.resync is None
                and (tab.view.epoch, tab.view.last) == (host.window.epoch, host.window.latest)
            ):
                yield tab, disk, host


# --- after each move ----------------------------------------------------------------------------------------


def readers_agree(_: World, world: World) -> str | None:
    """live == snapshot == cold, wherever a reader has everything; in mid-answer with the text so far."""
    for tab, disk, host in followers(world):
        live = seen_live(tab.view)
        read = seen(snapshot_of(cold(disk.lines), host.opened))
        if live != read:
            return f"{tab.client} sees {live}\nthe log says {read}"
        served = seen(snapshot_at(host))
        if served != read:
            return f"the snapshot says {served}\nthe log says {read}"
    return None


def incremental_is_whole(before: World, world: World) -> str | None:
    """What is kept up to date is what would be made anew."""
    for disk, host in hosts(world):
        if not host.jobs and disk.lines and host.transcript != cold(disk.lines):
            return "the host's transcript is not the fold of its log"
    for tab in changed(before, world):
        if tuple(sorted(tab.view.pending)) != tuple(sorted(rebuilt_pending(tab.view))):
            return f"{tab.client} has {tab.view.pending} pending, its rows {rebuilt_pending(tab.view)}"
    return None


def ids_are_unique(before: World, world: World) -> str | None:
    """No row, part, message of the person or entry is there twice."""
    for tab in changed(before, world):
        rows = seen_live(tab.view).rows
        found = doubled(row.id for row in rows)
        found += doubled((row.id, type(part), part.id) for row in rows for part in row.parts)
        nonces = [row.nonce for row in rows] + [item.nonce for item in tab.view.queue]
        nonces += [entry.item.nonce for entry in tab.view.outbox]
        found += doubled(nonce for nonce in nonces if nonce is not None)
        if found:
            return f"{tab.client} shows twice: {found[0]}"
    for disk in logs(before, world):
        found = doubled(entry.id for entry in entries_of(disk.lines))
        if found:
            return f"the log has two entries {found[0]}"
    return None


def doubled(names: Iterator[object]) -> list[object]:
    """The names that come more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def each_message_once(before: World, world: World) -> str | None:
    """A message of the person is one row, and those of the queue come in the order in which they were
    accepted.
    """
    for disk in logs(before, world):
        rows: list[str] = []
        accepted: list[str] = []
        for entry in entries_of(disk.lines):
            if isinstance(entry.body, UserMessage) and entry.body.nonce is not None:
                rows.append(entry.body.nonce)
                if entry.body.consumed and entry.body.nonce not in accepted:
                    return f"{entry.body.nonce} left a queue in which it never was"
            elif isinstance(entry.body, Queued) and entry.body.item.nonce is not None:
                if entry.body.item.nonce in accepted or entry.body.item.nonce in rows:
                    return f"{entry.body.item.nonce} was accepted twice"
                if entry.body.item.kind != "steer":
                    accepted.append(entry.body.item.nonce)
                else:
                    accepted.insert(0, entry.body.item.nonce)
        if len(rows) != len(set(rows)):
            return f"a message became two rows: {rows}"
        order = [nonce for nonce in rows if nonce in accepted]
        if order != [nonce for nonce in accepted if nonce in order] and not steering(disk):
            return f"accepted {accepted}, taken {order}"
        said = {nonce for nonce, _ in world.ghost.sent}
        strange = [nonce for nonce in rows if nonce not in said]
        if strange:
            return f"nobody said {strange[0]}"
    return None


def steering(disk: Disk) -> bool:
    """Whether some message was to overtake others."""
    bodies = [entry.body for entry in entries_of(disk.lines)]
    return any(isinstance(body, Queued) and body.item.kind == "steer" for body in bodies)


def spoken_in_order(before: World, world: World) -> str | None:
    """What one tab says to one session comes in the order in which it was said."""
    for disk in logs(before, world):
        if steering(disk):
            continue
        said = [nonce for nonce, session in world.ghost.sent if session == disk.session]
        rows = [
            entry.body.nonce
            for entry in entries_of(disk.lines)
            if isinstance(entry.body, UserMessage) and entry.body.nonce in said
        ]
        for tab in world.tabs:
            copied = [each.client for each in world.tabs].count(tab.client) > 1
            voice = f"{tab.client}.{tab.load}." if copied else f"{tab.client}."
            ours = [nonce for nonce in rows if nonce is not None and nonce.startswith(voice)]
            if ours != [nonce for nonce in said if nonce in ours]:
                return f"{tab.client} said {said}, the log has {ours}"
    return None


def removed_stays_removed(before: World, world: World) -> str | None:
    """What was removed is what the person chose, and it does not come back."""
    wanted = dict(world.ghost.wanted)
    for disk in logs(before, world):
        gone: set[str] = set()
        for entry in entries_of(disk.lines):
            body = entry.body
            if isinstance(body, Commanded):
                chosen = wanted.get(body.receipt or "")
                if body.what == "clear" and chosen is not None and not set(body.cleared) <= set(chosen):
                    return f"{body.cleared} was removed, {chosen} was meant"
                gone |= {*body.cleared, *body.barred}
            said = body.item.nonce if isinstance(body, Queued) else getattr(body, "nonce", None)
            if said in gone:
                return f"{said} came back"
    return None


def commands_happen_once(before: World, world: World) -> str | None:
    """A command that comes twice is obeyed once."""
    for disk in logs(before, world):
        bodies = [entry.body for entry in entries_of(disk.lines)]
        receipts = (body.receipt for body in bodies if isinstance(body, Commanded) and body.receipt)
        found = doubled(receipts)
        if found:
            return f"{found[0]} was obeyed twice"
    return None


def idle_is_closed(before: World, world: World) -> str | None:
    """When nothing goes on, no message is open and no tool is pending; at any line of the log."""
    for disk in logs(before, world):
        transcript = cold(disk.lines)
        if transcript.activity == "running":
            continue
        rows = [node.row for node in transcript.nodes if node.row is not None]
        pending = [row.id for row in rows if row.pending or row.status == "streaming"]
        if pending:
            return f"nothing goes on, but {pending[0]} is not closed"
    return None


def log_is_in_order(before: World, world: World) -> str | None:
    """A message opens before it ends, and ends before its results."""
    for disk in logs(before, world):
        opened: set[str] = set()
        ended: set[str] = set()
        for entry in entries_of(disk.lines):
            match entry.body:
                case MessageOpened():
                    opened.add(entry.id)
                case MessageEnded(message):
                    if message not in opened or message in ended:
                        return f"{message} ends without a beginning of its own"
                    ended.add(message)
                case ToolEnded(message, call):
                    if message not in ended:
                        return f"the result of {call} stands before its message"
                case _:
                    pass
    return None


def view_never_empties(before: World, world: World) -> str | None:
    """A tab that shows rows goes on showing them until it has others; none goes but with a new epoch."""
    for old, tab in zip(before.tabs, world.tabs, strict=True):
        if old is tab:
            continue
        same = (old.load, old.session) == (tab.load, tab.session)
        rows, olds = seen_live(tab.view).rows, seen_live(old.view).rows
        if same and len(rows) < len(olds) and tab.view.epoch == old.view.epoch:
            return f"{tab.client} showed {len(olds)} rows and shows {len(rows)}"
    return None


def positions_rise(before: World, world: World) -> str | None:
    """No cursor goes back, and positions in the log rise within an epoch."""
    for old, tab in zip(before.tabs, world.tabs, strict=True):
        if (old.load, old.session) == (tab.load, tab.session) and (tab.view.epoch, tab.view.last) < (
            old.view.epoch,
            old.view.last,
        ):
            return f"{tab.client} went back to {tab.view.last}"
    for disk in logs(before, world):
        last = 0
        for entry in entries_of(disk.lines):
            if entry.seq < last and not isinstance(entry.body, EpochStarted | BranchMoved):
                return f"{entry.id} stands at {entry.seq}, after {last}"
            last = entry.seq
    return None


def said_is_shown(before: World, world: World) -> str | None:
    """What the person said here and the server does not have yet is on the screen."""
    for tab in changed(before, world):
        shown = {row.nonce for row in tab.view.rows} | {item.nonce for item in tab.view.queue}
        shown |= {entry.item.nonce for entry in tab.view.outbox}
        for one in tab.outgoing:
            if (
                one.session == tab.session
                and one.item.nonce not in shown
                and not known(world, one.item.nonce)
            ):
                return f"{one.item} is not on the screen of {tab.client}"
    return None


def known(world: World, nonce: str | None) -> bool:
    """Whether a log has anything about a message."""
    for disk in world.disks:
        for entry in entries_of(disk.lines):
            body = entry.body
            if nonce == getattr(body, "nonce", None):
                return True
            if isinstance(body, Queued) and body.item.nonce == nonce:
                return True
            if isinstance(body, Commanded) and nonce in (*body.cleared, *body.barred):
                return True
    return False


def one_post_at_a_time(before: World, world: World) -> str | None:
    """A tab waits for the answer to one message before it posts the next to the same session."""
    for tab in changed(before, world):
        sessions = doubled(post.session for post in tab.posting)
        if sessions:
            return f"{tab.client} posts several messages at once"
    return None


def answers_are_prompt(_: World, world: World) -> str | None:
    """Nothing but an append may keep a request waiting."""
    if any(isinstance(held, Opening) or held.jobs for _, held in world.server.sessions):
        return None
    waiting = sorted(world.ghost.inside)
    return f"{waiting[0]} waits in the server" if waiting else None


STEP_PROPERTIES: Final[dict[str, StepProperty]] = {
    "readers agree": readers_agree,
    "incremental is whole": incremental_is_whole,
    "ids are unique": ids_are_unique,
    "each message once": each_message_once,
    "spoken in order": spoken_in_order,
    "removed stays removed": removed_stays_removed,
    "commands happen once": commands_happen_once,
    "idle is closed": idle_is_closed,
    "log is in order": log_is_in_order,
    "view never empties": view_never_empties,
    "positions rise": positions_rise,
    "said is shown": said_is_shown,
    "one post at a time": one_post_at_a_time,
    "answers are prompt": answers_are_prompt,
}


def step_problems(before: World, world: World) -> Iterator[Problem]:
    """What is wrong after one move."""
    for name, judge in STEP_PROPERTIES.items():
        wrong = judge(before, world)
        if wrong is not None:
            yield Problem(name, wrong)
