"""Snapshot to picture: `draw` makes SVG, PNG, DOT, Mermaid, JSON, terminal text or one HTML page.

Reading order; each file imports only files above it:

style      what tells things apart: words, colours and line styles
lettering  texts cleaned, measured and cut
wording    what is written about a node
picture    boxes, ports, arrows and sheets, before they have places
sketch     a snapshot to a picture
layout     the layout engine: every sheet on its own
shapes     rectangles, lines and words, with colours by role
icons      the sign of each kind
cards      how a box looks
scene      a picture to shapes at their places
svg        a scene as SVG
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from windtunnel.compiler.drawing.layout import Engine
    from windtunnel.compiler.drawing.picture import Expand
    from windtunnel.compiler.drawing.style import Theme
    from windtunnel.compiler.snapshot import Snapshot

Format = Literal["svg"]
FORMATS: Final[tuple[Format, ...]] = ("svg",)
"""What `draw` can write; each is also the ending of a file."""


def draw(
    snapshot: Snapshot,
    format: Format,
    *,
    expand: Expand = 1,
    theme: Theme = "light",
    engine: Engine = "pure",
) -> str | bytes:
    """The picture of a snapshot: text, or bytes for PNG.

    `expand` is how many levels of includes are shown (1 folds all of them, `"all"` opens all). Raises
    DrawingError (in `picture`) with a sentence for the user where the picture cannot be made as asked.
    """
    from windtunnel.compiler.drawing.scene import scene_of
    from windtunnel.compiler.drawing.sketch import picture_of
    from windtunnel.compiler.drawing.svg import svg_document

    return svg_document(scene_of(picture_of(snapshot, expand), engine), theme)
