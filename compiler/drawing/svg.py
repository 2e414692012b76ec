"""A scene as SVG: a group for each box and arrow, its whole text as tooltip; the same bytes everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

from windtunnel.compiler.drawing.layout import Point
from windtunnel.compiler.drawing.lettering import whole
from windtunnel.compiler.drawing.shapes import Disc, Group, Polygon, Rect, Scene, Shape, Stroke, Words, colour
from windtunnel.compiler.drawing.style import PALETTES, Theme

FONT = "Helvetica, Arial, Arimo, 'Liberation Sans', 'Noto Sans', sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_ID = re.compile(r"[^A-Za-z0-9_/-]")

Colour = Callable[[str], str]


def svg_document(scene: Scene, theme: Theme = "light") -> str:
    """The scene as a file of its own."""
    palette = PALETTES[theme]
    body = svg_element(scene, lambda role: colour(role, palette), paper=palette.paper)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}'


def svg_element(scene: Scene, paint: Colour, paper: str | None = None) -> str:
    """The scene as one `<svg>` element; `paint` gives the colour of a role."""
    wide, high = number(scene.width), number(scene.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}"',
        f' viewBox="0 0 {wide} {high}" font-family="{FONT}" role="img">',
        f"<title>{text(scene.title)}</title>",
    ]
    if paper is not None:
        lines.append(f'<rect width="{wide}" height="{high}" fill="{paper}"/>')
    for group in scene.groups:
        lines += _group(group, paint)
    return "\n".join([*lines, "</svg>", ""])


def number(value: float) -> str:
    """A length with at most two digits after the point: shorter, and the same on every machine."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def text(content: str) -> str:
    """Text between tags."""
    return escape(whole(content), quote=False)


def attribute(content: str) -> str:
    """Text of an attribute; newlines survive."""
    return escape(whole(content)).replace("\n", "&#10;")


def _group(group: Group, paint: Colour) -> Iterator[str]:
    about = f' class="{group.css}"'
    if group.id:
        name = "data-keys" if group.css.startswith("arrow") else "data-id"
        about += f' {name}="{attribute(group.id)}"'
    if group.opens is not None:
        about += f' data-opens="{attribute(group.opens)}"'
    yield f"<g{about}>"
    if group.title:
        yield f"<title>{text(group.title)}</title>"
    for shape in group.shapes:
        yield _shape(shape, paint)
    yield "</g>"


def _pen(fill: str | None, stroke: str | None, line: float, paint: Colour) -> str:
    filled = f'fill="{paint(fill)}"' if fill is not None else 'fill="none"'
    if stroke is None:
        return filled
    return f'{filled} stroke="{paint(stroke)}" stroke-width="{number(line)}"'


def _dash(dash: tuple[float, ...]) -> str:
    return f' stroke-dasharray="{" ".join(number(part) for part in dash)}"' if dash else ""


def _pair(point: Point) -> str:
    return f"{number(point.x)},{number(point.y)}"


def _shape(shape: Shape, paint: Colour) -> str:
    match shape:
        case Rect():
            place = f'x="{number(shape.x)}" y="{number(shape.y)}"'
            size = f'width="{number(shape.width)}" height="{number(shape.height)}"'
            corner = f' rx="{number(shape.radius)}"' if shape.radius else ""
            pen = _pen(shape.fill, shape.stroke, shape.line, paint) + _dash(shape.dash)
            return f"<rect {place} {size}{corner} {pen}/>"
        case Disc():
            place = f'cx="{number(shape.x)}" cy="{number(shape.y)}" r="{number(shape.radius)}"'
            return f"<circle {place} {_pen(shape.fill, shape.stroke, shape.line, paint)}/>"
        case Stroke():
            first, *rest = shape.points
            turn = "C" if shape.curved else "L"
            path = f"M{_pair(first)}{turn}{' '.join(_pair(point) for point in rest)}"
            pen = _pen(None, shape.stroke, shape.line, paint) + _dash(shape.dash)
            return f'<path d="{path}" {pen}/>'
        case Polygon():
            points = " ".join(_pair(point) for point in shape.points)
            return f'<polygon points="{points}" {_pen(shape.fill, shape.stroke, shape.line, paint)}/>'
        case Words():
            return _words(shape, paint)


def _words(words: Words, paint: Colour) -> str:
    about = f'x="{number(words.x)}" y="{number(words.y)}" font-size="{number(words.size)}"'
    if words.anchor != "start":
        about += f' text-anchor="{words.anchor}"'
    if words.bold:
        about += ' font-weight="bold"'
    if words.mono:
        about += f' font-family="{MONO}"'
    about += f' fill="{paint(words.role)}"'
    if words.halo is not None:
        about += (
            f' stroke="{paint(words.halo)}" stroke-width="3" paint-order="stroke" stroke-linejoin="round"'
        )
    return f'<text {about} xml:space="preserve">{text(words.text)}</text>'
