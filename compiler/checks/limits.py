"""Band 03: limits that no run can use up, since something smaller ends it first."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from math import isfinite
from typing import Final, NamedTuple

from windtunnel.compiler.checks.costs import Cost, steps_through
from windtunnel.compiler.checks.loops import range_of
from windtunnel.compiler.constants import constant
from windtunnel.compiler.graph import START, Arrow
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import WorkflowId
from windtunnel.compiler.settings import DEFAULT_MAX_STEPS
from windtunnel.compiler.types import UNKNOWN, members

MAX_WORK: Final = 2_000_000
"""Most arrows followed in search of smaller limits; in larger workflows the first limits are searched."""


class _Limits(NamedTuple):
    """The limits of one workflow, and what every search among them needs."""

    typed: Typed
    costs: Mapping[WorkflowId, Cost]
    limited: list[Arrow]
    reached: Mapping[str, int]
    """The fewest steps from the start to each vertex."""
    parts: Mapping[str, set[str]]
    """For each vertex, those on a cycle with it, among which every way back to an arrow stays."""


def check_reached_limits(workflows: Mapping[WorkflowId, Typed], costs: Mapping[WorkflowId, Cost]) -> None:
    """Report each limit that another limit, `maxSteps` or the graph keeps from ever being reached."""
    for typed in workflows.values():
        limited = [arrow for arrow in typed.graph.arrows if _is_limited(arrow)]
        if limited and not typed.graph.open and not typed.graph.loose:
            parts = {vertex: part for part in typed.graph.digraph.components() for vertex in part}
            limits = _Limits(typed, costs, limited, _distances(typed, costs, START), parts)
            work = MAX_WORK
            for arrow in limited:
                work -= _check_limit(limits, arrow, work)


def _is_limited(arrow: Arrow) -> bool:
    return not arrow.overflow and arrow.route.branches[arrow.branch].limit is not None


def _check_limit(limits: _Limits, arrow: Arrow, work: int) -> int:
    """Check one limit; gives how many arrows were followed."""
    typed = limits.typed
    least, _ = _range(typed, arrow)
    there = _to_end(limits, limits.reached, arrow)
    if least is None or least < 1 or there is None or work < 1:
        return 0
    round_ = _arrows_within(limits, arrow)
    back = _way_back(limits, arrow, None)
    if back is None:
        _report(typed, arrow, "the way does not come back to it", "leave the limit out")
        return round_
    most = _max_steps(typed)
    if most is not None and there + least * back > most:
        why = (
            f"it needs {there} + {least} × {back} = {there + least * back} steps, "
            f"and `maxSteps` is {most}{'' if typed.scope.setting('maxSteps') else ' where nothing is set'}"
        )
        _report(typed, arrow, why, "raise `maxSteps`, or lower the limit")
        return round_
    return round_ + _check_others(limits, arrow, least, work - round_)


def _check_others(limits: _Limits, arrow: Arrow, least: int, work: int) -> int:
    """Hold the limit of an arrow against those that every way back to it has to pass."""
    followed, round_ = 0, _arrows_within(limits, arrow)
    part = limits.parts[arrow.source]
    for other in limits.limited:
        if other is arrow or other.source not in part or other.goal.node not in part:
            continue
        _, highest = _range(limits.typed, other)
        if highest is None or highest > least:
            continue
        followed += round_
        if followed > work:
            break
        if _way_back(limits, arrow, other) is not None:
            continue
        followed += len(limits.typed.graph.arrows)
        first = _to_end(limits, _distances(limits.typed, limits.costs, START, other), arrow)
        passes = highest + (0 if first is None else 1)
        if passes <= least:
            words = f"{other.route.words} -> {other.goal.words}"
            why = f"every way back to it takes `{words}`, at most {highest} times"
            _report(limits.typed, arrow, why, f"a limit of {max(1, passes - 1)} can be reached", other)
            break
    return followed


def _arrows_within(limits: _Limits, arrow: Arrow) -> int:
    """How many arrows leave the vertices that are on a cycle with the end of an arrow."""
    return sum(len(limits.typed.graph.leaving[vertex]) for vertex in limits.parts[arrow.source])


def _way_back(limits: _Limits, arrow: Arrow, without: Arrow | None) -> int | None:
    """The fewest steps from where an arrow leads to its own end; None for no way."""
    part = limits.parts[arrow.source]
    if arrow.goal.node is None or arrow.goal.node not in part:
        return None
    return _to_end(limits, _distances(limits.typed, limits.costs, arrow.goal.node, without, part), arrow)


def _to_end(limits: _Limits, distances: Mapping[str, int], arrow: Arrow) -> int | None:
    """The fewest steps to the end that an arrow leaves, its vertex included."""
    there, through = distances.get(arrow.source), _through(limits.typed, limits.costs, arrow)
    return None if there is None or through is None else there + through


def _report(typed: Typed, arrow: Arrow, why: str, help: str, other: Arrow | None = None) -> None:
    limit = arrow.route.branches[arrow.branch].limit
    smaller = None if other is None else other.route.branches[other.branch].limit
    assert limit is not None, "only limited arrows are checked"
    typed.scope.file.findings.add(
        "WT0311",
        f"this limit is never reached: {why}",
        limit.count.span,
        secondary=[] if smaller is None else [(smaller.count.span, "the smaller one")],
        help=help,
    )


def _range(typed: Typed, arrow: Arrow) -> tuple[int | None, int | None]:
    """The least and the most that a limit can be; None where it has no such number."""
    limit = arrow.route.branches[arrow.branch].limit
    assert limit is not None, "only limited arrows are looked at"
    ranges = [range_of(m) for m in members(typed.limits.get(limit.count.span.start, UNKNOWN))]
    lows = [int(low) for low, _ in ranges if low is not None and isfinite(low)]
    highs = [int(high) for _, high in ranges if high is not None]
    return (
        min(lows) if ranges and len(lows) == len(ranges) else None,
        max(highs) if ranges and len(highs) == len(ranges) else None,
    )


def _max_steps(typed: Typed) -> int | None:
    setting = typed.scope.setting("maxSteps")
    if setting is None:
        return DEFAULT_MAX_STEPS
    known = constant(setting.value)
    return known[0] if known is not None and isinstance(known[0], int) else None


def _distances(
    typed: Typed,
    costs: Mapping[WorkflowId, Cost],
    first: str,
    without: Arrow | None = None,
    inside: set[str] | None = None,
) -> dict[str, int]:
    """The fewest steps from the entry of a vertex to the entry of each that can be reached from it."""
    waiting: list[tuple[int, str]] = [(0, first)]
    found: dict[str, int] = {}
    while waiting:
        steps, vertex = heappop(waiting)
        if vertex in found:
            continue
        found[vertex] = steps
        for arrow in typed.graph.leaving[vertex]:
            goal = arrow.goal.node
            if goal is None or goal in found or arrow is without or (inside and goal not in inside):
                continue
            through = _through(typed, costs, arrow)
            if through is not None:
                heappush(waiting, (steps + through, goal))
    return found


def _through(typed: Typed, costs: Mapping[WorkflowId, Cost], arrow: Arrow) -> int | None:
    declaration = typed.scope.lookup(arrow.source)
    return 0 if declaration is None else steps_through(typed, costs, declaration, arrow.route.way)
