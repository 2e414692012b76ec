"""Comments handed out in the order of the text, each to the entry of a block that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tokens import Comment


class Lead(NamedTuple):
    """A block of comment lines above an entry; `apart` when a blank line stands between."""

    lines: tuple[str, ...]
    apart: bool


class Margins:
    """The comments not yet handed out; taken from left to right, so that each is given once."""

    def __init__(self, source: Source, comments: Sequence[Comment]) -> None:
        self.source = source
        self.comments = comments
        self.at = 0

    def before(self, offset: int, documented: bool) -> list[Lead]:
        """The comments before an entry that begins at `offset`, as blocks.

        The last block touches the entry when it did so in the text. A comment from another place may not
        touch an entry that is `documented` by what stands above it.
        """
        taken: list[Comment] = []
        while self.at < len(self.comments) and self.comments[self.at].start < offset:
            taken.append(self.comments[self.at])
            self.at += 1
        if not taken:
            return []
        line, column = self.source.position(offset)
        fresh = not self.source.line(line)[: column - 1].strip()
        blocks = self.blocks(taken)
        leads = [Lead(tuple(tidy(each.text) for each in block), True) for block in blocks]
        last = blocks[-1][-1]
        touches = last.alone and last.line == line - 1 and fresh
        if touches or not (documented or (last.alone and last.line < line - 1)):
            leads[-1] = leads[-1]._replace(apart=False)
        return leads

    def blocks(self, comments: list[Comment]) -> list[list[Comment]]:
        """Comments cut where a line between them holds something else or nothing."""
        blocks: list[list[Comment]] = []
        for comment in comments:
            joins = (
                blocks and comment.alone and blocks[-1][-1].alone and blocks[-1][-1].line == comment.line - 1
            )
            if joins:
                blocks[-1].append(comment)
            else:
                blocks.append([comment])
        return blocks

    def behind(self, span: Span, following: int) -> str | None:
        """The comment on the line where an entry ends; `following` is where the next one begins."""
        if self.at >= len(self.comments):
            return None
        comment = self.comments[self.at]
        if comment.alone or not span.end <= comment.start < following:
            return None
        line, _ = self.source.position(max(span.start, span.end - 1))
        if comment.line != line:
            return None
        self.at += 1
        return tidy(comment.text)

    def with_rest(self, leads: list[Lead], span: Span, documented: bool) -> list[Lead]:
        """The comments above an entry, and before its own those that found no place inside it."""
        rest = [lead._replace(apart=documented) for lead in self.before(span.end, True)]
        own = leads[-1:] if leads and not leads[-1].apart else []
        return [*leads[: len(leads) - len(own)], *rest, *own]


def tidy(text: str) -> str:
    """A comment with a space behind its `#`."""
    return text if len(text) == 1 or text[1] in " #!\t" else f"# {text[1:]}"
