"""How far a run came, from its trace: what a picture of it marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from windtunnel.compiler.drawing.marking import Course
from windtunnel.compiler.drawing.style import Status
from windtunnel.simulator.report.columns import plain

ENDS: Final = {
    "run_completed": "completed",
    "run_failed": "failed",
    "run_cancelled": "cancelled",
    "run_timed_out": "timed out",
}

STANDINGS: Final = {
    "run_started": "not over yet",
    "run_resumed": "not over yet",
    "node_finished": "not over yet",
    "run_paused": "paused",
    "run_parked": "paused",
    "run_waiting": "waiting for a person",
}
"""How a run stands after such an event, until another one or its end."""


def course_of(trace: Sequence[Mapping[str, Any]], name: str = "") -> Course:
    """The course of a run; works on the JSON form of a trace, which may be unfinished.

    Every arrow has left its key as `via`. A node is where the run is from its start to its end, and what was
    not over when the run ended has failed. `name` is what the run is called.
    """
    taken: set[str] = set()
    states: dict[str, Status] = {}
    visits: dict[str, int] = {}
    standing, by = "not begun", ""
    for event in trace:
        node, payload, kind = event.get("nodeId"), event.get("payload") or {}, event["type"]
        if isinstance(payload.get("via"), str):
            taken.add(payload["via"])
        if node is not None:
            _note(states, visits, node, kind, payload)
        if kind in ENDS:
            by = str(payload.get("exit") or "")
            states = dict.fromkeys(states, "failed")
        standing = ENDS.get(kind) or STANDINGS.get(kind, standing)
    told = " ".join(part for part in (plain(name), standing) if part)
    return Course(frozenset(taken), states, visits, f"{told}, by exit {plain(by)}" if by else told)


def _note(
    states: dict[str, Status], visits: dict[str, int], node: str, kind: str, payload: Mapping[str, Any]
) -> None:
    """What an event of a node says of it."""
    if kind == "node_started":
        visits[node] = visits.get(node, 0) + 1
        states[node] = "current"
    elif kind in ("node_finished", "node_failed"):
        states.pop(node, None)
        if payload.get("outcome", "failed") != "ok":
            states[node] = "failed"
