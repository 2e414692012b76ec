"""How a box looks: a card with sign, name, caption, facts and ways out. Size first, then shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windtunnel.compiler.drawing.icons import SIZE, icon, speech
from windtunnel.compiler.drawing.layout import Cell, Point
from windtunnel.compiler.drawing.lettering import fit, width, wrap
from windtunnel.compiler.drawing.picture import Arrow, Box, told
from windtunnel.compiler.drawing.shapes import Disc, Rect, Shape, Stroke, Words
from windtunnel.compiler.drawing.style import DASHES, WIDTHS, WRITTEN

NAME_SIZE = 13.0
SMALL_SIZE = 10.5
LINE = 14.0
PAD = 10.0
MIN_WIDTH = 92.0
MAX_WIDTH = 232.0
MAX_FACTS = 6
PORT_HEIGHT = 18.0
MAX_PORT_WIDTH = 130.0
START_SIZE = 18.0
EXIT_HEIGHT = 24.0


@dataclass(frozen=True, slots=True)
class Card:
    """A box with its lines cut to size; `ports` are centre and width on the lower edge."""

    box: Box
    width: float
    height: float
    name: str
    caption: tuple[str, ...]
    marker: str | None
    facts: tuple[str, ...]
    stubs: tuple[tuple[str, Arrow], ...]
    ports: tuple[tuple[float, float], ...]

    def cell(self) -> Cell:
        """What the layout engine is told."""
        rank = {"start": "source", "exit": "sink"}.get(self.box.kind, "")
        return Cell(self.width, self.height, self.ports, rank=rank)  # type: ignore[arg-type]


def card_of(box: Box, stubs: Sequence[Arrow], names: dict[str, str]) -> Card:
    """The card of a box; `stubs` are its arrows that are written, `names` what their targets are called."""
    if box.kind == "start":
        text = fit(" ".join((box.name, *box.facts)), SMALL_SIZE, MAX_WIDTH)
        return _plain(box, START_SIZE + width(text, SMALL_SIZE) * 2 + 16, START_SIZE, text)
    if box.kind == "exit":
        name = fit(box.name, NAME_SIZE, MAX_WIDTH - 46, bold=True)
        return _plain(box, width(name, NAME_SIZE, bold=True) + 46, EXIT_HEIGHT, name)
    room = MAX_WIDTH - 2 * PAD
    name = fit(box.name, NAME_SIZE, room - SIZE - 6, bold=True)
    caption = wrap(box.caption, SMALL_SIZE, room, 2) if box.caption else ()
    marker = None if box.marker is None else fit(box.marker, SMALL_SIZE, room - 18)
    change = told(box.status)
    facts = tuple(fit(fact, SMALL_SIZE, room) for fact in (*change, *box.facts[:MAX_FACTS]))
    written = tuple((_stub_text(stub, names, room - 20), stub) for stub in stubs)
    ports = [min(width(port.name, SMALL_SIZE) + 14, MAX_PORT_WIDTH) for port in box.ports]
    inner = max(
        [width(name, NAME_SIZE, bold=True) + SIZE + 6]
        + [width(line, SMALL_SIZE, bold=bool(change)) for line in (*caption, *facts)]
        + [width(line, SMALL_SIZE) + 20 for line, _stub in written]
        + [width(marker, SMALL_SIZE) + 18 if marker else 0]
    )
    wide = max(MIN_WIDTH, inner + 2 * PAD, sum(ports) + 8 * (len(ports) + 1))
    lines = len(caption) + len(facts) + len(written) + (marker is not None)
    high = 2 * 7 + SIZE + (lines * LINE + 3 if lines else 0) + (PORT_HEIGHT + 2 if ports else 0)
    gap = (wide - sum(ports)) / (len(ports) + 1)
    places: list[tuple[float, float]] = []
    at = gap
    for size in ports:
        places.append((at + size / 2, size))
        at += size + gap
    return Card(box, wide, high, name, caption, marker, facts, written, tuple(places))


def _plain(box: Box, wide: float, high: float, name: str) -> Card:
    return Card(box, wide, high, name, (), None, (), (), ())


def shapes_of(card: Card, corner: Point) -> tuple[Shape, ...]:
    """The card with its upper left corner at a place."""
    if card.box.kind == "start":
        return _start(card, corner)
    if card.box.kind == "exit":
        return _exit(card, corner)
    x, y = corner
    shapes: list[Shape] = [*_frame(card, corner), *icon(card.box.kind, x + PAD, y + 7)]
    shapes.append(Words(x + PAD + SIZE + 6, y + 7 + 12.6, card.name, NAME_SIZE, bold=True))
    base = y + 7 + SIZE + LINE
    for line in card.caption:
        shapes.append(Words(x + PAD, base, line, SMALL_SIZE, "muted"))
        base += LINE
    if card.marker is not None:
        shapes += [
            *speech(x + PAD, base - 9, "agent.stroke"),
            Words(x + PAD + 18, base, card.marker, SMALL_SIZE),
        ]
        base += LINE
    for number, line in enumerate(card.facts):
        role = f"status.{card.box.status}" if number == 0 and card.box.status in WRITTEN else "ink"
        shapes.append(Words(x + PAD, base, line, SMALL_SIZE, role, bold=role != "ink"))
        base += LINE
    return (*shapes, *_ports(card, corner))


def stub_shapes(card: Card, corner: Point) -> tuple[tuple[Arrow, tuple[Shape, ...]], ...]:
    """The lines for the arrows that are written, with a piece of their line style."""
    x = corner.x + PAD
    lines_above = len(card.caption) + (card.marker is not None) + len(card.facts)
    base = corner.y + 7 + SIZE + LINE * (1 + lines_above)
    made: list[tuple[Arrow, tuple[Shape, ...]]] = []
    for number, (text, arrow) in enumerate(card.stubs):
        at = base + number * LINE
        role = f"flow.{arrow.flow}"
        piece = Stroke(
            (Point(x, at - 3.5), Point(x + 16, at - 3.5)), role, WIDTHS[arrow.flow], DASHES[arrow.flow]
        )
        made.append((arrow, (piece, Words(x + 20, at, text, SMALL_SIZE, role))))
    return tuple(made)


def _stub_text(stub: Arrow, names: dict[str, str], room: float) -> str:
    way = (f".{stub.port}",) if stub.port else ()
    return fit(" ".join((*way, *stub.label, "→", names[stub.target])), SMALL_SIZE, room)


def _frame(card: Card, corner: Point) -> tuple[Shape, ...]:
    kind, status = card.box.kind, card.box.status
    radius = {"agent": 11.0, "compute": 2.0, "shell": 2.0, "notify": 5.0}.get(kind, 5.0)
    line = {"decision": 2.2, "checkpoint": 2.2, "agent": 1.6}.get(kind, 1.2)
    x, y = corner
    shapes: list[Shape] = []
    if status and status != "missed":
        outline = f"status.{status}"
        shapes.append(
            Rect(x - 3.5, y - 3.5, card.width + 7, card.height + 7, radius + 3, outline, outline, 1.0)
        )
    if kind == "include":
        shapes.append(Rect(x + 3, y + 3, card.width, card.height, radius, "cluster", "include.stroke", 1.2))
    shapes.append(Rect(x, y, card.width, card.height, radius, f"{kind}.fill", f"{kind}.stroke", line))
    return tuple(shapes)


def _ports(card: Card, corner: Point) -> tuple[Shape, ...]:
    shapes: list[Shape] = []
    top = corner.y + card.height - PORT_HEIGHT - 3
    for port, (centre, wide) in zip(card.box.ports, card.ports, strict=True):
        left = corner.x + centre - wide / 2
        shapes.append(Rect(left, top, wide, PORT_HEIGHT, 9, "paper", f"{card.box.kind}.stroke", 1.0))
        text = fit(port.name, SMALL_SIZE, wide - 12)
        shapes.append(Words(corner.x + centre, top + 12.6, text, SMALL_SIZE, anchor="middle"))
    return tuple(shapes)


def _start(card: Card, corner: Point) -> tuple[Shape, ...]:
    middle = corner.x + card.width / 2
    return (
        Disc(middle, corner.y + START_SIZE / 2, 6.5, "start.fill", "start.stroke"),
        Words(middle + 12, corner.y + START_SIZE / 2 + 3.6, card.name, SMALL_SIZE, "muted"),
    )


def _exit(card: Card, corner: Point) -> tuple[Shape, ...]:
    x, y = corner
    shapes: list[Shape] = []
    if card.box.status and card.box.status != "missed":
        outline = f"status.{card.box.status}"
        shapes.append(Rect(x - 3.5, y - 3.5, card.width + 7, card.height + 7, 15, outline, outline, 1.0))
    return (
        *shapes,
        Rect(x, y, card.width, card.height, EXIT_HEIGHT / 2, "exit.fill", "exit.stroke", 1.8),
        *icon("exit", x + 8, y + 4),
        Words(x + 30, y + 16.6, card.name, NAME_SIZE, bold=True),
    )
