"""Visits of nodes in which nothing went wrong: rows that a reader may fold into one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from windtunnel.simulator.report.folding import VISIT_DONE
from windtunnel.simulator.report.page.lanes import Moment
from windtunnel.simulator.report.story import Mood, TraceEvent, told

_KEEPS_OPEN = frozenset({"crashed", "restarted", "session_loaded", "submission_refused", "node_failed"})


class Visit(NamedTuple):
    """Rows `first` to `last`, both included, and what to say in their place."""

    first: int
    last: int
    node: str
    told: str


def quiet_visits(rows: Sequence[Moment]) -> list[Visit]:
    """The quiet visits, in order; they do not overlap."""
    kinds = [row.event["type"] if row.event is not None else "" for row in rows]
    starts = [at for at, kind in enumerate(kinds) if kind == "node_started"]
    found: list[Visit] = []
    for first, end in pairwise([*starts, len(rows)]):
        inside = range(first, end)
        done = next((at for at in inside if kinds[at] == "node_finished"), None)
        if done is None:
            continue
        # What the run itself says after the visit stays a line of its own.
        last = next((at for at in range(done, end) if _of_the_run(rows[at])), end) - 1
        if any(rows[at].mood in (Mood.FAULT, Mood.BAD) or kinds[at] in _KEEPS_OPEN for at in inside):
            continue
        started, ended = rows[first].event, rows[done].event
        if last > first and started is not None and ended is not None:
            found.append(Visit(first, last, str(started["nodeId"]), _said(started, ended)))
    return found


def _of_the_run(row: Moment) -> bool:
    return row.event is not None and row.event["scope"] == "run"


def _said(started: TraceEvent, done: TraceEvent) -> str:
    begun, ended = started["payload"], done["payload"]
    payload = {
        "nodeType": begun.get("nodeType"),
        "via": begun.get("via"),
        "output": ended.get("output"),
        "receipt": ended.get("receipt"),
    }
    return told({**done, "type": VISIT_DONE, "payload": payload})
