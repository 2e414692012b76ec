"""Where a triple-quoted string ends that lacks its end: its text is indented deeper than its first line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from windtunnel.dsl.source import Source
from windtunnel.dsl.tokens import Token

_CODE_BEFORE: Final = re.compile(r"[ \t]*[A-Za-z]\w*[ \t]+\Z")


def shallow_line(source: Source, start: int) -> int | None:
    """The end of the line before the first one that is indented no deeper than the line of `start`."""
    number, _ = source.position(start)
    limit = _indent(source.line(number))
    for line in range(number + 1, len(source.line_starts) + 1):
        content = source.line(line)
        if content.strip() and _indent(content) <= limit and not content.strip().startswith('"""'):
            return source.line_starts[line - 1] - 1
    return None


def swallows(source: Source, start: int, end: int) -> int | None:
    """Where a string that opens at `start` should end, when the quotes at `end` seem to open the next one.

    They do when a line before is indented too little for text, and a keyword stands before them. It may be
    text all the same, so this is asked only where something is wrong.
    """
    number, column = source.position(end)
    before = source.line(number)[: column - 1]
    if _CODE_BEFORE.match(before) is None or source.line(number)[column + 2 :].strip():
        return None
    stop = shallow_line(source, start)
    return stop if stop is not None and stop < end else None


def any_swallows(source: Source, tokens: Sequence[Token]) -> bool:
    """Whether a triple-quoted string among these tokens seems to lack its end."""
    opened: list[int] = []
    for token in tokens:
        if token.kind == "TEXT_OPEN":
            opened.append(token.start)
        elif token.kind == "TEXT_CLOSE" and opened:
            start = opened.pop()
            if token.text == '"""' and swallows(source, start, token.start) is not None:
                return True
    return False


def _indent(line: str) -> int:
    """How many blanks a line begins with."""
    return len(line) - len(line.lstrip())
