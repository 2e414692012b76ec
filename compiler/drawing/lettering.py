"""Texts as they are drawn: cleaned, measured with one fixed table, cut to a width.

The widths are those of Helvetica and the fonts made to fit it, so a picture does not depend on the fonts
of the machine that draws it. Other scripts get a fair guess.
"""

from __future__ import annotations

import re
from typing import Final

_WIDTHS: Final = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 "
    "556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 "
    "722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 "
    "500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584"
)
_TABLE: Final = {chr(32 + index): int(width) / 1000 for index, width in enumerate(_WIDTHS.split())}
_BOLD: Final = 1.07
_MONO: Final = 0.601
_OTHER: Final = 0.62
_WIDE: Final = 1.0
_PICTOGRAM: Final = 1.35

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_INVISIBLE: Final = re.compile("[\u202a-\u202e\u2066-\u2069\ufeff]")
_BROKEN: Final = re.compile("[\ud800-\udfff\ufffe\uffff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_JOINERS: Final = "\u200d\ufe0e\ufe0f"

SIMPLE: Final = re.compile(
    r"[\x20-\x7e\xa0-\u036f\u0370-\u03ff\u0400-\u052f\u0590-\u05ff\u1e00-\u1fff\u2010-\u2027\u2030-\u203a"
    r"\u20a0-\u20bf\u2116\u2122\u2190-\u2195\u2212\u221e\u2260\u2264\u2265]*\Z"
)
"""Scripts that the fonts of the PNG engine hold: Latin, Greek, Cyrillic, Hebrew and their marks."""


def whole(text: str) -> str:
    """The text with what no file format can hold replaced; newlines stay."""
    return _BROKEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean(text: str) -> str:
    """The text on one line: white space collapsed, no control characters, nothing that turns it round."""
    return " ".join(_INVISIBLE.sub("", _BROKEN.sub("\ufffd", _CONTROL.sub(" ", text))).split())


def width(text: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """How wide a line is, in points."""
    if mono:
        units = sum(max(_MONO, _unit(char)) if char not in _TABLE else _MONO for char in text)
    else:
        units = sum(_TABLE[char] if char in _TABLE else _unit(char) for char in text)
    return units * size * (_BOLD if bold else 1)


def _unit(char: str) -> float:
    """The width of a character that Helvetica's table does not hold, in ems."""
    point = ord(char)
    if is_attached(char):
        return 0.0
    if 0x1F000 <= point <= 0x1FAFF or 0x2600 <= point <= 0x27BF:
        return _PICTOGRAM
    return _WIDE if is_wide(char) else _OTHER


def is_attached(char: str) -> bool:
    """Whether a character belongs to the one before it."""
    point = ord(char)
    return (
        0x300 <= point <= 0x36F
        or 0x200B <= point <= 0x200F
        or 0xFE00 <= point <= 0xFE0F
        or 0x1F3FB <= point <= 0x1F3FF
        or 0x20D0 <= point <= 0x20FF
    )


def is_wide(char: str) -> bool:
    """Whether a character takes two columns of a terminal."""
    point = ord(char)
    return (
        0x1100 <= point <= 0x115F
        or 0x2E80 <= point <= 0xA4CF
        or 0xAC00 <= point <= 0xD7A3
        or 0xF900 <= point <= 0xFAFF
        or 0xFE30 <= point <= 0xFE6F
        or 0xFF00 <= point <= 0xFF60
        or 0x1F300 <= point <= 0x1FAFF
        or 0x20000 <= point <= 0x3FFFD
    )


def clusters(text: str) -> list[str]:
    """The text in pieces that must not be cut: a character with what is attached to it."""
    pieces: list[str] = []
    for char in text:
        if pieces and (is_attached(char) or pieces[-1][-1] in _JOINERS[0]):
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def fit(text: str, size: float, room: float, *, bold: bool = False, mono: bool = False) -> str:
    """One line of at most `room` points; what does not fit is cut and shown by `…`."""
    line = clean(text[: int(room * 4)])
    if len(text) <= room * 4 and width(line, size, bold=bold, mono=mono) <= room:
        return line
    room -= width("…", size, bold=bold, mono=mono)
    kept: list[str] = []
    for piece in clusters(line):
        room -= width(piece, size, bold=bold, mono=mono)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept).rstrip() + "…"


def wrap(text: str, size: float, room: float, lines: int) -> tuple[str, ...]:
    """At most `lines` lines of at most `room` points, broken at spaces; the last one is cut where it must."""
    words = clean(text[: int(room * 4 * lines)]).split(" ")
    made: list[str] = []
    while words and len(made) < lines - 1:
        line = words[0]
        if width(line, size) > room:
            break
        taken = 1
        while taken < len(words) and width(f"{line} {words[taken]}", size) <= room:
            line = f"{line} {words[taken]}"
            taken += 1
        made.append(line)
        words = words[taken:]
    rest = " ".join(words)
    if len(text) > room * 4 * lines:
        rest += text[int(room * 4 * lines) :][:1000]
    return (*made, fit(rest, size, room)) if rest else tuple(made)
