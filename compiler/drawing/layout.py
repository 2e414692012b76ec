"""Where everything goes: each sheet is laid out on its own by the layout engine, inner ones first.

The engine gets sizes and arrows and no text at all, so nothing in a label can break it and no font of the
machine matters. An open include is one large box for its parent: its exits are ports of that box. This
keeps the work in proportion to the sheets; a picture that would take minutes is refused beforehand, and
the engine has a time limit.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from graphviz.backend import execute

from windtunnel.compiler.drawing.picture import DrawingError

Engine = Literal["pure", "dot"]

MAX_BOXES: Final = 2_500
"""Boxes of one sheet."""

MAX_ARROWS: Final = 6_000
"""Arrows of one sheet."""

MAX_SECONDS: Final = 60
"""How long the engine may work on one batch of sheets."""

CARE: Final = 300
"""Rounds in which the engine straightens lines, for a whole sheet: a large one gets fewer for each box."""

WITHOUT_LAYOUT: Final = "text (txt), Mermaid (mmd), DOT (dot) or JSON (json), which need no layout"

POINTS: Final = 72

TALL: Final = 50_000
"""Points. In its short form the engine writes five digits of a place; what is higher needs the long one."""

NEAR_TIP: Final = 1.51
"""Points between the tip of an arrow and where the engine draws it, so that its outline ends at the tip."""


class Point(NamedTuple):
    """In points from the upper left corner."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Cell:
    """A box for the engine: its size, its ports on the lower edge (centre and width), where one enters."""

    width: float
    height: float
    ports: tuple[tuple[float, float], ...] = ()
    entry: float | None = None
    rank: Literal["", "source", "sink"] = ""


@dataclass(frozen=True, slots=True)
class Wire:
    """An arrow for the engine: the cells by number, the port or None, the size of its label or None."""

    source: int
    port: int | None
    target: int
    label: tuple[float, float] | None
    weight: int
    back: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One sheet for the engine."""

    cells: tuple[Cell, ...]
    wires: tuple[Wire, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A sheet with places: the corner of each cell; spline, tip and label centre of each wire; the size."""

    width: float
    height: float
    corners: tuple[Point, ...]
    splines: tuple[tuple[Point, ...], ...]
    tips: tuple[Point, ...]
    labels: tuple[Point | None, ...]


def lay_out(tasks: Sequence[Task], engine: Engine) -> list[Placed]:
    """Places for each task. Raises DrawingError: one is too large, the engine lacks or needs too long."""
    for task in tasks:
        if len(task.cells) > MAX_BOXES or len(task.wires) > MAX_ARROWS:
            raise DrawingError(
                f"one workflow of the picture has {len(task.cells)} boxes and {len(task.wires)} arrows; more "
                f"than {MAX_BOXES} boxes or {MAX_ARROWS} arrows take minutes to lay out. Split it with "
                f"includes, or write {WITHOUT_LAYOUT}."
            )
    different = dict.fromkeys(tasks)
    source = "\n".join(_dot(task) for task in different)
    answers = _documents(_run(source, engine, exact=max(map(_height, different), default=0) > TALL))
    assert len(answers) == len(different), "the engine answers every graph"
    places = {task: _placed(task, answer) for task, answer in zip(different, answers, strict=True)}
    return [places[task] for task in tasks]


def program(engine: Engine) -> str:
    """The layout program. Raises DrawingError when it is not installed."""
    if engine == "dot":
        found = shutil.which("dot")
        if found is None:
            raise DrawingError(
                "the program dot of Graphviz is not installed; leave the engine out to use the built-in"
            )
        return found
    beside = Path(sysconfig.get_path("scripts")) / "graphviz-pure"
    for name in (beside, beside.with_suffix(".exe")):
        if name.exists():
            return str(name)
    found = shutil.which("graphviz-pure")
    if found is None:
        raise DrawingError(
            "the layout engine of the package graphviz-pure is not installed; "
            "install it with pip, or use the program dot of Graphviz as the engine"
        )
    return found


def run_engine(source: str, arguments: Sequence[str], engine: Engine) -> bytes:
    """What the engine makes of DOT text. Raises DrawingError when it fails or takes too long."""
    try:
        done = execute.run_check(
            [program(engine), *arguments],
            input=source.encode("utf-8"),
            capture_output=True,
            quiet=True,
            timeout=MAX_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise DrawingError(
            f"the layout took more than {MAX_SECONDS} seconds and was stopped; fold includes, "
            f"or write {WITHOUT_LAYOUT}"
        ) from None
    except (subprocess.CalledProcessError, OSError, execute.ExecutableNotFound) as error:
        raise DrawingError(f"the layout engine failed: {error}") from None
    output: bytes = done.stdout
    return output


def _run(source: str, engine: Engine, *, exact: bool = False) -> str:
    return run_engine(source, ["-Kdot", "-Tjson" if exact else "-Tjson0"], engine).decode("utf-8")


def _height(task: Task) -> float:
    """Points that are enough for all cells and labels one below the other."""
    labels = sum(wire.label[1] for wire in task.wires if wire.label is not None)
    return sum(cell.height + 60 for cell in task.cells) + labels


def _documents(text: str) -> list[dict[str, Any]]:
    """The JSON documents that stand one after the other."""
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        document, at = decoder.raw_decode(text, at)
        found.append(document)
    return found


def _inches(points: float) -> str:
    return f"{points / POINTS:.4f}"


def _dot(task: Task) -> str:
    """The graph as the engine reads it: sizes, ports and arrows, no text."""
    care = f"{min(4.0, CARE / max(1, len(task.cells))):.2f}"
    lines = [
        "digraph {",
        f"graph [rankdir=TB nodesep=0.32 ranksep=0.42 splines=true nslimit={care} nslimit1={care}];",
        'node [shape=box fixedsize=true label=""]; edge [arrowsize=0.8];',
    ]
    for number, cell in enumerate(task.cells):
        if cell.ports or cell.entry is not None:
            lines.append(f"n{number} [shape=plain fixedsize=false label=<{_table(cell)}>];")
        else:
            lines.append(f"n{number} [width={_inches(cell.width)} height={_inches(cell.height)}];")
    for rank in ("source", "sink"):
        names = [f"n{number}" for number, cell in enumerate(task.cells) if cell.rank == rank]
        if names:
            lines.append(f"{{ rank={rank}; {'; '.join(names)} }}")
    for number, wire in enumerate(task.wires):
        port = f":p{wire.port}:s" if wire.port is not None else ":e" if task.cells[wire.source].ports else ""
        entry = ":in:n" if task.cells[wire.target].entry is not None else "" if wire.back else ":n"
        ends = f"n{wire.source}{port} -> n{wire.target}{entry}"
        attributes = f"id={number} weight={wire.weight}"
        if wire.label is not None:
            attributes += f" label=<{_blank(*wire.label)}>"
        lines.append(f"{ends} [{attributes}];")
    return "\n".join([*lines, "}"])


def _blank(width: float, height: float) -> str:
    size = f'FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{height:.0f}"'
    return f"{_FRAME}<TR><TD {size}></TD></TR></TABLE>"


def _table(cell: Cell) -> str:
    """A table of the size of the cell whose first row has the entry and whose last row has the ports."""
    rows = [
        _row([] if cell.entry is None else [("in", cell.entry, 8.0)], cell.width, 4),
        f'<TR><TD FIXEDSIZE="TRUE" WIDTH="{cell.width:.0f}" HEIGHT="{cell.height - 8:.0f}"></TD></TR>',
        _row([(f"p{number}", *port) for number, port in enumerate(cell.ports)], cell.width, 4),
    ]
    return f"{_FRAME}{''.join(f'<TR><TD>{_FRAME}{row}</TABLE></TD></TR>' for row in rows)}</TABLE>"


_FRAME: Final = '<TABLE BGCOLOR="white" BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">'
"""A frame without lines; what is painted has a place in the long form."""


def _row(ports: Sequence[tuple[str, float, float]], width: float, height: int) -> str:
    """A row with named cells at their places and nothing between them."""
    cells: list[str] = []
    at = 0.0
    for name, centre, wide in sorted(ports, key=lambda port: port[1]):
        cells.append(_gap(centre - wide / 2 - at, height))
        cells.append(f'<TD PORT="{name}" FIXEDSIZE="TRUE" WIDTH="{wide:.0f}" HEIGHT="{height}"></TD>')
        at = centre + wide / 2
    cells.append(_gap(width - at, height))
    return f"<TR>{''.join(cells)}</TR>"


def _gap(width: float, height: int) -> str:
    return f'<TD FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{height}"></TD>' if width >= 1 else ""


def _placed(task: Task, answer: Mapping[str, Any]) -> Placed:
    _left, _bottom, right, top = (float(part) for part in str(answer.get("bb", "0,0,0,0")).split(","))
    if "_draw_" in answer:
        paper = next(step["points"] for step in answer["_draw_"] if step["op"] == "P")
        right, top = max(x for x, _y in paper), max(y for _x, y in paper)
    corners: dict[str, Point] = {}
    for node in answer.get("objects", ()):
        if "pos" in node:
            x, y = _middle(node["_draw_"]) if "_draw_" in node else _pair(node["pos"])
            cell = task.cells[int(node["name"][1:])]
            corners[node["name"]] = Point(x - cell.width / 2, top - y - cell.height / 2)
    splines: list[tuple[Point, ...]] = []
    tips: list[Point] = []
    labels: list[Point | None] = []
    edges = sorted(answer.get("edges", ()), key=lambda edge: int(edge["id"]))
    assert len(edges) == len(task.wires), "the engine places every arrow"
    for edge in edges:
        exact = "_draw_" in edge
        spline, tip = _drawn_spline(edge, top) if exact else _spline(edge["pos"], top)
        splines.append(spline)
        tips.append(tip)
        label = None if "lp" not in edge else _middle(edge["_ldraw_"]) if exact else _pair(edge["lp"])
        labels.append(None if label is None else Point(label[0], top - label[1]))
    order = tuple(corners[f"n{number}"] for number in range(len(task.cells)))
    return Placed(right, top, order, tuple(splines), tuple(tips), tuple(labels))


def _pair(text: str) -> tuple[float, float]:
    x, y = text.split(",")
    return float(x), float(y)


def _point(text: str, top: float) -> Point:
    x, y = _pair(text)
    return Point(x, top - y)


def _middle(drawn: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """The middle of the first polygon that was drawn."""
    corners = next(step["points"] for step in drawn if step["op"] in "pP")
    (left, right), (low, high) = ((min(side), max(side)) for side in zip(*corners, strict=True))
    return (left + right) / 2, (low + high) / 2


def _drawn_spline(edge: Mapping[str, Any], top: float) -> tuple[tuple[Point, ...], Point]:
    """As `_spline`, from what was drawn: its places have three digits behind the point, however large."""
    spline = next(step["points"] for step in edge["_draw_"] if step["op"] in "bB")
    points = tuple(Point(x, top - y) for x, y in spline)
    x, y = next(step["points"] for step in edge["_hdraw_"] if step["op"] in "pP")[1]
    dx, dy = x - points[-1].x, top - y - points[-1].y
    far = math.hypot(dx, dy) or 1.0
    return points, Point(x + NEAR_TIP * dx / far, top - y + NEAR_TIP * dy / far)


def _spline(text: str, top: float) -> tuple[tuple[Point, ...], Point]:
    """The control points of `e,x,y x,y …` and the tip of the arrow."""
    parts = text.split(";")[0].split()
    tip: Point | None = None
    points: list[Point] = []
    for part in parts:
        if part.startswith("e,"):
            tip = _point(part[2:], top)
        elif not part.startswith("s,"):
            points.append(_point(part, top))
    return tuple(points), tip if tip is not None else points[-1]
