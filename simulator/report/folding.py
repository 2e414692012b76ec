"""A long trace made short: each visit of a node in which nothing went wrong becomes one event.

A reader of a counterexample wants the deviation and what follows it, a reader of a run wants one
line a node. Everything that is folded is still in the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from windtunnel.simulator.report.story import FAULTS, TraceEvent

VISIT_DONE: Final = "visit_done"
"""The type of the event that stands for a folded visit: payload `{nodeType, via?, output, events}`."""

_STAYS: Final = frozenset({"crashed", "restarted", "session_loaded", "submission_refused", "node_failed"})
"""Events that keep the visit around them open."""


def folded(events: Sequence[TraceEvent], *, keep_last: bool) -> list[TraceEvent]:
    """The events with every quiet visit folded; with `keep_last` the last visit stays as it is."""
    starts = [at for at, event in enumerate(events) if event["type"] == "node_started"]
    bounds = [*starts, len(events)]
    result = list(events[: bounds[0]])
    for number, (first, end) in enumerate(pairwise(bounds)):
        visit = events[first:end]
        last = number == len(starts) - 1
        result += visit if (last and keep_last) or not _quiet(visit) else _fold(visit)
    return result


def _quiet(visit: Sequence[TraceEvent]) -> bool:
    """Whether the visit ended well and nothing interfered."""
    kinds = {event["type"] for event in visit}
    return "node_finished" in kinds and not kinds & (FAULTS | _STAYS)


def _fold(visit: Sequence[TraceEvent]) -> list[TraceEvent]:
    """One event for the visit, and the run's own events that stood among it."""
    started = visit[0]
    done = next(event for event in visit if event["type"] == "node_finished")
    kept = [event for event in visit if event["scope"] == "run"]
    payload = {
        "nodeType": started["payload"].get("nodeType"),
        "via": started["payload"].get("via"),
        "output": done["payload"].get("output"),
        "receipt": done["payload"].get("receipt"),
        "events": len(visit) - len(kept),
    }
    return [{**done, "type": VISIT_DONE, "payload": payload}, *kept]
