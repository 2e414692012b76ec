"""A directed graph of names, for what every check asks of it; a large graph library takes longer to load than
a small flow to check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, KeysView
from typing import Final

_DONE: Final = 1 << 60


class Digraph:
    """Vertices in the order in which they came, each with those before and after it, without repeats."""

    __slots__ = ("_after", "_before")

    def __init__(self, vertices: Iterable[str] = (), arrows: Iterable[tuple[str, str]] = ()) -> None:
        self._after: dict[str, dict[str, None]] = {vertex: {} for vertex in vertices}
        self._before: dict[str, dict[str, None]] = {vertex: {} for vertex in self._after}
        for source, goal in arrows:
            self.add(source, goal)

    def __contains__(self, vertex: str) -> bool:
        return vertex in self._after

    def __iter__(self) -> Iterator[str]:
        return iter(self._after)

    def __len__(self) -> int:
        return len(self._after)

    def add(self, source: str, goal: str) -> None:
        """Lead from one vertex to another; they need not be there yet."""
        for vertex in (source, goal):
            if vertex not in self._after:
                self._after[vertex], self._before[vertex] = {}, {}
        self._after[source][goal] = None
        self._before[goal][source] = None

    def leads(self, source: str, goal: str) -> bool:
        """Whether an arrow leads from one to the other."""
        return goal in self._after.get(source, ())

    def successors(self, vertex: str) -> KeysView[str]:
        """Those that follow a vertex."""
        return self._after[vertex].keys()

    def predecessors(self, vertex: str) -> KeysView[str]:
        """Those that precede a vertex."""
        return self._before[vertex].keys()

    def within(self, vertices: Collection[str]) -> Digraph:
        """What is left when only these vertices stay."""
        kept = Digraph(vertex for vertex in self if vertex in vertices)
        for vertex in kept:
            for following in self._after[vertex]:
                if following in kept:
                    kept.add(vertex, following)
        return kept

    def reaches(self, source: str, goal: str) -> bool:
        """Whether a path, or nothing at all, leads from one to the other."""
        seen = {source}
        stack = [source]
        while stack and goal not in seen:
            for following in self._after[stack.pop()]:
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        return goal in seen

    def components(self) -> list[set[str]]:
        """The strongly connected components, each behind all that it leads to."""
        after, found = self._after, list[set[str]]()
        number: dict[str, int] = {}
        open_: list[str] = []
        for root in after:
            if root in number:
                continue
            path = [(root, iter(after[root]), len(open_))]
            number[root] = low = len(open_)
            open_.append(root)
            lows = [low]
            while path:
                _, following, at = path[-1]
                for goal in following:
                    known = number.get(goal)
                    if known is None:
                        number[goal] = len(open_)
                        path.append((goal, iter(after[goal]), len(open_)))
                        lows.append(len(open_))
                        open_.append(goal)
                        break
                    if known < lows[-1]:
                        lows[-1] = known
                else:
                    path.pop()
                    low = lows.pop()
                    if low == at:
                        members = open_[at:]
                        del open_[at:]
                        number.update(dict.fromkeys(members, _DONE))
                        found.append(set(members))
                    elif low < lows[-1]:
                        lows[-1] = low
        return found

    def loops(self) -> list[set[str]]:
        """The components that hold a cycle."""
        return [each for each in self.components() if len(each) > 1 or self.leads(*each, *each)]

    def ordered(self) -> list[str] | None:
        """The vertices, each behind all that precede it; None where there is a cycle."""
        left = {vertex: len(before) for vertex, before in self._before.items()}
        found = [vertex for vertex, count in left.items() if not count]
        for vertex in found:
            for following in self._after[vertex]:
                left[following] -= 1
                if not left[following]:
                    found.append(following)
        return found if len(found) == len(left) else None
