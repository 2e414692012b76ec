"""What a committed line changes beside the trace: the run's status, receipts, decisions, notifications.

Everything here follows from the lines alone, so a table that holds it can be made again from the trace.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from windtunnel.compiler.canonical import canonical
from windtunnel.simulator.events import Event, Record
from windtunnel.simulator.store.records import FINAL, Decision, Line, Notice, Receipt, RunRecord
from windtunnel.simulator.store.values import ROOM, payload_json

ENDS: Final = {f"run_{status}": status for status in FINAL | {"waiting"}}
TELLS: Final = {"notification_queued": 1, "notification_delivered": -1}
CLOSES: Final = {
    "decision_answered": "answered",
    "decision_defaulted": "defaulted",
    "decision_cancelled": "cancelled",
}


class Changes(NamedTuple):
    """What one transaction does: the run after it, and rows to add or to change.

    `continued` are (new id, the id that it continues).
    """

    run: RunRecord
    receipts: tuple[Receipt, ...] = ()
    decisions: tuple[Decision, ...] = ()
    notices: tuple[Notice, ...] = ()
    continued: tuple[tuple[str, str], ...] = ()


def changes(run: RunRecord, lines: tuple[Line, ...]) -> Changes:
    """What the lines do to a run.

    A closed decision comes without its request, a delivered notification without its payload: those stand in
    the store already.
    """
    receipts: list[Receipt] = []
    decisions: list[Decision] = []
    notices: list[Notice] = []
    continued: list[tuple[str, str]] = []
    for line in lines:
        event = line.event
        if line.name not in ("", run.current):
            continued.append((line.name, run.current))
        run = _moved(run, line)
        receipts += _receipts(run.run, event)
        decisions += _decisions(run.run, event)
        notices += _notices(run.run, event)
    return Changes(run, tuple(receipts), tuple(decisions), tuple(notices), tuple(continued))


def _moved(run: RunRecord, line: Line) -> RunRecord:
    """Status and flags after one line."""
    assert line.seq == run.last_seq + 1, "lines are numbered without a gap"
    run = replace(run, last_seq=line.seq, current=line.name or run.current)
    kind = line.event.type
    if kind in TELLS:
        return replace(run, untold=run.untold + TELLS[kind])
    if kind in ENDS:
        return replace(run, status=ENDS[kind], paused=False, parked=False)
    if kind == "run_paused":
        return replace(run, status="running", paused=True)
    if kind == "run_parked":
        return replace(run, status="running", parked=True)
    if kind in ("run_started", "run_resumed"):
        return replace(run, status="running", paused=False, parked=False)
    return run


def _receipts(run: str, event: Event) -> list[Receipt]:
    found = event.get("receipt")
    if event.type != "node_finished" or not isinstance(found, Record):
        return []
    assert event.node is not None, "a node that finished has a name"
    assert event.attempt is not None, "a node finishes in an attempt"
    return [Receipt(run, event.attempt, event.node, canonical(payload_json(found.fields), ROOM))]


def _decisions(run: str, event: Event) -> list[Decision]:
    if event.scope != "decision":
        return []
    assert event.node is not None, "a decision has a node"
    assert event.attempt is not None, "a decision is asked for in an attempt"
    said = canonical(payload_json(event.payload), ROOM)
    if event.type == "decision_requested":
        return [Decision(run, event.attempt, event.node, "open", said)]
    if event.type in CLOSES:
        return [Decision(run, event.attempt, event.node, CLOSES[event.type], "", said)]
    return []


def _notices(run: str, event: Event) -> list[Notice]:
    if event.scope != "notification" or event.type not in ("notification_queued", "notification_delivered"):
        return []
    assert event.node is not None, "a notification has a node"
    number = event.get("index")
    assert isinstance(number, int), "a notification is numbered within its node"
    delivered = event.type == "notification_delivered"
    said = "" if delivered else canonical(payload_json(event.payload), ROOM)
    return [Notice(run, event.node, number, said, delivered)]
