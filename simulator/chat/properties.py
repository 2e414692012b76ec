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
    RunClosed,
    ToolEnded,
    UserMessage,
    entry_of,
)
from windtunnel.simulator.chat.host import Host, snapshot_at
from windtunnel.simulator.chat.network import Disk, World
from windtunnel.simulator.chat.parts import Row, TextPart
from windtunnel.simulator.chat.reducer import rebuilt_pending, seen_live
from windtunnel.simulator.chat.rows import Transcript, fold_log, seen, snapshot_of
from windtunnel.simulator.chat.server import Opening, session_of


class Problem(NamedTuple):
    """A property that does not hold, and how that shows."""

    property: str
    message: str


StepProperty: TypeAlias = Callable[[World, World], str | None]
EndProperty: TypeAlias = Callable[[World], str | None]


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
            ours = [nonce for nonce in rows if nonce is not None and nonce.startswith(f"{tab.client}.")]
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


# --- at the end ---------------------------------------------------------------------------------------------


def nothing_accepted_is_lost(world: World) -> str | None:
    """What was accepted is in the transcript, in the queue, or was removed."""
    found: set[str] = set()
    for disk in world.disks:
        transcript = cold(disk.lines)
        waiting = {item.nonce for item in transcript.queue}
        accepted: set[str] = set()
        settled: set[str] = set()
        for entry in entries_of(disk.lines):
            match entry.body:
                case Queued(item) if item.nonce is not None:
                    accepted.add(item.nonce)
                case UserMessage(_, _, nonce) if nonce is not None:
                    settled.add(nonce)
                case Commanded(_, _, cleared, barred):
                    settled |= {*cleared, *barred}
                case _:
                    pass
        lost = sorted(accepted - settled - waiting)
        if lost:
            return f"{lost[0]} was accepted and is nowhere"
        found |= accepted | settled
    lost = sorted(world.ghost.acknowledged - found)
    return f"{lost[0]} was acknowledged and is nowhere" if lost else None


def nothing_said_is_lost(world: World) -> str | None:
    """What the person said reaches the session it was said to, or was removed."""
    for nonce, session in world.ghost.sent:
        for disk in world.disks:
            here = any(
                nonce == getattr(entry.body, "nonce", None)
                or (isinstance(entry.body, Queued) and entry.body.item.nonce == nonce)
                for entry in entries_of(disk.lines)
            )
            if here and disk.session != session:
                return f"{nonce} was said to {session} and came to {disk.session}"
        if not reached(world, nonce):
            return f"{nonce} never arrived"
    return None


def reached(world: World, nonce: str) -> bool:
    """Whether a message arrived, or was removed before or after."""
    if not any(one.item.nonce == nonce for tab in world.tabs for one in tab.outgoing):
        removed = {each for _, nonces in world.ghost.wanted for each in nonces}
        if nonce in removed or removed_early(world, nonce):
            return True
    return known(world, nonce)


def removed_early(world: World, nonce: str) -> bool:
    """Whether the person removed a message before it was ever posted."""
    picks = [act.pick for act in world.setting.acts[: world.act] if act.what == "remove"]
    return any(world.ghost.sent[pick][0] == nonce for pick in picks if pick < len(world.ghost.sent))


def nothing_is_stuck(world: World) -> str | None:
    """At the end nothing runs, and what waits waits for the person."""
    for disk in world.disks:
        transcript = cold(disk.lines)
        if transcript.activity != "idle":
            return f"the session is {transcript.activity} and nothing happens"
        if transcript.queue and not transcript.held:
            return f"{len(transcript.queue)} items wait and nothing happens"
    return None


def tabs_arrive(world: World) -> str | None:
    """Every tab has everything, and shows nothing as optimistic that the server has."""
    following = [tab for tab, _, _ in followers(world)]
    for tab in world.tabs:
        if tab not in following and any(disk.lines for disk in world.disks if disk.session == tab.session):
            return f"{tab.client} stands at {tab.view.last} and does not go on"
        if tab.view.outbox:
            return f"{tab.client} still shows {tab.view.outbox[0].item} as waiting"
        if tab.outgoing or tab.posting or tab.commands:
            return f"{tab.client} still waits for an answer"
    return None


def answers_are_kept(world: World) -> str | None:
    """Unless something broke, what the model said to the end is one message each, word for word, in order."""
    if world.ghost.broke:
        return None
    for disk in world.disks:
        said = [words for session, words in world.ghost.said if session == disk.session]
        nodes = cold(disk.lines).nodes
        kept = [words_of(node.row) for node in nodes if node.row is not None and node.row.role == "assistant"]
        rest = iter(kept)
        missing = [words for words in said if words not in rest]
        if missing:
            return f"the model said {missing[0]!r}, the transcript has {kept}"
    return None


def words_of(row: Row) -> str:
    """The visible text of a row."""
    return "\n".join(part.text for part in row.parts if isinstance(part, TextPart))


def failures_are_told(world: World) -> str | None:
    """Unless something broke, each call that broke off is told in the transcript."""
    if world.ghost.broke:
        return None
    told = 0
    for disk in world.disks:
        bodies = [entry.body for entry in entries_of(disk.lines)]
        told += sum(isinstance(body, RunClosed) and body.error is not None for body in bodies)
    if told < world.ghost.failures:
        return f"{world.ghost.failures} calls broke off, {told} are told"
    return None


STEP_PROPERTIES: Final[dict[str, StepProperty]] = {
    "readers agree": readers_agree,
    "incremental is whole": incremental_is_whole,
    "ids are unique": ids_are_unique,
    "each message once": each_message_once,
    "spoken in order": spoken_in_order,
    "removed stays removed": removed_stays_removed,
    "idle is closed": idle_is_closed,
    "log is in order": log_is_in_order,
    "view never empties": view_never_empties,
    "positions rise": positions_rise,
    "said is shown": said_is_shown,
    "one post at a time": one_post_at_a_time,
    "answers are prompt": answers_are_prompt,
}
END_PROPERTIES: Final[dict[str, EndProperty]] = {
    "nothing accepted is lost": nothing_accepted_is_lost,
    "nothing said is lost": nothing_said_is_lost,
    "nothing is stuck": nothing_is_stuck,
    "tabs arrive": tabs_arrive,
    "answers are kept": answers_are_kept,
    "failures are told": failures_are_told,
}


def step_problems(before: World, world: World) -> Iterator[Problem]:
    """What is wrong after one move."""
    for name, judge in STEP_PROPERTIES.items():
        wrong = judge(before, world)
        if wrong is not None:
            yield Problem(name, wrong)


def end_problems(world: World) -> Iterator[Problem]:
    """What is wrong at the end of a run."""
    for name, judge in END_PROPERTIES.items():
        wrong = judge(world)
        if wrong is not None:
            yield Problem(name, wrong)
