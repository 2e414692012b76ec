"""Snapshot to picture: `draw` makes SVG, PNG, DOT, Mermaid, JSON, terminal text or one HTML page.

Reading order; each file imports only files above it:

style      what tells things apart: words, colours and line styles
lettering  texts cleaned, measured and cut
wording    what is written about a node
picture    boxes, ports, arrows and sheets, before they have places
reading    the order of reading, and what leads back
sketch     a snapshot to a picture
marking    what changed, what was taken
remarks    findings and facts beside what the snapshot says
layout     the layout engine: every sheet on its own
shapes     rectangles, lines and words, with colours by role
icons      the sign of each kind
cards      how a box looks
scene      a picture to shapes at their places
svg        a scene as SVG
raster     a scene as PNG
dot        a picture as DOT
mermaid    a picture as Mermaid
data       a picture as JSON
terminal   a picture as text
page       a picture as one HTML page
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Collection

    from windtunnel.compiler.drawing.layout import Engine
    from windtunnel.compiler.drawing.marking import Course
    from windtunnel.compiler.drawing.picture import Expand, Picture
    from windtunnel.compiler.drawing.remarks import Remarks
    from windtunnel.compiler.drawing.style import Theme
    from windtunnel.compiler.snapshot import Snapshot

Format = Literal["svg", "png", "dot", "mmd", "json", "txt", "html"]
FORMATS: Final[tuple[Format, ...]] = ("svg", "png", "dot", "mmd", "json", "txt", "html")
"""What `draw` can write; each is also the ending of a file."""


def draw(
    snapshot: Snapshot,
    format: str,
    *,
    expand: Expand = 1,
    theme: Theme = "light",
    engine: Engine = "pure",
    ascii: bool = False,
    against: Snapshot | None = None,
    taken: Collection[str] | None = None,
    course: Course | None = None,
    remarks: Remarks | None = None,
) -> str | bytes:
    """The picture of a snapshot in one of FORMATS: text, or bytes for PNG.

    `expand` is how many levels of workflows are shown: 1 folds every include, `"all"` opens every one.
    `engine` lays out SVG and PNG: `"pure"` needs nothing installed, `"dot"` is the program of Graphviz.
    `ascii` is for `txt`. With `against`, an older snapshot, what changed is marked; with `taken`, keys of
    arms (and `KEY then` for what follows a used-up limit), what was taken is; with the `course` of a run its
    path. `remarks` are told beside what the snapshot says, in `html`. Raises DrawingError (in `picture`) with
    a sentence for the user where the picture cannot be made as asked.
    """
    _refuse_unknown(format)
    if format == "html":
        from windtunnel.compiler.drawing.page import html_document
        from windtunnel.compiler.drawing.remarks import fact_remarks, with_remarks

        folded = _picture(snapshot, "all", against, taken, course, apart=True)
        folded = with_remarks(folded, remarks or {}, fact_remarks(snapshot))
        opened = _picture(snapshot, "all", against, taken, course)
        return html_document(folded, opened, theme, engine, starts_open=expand != 1)
    picture = _picture(snapshot, expand, against, taken, course)
    return render(picture, format, theme=theme, engine=engine, ascii=ascii)


def _picture(
    snapshot: Snapshot,
    expand: Expand,
    against: Snapshot | None,
    taken: Collection[str] | None,
    course: Course | None,
    *,
    apart: bool = False,
) -> Picture:
    """The picture with its marks."""
    from windtunnel.compiler.drawing.sketch import picture_of

    picture = picture_of(snapshot, expand, apart=apart)
    if against is not None:
        from windtunnel.compiler.drawing.marking import with_changes

        old = picture_of(against, expand, apart=apart)
        picture = with_changes(picture, old, snapshot, against, apart=apart)
    if taken is not None:
        from windtunnel.compiler.drawing.marking import with_taken

        picture = with_taken(picture, taken)
    if course is not None:
        from windtunnel.compiler.drawing.marking import with_course

        picture = with_course(picture, course)
    return picture


def render(
    picture: Picture, format: str, *, theme: Theme = "light", engine: Engine = "pure", ascii: bool = False
) -> str | bytes:
    """As `draw`, for a picture that is already there."""
    _refuse_unknown(format)
    match format:
        case "txt":
            from windtunnel.compiler.drawing.terminal import terminal_text

            return terminal_text(picture, ascii=ascii)
        case "json":
            from windtunnel.compiler.drawing.data import json_document

            return json_document(picture)
        case "mmd":
            from windtunnel.compiler.drawing.mermaid import mermaid_document

            return mermaid_document(picture, theme)
        case "dot":
            from windtunnel.compiler.drawing.dot import dot_document

            return dot_document(picture, theme)
    from windtunnel.compiler.drawing.scene import scene_of

    scene = scene_of(picture, engine)
    if format == "png":
        from windtunnel.compiler.drawing.raster import png_document

        return png_document(scene, theme, engine)
    from windtunnel.compiler.drawing.svg import svg_document

    return svg_document(scene, theme)


def _refuse_unknown(format: str) -> None:
    from windtunnel.compiler.drawing.picture import DrawingError

    if format in FORMATS:
        return
    if format in ("pdf", "ps", "eps"):
        raise DrawingError(
            f"{format.upper()} is not supported; write SVG (svg) or one HTML page (html) and print that"
        )
    raise DrawingError(f"{format!r} is no format of a picture; choose one of {', '.join(FORMATS)}")
