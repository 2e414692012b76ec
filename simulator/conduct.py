"""What must hold of whoever acts: who may write, who is seen, whose time counts. A part of the watcher."""

from __future__ import annotations

from windtunnel.simulator import promises
from windtunnel.simulator.account import FENCE, INVISIBLE, TIME, Account
from windtunnel.simulator.events import DURABLE, Action, Append, Commit, Emit, Timeout


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
