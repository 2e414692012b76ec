"""A picture as a Mermaid flowchart: labels quoted, every sign that could mean something as an entity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from windtunnel.compiler.drawing.lettering import clean
from windtunnel.compiler.drawing.picture import Arrow, Box, Picture, Sheet, sheet_ends, told
from windtunnel.compiler.drawing.style import PALETTES, Flow, Kind, Theme

MAX_LINE: Final = 60
MAX_EDGES: Final = 500
"""Mermaid refuses more unless `maxEdges` is raised; a comment says so."""

_PLAIN: Final = re.compile(r"[^\w .,:!?=/()+*'–—…≤≥→“”-]")
SHAPES: Final[dict[Kind, tuple[str, str]]] = {
    "start": ("((", "))"),
    "agent": ("(", ")"),
    "compute": ("[", "]"),
    "action": ("[/", "/]"),
    "shell": ("[", "]"),
    "notify": (">", "]"),
    "checkpoint": ("[/", "\\]"),
    "decision": ("{{", "}}"),
    "include": ("[[", "]]"),
    "exit": ("([", "])"),
}
LINES: Final[dict[Flow, str]] = {"ok": "-->", "loop": "==>", "failure": "-.->", "limit": "-.->"}


def mermaid_document(picture: Picture, theme: Theme = "light") -> str:
    """The picture as the text of a `.mmd` file."""
    palette = PALETTES[theme]
    names = {
        box.id: f"n{number}"
        for number, box in enumerate(box for sheet in picture.sheets for box in sheet.boxes)
    }
    ends = sheet_ends(picture)
    arrows = [(arrow, ends) for sheet in picture.sheets for arrow in sheet.arrows]
    lines = [f"%% {clean(picture.title)}"]
    if len(arrows) > MAX_EDGES:
        lines.append(f"%% {len(arrows)} edges: Mermaid draws them when its setting maxEdges is raised")
    lines.append("flowchart TD")
    lines += [f"  {line}" for line in _sheet(picture, picture.sheets[0], names)]
    lines += [f"  {_edge(arrow, ends, names)}" for arrow, ends in arrows]
    for kind in picture.kinds():
        ink = palette.kinds[kind]
        lines.append(f"  classDef {kind} fill:{ink.fill},stroke:{ink.stroke},color:{_letters(kind, theme)}")
    for flow in picture.flows():
        numbers = ",".join(str(number) for number, (arrow, _ends) in enumerate(arrows) if arrow.flow == flow)
        dash = ",stroke-dasharray:9 3 2 3" if flow == "limit" else ""
        lines.append(f"  linkStyle {numbers} stroke:{palette.flows[flow]}{dash}")
    for status in picture.statuses():
        marked = [names[box.id] for sheet in picture.sheets for box in sheet.boxes if box.status == status]
        if marked:
            lines.append(f"  classDef {status} stroke:{palette.statuses[status]},stroke-width:4px")
            lines.append(f"  class {','.join(marked)} {status}")
    return "\n".join([*lines, ""])


def _letters(kind: Kind, theme: Theme) -> str:
    """The colour of the letters: the start is filled with the ink itself."""
    return PALETTES[theme].paper if kind == "start" else PALETTES[theme].ink


def quoted(text: str) -> str:
    """One line as a quoted label that shows exactly this text."""
    return f'"{_entities(text)}"'


def _entities(text: str) -> str:
    return _PLAIN.sub(lambda found: f"#{ord(found[0])};", text)


def _sheet(picture: Picture, sheet: Sheet, names: dict[str, str]) -> Iterator[str]:
    for box in sheet.boxes:
        inner = picture.sheet(box.opens) if box.opens is not None else None
        if inner is None:
            left, right = SHAPES[box.kind]
            yield f'{names[box.id]}{left}"{_label(box)}"{right}:::{box.kind}'
            continue
        yield f"subgraph {names[box.id]}[{quoted(_cut(box.name))}]"
        yield from (f"  {line}" for line in _sheet(picture, inner, names))
        yield "end"


def _label(box: Box) -> str:
    lines = [box.name, box.caption, f"“{box.marker}”" if box.marker else "", *told(box.status), *box.facts]
    return "<br/>".join(_entities(_cut(line)) for line in lines if line)


def _cut(text: str) -> str:
    text = clean(text[: MAX_LINE * 4])
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 1] + "…"


def _edge(arrow: Arrow, ends: dict[tuple[str, str | None], str], names: dict[str, str]) -> str:
    source = ends.get((arrow.source, arrow.port), arrow.source)
    target = ends.get((arrow.target, None), arrow.target)
    port = (arrow.port,) if arrow.port is not None and source == arrow.source else ()
    label = "<br/>".join(_entities(_cut(line)) for line in (*told(arrow.status), *port, *arrow.label))
    shown = f'|"{label}"|' if label else ""
    return f"{names[source]} {LINES[arrow.flow]}{shown} {names[target]}"
