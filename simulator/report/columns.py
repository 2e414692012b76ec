"""Text in aligned columns, for terminals: widths in cells, and nothing that a terminal would obey."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

ELLIPSIS: Final = "…"


def cells(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return sum(_cells_of(letter) for letter in text)


def _cells_of(letter: str) -> int:
    if " " <= letter <= "~":
        return 1
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def plain(text: str) -> str:
    """The text on one line: white space folded, control characters and direction marks made visible."""
    folded = " ".join(text.split())
    if folded.isprintable():
        return folded
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in folded)


def clip(text: str, width: int) -> str:
    """The text, cut to `width` cells; what is cut ends in an ellipsis."""
    if cells(text) <= width:
        return text
    kept: list[str] = []
    left = max(width, 1) - 1
    for letter in text:
        left -= _cells_of(letter)
        if left < 0:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + ELLIPSIS


def pad(text: str, width: int) -> str:
    """The text, filled with blanks to `width` cells."""
    return text + " " * max(0, width - cells(text))


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Rows as lines with aligned columns, those in `right` aligned to the right; the last is not filled."""
    count = max((len(row) for row in rows), default=0)
    widths = [max((cells(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)]
    lines: list[str] = []
    for row in rows:
        parts: list[str] = []
        for at, text in enumerate(row):
            blank = " " * (widths[at] - cells(text))
            parts.append(blank + text if at in right else text + blank)
        lines.append("  ".join(parts).rstrip())
    return lines
