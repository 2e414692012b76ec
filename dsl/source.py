"""A named text, normalised once, and the way from offsets to lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Source:
    """The text of one file under the name it was read by.

    `text` is normalised (`from_bytes` drops a BOM and folds `\\r\\n` and `\\r`), so offsets and digests do not depend
    on the platform. Lines and columns count from 1; a column is a code point and a tab is one.
    """

    name: str
    text: str

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
    """Drop one leading BOM and fold `\\r\\n` and lone `\\r` into `\\n`."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
