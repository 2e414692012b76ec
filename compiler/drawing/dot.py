"""A picture as DOT, for what reads that language: every arrow drawn, open includes as clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from windtunnel.compiler.drawing.lettering import clean, whole
from windtunnel.compiler.drawing.picture import (
    Arrow,
    Box,
    Picture,
    Sheet,
    arrow_title,
    box_title,
    sheet_ends,
    sheet_names,
    told,
)
from windtunnel.compiler.drawing.style import PALETTES, Flow, Kind, Palette, Theme

MAX_LINE: Final = 60
"""Characters of one line of a label; the whole text is in the tooltip."""

SHAPES: Final[dict[Kind, str]] = {
    "start": 'shape=circle width=0.2 fixedsize=true xlabel="start"',
    "agent": 'shape=box style="rounded,filled"',
    "compute": "shape=box style=filled",
    "action": "shape=cds style=filled",
    "shell": 'shape=box style="filled,diagonals"',
    "notify": "shape=note style=filled",
    "checkpoint": "shape=house style=filled",
    "decision": "shape=hexagon style=filled",
    "include": "shape=box3d style=filled",
    "exit": 'shape=box style="rounded,filled" peripheries=2',
}
LINES: Final[dict[Flow, str]] = {
    "ok": "style=solid weight=4",
    "loop": "style=bold arrowhead=onormal",
    "failure": "style=dashed",
    "limit": "style=dotted",
}


def dot_document(picture: Picture, theme: Theme = "light") -> str:
    """The picture as the text of a `.dot` file."""
    palette = PALETTES[theme]
    ends = sheet_ends(picture)
    lines = [
        f"digraph {quoted(picture.title)} {{",
        f'  graph [rankdir=TB bgcolor="{palette.paper}" fontcolor="{palette.ink}" fontname="Helvetica"];',
        f"  graph [labelloc=t label={quoted(clean(picture.title))}];",
        f'  node [fontname="Helvetica" fontsize=11 fontcolor="{palette.ink}"];',
        '  edge [fontname="Helvetica" fontsize=9];',
        *(f"  {line}" for line in _sheet(picture, picture.sheets[0], palette)),
    ]
    for sheet in picture.sheets:
        names = sheet_names(sheet)
        for arrow in sheet.arrows:
            lines.append(f"  {_edge(names, arrow, ends, palette)}")
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """Text as a quoted string of DOT that means exactly this text where escapes and entities are read."""
    safe = whole(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{safe}"'


def _sheet(picture: Picture, sheet: Sheet, palette: Palette) -> Iterator[str]:
    """The boxes of a sheet and, in clusters, those of the includes that are open."""
    for box in sheet.boxes:
        inner = picture.sheet(box.opens) if box.opens is not None else None
        if inner is None:
            yield _node(box, palette)
            continue
        yield f"subgraph {quoted(f'cluster {box.id}')} {{"
        colours = f'color="{palette.cluster_stroke}" bgcolor="{palette.cluster}"'
        yield f"  graph [label={quoted(_cut(box.name))} tooltip={quoted(box_title(box))} {colours}];"
        yield from (f"  {line}" for line in _sheet(picture, inner, palette))
        yield "}"


def _node(box: Box, palette: Palette) -> str:
    ink = palette.kinds[box.kind]
    fill, stroke = (ink.fill, ink.stroke) if not box.status else (ink.fill, palette.statuses[box.status])
    shape = SHAPES[box.kind]
    label = "" if box.kind == "start" else "\n".join(_lines(box))
    extra = " penwidth=3" if box.status else ""
    return (
        f"{quoted(box.id)} [label={quoted(label)} tooltip={quoted(box_title(box))} {shape} "
        f'fillcolor="{fill}" color="{stroke}"{extra}];'
    )


def _lines(box: Box) -> Iterator[str]:
    yield _cut(box.name)
    if box.caption:
        yield _cut(box.caption)
    if box.marker is not None:
        yield f"“{_cut(box.marker)}”"
    yield from (_cut(fact) for fact in (*told(box.status), *box.facts))


def _cut(text: str) -> str:
    text = clean(text[: MAX_LINE * 4])
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 1] + "…"


def _edge(
    names: dict[str, str], arrow: Arrow, ends: dict[tuple[str, str | None], str], palette: Palette
) -> str:
    source = ends.get((arrow.source, arrow.port), arrow.source)
    target = ends.get((arrow.target, None), arrow.target)
    port = (arrow.port,) if arrow.port is not None and source == arrow.source else ()
    label = "\n".join(_cut(line) for line in (*told(arrow.status), *port, *arrow.label))
    ink = palette.statuses[arrow.status] if arrow.status else palette.flows[arrow.flow]
    about = (
        f'label={quoted(label)} tooltip={quoted(arrow_title(names, arrow))} color="{ink}" fontcolor="{ink}"'
    )
    return f"{quoted(source)} -> {quoted(target)} [{about} {LINES[arrow.flow]}];"
