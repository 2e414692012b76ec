"""Notifications: queued in the transaction that ends their node, shown in the session later, once, in order.

The session says whether the first of the queue was shown already, so that a crash between showing it and
recording that repeats nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import EvaluationError
from windtunnel.simulator.events import (
    CURRENT,
    ELAPSED,
    NOTICE,
    THIS_NOTICE,
    Action,
    Append,
    Commit,
    Event,
    Json,
    Payload,
    Row,
)
from windtunnel.simulator.run.program import Notify, Program
from windtunnel.simulator.run.state import Notice, Run, Scope
from windtunnel.simulator.run.transition import READY, Result, node_failed


class Outbox(NamedTuple):
    """View: the first notification of the queue, whether the session shows it, and whether it is new."""

    first: Notice
    shown: bool
    empty: bool


def queue(program: Program, node: Notify, run: Run) -> Result:
    """Queue the message and finish the node, in one transaction."""
    try:
        message = str(node.message(Scope(program, run)))
    except EvaluationError as error:
        return READY, (Commit((node_failed(node.id, "failed", str(error)),)),)
    queued: Payload = (("index", NOTICE), ("kind", node.urgency), ("message", message))
    receipt = Json(canonical({"kind": node.urgency, "queued": True}))
    ended: Payload = (("durationMs", ELAPSED), ("outcome", "ok"), ("output", receipt))
    return READY, (
        Commit(
            (
                Event("notification", "notification_queued", node.id, CURRENT, queued),
                Event("node", "node_finished", node.id, CURRENT, ended),
            )
        ),
    )


def deliver(program: Program, outbox: Outbox) -> tuple[Action, ...]:
    """Show the first notification of the queue, unless it was shown, and record it."""
    notice, actions = outbox.first, list[Action]()
    if not outbox.shown or "W22" in program.switches:
        header = (Row("session"),) if outbox.empty else ()
        actions.append(Append((*header, Row("notice", notice.message, node=notice.node))))
    payload: Payload = (("index", THIS_NOTICE),)
    told = Event("notification", "notification_delivered", notice.node, payload=payload)
    return (*actions, Commit((told,)))
