"""What must hold at the end of a run, when nothing more happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from windtunnel.simulator.chat.entries import (
    Commanded,
    Queued,
    RunClosed,
    UserMessage,
)
from windtunnel.simulator.chat.network import World
from windtunnel.simulator.chat.parts import Row, TextPart
from windtunnel.simulator.chat.properties import (
    Problem,
    cold,
    entries_of,
    followers,
    known,
)

EndProperty: TypeAlias = Callable[[World], str | None]


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
    """Unless something broke, each call that broke off is told in the transcript, and no other."""
    if world.ghost.broke:
        return None
    told = 0
    for disk in world.disks:
        bodies = [entry.body for entry in entries_of(disk.lines)]
        told += sum(isinstance(body, RunClosed) and body.error is not None for body in bodies)
    if told != world.ghost.failures:
        return f"{world.ghost.failures} calls broke off, {told} are told"
    return None


END_PROPERTIES: Final[dict[str, EndProperty]] = {
    "nothing accepted is lost": nothing_accepted_is_lost,
    "nothing said is lost": nothing_said_is_lost,
    "nothing is stuck": nothing_is_stuck,
    "tabs arrive": tabs_arrive,
    "answers are kept": answers_are_kept,
    "failures are told": failures_are_told,
}


def end_problems(world: World) -> Iterator[Problem]:
    """What is wrong at the end of a run."""
    for name, judge in END_PROPERTIES.items():
        wrong = judge(world)
        if wrong is not None:
            yield Problem(name, wrong)
