"""In which order the boxes of a sheet are read, and which arrows lead back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.drawing.picture import Arrow

ASIDE: Final = ("failure", "limit")
"""The flows that are not the usual way."""


def read(arrows: Sequence[Arrow], start: str) -> tuple[list[str], list[Arrow]]:
    """The boxes in reading order, and the arrows with those that lead back marked as loops.

    The start is the first, and every arrow between boxes that it reaches goes forward or leads back. Failure
    routes and limits keep their meaning wherever they lead.
    """
    order, back = _walk(arrows, [start, *sorted({arrow.source for arrow in arrows})])
    knots = _knots(arrows)
    # A walk may enter a cycle by way of a failure, and take a step of the usual way for one that leads back.
    inside = [
        arrow for arrow in arrows if arrow.source in knots and knots[arrow.source] == knots.get(arrow.target)
    ]
    if any(arrow.flow in ASIDE and arrow.source != arrow.target for arrow in inside):
        order = _usual_way_first(inside, order, knots)
        places = {name: at for at, name in enumerate(order)}
        back = {id(arrow) for arrow in inside if places[arrow.target] <= places[arrow.source]}
    marked = [
        replace(arrow, flow="loop") if id(arrow) in back and arrow.flow == "ok" else arrow for arrow in arrows
    ]
    return order, marked


def _knots(arrows: Sequence[Arrow]) -> dict[str, str]:
    """The boxes that lie on cycles, each with the name of the first box that shares one with it."""
    graph = Digraph(arrows=((arrow.source, arrow.target) for arrow in arrows))
    return {name: min(knot) for knot in graph.loops() for name in knot}


def _usual_way_first(inside: Sequence[Arrow], order: Sequence[str], knots: Mapping[str, str]) -> list[str]:
    """The order knot by knot, each where it is entered first.

    Inside a knot the usual way comes first, then what only a failure or a used-up limit reaches.
    """
    members: dict[str, list[str]] = {}
    for name in order:
        members.setdefault(knots.get(name, name), []).append(name)
    arrows: dict[str, list[Arrow]] = {}
    for arrow in inside:
        arrows.setdefault(knots[arrow.source], []).append(arrow)
    made: list[str] = []
    for knot, names in members.items():
        usual, _ = _walk([arrow for arrow in arrows.get(knot, ()) if arrow.flow not in ASIDE], names[:1])
        seen = frozenset(usual)
        rest = [name for name in names if name not in seen]
        other, _ = _walk([arrow for arrow in arrows.get(knot, ()) if arrow.target not in seen], rest)
        made += [*usual, *other]
    return made


def _ways(arrows: Sequence[Arrow]) -> dict[str, list[Arrow]]:
    """The arrows that leave each box; the usual way first."""
    ways: dict[str, list[Arrow]] = {}
    for arrow in sorted(arrows, key=lambda arrow: (arrow.flow != "ok", arrow.flow, arrow.keys)):
        ways.setdefault(arrow.source, []).append(arrow)
    return ways


def _walk(arrows: Sequence[Arrow], roots: Sequence[str]) -> tuple[list[str], set[int]]:
    """Depth first from each root: the boxes in reading order, and which arrows lead back (by `id`)."""
    ways = _ways(arrows)
    order: list[str] = []
    back: set[int] = set()
    state: dict[str, bool] = {}
    for root in roots:
        if root in state:
            continue
        left: list[str] = []
        state[root] = True
        stack = [(root, iter(ways.get(root, [])))]
        while stack:
            name, rest = stack[-1]
            arrow = next(rest, None)
            if arrow is None:
                stack.pop()
                state[name] = False
                left.append(name)
            elif arrow.target not in state:
                state[arrow.target] = True
                stack.append((arrow.target, iter(ways.get(arrow.target, []))))
            elif state[arrow.target]:
                back.add(id(arrow))
        order += reversed(left)
    return order, back
