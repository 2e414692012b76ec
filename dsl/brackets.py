"""Pairs brackets that do not pair, by what the indentation says, and reports each odd one.

Only for items that the lexer found unbalanced. A block is taken to end where the text goes back to the
indentation of the line that opened it; a closing bracket that nothing opened is left out. The newlines that
count are worked out anew, as those behind an unclosed bracket did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Label, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tokens import CLOSERS, NODE_WORDS, PARTNERS, Token, ends_entry, opens_lines

MAX_REPORTED: Final = 100
_SIGNS: Final = {"RBRACE": "}", "RSQB": "]", "RPAR": ")", "INTERPOLATION_CLOSE": "}", "TEXT_CLOSE": '"'}


_BLOCK_WORDS: Final = frozenset(
    {"EDGES", "CHOICES", "PROVIDER", "PERSON", "FAULTS", "VALIDATE", "INPUT", "EXITS"}
)
_HEADS: Final = NODE_WORDS | {"WORKFLOW", "SCENARIO"}


class _Open(NamedTuple):
    """An open bracket: its token, number and indentation of its line, and whether newlines count inside."""

    token: Token
    line: int
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


def _indent(line: str) -> int:
    """How many blanks a line begins with."""
    return len(line) - len(line.lstrip())


class _Mender:
    """One walk over the tokens of an item."""

    def __init__(self, source: Source, tokens: Sequence[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.out: list[Token] = []
        self.stack: list[_Open] = []
        self.diagnostics: list[Diagnostic] = []
        self.missing = max(0, sum((t.kind in PARTNERS) - (t.kind in CLOSERS) for t in tokens))
        self.extra = max(0, sum((t.kind == "RBRACE") - (t.kind == "LBRACE") for t in tokens))
        self.first = 0
        self.match = False
        self.line = 0
        self.line_indent = 0

    def run(self) -> None:
        """Walk, then close what is still open."""
        for index, token in enumerate(self.tokens):
            fresh = self.fresh(token)
            if fresh:
                self.headless(token)
                self.begin_line(token)
                self.dedent(token)
            if token.kind in CLOSERS and (
                self.too_many(token, fresh) or self.crosses(index) or not self.pair(token)
            ):
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

    def begin_line(self, token: Token) -> None:
        """Note the line of a token and its indentation."""
        self.line, _ = self.source.position(token.start)
        self.line_indent = _indent(self.source.line(self.line))
        self.first = len(self.out)

    def note(self, token: Token) -> None:
        """Keep the stack of open brackets."""
        if token.kind == "MATCH" and len(self.out) > 1 and self.out[-2].kind == "ARROW":
            self.match = True
        elif token.kind in PARTNERS:
            lines = token.kind == "LBRACE" and (self.match or opens_lines(self.out[:-1][-2:]))
            self.match = self.match and token.kind != "LBRACE"
            self.stack.append(_Open(token, self.line, self.line_indent, lines))

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
            if top.token.kind in ("TEXT_OPEN", "INTERPOLATION_OPEN") or not (
                outdented or (in_line and not closes)
            ):
                return
            self.missing -= 1
            self.close(token)

    def headless(self, token: Token) -> None:
        """Before the first token of a line: open the block that the line before forgot to open."""
        if not self.extra or self.first >= len(self.out):
            return
        head, last = self.out[self.first], self.out[-1]
        head = self.out[self.first + 1] if head.kind == "NEWLINE" and self.first + 1 < len(self.out) else head
        line, _ = self.source.position(token.start)
        deeper = _indent(self.source.line(line)) > self.line_indent
        alone = head.kind in _BLOCK_WORDS and last is head
        named = head.kind in _HEADS and last.kind in ("NAME", "TEXT_CLOSE")
        ends_head = last.kind == "EQUAL" or (head.kind == "INCLUDE" and last.kind == "NAME") or self.match
        if not deeper or not (alone or named or ends_head):
            return
        self.extra -= 1
        brace = Token("LBRACE", "", last.end, last.end)
        fix = Fix("insert `{`", (Edit(self.place(last.end, last.end), " {"),), Applicability.SAFE)
        message = "a `{` is missing at the end of this line"
        self.diagnostics.append(report("WT0007", message, self.place(last.end, last.end), fixes=[fix]))
        self.out.append(brace)
        self.note(brace)

    def too_many(self, token: Token, fresh: bool) -> bool:
        """Whether a closing bracket is the one too many: it would end what it does not line up with."""
        wanted = CLOSERS[token.kind]
        opener = next((each for each in reversed(self.stack) if each.token.kind == wanted), None)
        if not self.extra or opener is None or wanted != "LBRACE":
            return False
        block = "\n" in self.source.text[opener.token.end : opener.token.end + 1]
        return self.line_indent > opener.indent if fresh else block

    def crosses(self, index: int) -> bool:
        """Whether a closing bracket would end something inside brackets that still end on the same line."""
        token = self.tokens[index]
        if (
            not self.stack
            or self.stack[-1].line != self.line
            or self.stack[-1].token.kind == CLOSERS[token.kind]
        ):
            return False
        wanted = PARTNERS[self.stack[-1].token.kind]
        depth = 0
        for place in range(index + 1, len(self.tokens)):
            later = self.tokens[place]
            if "\n" in self.source.text[self.tokens[place - 1].end : later.start]:
                return False
            if later.kind == wanted and depth == 0:
                return True
            depth += (later.kind in PARTNERS) - (later.kind in CLOSERS)
        return False

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
        if len(self.diagnostics) >= MAX_REPORTED:
            return
        place = self.place(top.start, top.end)
        sign = _SIGNS[kind]
        labels = []
        if before is not None:
            labels.append(Label(self.place(before.start, before.end), f"`{sign}` was expected before this"))
        fix = Fix(f"insert `{sign}`", (Edit(self.place(end, end), sign),), Applicability.MAYBE)
        message = f"this `{top.text}` is never closed"
        self.diagnostics.append(report("WT0008", message, place, secondary=labels, fixes=[fix]))

    def stray(self, token: Token) -> None:
        """Report a closing bracket that closes nothing, and leave it out."""
        self.extra -= 1
        if len(self.diagnostics) >= MAX_REPORTED:
            return
        place = self.place(token.start, token.end)
        fix = Fix(f"remove the `{token.text}`", (Edit(place, ""),), Applicability.MAYBE)
        self.diagnostics.append(report("WT0008", f"this `{token.text}` closes nothing", place, fixes=[fix]))

    def place(self, start: int, end: int) -> Place:
        """A place in this file."""
        return Place(self.source.name, Span(start, end))


def lay_lines(text: str, tokens: list[Token], near: int) -> None:
    """Give the block that opens at or just behind the token `near` its newlines, if it lacks them.

    A block whose keyword was misspelt was not known as one with an entry on each line.
    """
    brace = next((n for n in range(near, min(near + 3, len(tokens))) if tokens[n].kind == "LBRACE"), None)
    if brace is None or not opens_lines(tokens[max(0, brace - 2) : brace]):
        return
    depth, place = 0, brace + 1
    while place < len(tokens) and depth >= 0:
        token, last = tokens[place], tokens[place - 1]
        if depth == 0 and token.kind == "NEWLINE":
            return
        if depth == 0 and "\n" in text[last.end : token.start] and ends_entry(last, token.kind):
            tokens.insert(place, Token("NEWLINE", "\n", last.end, last.end))
            place += 1
        depth += (token.kind in PARTNERS) - (token.kind in CLOSERS)
        place += 1
