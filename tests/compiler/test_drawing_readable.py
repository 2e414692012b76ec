"""Every workflow that is shipped or shown can be read at its size: nothing lies over anything else."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

from windtunnel.compiler import compile_file
from windtunnel.compiler.drawing.lettering import width
from windtunnel.compiler.drawing.picture import Expand
from windtunnel.compiler.drawing.scene import scene_of
from windtunnel.compiler.drawing.shapes import Disc, Group, Polygon, Rect, Scene, Words
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.reader import BUILTIN, builtin_names

ROOT = Path(__file__).parent.parent.parent
DECLARED = re.compile(r"^workflow ([\w-]+)", re.MULTILINE)
EXAMPLES = [
    f"{path.relative_to(ROOT)}#{name}"
    for folder in ("examples", "examples/ports")
    for path in sorted((ROOT / folder).glob("*.flow"))
    for name in DECLARED.findall(path.read_text("utf-8"))
]
BUILTINS = [BUILTIN + name for name in builtin_names()]

WIDEST = 1_700
"""Points that a folded picture may be wide: what a large screen shows at once."""


class Area(NamedTuple):
    """A rectangle by its corners."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Area, by: float) -> bool:
        """Whether both share more than a strip of so many points."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide > by and high > by

    def holds(self, other: Area) -> bool:
        """Whether the other lies inside."""
        return (
            self.left - 1 <= other.left
            and self.top - 1 <= other.top
            and other.right <= self.right + 1
            and other.bottom <= self.bottom + 1
        )


def area_of(group: Group) -> Area:
    """What the frame of a box covers."""
    areas = [
        Area(shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)
        if isinstance(shape, Rect)
        else Area(
            shape.x - shape.radius, shape.y - shape.radius, shape.x + shape.radius, shape.y + shape.radius
        )
        for shape in group.shapes
        if isinstance(shape, Rect | Disc)
    ]
    return Area(
        *(min(side) for side in zip(*(area[:2] for area in areas), strict=True)),
        *(max(side) for side in zip(*(area[2:] for area in areas), strict=True)),
    )


def letters(words: Words) -> Area:
    """What a line of text covers."""
    wide = width(words.text, words.size, bold=words.bold)
    left = words.x - wide / 2 if words.anchor == "middle" else words.x
    return Area(left, words.y - words.size * 0.8, left + wide, words.y + words.size * 0.25)


@cache
def scene(name: str, expand: Expand) -> Scene:
    """The picture of a workflow."""
    file, _, workflow = name.partition("#")
    path = file if file.startswith(BUILTIN) else str(ROOT / file)
    compiled = compile_file(path, workflow=workflow or None).snapshot
    assert compiled is not None
    return scene_of(picture_of(compiled, expand))


@pytest.mark.parametrize("expand", [1, "all"])
@pytest.mark.parametrize("name", [*BUILTINS, *EXAMPLES])
def test_nothing_lies_over_anything_else(name: str, expand: Expand) -> None:
    """Boxes apart from each other, texts inside their boxes, and the words of arrows beside all boxes."""
    drawn = scene(name, expand)
    paper = Area(0, 0, drawn.width, drawn.height)
    boxes = {group.id: area_of(group) for group in drawn.groups if group.css.startswith("box")}
    faults = [f"{one} and {two}" for one, two in combinations(boxes, 2) if boxes[one].meets(boxes[two], 0.5)]
    for group in drawn.groups:
        texts = [shape for shape in group.shapes if isinstance(shape, Words)]
        if group.css.startswith("box") and not group.css.endswith("start"):
            faults += [f"{group.id}: {t.text}" for t in texts if not boxes[group.id].holds(letters(t))]
        elif group.css.startswith("arrow") and "written" not in group.css:
            faults += [
                f"{group.id}: {text.text} on {box}"
                for text in texts
                for box, area in boxes.items()
                if letters(text).meets(area, 3)
            ]
        faults += [f"{text.text} leaves the paper" for text in texts if not paper.holds(letters(text))]
    assert faults == []


@pytest.mark.parametrize("name", [*BUILTINS, *EXAMPLES])
def test_a_folded_picture_is_no_wider_than_can_be_read(name: str) -> None:
    assert scene(name, 1).width <= WIDEST


@pytest.mark.parametrize("name", BUILTINS)
def test_arrows_end_at_boxes(name: str) -> None:
    """The tip of every arrow touches a box or an open include."""
    drawn = scene(name, "all")
    areas = [area_of(group) for group in drawn.groups if group.css.startswith(("box", "cluster"))]
    for group in drawn.groups:
        heads = [shape for shape in group.shapes if isinstance(shape, Polygon)]
        if group.css.startswith("arrow") and heads:
            tip = heads[0].points[1]
            point = Area(tip.x - 3, tip.y - 3, tip.x + 3, tip.y + 3)
            assert any(point.meets(area, 0) for area in areas), group.id
