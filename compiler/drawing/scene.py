"""A picture to shapes: cards are sized, sheets laid out from the inside out, then all gets its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot

from windtunnel.compiler.drawing.cards import (
    EXIT_HEIGHT,
    NAME_SIZE,
    SMALL_SIZE,
    Card,
    card_of,
    shapes_of,
    stub_shapes,
)
from windtunnel.compiler.drawing.icons import SIZE, icon, speech
from windtunnel.compiler.drawing.layout import Cell, Engine, Placed, Point, Task, Wire, lay_out
from windtunnel.compiler.drawing.lettering import clean, fit, width, wrap
from windtunnel.compiler.drawing.picture import (
    Arrow,
    Box,
    Picture,
    Sheet,
    arrow_title,
    box_title,
    sheet_names,
    told,
)
from windtunnel.compiler.drawing.shapes import Disc, Group, Polygon, Rect, Scene, Shape, Stroke, Words
from windtunnel.compiler.drawing.style import (
    DASHES,
    FLOW_WORDS,
    KIND_WORDS,
    STATUS_WORDS,
    WIDTHS,
    WRITTEN,
    Flow,
)
from windtunnel.compiler.drawing.wording import ASSISTANT

MARGIN = 16.0
HEADER = 34.0
SIDE = 14.0
LABEL_SIZE = 10.5
LABEL_LINE = 12.5
MAX_LABEL = 170.0
MAX_LABEL_LINES = 4
LEGEND_WIDTH = 560.0


@dataclass(frozen=True, slots=True)
class Laid:
    """A sheet with its cards and places; `cells` are what the engine was told of them."""

    sheet: Sheet
    cards: tuple[Card, ...]
    cells: tuple[Cell, ...]
    drawn: tuple[Arrow, ...]
    labels: tuple[tuple[str, ...], ...]
    placed: Placed

    def middle(self, kind: str, name: str) -> tuple[float, float]:
        """Where the start or an exit has its middle, and how wide it is."""
        return next(
            (corner.x + card.width / 2, card.width)
            for card, corner in zip(self.cards, self.placed.corners, strict=True)
            if card.box.kind == kind and card.box.name == name
        )


def scene_of(picture: Picture, engine: Engine = "pure") -> Scene:
    """The whole picture: title, the root's sheet with its open includes, legend. Raises DrawingError."""
    laid = lay_out_sheets(picture.sheets, engine)
    root = laid[""]
    top = MARGIN + HEADER + (LABEL_LINE + 4) * len(picture.notes)
    wide = max(root.placed.width, width(picture.title, 16, bold=True), LEGEND_WIDTH)
    groups: list[Group] = [_heading(picture)]
    groups += _sheet_groups(laid, "", MARGIN + (wide - root.placed.width) / 2, top)
    legend, high = _legend(picture, MARGIN, top + root.placed.height + 24, wide)
    groups.append(legend)
    total = top + root.placed.height + 24 + high + MARGIN
    return Scene(wide + 2 * MARGIN, total, picture.title, tuple(groups))


def sheet_scene(picture: Picture, scope: str, laid: Mapping[str, Laid]) -> Scene:
    """One sheet, with the open includes in it, without title and legend."""
    placed = laid[scope].placed
    groups = tuple(_sheet_groups(laid, scope, MARGIN, MARGIN))
    return Scene(placed.width + 2 * MARGIN, placed.height + 2 * MARGIN, picture.title, groups)


def lay_out_folded(sheets: Sequence[Sheet], engine: Engine) -> dict[str, Laid]:
    """Every sheet laid out for itself, with every include in it folded."""
    prepared = [_prepared(sheet, {}) for sheet in sheets]
    placed = lay_out([task for *_rest, task in prepared], engine)
    return {
        sheet.scope: Laid(sheet, cards, task.cells, drawn, labels, places)
        for sheet, (cards, drawn, labels, task), places in zip(sheets, prepared, placed, strict=True)
    }


def legend_scene(picture: Picture, room: float) -> Scene:
    """The legend alone, `room` points wide."""
    group, high = _legend(picture, 0, 10, room)
    return Scene(room + 16, high + 10, "legend", (group,))


def lay_out_sheets(sheets: Sequence[Sheet], engine: Engine) -> dict[str, Laid]:
    """Every sheet laid out, the inner ones first since their size is that of a box of the outer one."""
    laid: dict[str, Laid] = {}
    depths: dict[int, list[Sheet]] = {}
    for sheet in sheets:
        depths.setdefault(sheet.scope.count("/") + 1 if sheet.scope else 0, []).append(sheet)
    for depth in sorted(depths, reverse=True):
        prepared = [_prepared(sheet, laid) for sheet in depths[depth]]
        placed = lay_out([task for *_rest, task in prepared], engine)
        for sheet, (cards, drawn, labels, task), places in zip(depths[depth], prepared, placed, strict=True):
            laid[sheet.scope] = Laid(sheet, cards, task.cells, drawn, labels, places)
    return laid


Prepared = tuple[tuple[Card, ...], tuple[Arrow, ...], tuple[tuple[str, ...], ...], Task]


def _prepared(sheet: Sheet, laid: Mapping[str, Laid]) -> Prepared:
    names = sheet_names(sheet)
    stubs: dict[str, list[Arrow]] = {}
    for arrow in sheet.arrows:
        if arrow.written:
            stubs.setdefault(arrow.source, []).append(arrow)
    cards = tuple(card_of(box, stubs.get(box.id, ()), names) for box in sheet.boxes)
    cells = tuple(_open_cell(card, laid) or card.cell() for card in cards)
    numbers = {box.id: number for number, box in enumerate(sheet.boxes)}
    drawn = tuple(arrow for arrow in sheet.arrows if not arrow.written)
    labels = tuple(_lines(arrow) for arrow in drawn)
    wires = tuple(
        Wire(
            source=numbers[arrow.source],
            port=_port(sheet.boxes[numbers[arrow.source]], arrow),
            target=numbers[arrow.target],
            label=_label_size(lines) if lines else None,
            weight={"ok": 4, "loop": 1, "failure": 1, "limit": 1}[arrow.flow],
            back=numbers[arrow.target] <= numbers[arrow.source],
        )
        for arrow, lines in zip(drawn, labels, strict=True)
    )
    return cards, drawn, labels, Task(cells, wires)


def _port(box: Box, arrow: Arrow) -> int | None:
    return next((number for number, port in enumerate(box.ports) if port.name == arrow.port), None)


def _lines(arrow: Arrow) -> tuple[str, ...]:
    whole = (*told(arrow.status), *arrow.label)
    lines = (part for line in whole for part in wrap(line, LABEL_SIZE, MAX_LABEL, 2))
    return tuple(lines)[:MAX_LABEL_LINES]


def _label_size(lines: Sequence[str]) -> tuple[float, float]:
    return max(width(line, LABEL_SIZE) for line in lines) + 8, len(lines) * LABEL_LINE + 3


def _open_cell(card: Card, laid: Mapping[str, Laid]) -> Cell | None:
    """The box of an open include: as large as its sheet, its exits on the lower edge."""
    inner = laid.get(card.box.opens) if card.box.opens is not None else None
    if inner is None:
        return None
    shift = _shift(card, inner)
    ports: list[tuple[float, float]] = []
    for port in card.box.ports:
        middle, wide = inner.middle("exit", port.name)
        ports.append((shift + middle, min(wide, 40.0)))
    wide = shift + inner.placed.width + SIDE
    return Cell(wide, inner.placed.height + HEADER, tuple(ports), shift + inner.middle("start", "start")[0])


def _shift(card: Card, inner: Laid) -> float:
    """How far inside its box an open sheet begins: its name stands left of where the arrow enters."""
    name = 9 + SIZE + 6 + width(card.name, NAME_SIZE, bold=True) + 12
    return max(SIDE, name - inner.middle("start", "start")[0])


# --- groups ----------------------------------------------------------------------------------------------


def _sheet_groups(laid: Mapping[str, Laid], scope: str, left: float, top: float) -> Iterator[Group]:
    """The open includes first, then arrows, then boxes: back to front."""
    here = laid[scope]
    opened: list[tuple[Card, Point]] = []
    closed: list[tuple[Card, Point]] = []
    for card, corner in zip(here.cards, here.placed.corners, strict=True):
        place = Point(left + corner.x, top + corner.y)
        is_open = card.box.opens is not None and card.box.opens in laid
        (opened if is_open else closed).append((card, place))
    cells = {card.box.id: cell for card, cell in zip(here.cards, here.cells, strict=True)}
    for card, place in opened:
        assert card.box.opens is not None, "an open box opens a sheet"
        yield _cluster(card, cells[card.box.id], place)
        inner = laid[card.box.opens]
        yield from _sheet_groups(laid, card.box.opens, place.x + _shift(card, inner), place.y + HEADER)
    names = sheet_names(here.sheet)
    for number, arrow in enumerate(here.drawn):
        yield _arrow_group(here, number, arrow, names, left, top)
    for card, place in closed:
        yield Group(
            f"box {card.box.kind}", shapes_of(card, place), box_title(card.box), card.box.id, card.box.opens
        )
        for arrow, shapes in stub_shapes(card, place):
            title = arrow_title(names, arrow)
            yield Group(f"arrow {arrow.flow} written", shapes, title, "\n".join(arrow.keys))


def _cluster(card: Card, cell: Cell, place: Point) -> Group:
    x, y = place
    assert cell.entry is not None, "an open include has an entry"
    entry = x + cell.entry
    at = x + 9
    fact = at + SIZE + 6 + width(card.name, NAME_SIZE, bold=True) + 10
    rest = entry - 12 - fact
    if rest < cell.width - cell.entry - 24:
        fact, rest = entry + 12, cell.width - cell.entry - 24
    shapes: list[Shape] = [
        Rect(x, y, cell.width, cell.height - EXIT_HEIGHT / 2, 8, "cluster", "cluster-stroke", 1.4),
        Stroke((Point(entry, y), Point(entry, y + HEADER + 3)), "flow.ok", WIDTHS["ok"]),
        *icon("include", at, y + 7),
        Words(at + SIZE + 6, y + 19.6, card.name, NAME_SIZE, bold=True),
    ]
    if card.facts and rest > 60:
        text = fit(card.facts[0], SMALL_SIZE, rest)
        shapes.append(Words(fact, y + 19.6, text, SMALL_SIZE, "muted"))
    if card.box.status and card.box.status != "missed":
        shapes.append(
            Rect(
                x - 3,
                y - 3,
                cell.width + 6,
                cell.height - EXIT_HEIGHT / 2 + 6,
                10,
                None,
                f"status.{card.box.status}",
                3,
            )
        )
    return Group("cluster", tuple(shapes), box_title(card.box), card.box.id, card.box.opens)


def _arrow_group(
    here: Laid, number: int, arrow: Arrow, names: dict[str, str], left: float, top: float
) -> Group:
    points = tuple(Point(left + x, top + y) for x, y in here.placed.splines[number])
    tip = here.placed.tips[number]
    end = Point(left + tip.x, top + tip.y)
    role = f"status.{arrow.status}" if arrow.status else f"flow.{arrow.flow}"
    line = WIDTHS[arrow.flow] + (1.2 if arrow.status and arrow.status != "missed" else 0)
    shapes: list[Shape] = [Stroke(points, role, line, DASHES[arrow.flow], curved=True)]
    shapes.append(_head(points[-1], end, role, arrow.flow))
    centre = here.placed.labels[number]
    lines = here.labels[number]
    if centre is not None and lines:
        base = top + centre.y - len(lines) * LABEL_LINE / 2 + 9.6
        for line_number, text in enumerate(lines):
            at = base + line_number * LABEL_LINE
            letters = role if arrow.status in WRITTEN else f"flow.{arrow.flow}"
            shapes.append(Words(left + centre.x, at, text, LABEL_SIZE, letters, "middle", halo="paper"))
    return Group(f"arrow {arrow.flow}", tuple(shapes), arrow_title(names, arrow), "\n".join(arrow.keys))


def _head(base: Point, tip: Point, role: str, flow: Flow) -> Shape:
    """The head of an arrow: full, or open for what leads back."""
    dx, dy = tip.x - base.x, tip.y - base.y
    long = hypot(dx, dy) or 1.0
    ux, uy = dx / long, dy / long
    back = Point(tip.x - 8 * ux, tip.y - 8 * uy)
    wings = (Point(back.x - 3.6 * uy, back.y + 3.6 * ux), Point(back.x + 3.6 * uy, back.y - 3.6 * ux))
    if flow == "loop":
        return Polygon((wings[0], tip, wings[1]), "paper", role, 1.6)
    return Polygon((wings[0], tip, wings[1]), role, role, 0.8)


# --- words over and under the picture --------------------------------------------------------------------


def _heading(picture: Picture) -> Group:
    shapes = [Words(MARGIN, MARGIN + 15, clean(picture.title), 16, bold=True)]
    shapes += [
        Words(MARGIN, MARGIN + 33 + number * (LABEL_LINE + 4), clean(note), SMALL_SIZE, "muted")
        for number, note in enumerate(picture.notes)
    ]
    return Group("heading", tuple(shapes))


def _legend(picture: Picture, left: float, top: float, room: float) -> tuple[Group, float]:
    """The legend in rows, and how high it is."""
    entries: list[tuple[tuple[Shape, ...], str]] = []
    for kind in picture.kinds():
        entries.append((icon(kind, 0, 0), KIND_WORDS[kind]))
    if picture.marks_answers():
        entries.append(
            (speech(1.5, 3, "agent.stroke"), f"{ASSISTANT}: the agent's visible answer is its output")
        )
    for flow in picture.flows():
        line = Stroke((Point(-8, 8), Point(12, 8)), f"flow.{flow}", WIDTHS[flow], DASHES[flow])
        entries.append(((line, _head(Point(10, 8), Point(18, 8), f"flow.{flow}", flow)), FLOW_WORDS[flow]))
    for status in picture.statuses():
        entries.append(((Rect(1, 2, 13, 12, 2, f"status.{status}"),), STATUS_WORDS[status]))
    shapes: list[Shape] = [Stroke((Point(left, top - 8), Point(left + room, top - 8)), "cluster-stroke", 0.8)]
    x, y = left, top
    for drawn, text in entries:
        wide = width(text, SMALL_SIZE) + SIZE + 8 + 26
        if x > left and x + wide - 20 > left + room:
            x, y = left, y + 22
        shapes += [moved(shape, x + 8, y) for shape in drawn]
        shapes.append(Words(x + 8 + SIZE + 8, y + 11.8, text, SMALL_SIZE, "muted"))
        x += wide
    return Group("legend", tuple(shapes)), y + 22 - top


def moved(shape: Shape, dx: float, dy: float) -> Shape:
    """The shape somewhere else."""
    match shape:
        case Rect():
            return Rect(
                shape.x + dx, shape.y + dy, shape.width, shape.height, shape.radius, shape.fill, shape.stroke,
                shape.line, shape.dash,
            )  # fmt: skip
        case Disc():
            return Disc(shape.x + dx, shape.y + dy, shape.radius, shape.fill, shape.stroke, shape.line)
        case Stroke():
            points = tuple(Point(x + dx, y + dy) for x, y in shape.points)
            return Stroke(points, shape.stroke, shape.line, shape.dash, shape.curved)
        case Polygon():
            points = tuple(Point(x + dx, y + dy) for x, y in shape.points)
            return Polygon(points, shape.fill, shape.stroke, shape.line)
        case Words():
            return Words(
                shape.x + dx, shape.y + dy, shape.text, shape.size, shape.role, shape.anchor, shape.bold,
                shape.mono, shape.halo,
            )  # fmt: skip
