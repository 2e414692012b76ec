"""What a string means: the escapes of `"…"`, the margin of triple-quoted text, and `$${`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What no string holds as it stands: control characters other than tab and newline."""
_ESCAPE: Final = re.compile(
    r"\$\$\{|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.?)",
    re.DOTALL,
)
_SHORT: Final = {value: key for key, value in ESCAPES.items() if value != "/"}
_NEEDS_ESCAPE: Final = re.compile(r'\$\{|["\\]')
_FIRST_LINE: Final = re.compile(r"[ \t]*\n")
_LAST_LINE: Final = re.compile(r"\n[ \t]*\Z")
_INDENT: Final = re.compile(r"[ \t]*")


class BadEscape(NamedTuple):
    """An escape that means nothing, by its offsets in the raw piece."""

    start: int
    end: int
    text: str


def decode(raw: str) -> tuple[str, tuple[BadEscape, ...]]:
    """The value of a literal piece of a `"…"` string, and the escapes that are none (kept as they stand)."""
    if "\\" not in raw and "$${" not in raw:
        return raw, ()
    bad: list[BadEscape] = []

    def meant(found: re.Match[str]) -> str:
        whole = found[0]
        if whole == "$${":
            return "${"
        if found[1]:
            return chr(0x10000 + ((int(found[1], 16) - 0xD800) << 10) + int(found[2], 16) - 0xDC00)
        if found[3] and not 0xD800 <= int(found[3], 16) < 0xE000:
            return chr(int(found[3], 16))
        if found[4] in ESCAPES:
            return ESCAPES[found[4]]
        bad.append(BadEscape(found.start(), found.end(), whole))
        return whole

    return _ESCAPE.sub(meant, raw), tuple(bad)


def encode(value: str, before_value: bool = False) -> str:
    """A literal piece as it stands in `"…"`; before an interpolation (`before_value`) no `$` may end it."""
    if before_value and value.endswith("$"):
        return f"{encode(value[:-1])}\\u0024"
    if value.isprintable() and not _NEEDS_ESCAPE.search(value):
        return value
    text = _NEEDS_ESCAPE.sub(lambda found: _escaped(found[0]), value)
    return "".join(letter if letter.isprintable() or letter == " " else _escaped(letter) for letter in text)


def _escaped(text: str) -> str:
    """`"`, `\\`, `${` or a character that cannot be seen, as an escape."""
    if text == "${":
        return "$${"
    if text in _SHORT:
        return f"\\{_SHORT[text]}"
    number = ord(text)
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"


def encode_lines(value: str) -> str:
    """A literal piece of a triple-quoted string, before its margin is added."""
    return value.replace("${", "$${")


def dedent(pieces: Sequence[str | None]) -> tuple[str | None, ...]:
    """The values of the pieces of a triple-quoted string; None stands for an interpolation.

    The first line is dropped when it is blank, and the newline before a blank last line. The margin is the
    white space that all other lines begin with; blank lines do not count and become empty. `$${` means `${`.
    """
    parts = list(pieces)
    if not parts:
        return ()
    first, last = parts[0], parts[-1]
    opens = first is not None and _FIRST_LINE.match(first) is not None
    if first is not None and opens:
        first = parts[0] = _FIRST_LINE.sub("", first, count=1)
        last = parts[-1]
    if last is not None:
        alone = opens and len(parts) == 1 and not last.strip(" \t")
        parts[-1] = "" if alone else _LAST_LINE.sub("", last)
    margin = _margin(parts, opens)
    end = len(parts) - 1
    return tuple(
        None if part is None else _without(part, margin, opens and place == 0, place == end)
        for place, part in enumerate(parts)
    )


def _line_starts(part: str, at_start: bool) -> Iterator[int]:
    """Where lines begin in a piece; the piece itself begins one when `at_start`."""
    if at_start:
        yield 0
    at = part.find("\n")
    while at >= 0:
        yield at + 1
        at = part.find("\n", at + 1)


def _margin(parts: Sequence[str | None], opens: bool) -> str:
    """The white space common to the beginning of all lines that are not blank."""
    margin: str | None = None
    for place, part in enumerate(parts):
        if part is None:
            continue
        last = place == len(parts) - 1
        for start in _line_starts(part, opens and place == 0):
            found = _INDENT.match(part, start)
            assert found is not None, "an indent may be empty but always matches"
            if part.startswith("\n", found.end()) or (last and found.end() == len(part)):
                continue
            indent = found[0]
            if margin is None:
                margin = indent
            while not indent.startswith(margin):
                margin = margin[:-1]
    return margin or ""


def _without(part: str, margin: str, begins_line: bool, last: bool) -> str:
    """A piece without the margin; `begins_line` says whether its beginning begins a line."""
    lines = part.split("\n")
    for place, line in enumerate(lines):
        if place == 0 and not begins_line:
            continue
        ends = place < len(lines) - 1 or last
        lines[place] = "" if ends and not line.strip(" \t") else line.removeprefix(margin)
    return "\n".join(lines).replace("$${", "${")
