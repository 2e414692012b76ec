"""Band 03: limits that no run can use up, since something smaller ends it first."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from math import isfinite
from typing import Final

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


def check_reached_limits(workflows: Mapping[WorkflowId, Typed], costs: Mapping[WorkflowId, Cost]) -> None:
    """Report each limit that another limit, `maxSteps` or the graph keeps from ever being reached."""
    for typed in workflows.values():
        limited = [arrow for arrow in typed.graph.arrows if _is_limited(arrow)]
        if limited and not typed.graph.open and not typed.graph.loose:
            work = MAX_WORK // (len(typed.graph.arrows) + 1)
            for arrow in limited[:work]:
                work -= _check_limit(typed, costs, arrow, limited, work)


def _is_limited(arrow: Arrow) -> bool:
    return not arrow.overflow and arrow.route.branches[arrow.branch].limit is not None


def _check_limit(
    typed: Typed, costs: Mapping[WorkflowId, Cost], arrow: Arrow, limited: list[Arrow], work: int
) -> int:
    """Check one limit; gives how many searches that took."""
    least, _ = _range(typed, arrow)
    there = _distance(typed, costs, START, arrow, None)
    if least is None or least < 1 or there is None or work < 1:
        return 1
    back = None if arrow.goal.node is None else _distance(typed, costs, arrow.goal.node, arrow, None)
    if back is None:
        _report(typed, arrow, "the way does not come back to it", "leave the limit out")
        return 2
    most = _max_steps(typed)
    if most is not None and there + least * back > most:
        why = (
            f"it needs {there} + {least} × {back} = {there + least * back} steps, "
            f"and `maxSteps` is {most}{'' if typed.scope.setting('maxSteps') else ' where nothing is set'}"
        )
        _report(typed, arrow, why, "raise `maxSteps`, or lower the limit")
        return 2
    return 2 + _check_others(typed, costs, arrow, limited[:work], least)


def _check_others(
    typed: Typed, costs: Mapping[WorkflowId, Cost], arrow: Arrow, limited: list[Arrow], least: int
) -> int:
    """Hold the limit of an arrow against those that every way back to it has to pass."""
    searches = 0
    assert arrow.goal.node is not None, "an arrow to an exit is taken once"
    for other in limited:
        _, highest = _range(typed, other)
        if other == arrow or highest is None or highest > least:
            continue
        searches += 1
        if _distance(typed, costs, arrow.goal.node, arrow, other) is not None:
            continue
        passes = highest + (0 if _distance(typed, costs, START, arrow, other) is None else 1)
        if passes <= least:
            limit = other.route.branches[other.branch].limit
            assert limit is not None, "only limited arrows are compared"
            words = f"{other.route.words} -> {other.goal.words}"
            why = f"every way back to it takes `{words}`, at most {highest} times"
            _report(typed, arrow, why, f"a limit of {max(1, passes - 1)} can be reached", other)
            return searches + 1
    return searches


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


def _distance(
    typed: Typed, costs: Mapping[WorkflowId, Cost], first: str, arrow: Arrow, without: Arrow | None
) -> int | None:
    """The fewest steps from a vertex, itself included, to the end that an arrow leaves; None for no way."""
    waiting: list[tuple[int, str]] = [(0, first)]
    done: set[str] = set()
    while waiting:
        steps, vertex = heappop(waiting)
        if vertex in done:
            continue
        done.add(vertex)
        if vertex == arrow.source:
            through = _through(typed, costs, arrow)
            return None if through is None else steps + through
        for following in typed.graph.leaving[vertex]:
            through = _through(typed, costs, following)
            if through is not None and following.goal.node is not None and following != without:
                heappush(waiting, (steps + through, following.goal.node))
    return None


def _through(typed: Typed, costs: Mapping[WorkflowId, Cost], arrow: Arrow) -> int | None:
    declaration = typed.scope.lookup(arrow.source)
    return 0 if declaration is None else steps_through(typed, costs, declaration, arrow.route.way)
