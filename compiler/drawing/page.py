"""A picture as one HTML page: pan, zoom, search, keyboard, a panel, includes folded, unfolded and entered.

The page needs no network and no other file. Every workflow is drawn beforehand, folded and, where that is
not too large, with its includes open; the script shows the drawing that is asked for. Without scripts the
root is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Final

from windtunnel.compiler.drawing.data import picture_data
from windtunnel.compiler.drawing.layout import Engine
from windtunnel.compiler.drawing.picture import Picture, Sheet
from windtunnel.compiler.drawing.scene import (
    lay_out_folded,
    lay_out_sheets,
    legend_scene,
    sheet_scene,
)
from windtunnel.compiler.drawing.shapes import Scene, colour, roles
from windtunnel.compiler.drawing.style import PALETTES, Theme
from windtunnel.compiler.drawing.svg import attribute, svg_element, text

MAX_PAGE_BOXES: Final = 4_000
"""Boxes drawn in one page; includes beyond are named but not drawn."""

MAX_OPEN_BOXES: Final = 400
"""Boxes of one drawing with its includes open."""


def html_document(
    folded: Picture,
    opened: Picture,
    theme: Theme = "light",
    engine: Engine = "pure",
    *,
    starts_open: bool = False,
) -> str:
    """The page. Both pictures have every sheet; of `folded` those are drawn whose includes stay closed.

    The page follows the reader's light or dark setting; the theme `"dark"` starts it dark. With `starts_open`
    its includes are open at first. Raises DrawingError.
    """
    scenes = dict(_scenes(folded, opened, engine))
    first = scenes.pop(("", "folded"))
    names = [*scenes]
    drawn: dict[str, dict[str, int]] = {"": {"folded": 0}}
    for number, (scope, mode) in enumerate(names, 1):
        drawn.setdefault(scope, {})[mode] = number
    parts = {
        "TITLE": text(folded.title),
        "THEME": ' data-theme="dark"' if theme == "dark" else "",
        "OPEN": " data-open" if starts_open else "",
        "STYLE": colours() + _resource("page.css"),
        "PICTURE": embedded(picture_data(folded)),
        "DRAWN": embedded(drawn),
        "FIRST": svg_element(first, paint),
        "LEGEND": svg_element(legend_scene(folded, 330), paint),
        "SCENES": "\n".join(
            f'<template id="scene-{number}" data-scope="{attribute(name[0])}">'
            f"{svg_element(scenes[name], paint)}</template>"
            for number, name in enumerate(names, 1)
        ),
        "SCRIPT": _resource("page.js"),
    }
    page = _resource("page.html")
    head, *rest = page.split("{{")
    made = [head]
    for piece in rest:
        name, _, tail = piece.partition("}}")
        made += [parts[name], tail]
    return "".join(made)


def paint(role: str) -> str:
    """A role's colour as a variable of the page's style sheet."""
    return f"var(--{role.replace('.', '-')})"


def embedded(value: object) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def colours() -> str:
    """The rules of a style sheet that hold the colours of both themes, as `paint` names them."""
    rules = {
        theme: ";".join(f"--{role.replace('.', '-')}:{colour(role, palette)}" for role in roles())
        for theme, palette in PALETTES.items()
    }
    dark, light = rules["dark"], rules["light"]
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{html:root:root:root{{color-scheme:light;{light}}}}}\n"
    )


def _scenes(folded: Picture, opened: Picture, engine: Engine) -> Iterator[tuple[tuple[str, str], Scene]]:
    """The drawings of the page by mount path and whether includes are open."""
    sheets = list(_within(folded.sheets, MAX_PAGE_BOXES))
    laid = lay_out_folded(sheets, engine)
    for sheet in sheets:
        yield (sheet.scope, "folded"), sheet_scene(folded, sheet.scope, {sheet.scope: laid[sheet.scope]})
    sizes = {sheet.scope: _size(sheet, opened.sheets) for sheet in sheets}
    chosen = [sheet for sheet in sheets if _has_includes(sheet) and sizes[sheet.scope] <= MAX_OPEN_BOXES]
    inside = [sheet for sheet in opened.sheets if any(_is_inside(sheet.scope, root.scope) for root in chosen)]
    if inside:
        nested = lay_out_sheets(inside, engine)
        for sheet in chosen:
            yield (sheet.scope, "open"), sheet_scene(opened, sheet.scope, nested)


def _within(sheets: Sequence[Sheet], boxes: int) -> Iterator[Sheet]:
    """The sheets nearest to the root while there is room; the root always."""
    for sheet in sorted(sheets, key=lambda sheet: (sheet.scope != "", sheet.scope.count("/"), sheet.scope)):
        boxes -= len(sheet.boxes)
        if boxes >= 0 or not sheet.scope:
            yield sheet


def _has_includes(sheet: Sheet) -> bool:
    return any(box.opens is not None for box in sheet.boxes)


def _is_inside(scope: str, outer: str) -> bool:
    return not outer or scope == outer or scope.startswith(f"{outer}/")


def _size(root: Sheet, sheets: Sequence[Sheet]) -> int:
    return sum(len(sheet.boxes) for sheet in sheets if _is_inside(sheet.scope, root.scope))
