"""Comments with a meaning: documentation, and `# allow(WT0309): reason`, which silences a finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Diagnostic, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Allow, Span
from windtunnel.dsl.tokens import Comment

_ALLOW: Final = re.compile(r"#\s*allow\b\s*(.*)")
_WELL_FORMED: Final = re.compile(r"#\s*allow\(\s*(WT\d{4})\s*\)\s*:\s*(\S.*)")


class Comments:
    """The comments of a file by line."""

    def __init__(self, source: Source, comments: Sequence[Comment]) -> None:
        self.source = source
        self.alone = {comment.line: comment for comment in comments if comment.alone}

    def doc_above(self, offset: int) -> str | None:
        """The comment block that ends on the line before `offset`, without its `#`; None for none.

        Only where nothing else stands before `offset` on its line.
        """
        if not self.alone:
            return None
        line, column = self.source.position(offset)
        if line - 1 not in self.alone or self.source.line(line)[: column - 1].strip():
            return None
        block: list[str] = []
        while (comment := self.alone.get(line - 1)) is not None:
            line -= 1
            if not _ALLOW.match(comment.text):
                block.append(comment.text[1:].removeprefix(" "))
        return "\n".join(reversed(block)) if block else None


def read_allows(
    source: Source, comments: Sequence[Comment]
) -> tuple[tuple[Allow, ...], tuple[Diagnostic, ...]]:
    """The silences of a file, and a finding for each that is not spelt as one."""
    allows: list[Allow] = []
    problems: list[Diagnostic] = []
    for comment in comments:
        if not _ALLOW.match(comment.text):
            continue
        span = Span(comment.start, comment.end)
        found = _WELL_FORMED.match(comment.text)
        if found and comment.alone:
            allows.append(Allow(found[1], found[2].strip(), comment.line, span))
        elif found or re.match(r"#\s*allow\s*\(", comment.text):
            why = "it must stand on a line of its own" if found else "it needs one code and a reason"
            message = f"this silence has no effect: {why}"
            form = "write `# allow(WT0309): reason` on the line before"
            problems.append(report("WT0023", message, Place(source.name, span), help=form))
    return tuple(allows), tuple(problems)
