"""What a string means: the escapes of `"…"`, the margin of triple-quoted text, and `$${`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE: Final = re.compile(
    r"\$\$\{|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.?)",
    re.DOTALL,
)
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


def dedent(pieces: Sequence[str | None]) -> tuple[str | None, ...]:
    """The values of the pieces of a triple-quoted string; None stands for an interpolation.

    The first line is dropped when it is blank, and the newline before a blank last line. The margin is the
    white space that all other lines begin with; blank lines do not count and become empty. `$${` means `${`.
    """
    parts = list(pieces)
    opens = False
    if parts and parts[0] is not None and (blank := _FIRST_LINE.match(parts[0])):
        parts[0] = parts[0][blank.end() :]
        opens = True
    if parts and parts[-1] is not None:
        if opens and len(parts) == 1 and not parts[0].strip(" \t"):  # type: ignore[union-attr]
            parts[-1] = ""
        else:
            parts[-1] = _LAST_LINE.sub("", parts[-1])
    margin = _margin(parts, opens)
    return tuple(
        None
        if part is None
        else _strip(part, margin, opens or number > 0, number == len(parts) - 1, number == 0)
        for number, part in enumerate(parts)
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
    for number, part in enumerate(parts):
        if part is None:
            continue
        last = number == len(parts) - 1
        for start in _line_starts(part, opens and number == 0):
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


def _strip(part: str, margin: str, opens: bool, last: bool, first: bool) -> str:
    """A piece without the margin; `opens` and `first` say whether its beginning begins a line."""
    lines = part.split("\n")
    for number, line in enumerate(lines):
        if number == 0 and not (opens and first):
            continue
        final = number == len(lines) - 1
        blank = not line.strip(" \t") and (not final or last)
        lines[number] = "" if blank else line.removeprefix(margin)
    return "\n".join(lines).replace("$${", "${")
