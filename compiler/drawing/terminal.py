"""A picture as text: boxes one below the other in reading order, loops in a gutter on the left.

An arrow to the next box is a line downwards; every other one says where it goes. Open includes follow as
sections of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from windtunnel.compiler.drawing.lettering import clean, clusters, is_attached, is_wide
from windtunnel.compiler.drawing.picture import Arrow, Box, Picture, Sheet, sheet_names
from windtunnel.compiler.drawing.style import FLOW_WORDS, PATH, STATUS_WORDS, Flow, Kind, Status

COLUMNS: Final = 100
MAX_LANES: Final = 6
"""Loops drawn side by side; further ones only say where they go."""

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_LINES: Final = dict(zip(range(16), " ╵╷│╴┘┐┤╶└┌├─┴┬┼", strict=True))
_ASCII_LINES: Final = dict.fromkeys(range(16), " ") | {
    bits: "|" if not bits & (LEFT | RIGHT) else "-" if not bits & (UP | DOWN) else "+"
    for bits in range(1, 16)
}


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters of a drawing."""

    kinds: dict[Kind, str]
    lines: dict[int, str]
    shafts: dict[Flow, tuple[str, str]]
    down: str
    head: str
    up: str
    dot: str
    speech: str
    cut: str
    rule: str
    at_most: str
    path: dict[Status, str]


UNICODE: Final = Signs(
    kinds={
        "start": "●",
        "agent": "◉",
        "compute": "=",
        "action": "↯",
        "shell": "$",
        "notify": "✉",
        "checkpoint": "?",
        "decision": "◆",
        "include": "▣",
        "exit": "◎",
    },
    lines=_LINES,
    shafts={"ok": ("─", "─▶"), "loop": ("═", "═▷"), "failure": ("╌", "╌▶"), "limit": ("┄", "┄▶")},
    down="▼",
    head="▶",
    up="↑",
    dot="·",
    speech="❝",
    cut="…",
    rule="─",
    at_most="≤",
    path={"taken": "✓", "current": "▶", "failed": "✗", "missed": " "},
)
ASCII: Final = Signs(
    kinds={
        "start": "o",
        "agent": "@",
        "compute": "=",
        "action": "!",
        "shell": "$",
        "notify": "~",
        "checkpoint": "?",
        "decision": "#",
        "include": "&",
        "exit": "*",
    },
    lines=_ASCII_LINES,
    shafts={"ok": ("-", "->"), "loop": ("=", "=>"), "failure": (".", ".>"), "limit": (":", ":>")},
    down="v",
    head=">",
    up="^",
    dot="-",
    speech='"',
    cut="~",
    rule="-",
    at_most="<=",
    path={"taken": "+", "current": ">", "failed": "x", "missed": " "},
)


@dataclass(slots=True)
class Row:
    """One line of a sheet right of the gutter; `arrow` begins here, `box` is entered here.

    `status` is that of the box or arrow that the line is about.
    """

    text: str
    box: str | None = None
    arrow: Arrow | None = None
    status: Status = ""
    bits: list[int] = field(default_factory=list)


def terminal_text(
    picture: Picture, *, ascii: bool = False, columns: int = COLUMNS, legend: bool = True
) -> str:
    """The picture in lines of at most `columns` columns; with `ascii` the drawing needs no other letters."""
    signs = ASCII if ascii else UNICODE
    lines: list[str] = []
    is_path = not set(PATH).isdisjoint(picture.statuses())
    for sheet in picture.sheets:
        title = (
            picture.title
            if not sheet.scope
            else f"{sheet.scope}: {sheet.workflow}, revision {sheet.revision}"
        )
        lines += (
            ["", f"{signs.rule * 2} {title} ".ljust(min(columns, 72), signs.rule[0])]
            if sheet.scope
            else [title]
        )
        if not sheet.scope:
            lines += picture.notes
        lines += ["", *_sheet(sheet, signs, columns, is_path)]
    lines += ["", *_legend(picture, signs, columns)] if legend else []
    return "\n".join(cut(line, columns, signs.cut).rstrip() for line in lines) + "\n"


def columns_of(text: str) -> int:
    """How many columns a text takes."""
    return sum(0 if is_attached(char) else 2 if is_wide(char) else 1 for char in text)


def cut(text: str, columns: int, sign: str) -> str:
    """The text in at most so many columns."""
    if columns_of(text) <= columns:
        return text
    kept: list[str] = []
    room = columns - 1
    for piece in clusters(text):
        room -= columns_of(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept) + sign


def _sheet(sheet: Sheet, signs: Signs, columns: int, is_path: bool) -> list[str]:
    """The lines of a sheet; where a path is told, the first column has its marks."""
    rows = _rows(sheet, signs)
    lanes = _draw_lanes(rows)
    width = 2 * lanes + (1 if lanes else 0)
    made: list[str] = []
    for row in rows:
        gutter = "".join(signs.lines[bits] for bits in row.bits)
        if row.box is not None and row.bits and row.bits[-1] & RIGHT:
            gutter = gutter[:-1] + signs.head
        mark = signs.path.get(row.status, " ") if is_path else ""
        made.append(cut(f"{mark} {gutter:{width}}{' ' if lanes else ''}{row.text}", columns, signs.cut))
    return made


def _rows(sheet: Sheet, signs: Signs) -> list[Row]:
    """The lines right of the gutter."""
    names = sheet_names(sheet)
    leaving: dict[str, list[Arrow]] = {}
    for arrow in sheet.arrows:
        leaving.setdefault(arrow.source, []).append(arrow)
    order = {box.id: number for number, box in enumerate(sheet.boxes)}
    rows: list[Row] = []
    for number, box in enumerate(sheet.boxes):
        after = sheet.boxes[number + 1].id if number + 1 < len(sheet.boxes) else None
        arrows = leaving.get(box.id, [])
        going_on = next((arrow for arrow in arrows if arrow.target == after and arrow.flow == "ok"), None)
        others = [arrow for arrow in arrows if arrow is not going_on]
        rows.append(Row(_headline(box, signs), box=box.id, status=box.status))
        bar = signs.lines[UP | DOWN] if arrows else " "
        rows += [Row(f"{bar}   {clean(line)}") for line in _more(box, signs)]
        for index, arrow in enumerate(others):
            last = going_on is None and index == len(others) - 1
            corner = signs.lines[UP | RIGHT if last else UP | DOWN | RIGHT]
            back = order[arrow.target] <= order[arrow.source]
            text = corner + _jump(arrow, names, signs, back)
            rows.append(Row(text, arrow=arrow if back else None, status=arrow.status))
        if going_on is not None:
            mark = _told(going_on.status)
            told = " ".join(clean(word) for word in (going_on.port or "", *going_on.label, mark) if word)
            rows.append(Row(f"{signs.down} {told}", status=going_on.status))
        elif after is not None:
            rows.append(Row(""))
    return rows


def _headline(box: Box, signs: Signs) -> str:
    kind = "" if box.kind == "start" else f"  {box.kind}"
    kind += f" {_told(box.status)}".rstrip()
    told = f" {signs.dot} {clean(box.caption[:400])}" if box.caption else ""
    facts = f" {signs.dot} {clean(box.facts[0])}" if box.kind == "start" and box.facts else ""
    return f"{signs.kinds[box.kind]} {clean(box.name)}{kind}{told}{facts}"


def _told(status: Status) -> str:
    """What is written beside what has a status; a path has marks instead."""
    return "" if not status or status in PATH else f"({STATUS_WORDS[status]})"


def _more(box: Box, signs: Signs) -> list[str]:
    """The marker and the facts under the name."""
    marker = [] if box.marker is None else [f"{signs.speech} {box.marker.replace('≤', signs.at_most)}"]
    return [*marker, *(() if box.kind == "start" else box.facts)]


def _jump(arrow: Arrow, names: dict[str, str], signs: Signs, back: bool) -> str:
    """An arrow that says where it goes: `─ rewrite ═▷ draft ↑  ≤ 4, then dropped`."""
    shaft, head = signs.shafts[arrow.flow]
    counted = [line for line in arrow.label if line.startswith("≤")]
    told = [clean(line) for line in (arrow.port or "", *arrow.label) if line and line not in counted]
    middle = f" {', '.join(told)} " if told else ""
    tail = "".join(f"  {line.replace('≤', signs.at_most)}" for line in counted)
    tail += f"  {_told(arrow.status)}".rstrip()
    return f"{shaft}{middle}{shaft}{head} {names[arrow.target]}{f' {signs.up}' if back else ''}{tail}"


def _draw_lanes(rows: Sequence[Row]) -> int:
    """Draw the loops into the gutter of each row, short ones inside; how many lanes there are."""
    places = {row.box: number for number, row in enumerate(rows) if row.box is not None}
    spans = [
        (places[row.arrow.target], number)
        for number, row in enumerate(rows)
        if row.arrow is not None and row.arrow.target in places
    ]
    spans.sort(key=lambda span: (span[1] - span[0], span))
    lanes: list[list[tuple[int, int]]] = []
    placed: list[tuple[int, int, int]] = []
    for top, bottom in spans:
        free = (number for number, lane in enumerate(lanes) if all(bottom < t or b < top for t, b in lane))
        lane = next(free, len(lanes))
        if lane == MAX_LANES:
            continue
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((top, bottom))
        placed.append((lane, top, bottom))
    width = 2 * len(lanes) + (1 if lanes else 0)
    for row in rows:
        row.bits = [0] * width
    for lane, top, bottom in placed:
        column = width - 3 - 2 * lane
        for number in range(top, bottom + 1):
            bits = rows[number].bits
            bits[column] |= (UP if number > top else 0) | (DOWN if number < bottom else 0)
            if number in (top, bottom):
                bits[column] |= RIGHT
                for right in range(column + 1, width):
                    bits[right] |= LEFT | RIGHT
    return len(lanes)


def _legend(picture: Picture, signs: Signs, columns: int) -> list[str]:
    entries = [f"{signs.kinds[kind]} {kind}" for kind in picture.kinds()]
    if picture.marks_answers():
        entries.append(f"{signs.speech} the agent's visible answer is its output")
    entries += [f"{''.join(signs.shafts[flow])} {FLOW_WORDS[flow]}" for flow in picture.flows()]
    marks = [(signs.path.get(status, " "), STATUS_WORDS[status]) for status in picture.statuses()]
    entries += [f"{mark} {words}" for mark, words in marks if mark != " "]
    lines: list[str] = []
    for entry in entries:
        if lines and columns_of(lines[-1]) + columns_of(entry) + 3 <= columns:
            lines[-1] += f"   {entry}"
        else:
            lines.append(entry)
    return lines
