"""The graph of a whole snapshot, through all its includes: where a run can stand and where it can go.

Places are texts: a node in flight (`repair/check`), the end of a node or mount by which an edge leaves
(`repair/check!ok`, `ask!ok.drop`, `repair!ok.ready`), the entry and the start of a mount (`repair>`,
`repair:start`), the start of the root (`:start`), and its exits (`:exit ready`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from windtunnel.compiler.reading import subexpressions
from windtunnel.compiler.snapshot import EdgeModel, Snapshot, TargetModel

START: Final = ":start"

Places = Mapping[str, tuple[str, ...]]
"""Each place with those that may follow it, in order."""


def end(source: str, on: str, way: str | None) -> str:
    """The place of an end: a node or mount, the outcome, and the way out where it has several."""
    return f"{source}!{on}" if way is None else f"{source}!{on}.{way}"


def end_of(edge: EdgeModel) -> str:
    """The place that an edge leaves."""
    return f"{edge.scope}:start" if edge.source == "start" else end(edge.source, edge.on, edge.way)


def targets(edge: EdgeModel) -> Iterator[TargetModel]:
    """Everywhere an edge can lead, used-up limits included."""
    for arm in edge.arms:
        yield arm.to
        if arm.limit is not None:
            yield arm.limit.then


def places(snapshot: Snapshot) -> Places:
    """The graph of all places."""
    mounts = snapshot.composition.mounts
    found: dict[str, list[str]] = {name: [] for name in snapshot.nodes}
    for path in mounts:
        found[f"{path}>"] = [f"{path}:start"]
    for edge in snapshot.edges:
        leaves = end_of(edge)
        if edge.source in snapshot.nodes:
            found[edge.source].append(leaves)
        found.setdefault(leaves, [])
        for target in targets(edge):
            found[leaves].append(_arrival(edge.scope, target, snapshot))
    return {place: tuple(dict.fromkeys(follows)) for place, follows in found.items()}


def _arrival(scope: str, target: TargetModel, snapshot: Snapshot) -> str:
    if target.node is None:
        return end(scope, "ok", target.exit) if scope else f":exit {target.exit}"
    return f"{target.node}>" if target.node in snapshot.composition.mounts else target.node


def reach(graph: Places, first: Iterable[str], without: str | None = None) -> dict[str, int]:
    """Everything that can be reached, by its distance; the first places count, `without` is no way."""
    found = {place: 0 for place in first if place != without}
    queue = deque(found)
    while queue:
        place = queue.popleft()
        for after in graph.get(place, ()):
            if after not in found and after != without:
                found[after] = found[place] + 1
                queue.append(after)
    return found


def lets_read(value: Any) -> set[str]:
    """The `let`s that an expression, or a model that holds expressions, reads directly."""
    found: set[str] = set()
    stack: list[Any] = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, BaseModel):
            stack += [getattr(top, name) for name in type(top).model_fields]
        elif isinstance(top, tuple):
            stack += top
        elif isinstance(top, dict):
            stack += top.values()
        elif isinstance(top, list) and top and isinstance(top[0], str):
            if top[0] == "let":
                found.add(top[1])
            else:
                stack += subexpressions(top)
    return found
