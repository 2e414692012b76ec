"""The small sign of each kind, made of shapes so that no font is needed."""

from __future__ import annotations

from windtunnel.compiler.drawing.layout import Point
from windtunnel.compiler.drawing.shapes import Disc, Polygon, Rect, Shape, Stroke
from windtunnel.compiler.drawing.style import Kind

SIZE = 16.0
"""Width and height of an icon in points."""


def icon(kind: Kind, x: float, y: float) -> tuple[Shape, ...]:
    """The sign of a kind with its upper left corner at `x, y`."""
    ink = f"{kind}.stroke"

    def line(*points: tuple[float, float], width: float = 1.4) -> Stroke:
        return Stroke(tuple(Point(x + px, y + py) for px, py in points), ink, width)

    match kind:
        case "start":
            return (Disc(x + 8, y + 8, 5, "start.fill", "start.stroke"),)
        case "agent":
            # A robot's head: antenna, face, two eyes, a mouth.
            return (
                line((8, 0.5), (8, 4)),
                Disc(x + 8, y + 1.5, 1.5, ink),
                Rect(x + 1.5, y + 4, 13, 10.5, 3, "paper", ink, 1.4),
                Disc(x + 5.5, y + 8.2, 1.4, ink),
                Disc(x + 10.5, y + 8.2, 1.4, ink),
                line((5.5, 11.6), (10.5, 11.6), width=1.2),
            )
        case "compute":
            return (line((2.5, 5.5), (13.5, 5.5), width=1.8), line((2.5, 10.5), (13.5, 10.5), width=1.8))
        case "action":
            bolt = ((9.5, 0.5), (3, 9), (7.4, 9), (6, 15.5), (13, 6.4), (8.4, 6.4))
            return (Polygon(tuple(Point(x + px, y + py) for px, py in bolt), ink, ink, 0.8),)
        case "shell":
            return (
                Rect(x + 0.7, y + 2, 14.6, 12, 1.5, "paper", ink, 1.4),
                line((3.4, 5.2), (6.4, 8), (3.4, 10.8)),
                line((8, 11), (12, 11)),
            )
        case "notify":
            return (
                Rect(x + 0.7, y + 2.7, 14.6, 10.6, 1.5, "paper", ink, 1.4),
                line((1, 3.4), (8, 9), (15, 3.4), width=1.2),
            )
        case "checkpoint":
            return _person(x, y, ink)
        case "decision":
            diamond = ((8, 0.5), (15.5, 8), (8, 15.5), (0.5, 8))
            return (
                Polygon(tuple(Point(x + px, y + py) for px, py in diamond), "paper", ink, 1.6),
                Disc(x + 8, y + 8, 2.2, ink),
            )
        case "include":
            return (
                Rect(x + 4, y + 1, 11, 9.5, 1.5, "paper", ink, 1.3),
                Rect(x + 1, y + 5, 11, 9.5, 1.5, "paper", ink, 1.3),
            )
        case "exit":
            return (Disc(x + 8, y + 8, 6, "paper", ink, 1.4), Disc(x + 8, y + 8, 3.2, ink))


def _person(x: float, y: float, ink: str) -> tuple[Shape, ...]:
    shoulders = ((1.5, 15), (1.5, 10.5), (4.5, 8.8), (8, 8.8), (11.5, 8.8), (14.5, 10.5), (14.5, 15))
    body = Stroke(tuple(Point(x + px, y + py) for px, py in shoulders), ink, 1.5, curved=True)
    return (Disc(x + 8, y + 4.2, 3.2, "paper", ink, 1.4), body)


def speech(x: float, y: float, role: str) -> tuple[Shape, ...]:
    """The speech mark: a small bubble of 13 by 10 points."""
    tail = (Point(x + 3, y + 8), Point(x + 2.4, y + 11.5), Point(x + 6.5, y + 8))
    return (
        Polygon(tail, role, role, 0.6),
        Rect(x, y, 13, 8.6, 2.6, role, role, 0.8),
        Stroke((Point(x + 3, y + 3.1), Point(x + 10, y + 3.1)), "paper", 1.0),
        Stroke((Point(x + 3, y + 5.6), Point(x + 8, y + 5.6)), "paper", 1.0),
    )
