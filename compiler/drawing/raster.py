"""A scene as PNG: the layout engine draws its shapes as they are, with the fonts it brings along.

The shapes go to the engine as the background of an empty graph, so the picture is the same as the SVG.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import sqrt
from typing import Final

from windtunnel.compiler.drawing.layout import POINTS, Engine, Point, run_engine
from windtunnel.compiler.drawing.lettering import SIMPLE, width
from windtunnel.compiler.drawing.picture import DrawingError
from windtunnel.compiler.drawing.shapes import Disc, Polygon, Rect, Scene, Shape, Stroke, Words, colour
from windtunnel.compiler.drawing.style import PALETTES, Palette, Theme

DOTS_PER_INCH: Final = 144
MAX_PIXELS: Final = 60_000_000
MAX_SIDE: Final = 30_000
LEAST_DOTS_PER_INCH: Final = 48
"""Below this the letters cannot be read."""

_ARC: Final = 0.5523
"""How far a Bézier curve's control points lie from the corner of a quarter circle, as part of the radius."""


def png_document(scene: Scene, theme: Theme = "light", engine: Engine = "pure") -> bytes:
    """The scene as a PNG file. Raises DrawingError where it is too large or the fonts lack its letters."""
    foreign = sorted(
        {char for text in _texts(scene) if not SIMPLE.match(text) for char in text if not SIMPLE.match(char)}
    )
    if foreign and engine == "pure":
        shown = " ".join(foreign[:8])
        raise DrawingError(
            f"the fonts of the PNG engine do not have these letters: {shown}. Write SVG instead, which uses "
            "the fonts of the reader, or use the program dot of Graphviz as the engine."
        )
    dots = min(
        DOTS_PER_INCH,
        POINTS * sqrt(MAX_PIXELS / (scene.width * scene.height)),
        POINTS * MAX_SIDE / max(scene.width, scene.height),
    )
    if dots < LEAST_DOTS_PER_INCH:
        raise DrawingError(
            f"the picture is {scene.width:.0f} by {scene.height:.0f} points, too large for a readable PNG; "
            "write SVG or HTML instead, or fold includes"
        )
    return run_engine(_dot(scene, PALETTES[theme], int(dots)), ["-Kneato", "-n2", "-Tpng"], engine)


def _texts(scene: Scene) -> Iterator[str]:
    for group in scene.groups:
        yield from (shape.text for shape in group.shapes if isinstance(shape, Words))


def _dot(scene: Scene, palette: Palette, dots: int) -> str:
    pen = _Pen(scene.height, palette)
    drawn = " ".join(
        part for group in scene.groups for shape in group.shapes for part in pen.operations(shape)
    )
    quoted = drawn.replace('"', '\\"')
    invisible = 'style=invis shape=point width=0.01 label=""'
    return (
        f'digraph {{ graph [pad=0 margin=0 dpi={dots} bgcolor="{palette.paper}" _background="{quoted}"];\n'
        f'a [pos="0,0!" {invisible}]; b [pos="{_n(scene.width)},{_n(scene.height)}!" {invisible}]; }}\n'
    )


def _n(value: float) -> str:
    return f"{value:.2f}"


class _Pen:
    """Writes shapes as drawing operations of the engine (its xdot language); y goes upwards there."""

    def __init__(self, height: float, palette: Palette) -> None:
        self.height = height
        self.palette = palette

    def operations(self, shape: Shape) -> Iterator[str]:
        """The operations of one shape."""
        match shape:
            case Rect():
                outline = _rounded(shape) if shape.radius else None
                if outline is None:
                    corners = _corners(shape)
                    yield from self._closed(shape.fill, shape.stroke, shape.line, "P", "p", corners)
                else:
                    yield from self._closed(shape.fill, shape.stroke, shape.line, "b", "B", outline)
            case Disc():
                place = f"{_n(shape.x)} {_n(self.height - shape.y)} {_n(shape.radius)} {_n(shape.radius)}"
                yield from self._colours(shape.fill, shape.stroke, shape.line)
                yield f"{'E' if shape.fill is not None else 'e'} {place}"
            case Polygon():
                yield from self._closed(shape.fill, shape.stroke, shape.line, "P", "p", shape.points)
            case Stroke():
                yield from self._colours(None, shape.stroke, shape.line)
                style = "solid" if not shape.dash else "dashed" if len(shape.dash) == 2 else "dotted"
                yield _string("S", style)
                yield self._points("B" if shape.curved else "L", shape.points)
                if shape.dash:
                    yield _string("S", "solid")
            case Words():
                yield from self._words(shape)

    def _colours(self, fill: str | None, stroke: str | None, line: float) -> Iterator[str]:
        outline = stroke if stroke is not None else fill
        assert outline is not None, "a shape has a fill or a stroke"
        yield _string("c", colour(outline, self.palette))
        yield _string("S", f"setlinewidth({line:g})")
        if fill is not None:
            yield _string("C", colour(fill, self.palette))

    def _closed(
        self,
        fill: str | None,
        stroke: str | None,
        line: float,
        filled: str,
        empty: str,
        points: Iterable[Point],
    ) -> Iterator[str]:
        yield from self._colours(fill, stroke, line)
        yield self._points(filled if fill is not None else empty, points)

    def _points(self, operation: str, points: Iterable[Point]) -> str:
        pairs = [f"{_n(point.x)} {_n(self.height - point.y)}" for point in points]
        return " ".join([operation, str(len(pairs)), *pairs])

    def _words(self, words: Words) -> Iterator[str]:
        yield _string("c", colour(words.role, self.palette))
        yield f"t {1 if words.bold else 0}"
        yield _string(f"F {words.size:g}", "Helvetica")
        # The file format cannot hold a backslash before a quote: such a text is drawn in pieces.
        pieces = words.text.replace('\\"', '\\\n"').split("\n")
        wide = width(words.text, words.size, bold=words.bold)
        at = words.x - {"start": 0.0, "middle": wide / 2, "end": wide}[words.anchor]
        y = _n(self.height - words.y)
        if len(pieces) == 1 and words.anchor == "middle":
            yield _string(f"T {_n(words.x)} {y} 0 {_n(wide)}", words.text)
            return
        for piece in pieces:
            long = width(piece, words.size, bold=words.bold)
            yield _string(f"T {_n(at)} {y} -1 {_n(long)}", piece)
            at += long


def _string(operation: str, text: str) -> str:
    return f"{operation} {len(text.encode('utf-8'))} -{text}"


def _corners(rect: Rect) -> tuple[Point, ...]:
    right, bottom = rect.x + rect.width, rect.y + rect.height
    return Point(rect.x, rect.y), Point(right, rect.y), Point(right, bottom), Point(rect.x, bottom)


def _rounded(rect: Rect) -> tuple[Point, ...]:
    """The outline as one closed chain of Bézier curves, clockwise from the upper edge."""
    x, y, right, bottom = rect.x, rect.y, rect.x + rect.width, rect.y + rect.height
    r = min(rect.radius, rect.width / 2, rect.height / 2)
    k = r * (1 - _ARC)
    points = [Point(x + r, y)]

    def line(to: Point) -> None:
        start = points[-1]
        points.extend((start, to, to))

    line(Point(right - r, y))
    points.extend((Point(right - k, y), Point(right, y + k), Point(right, y + r)))
    line(Point(right, bottom - r))
    points.extend((Point(right, bottom - k), Point(right - k, bottom), Point(right - r, bottom)))
    line(Point(x + r, bottom))
    points.extend((Point(x + k, bottom), Point(x, bottom - k), Point(x, bottom - r)))
    line(Point(x, y + r))
    points.extend((Point(x, y + k), Point(x + k, y), Point(x + r, y)))
    return tuple(points)
