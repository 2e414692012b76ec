"""What must hold of whoever acts: who may write, who is seen, whose time counts. A part of the watcher."""

from __future__ import annotations

from typing import Final

from windtunnel.simulator import promises
from windtunnel.simulator.account import DEFINITION, FENCE, INVISIBLE, REFUSALS, TIME, TURN, TYPES, Account
from windtunnel.simulator.events import (
    DURABLE,
    Action,
    Append,
    Commit,
    Edit,
    Emit,
    Event,
    Json,
    PutBack,
    Reply,
    Timeout,
)

MOST_REFUSALS: Final = 3
"""Calls of a turn that are refused after its submission was accepted: the last of two messages' calls."""

GOES_ON: Final = frozenset({"run_started", "run_resumed", "node_started", "node_finished"})
"""Events by which a run goes on."""


def beside(account: Account, actions: tuple[Action, ...], by: str) -> None:
    """What somebody did who does not work on the run."""
    if by == "zombie":
        written = [action for action in actions if isinstance(action, DURABLE)]
        account.check(FENCE, not written, "a host writes though another one has claimed the run")
    for action in actions:
        match action:
            case Append(rows):
                for row in rows:
                    if row.kind == "notice":
                        promises.notice_shown(account, row)
            case Commit(events):
                for event in events:
                    if event.type == "notification_delivered":
                        promises.notice_recorded(account, event)
            case Emit(event) if event.type == "effect_applied":
                promises.effect_applied(account, event)


def unseen(account: Account, action: Action) -> None:
    """A worker's session is seen by nobody, so no step is asked or answered there that should be seen."""
    node = account.watch.node
    if isinstance(action, Append):
        asks = any(row.kind == "step" for row in action.rows) and node in account.facts.assistants
        account.check(INVISIBLE, not asks, f"{node} is asked in a session that nobody sees")


def time(account: Account) -> None:
    """Whatever happens next, no time counted that should not."""
    watch = account.watch
    if watch.timer:
        counts = watch.status == "running" and not watch.paused and watch.phase == "started"
        account.check(TIME, counts, f"the time of {watch.node or 'a step'} counts though it does nothing")
    if isinstance(account.received, Timeout):
        account.set(timer=False)


def definition(account: Account) -> None:
    """Somebody changed what the host will load, or put it back."""
    if isinstance(account.received, Edit | PutBack):
        account.set(edited=isinstance(account.received, Edit))


def committed(account: Account, events: tuple[Event, ...]) -> None:
    """Something is written by a host. What a person wants, is refused or shown needs no definition."""
    if any(event.type in GOES_ON for event in events):
        account.check(DEFINITION, not account.watch.edited, "a run goes on by a definition that was edited")


def replied(account: Account, reply: Reply) -> None:
    """The model hears of its call."""
    watch = account.watch
    if not watch.accepted or reply.verdict == "accepted" or reply.copy:
        return
    refusals = min(watch.refusals + 1, MOST_REFUSALS + 1)
    account.set(refusals=refusals)
    most = f"after its submission of {account.watch.node} was accepted the model is refused again and again"
    account.check(REFUSALS, refusals <= MOST_REFUSALS, most)


def passed_on(account: Account, event: Event) -> None:
    """A run fails since an include was given what it does not take."""
    given, mount = event.get("given"), event.get("mount")
    if not isinstance(given, Json) or not isinstance(mount, str):
        return
    missing = account.facts.missing(mount, given.text)
    account.check(TYPES, not missing, f"{mount} is given no {' and no '.join(missing)}")


def turn_is_due(account: Account, event: Event) -> None:
    """The conversation is to get one turn more."""
    account.set(owed=True, turned=False)


def turn_begins(account: Account) -> None:
    """The session is asked for a turn that belongs to no step."""
    watch = account.watch
    over = watch.status in ("completed", "waiting", "failed", "timed_out")
    account.check(TURN, watch.owed and not watch.turned and over, "a turn is asked for that is not due")
    account.set(turned=True, below=False, of_step=False)


def turn_recorded(account: Account, event: Event) -> None:
    """The store knows that the turn was asked for."""
    account.check(TURN, account.watch.turned, "a turn is ticked off that was never asked for")
    account.set(owed=False, turned=False)
