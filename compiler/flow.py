"""What has surely happened when a vertex is entered: definite assignment, ways taken, arms taken; and
witnesses.

Each vertex has bits for what may be true of it at a point of the run: not yet finished `ok`, not yet ended
at all, last left by this or that way. Each match has bits for the arm last taken. A state is one integer
with the bits of all of them; states flow along the arrows and are united where arrows meet, until nothing
changes. That is one pass over the arrows and a few more around loops; no path is ever enumerated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from windtunnel.compiler.graph import START, Arrow, Graph, Route

MAX_SHOWN: Final = 12
"""Most vertices of a path that a message shows; the middle of a longer one is counted."""

MAX_SEARCHES: Final = 200
"""Most paths that are searched in one workflow; findings past it come without a path."""

_NOT_OK: Final = 0
_NOT_ENDED: Final = 1
_WAYS: Final = 2
_ANY: Final = 0
_ARMS: Final = 1


@dataclass(frozen=True, slots=True)
class Site:
    """A match that narrows: the route that holds it, and the root it narrows (`draft`, `approval.replan`)."""

    route: int
    root: str

    @property
    def vertex(self) -> str:
        """The vertex whose next end makes the narrowing void; `input` is no vertex and stays."""
        return self.root.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Reading:
    """What may be true of a vertex when it is read: whether it may not have finished, and how it was last
    left.
    """

    unassigned: bool
    ways: tuple[str | None, ...]


class Flow:
    """The states of one workflow. A state is None where nothing is known, as after a broken line."""

    def __init__(self, graph: Graph, ways: Mapping[str, tuple[str, ...]], sites: Iterable[Site]) -> None:
        self.graph = graph
        self._layout: dict[str, tuple[int, tuple[str | None, ...]]] = {}
        self._sites: dict[int, tuple[int, int]] = {}
        self._void: dict[str, list[int]] = {}
        self._by_root: dict[str, list[int]] = {}
        offset = 0
        for node in graph.nodes:
            out: tuple[str | None, ...] = ways.get(node, (None,))
            self._layout[node] = (offset, out)
            offset += _WAYS + len(out)
        first_site = offset
        for site in sites:
            size = _ARMS + len(graph.routes[site.route].branches)
            self._sites[site.route] = (offset, size)
            self._void.setdefault(site.vertex, []).append(site.route)
            self._by_root.setdefault(site.root, []).append(site.route)
            offset += size
        self._searches = 0
        self._entry: dict[str, int] = {START: self._initial(first_site)}
        self._run()

    def _initial(self, first_site: int) -> int:
        bits = bytearray(first_site + sum(size for _, size in self._sites.values()))
        for offset, _ in self._layout.values():
            bits[offset + _NOT_OK] = bits[offset + _NOT_ENDED] = 1
        for offset, _ in self._sites.values():
            bits[offset + _ANY] = 1
        return int("".join(map(str, reversed(bits))) or "0", 2)

    def _run(self) -> None:
        order = {node: index for index, node in enumerate(self._reverse_postorder())}
        waiting: list[tuple[int, str]] = [(0, START)]
        queued = {START}
        while waiting:
            _, node = heappop(waiting)
            queued.discard(node)
            state = self._entry[node]
            for arrow in self.graph.leaving[node]:
                target = arrow.goal.node
                if target is None:
                    continue
                after = self._along(state, arrow)
                before = self._entry.get(target)
                united = after if before is None else before | after
                if united != before:
                    self._entry[target] = united
                    if target not in queued:
                        queued.add(target)
                        heappush(waiting, (order[target], target))

    def _reverse_postorder(self) -> list[str]:
        leaving = self.graph.leaving
        seen = {START}
        finished: list[str] = []
        stack = [(START, iter(leaving[START]))]
        while stack:
            node, arrows = stack[-1]
            for arrow in arrows:
                target = arrow.goal.node
                if target is not None and target not in seen:
                    seen.add(target)
                    stack.append((target, iter(leaving[target])))
                    break
            else:
                stack.pop()
                finished.append(node)
        finished.reverse()
        return finished

    def _along(self, state: int, arrow: Arrow) -> int:
        route = arrow.route
        state = self._ended(state, route)
        site = self._sites.get(route.index)
        if site is not None:
            offset, size = site
            state = _put(state, offset, size, 1 << (_ARMS + arrow.branch))
        return state

    def _ended(self, state: int, route: Route) -> int:
        if route.source == START:
            return state
        offset, ways = self._layout[route.source]
        if route.outcome != "ok":
            return _put(state, offset + _NOT_ENDED, 1, 0)
        taken = ways.index(route.way) if route.way in ways else 0
        state = _put(state, offset, _WAYS + len(ways), 1 << (_WAYS + taken))
        for index in self._void.get(route.source, ()):
            start, size = self._sites[index]
            state = _put(state, start, size, 1 << _ANY)
        return state

    # --- questions ------------------------------------------------------------------------------------------

    def entry(self, vertex: str) -> int | None:
        """The state when the vertex is entered; None when no path from `start` is known."""
        return self._entry.get(vertex)

    def after(self, route: Route) -> int | None:
        """The state after the route's end, before an arm is chosen."""
        state = self._entry.get(route.source)
        return None if state is None else self._ended(state, route)

    def along(self, arrow: Arrow) -> int | None:
        """The state at the end of an arrow."""
        state = self._entry.get(arrow.source)
        return None if state is None else self._along(state, arrow)

    def reading(self, state: int | None, vertex: str) -> Reading:
        """How a vertex may stand when it is read in that state."""
        offset, ways = self._layout[vertex]
        if state is None:
            return Reading(False, ways)
        bits = (state >> offset) & ((1 << (_WAYS + len(ways))) - 1)
        left = tuple(way for index, way in enumerate(ways) if bits >> (_WAYS + index) & 1)
        return Reading(bool(bits >> _NOT_OK & 1), left)

    def may_not_have_ended(self, state: int | None, vertex: str) -> bool:
        """Whether the vertex may not have ended yet, with any outcome."""
        offset, _ = self._layout[vertex]
        return state is not None and bool(state >> (offset + _NOT_ENDED) & 1)

    def arms(self, state: int | None, root: str) -> list[tuple[int, tuple[int, ...]]]:
        """For each match that narrows the root: its route and the branches that may have been taken last."""
        found: list[tuple[int, tuple[int, ...]]] = []
        for route in self._by_root.get(root, ()):
            offset, size = self._sites[route]
            bits = 0 if state is None else (state >> offset) & ((1 << size) - 1)
            if bits and not bits & (1 << _ANY):
                found.append((route, tuple(i for i in range(size - _ARMS) if bits >> (_ARMS + i) & 1)))
        return found

    # --- witnesses ------------------------------------------------------------------------------------------

    def shortest(self, target: str) -> list[Arrow] | None:
        """A shortest path from `start` to the vertex, while MAX_SEARCHES lasts."""
        return self._search(target, None, None)

    def without(self, target: str, vertex: str, way: str | None) -> list[Arrow] | None:
        """A shortest path on which, at `target`, the vertex was not last left `ok` by that way; None if no
        such.
        """
        return self._search(target, vertex, way)

    def _search(self, target: str, vertex: str | None, way: str | None) -> list[Arrow] | None:
        if self._searches >= MAX_SEARCHES:
            return None
        self._searches += 1
        parents: dict[tuple[str, bool], tuple[tuple[str, bool], Arrow] | None] = {(START, False): None}
        queue = deque([(START, False)])
        while queue:
            here = queue.popleft()
            if here[0] == target and not here[1]:
                return _unwind(parents, here)
            for arrow in self.graph.leaving[here[0]]:
                goal = arrow.goal.node
                if goal is None:
                    continue
                assigned = here[1]
                if arrow.source == vertex and arrow.route.outcome == "ok":
                    assigned = arrow.route.way == way
                there = (goal, assigned)
                if there not in parents:
                    parents[there] = (here, arrow)
                    queue.append(there)
        return None


def _put(state: int, offset: int, size: int, value: int) -> int:
    """The state with `size` bits at `offset` replaced by `value`."""
    old = (state >> offset) & ((1 << size) - 1)
    return state if old == value else state ^ ((old ^ value) << offset)


def _unwind(
    parents: Mapping[tuple[str, bool], tuple[tuple[str, bool], Arrow] | None], end: tuple[str, bool]
) -> list[Arrow]:
    arrows: list[Arrow] = []
    step = parents[end]
    while step is not None:
        arrows.append(step[1])
        step = parents[step[0]]
    arrows.reverse()
    return arrows


def path_words(arrows: list[Arrow], end: str) -> str:
    """A path as words: `start → a → approve.drop → b (failed) → end`, its middle counted when it is long."""
    steps = [arrow.route.words for arrow in arrows] + [end]
    if len(steps) > MAX_SHOWN:
        half = MAX_SHOWN // 2
        steps = [*steps[:half], f"… {len(steps) - 2 * half} more …", *steps[-half:]]
    return " → ".join(steps)
