"""What every renderer can draw: rectangles, discs, lines, polygons and words, with colours by role.

A role names a colour of the theme: `ink`, `paper`, `muted`, `agent.fill`, `agent.stroke`, `flow.loop`,
`status.added`. Places are points from the upper left corner, y downwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from windtunnel.compiler.drawing.layout import Point
from windtunnel.compiler.drawing.style import Palette

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0
    fill: str | None = None
    stroke: str | None = None
    line: float = 1.2
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Disc:
    """A circle."""

    x: float
    y: float
    radius: float
    fill: str | None = None
    stroke: str | None = None
    line: float = 1.2


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points, or a chain of cubic Bézier curves (3n + 1 points) when `curved`."""

    points: tuple[Point, ...]
    stroke: str
    line: float = 1.2
    dash: tuple[float, ...] = ()
    curved: bool = False


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed figure."""

    points: tuple[Point, ...]
    fill: str | None = None
    stroke: str | None = None
    line: float = 1.2


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text; `y` is its base line, `halo` a role drawn around the letters to hold lines off."""

    x: float
    y: float
    text: str
    size: float
    role: str = "ink"
    anchor: Anchor = "start"
    bold: bool = False
    mono: bool = False
    halo: str | None = None


Shape = Rect | Disc | Stroke | Polygon | Words


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes that belong to one thing: a box (`id`), an arrow (`keys` joined by a newline), or neither."""

    css: str
    shapes: tuple[Shape, ...]
    title: str = ""
    id: str = ""
    opens: str | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is drawn, back to front."""

    width: float
    height: float
    title: str
    groups: tuple[Group, ...]


def colour(role: str, palette: Palette) -> str:
    """The colour of a role in a theme."""
    head, _, tail = role.partition(".")
    plain = {
        "ink": palette.ink,
        "paper": palette.paper,
        "muted": palette.muted,
        "cluster": palette.cluster,
        "cluster-stroke": palette.cluster_stroke,
    }
    if role in plain:
        return plain[role]
    if head == "flow":
        return next(value for flow, value in palette.flows.items() if flow == tail)
    if head == "status":
        return next(value for status, value in palette.statuses.items() if status == tail)
    ink = next(value for kind, value in palette.kinds.items() if kind == head)
    return ink.fill if tail == "fill" else ink.stroke


def roles() -> tuple[str, ...]:
    """Every role there is, sorted."""
    from windtunnel.compiler.drawing.style import PALETTES

    palette = PALETTES["light"]
    found = ["ink", "paper", "muted", "cluster", "cluster-stroke"]
    found += [f"{kind}.{part}" for kind in palette.kinds for part in ("fill", "stroke")]
    found += [f"flow.{flow}" for flow in palette.flows]
    found += [f"status.{status}" for status in palette.statuses if status]
    return tuple(sorted(found))
