"""What must hold of effects, notifications and requests to people: the part of the watcher for them."""

from __future__ import annotations

from typing import Final

from windtunnel.simulator.account import ASKED, BYPASS, NOTICES, ONCE, STARTED, WINNER, Account
from windtunnel.simulator.events import CURRENT, Answered, Deadline, Event, Row

AFTER_WAITING: Final = frozenset(
    {
        "decision_answered",
        "decision_defaulted",
        "decision_cancelled",
        "node_failed",
        "run_cancelled",
        "run_started",
        "notification_delivered",
        "turn_given",
    }
)
"""What may follow a run that waits: its answer, its end, and what was queued before."""


# --- effects ------------------------------------------------------------------------------------------------


def effect_started(account: Account, event: Event) -> None:
    """It stands in the store that an effect is called."""
    account.set(called=True)


def effect_called(account: Account) -> None:
    """The call goes out."""
    account.check(STARTED, account.watch.called, f"{account.watch.node} calls its effect without a word")


def effect_applied(account: Account, event: Event) -> None:
    """Something happened outside."""
    watch, node = account.watch, event.node or ""
    name, key = event.text("call"), event.get("key")
    if isinstance(key, str):
        again = (name, key) in watch.done
        account.check(ONCE, not again, f"{name} is applied a second time for the key {key}")
        account.set(done=tuple(sorted({*watch.done, (name, key)})))
    if node in account.facts.keyed:
        account.check(ONCE, not watch.applied, f"the effect of {node} is applied twice in one visit")
        account.set(applied=True)


def node_starts(account: Account, node: str, again: bool) -> None:
    """A visit, or another attempt of it, begins; what nothing can meet again is forgotten."""
    names = account.facts.ahead(node) if account.watch.done else frozenset[str]()
    done = tuple(one for one in account.watch.done if one[0] in names)
    account.set(called=False, done=done)
    if not again:
        account.set(applied=False)
        if account.watch.request != "open":
            account.set(request="", digest="")


# --- notifications ------------------------------------------------------------------------------------------


def notice_queued(account: Account, event: Event) -> None:
    """A notification waits to be shown."""
    if account.facts.told:
        account.set(queued=(*account.watch.queued, event.node or ""))


def notice_shown(account: Account, row: Row) -> None:
    """The session shows a notification."""
    watch = account.watch
    first = watch.queued[0] if watch.queued else None
    account.check(NOTICES, not watch.shown, f"the notification of {row.node} is shown twice")
    account.check(NOTICES, row.node == first, f"a notification of {row.node} is shown, {first} is next")
    account.set(shown=True)


def notice_recorded(account: Account, event: Event) -> None:
    """The store knows that a notification was shown."""
    watch = account.watch
    first = watch.queued[0] if watch.queued else None
    account.check(
        NOTICES, watch.shown and event.node == first, f"{event.node} was not shown, but is recorded"
    )
    account.set(queued=watch.queued[1:], shown=False)


# --- requests -----------------------------------------------------------------------------------------------


def requested(account: Account, event: Event) -> None:
    """A person is asked."""
    watch = account.watch
    account.check(ASKED, watch.request != "open", f"{event.node} asks again beside a live request")
    account.set(request="open", digest=event.text("digest"))


def decided(account: Account, event: Event) -> None:
    """Somebody, or the clock, decided."""
    watch, message = account.watch, account.received
    live = watch.request == "open" and watch.status == "waiting"
    account.check(
        WINNER, live, f"{event.type} of {event.node}, whose request is {watch.request or 'not there'}"
    )
    if event.type == "decision_answered":
        own = isinstance(message, Answered) and not message.overdue and message.digest == watch.digest
        fits = own and event.get("provenance") == "human"
    else:
        clock = isinstance(message, Deadline) or (isinstance(message, Answered) and message.overdue)
        fits = clock and event.get("provenance") == "timeout"
    current = isinstance(message, Answered | Deadline) and message.attempt == CURRENT
    account.check(BYPASS, fits and current, f"{event.type} of {event.node} comes from nobody who may")
    account.set(request="answered" if event.type == "decision_answered" else "timeout")


def withdrawn(account: Account, event: Event) -> None:
    """The request will not be answered any more."""
    account.check(ASKED, account.watch.request == "open", f"{event.node} takes back what is not asked")
    account.set(request="cancelled")


def continued(account: Account) -> None:
    """A run goes on where a waiting one stopped."""
    fits = account.watch.status == "waiting" and account.watch.request in ("answered", "timeout")
    account.check(WINNER, fits, f"a run that is {account.watch.status} is continued")


def ended_by(account: Account, event: Event) -> None:
    """A decision or a checkpoint ends."""
    watch = account.watch
    if isinstance(account.received, Deadline):
        fits = watch.request == "timeout" and event.node in account.facts.asking
        account.check(
            WINNER, fits and not account.received.copy, f"{event.node} ends for a time that was over"
        )
    if event.node not in account.facts.asking:
        return
    outcome = event.get("outcome")
    if outcome == "ok":
        fits = watch.request in ("answered", "timeout")
        account.check(BYPASS, fits, f"{event.node} is over, but nobody answered")
    elif outcome == "timed_out":
        account.check(BYPASS, watch.request == "timeout", f"{event.node} is out of time, which no clock says")


def left_untold(account_queued: tuple[str, ...]) -> str | None:
    """What is wrong at the end, when nothing more happens."""
    if not account_queued:
        return None
    return f"the notification of {account_queued[0]} was never shown"
