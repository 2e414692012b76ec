"""The picture of the workflow for the page: nothing marked yet, the script marks the path as it is taken."""

from __future__ import annotations

from typing import Final

from windtunnel.compiler.drawing.page import paint
from windtunnel.compiler.drawing.picture import DrawingError
from windtunnel.compiler.drawing.scene import lay_out_sheets, sheet_scene
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.drawing.svg import svg_element, text
from windtunnel.compiler.snapshot import Snapshot

MAX_OPEN: Final = 120
"""Boxes of a picture with every include open; a larger workflow is drawn with its includes folded."""


def graph_of(snapshot: Snapshot) -> str:
    """One `<svg>` element, or a paragraph that says why there is none."""
    try:
        picture = picture_of(snapshot, "all")
        if sum(len(sheet.boxes) for sheet in picture.sheets) > MAX_OPEN:
            picture = picture_of(snapshot, 1)
        return svg_element(sheet_scene(picture, "", lay_out_sheets(picture.sheets, "pure")), paint)
    except DrawingError as problem:
        return f"<p>{text(str(problem))}</p>"
