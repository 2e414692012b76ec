"""Pairs the brackets of an item whose brackets do not pair, by what the indentation says, and reports each odd one.

Only for items that the lexer found unbalanced. A block is taken to end where the text goes back to the indentation of
the line that opened it; a closing bracket that nothing opened is left out. The newlines that count are worked out
anew, as those behind an unclosed bracket did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Label, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tokens import CLOSERS, PARTNERS, Token, ends_entry, opens_lines

_SIGNS: Final = {"RBRACE": "}", "RSQB": "]", "RPAR": ")", "INTERPOLATION_CLOSE": "}", "TEXT_CLOSE": '"'}


class _Open(NamedTuple):
    """An open bracket: its token, the indentation of its line, and whether newlines count inside."""

    token: Token
    indent: int
    lines: bool


class Mended(NamedTuple):
    """The tokens of an item with all brackets paired, and what was wrong."""

    tokens: list[Token]
    diagnostics: list[Diagnostic]


def mend(source: Source, tokens: Sequence[Token]) -> Mended:
    """Pair the brackets of one item."""
    mender = _Mender(source, [token for token in tokens if token.kind != "NEWLINE"])
    mender.run()
    return Mended(mender.out, mender.diagnostics)


class _Mender:
    """One walk over the tokens of an item."""

    def __init__(self, source: Source, tokens: Sequence[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.out: list[Token] = []
        self.stack: list[_Open] = []
        self.diagnostics: list[Diagnostic] = []
        self.missing = max(0, sum((t.kind in PARTNERS) - (t.kind in CLOSERS) for t in tokens))
        self.match = False
        self.line_indent = 0

    def run(self) -> None:
        """Walk, then close what is still open."""
        for token in self.tokens:
            fresh = self.fresh(token)
            if fresh:
                self.line_indent = self.indent(token)
                self.dedent(token)
            if token.kind in CLOSERS and not self.pair(token):
                self.stray(token)
                continue
            self.newline(token, fresh)
            self.out.append(token)
            self.note(token)
        while self.stack:
            self.close(None)

    def fresh(self, token: Token) -> bool:
        """Whether a token is the first on its line."""
        return not self.out or "\n" in self.source.text[self.out[-1].end : token.start]

    def indent(self, token: Token) -> int:
        """The indentation of the line of a token."""
        number, _ = self.source.position(token.start)
        line = self.source.line(number)
        return len(line) - len(line.lstrip())

    def note(self, token: Token) -> None:
        """Keep the stack of open brackets."""
        if token.kind == "MATCH" and len(self.out) > 1 and self.out[-2].kind == "ARROW":
            self.match = True
        elif token.kind in PARTNERS:
            lines = token.kind == "LBRACE" and (self.match or opens_lines(self.out[:-1][-2:]))
            self.match = self.match and token.kind != "LBRACE"
            self.stack.append(_Open(token, self.line_indent, lines))

    def newline(self, token: Token, fresh: bool) -> None:
        """Add the newline that counts before a token."""
        if fresh and self.stack and self.stack[-1].lines and ends_entry(self.out[-1], token.kind):
            end = self.out[-1].end
            self.out.append(Token("NEWLINE", "\n", end, end))

    def dedent(self, token: Token) -> None:
        """Before the first token of a line: close what should have been closed, going by the indentation."""
        while self.stack and self.missing:
            top = self.stack[-1]
            in_line = len(self.stack) > 1 and self.stack[-2].lines and top.token.kind in ("LPAR", "LSQB")
            closes = token.kind == PARTNERS[top.token.kind]
            limit = self.line_indent
            outdented = limit < top.indent or (limit == top.indent and not closes)
            if top.token.kind in ("TEXT_OPEN", "INTERPOLATION_OPEN") or not (outdented or (in_line and not closes)):
                return
            self.missing -= 1
            self.close(token)

    def pair(self, token: Token) -> bool:
        """Close the bracket that `token` closes, and the ones inside it first; False when nothing fits."""
        wanted = CLOSERS[token.kind]
        kinds = [each.token.kind for each in self.stack]
        if wanted not in kinds:
            return False
        depth = len(kinds) - 1 - kinds[::-1].index(wanted)
        if wanted not in ("TEXT_OPEN", "INTERPOLATION_OPEN") and "TEXT_OPEN" in kinds[depth:]:
            return False
        while len(self.stack) - 1 > depth:
            self.close(token)
        self.stack.pop()
        return True

    def close(self, before: Token | None) -> None:
        """Add the closing bracket of the innermost open one, and report it."""
        top = self.stack.pop().token
        end = self.out[-1].end
        kind = PARTNERS[top.kind]
        self.out.append(Token(kind, "", end, end))
        place = self.place(top.start, top.end)
        sign = _SIGNS[kind]
        labels = []
        if before is not None:
            labels.append(Label(self.place(before.start, before.end), f"`{sign}` was expected before this"))
        fix = Fix(f"insert `{sign}`", (Edit(self.place(end, end), sign),), Applicability.MAYBE)
        message = f"this `{top.text}` is never closed"
        self.diagnostics.append(report("WT0008", message, place, secondary=labels, fixes=[fix]))

    def stray(self, token: Token) -> None:
        """Report a closing bracket that closes nothing."""
        place = self.place(token.start, token.end)
        fix = Fix(f"remove the `{token.text}`", (Edit(place, ""),), Applicability.MAYBE)
        self.diagnostics.append(report("WT0008", f"this `{token.text}` closes nothing", place, fixes=[fix]))

    def place(self, start: int, end: int) -> Place:
        """A place in this file."""
        return Place(self.source.name, Span(start, end))
