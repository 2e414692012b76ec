"""A named text, normalised once, and the way from offsets to lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Diagnostic, Place
from windtunnel.dsl.syntax import Span

MAX_FILE: Final = 4 * 1024 * 1024


@dataclass(frozen=True)
class Source:
    """The text of one file under the name it was read by.

    `text` is normalised: one leading byte order mark is dropped, `\\r\\n` and `\\r` become `\\n`, so that
    offsets and digests do not depend on the platform. Lines and columns count from 1; a column is a code
    point and a tab is one.
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", normalise(self.text))

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offset of the first code point of each line."""
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return tuple(starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset; offsets outside the text are clamped to it."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line without its newline; empty outside the file."""
        if not 1 <= number <= len(self.line_starts):
            return ""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        return self.text[start:end]


def normalise(text: str) -> str:
    """Drop one leading byte order mark and fold `\\r\\n` and lone `\\r` into `\\n`."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_source(name: str, data: bytes) -> Source | Diagnostic:
    """The text of a file from its bytes, or what is wrong with them: longer than 4 MiB, or not UTF-8."""
    if len(data) > MAX_FILE:
        return report("WT0012", too_large(name, len(data)), Place(name, Span(0, 0)))
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = Source(name, data[: error.start].decode("utf-8", "replace"))
        line, column = before.position(len(before.text))
        wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        found = (
            "it looks like UTF-16"
            if wide
            else f"byte 0x{data[error.start]:02x} at line {line}, column {column}"
        )
        place = Place(name, Span(len(before.text), len(before.text)))
        return report("WT0015", f"`{name}` is not UTF-8: {found}", place, help="save the file as UTF-8")


def too_large(name: str, size: int) -> str:
    """The message for a file over the limit."""
    return f"`{name}` has {size:_} bytes; a file may have {MAX_FILE:_}"
