"""Text to tokens: terminals of the grammar, strings cut at their interpolations, and the newlines that count.

The lexer never fails. What it cannot read becomes a diagnostic, and the token that was most likely meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tables import Table, table

MAX_NESTING: Final = 200
MAX_NAME: Final = 200
MAX_TEXT: Final = 1024 * 1024


class Token(NamedTuple):
    """A terminal of the grammar: `kind` is its name, `text` what stands in the source."""

    kind: str
    text: str
    start: int
    end: int


class Comment(NamedTuple):
    """`# …` to the end of its line; `alone` when nothing stands before it. Lines count from 1."""

    text: str
    start: int
    end: int
    line: int
    alone: bool


@dataclass(frozen=True)
class Lexed:
    """Tokens, comments and problems of one file.

    `items` are the indices of the tokens that begin a top-level item.
    """

    tokens: list[Token]
    items: list[int]
    comments: list[Comment]
    diagnostics: list[Diagnostic]


LINE_BLOCKS: Final = frozenset({"EDGES", "CHOICES", "PROVIDER", "PERSON", "FAULTS"})
_NAMED: Final = frozenset(
    {
        "AGENT",
        "ACTION",
        "SHELL",
        "NOTIFY",
        "CHECKPOINT",
        "DECISION",
        "WORKFLOW",
        "FOR",
        "EQUAL",
        "DOT",
        "WITH",
    }
)
_CONTINUES: Final = frozenset({"ARROW", "VBAR", "THEN", "LBRACE", "LSQB", "LPAR", "RBRACE", "RSQB", "RPAR"})
_OPENERS: Final = {"LBRACE": "RBRACE", "LSQB": "RSQB", "LPAR": "RPAR"}
_CLOSERS: Final = {closer: opener for opener, closer in _OPENERS.items()}
ITEM_WORDS: Final = frozenset({"IMPORT", "TYPE", "WORKFLOW", "SCENARIO", "TEMPLATE", "LANGUAGE"})
_WORD: Final = re.compile(r"[^\W\d]\w*(?:-\w+)*")
_ONE_LINE: Final = re.compile(r'(?:[^"\\\n$]+|\\[^\n]|\$\$\{|\$(?!\{))*')
_MANY_LINES: Final = re.compile(r'(?:[^"$]+|"(?!"")|\$\$\{|\$(?!\{))*')


class _Frame(NamedTuple):
    """An open bracket or string: `kind` is the opening terminal, `lines` whether newlines count inside."""

    kind: str
    lines: bool
    token: int
    start: int


@dataclass
class _Lexer:
    """The state of one walk over the text."""

    source: Source
    table: Table
    tokens: list[Token] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    newline: bool = False
    match_depth: int = -1

    def run(self) -> None:
        """Read the whole text."""
        text, position, end = self.source.text, 0, len(self.source.text)
        while position < end:
            if self.frames and self.frames[-1].kind in ('"', '"""'):
                position = self.string_piece(text, position)
            else:
                position = self.code(text, position)

    def code(self, text: str, position: int) -> int:
        """Read tokens until a string begins, or to the end; returns where it stopped."""
        keywords, operators = self.table.keywords, self.table.operators
        scan, tokens, add = self.table.pattern.match, self.tokens, self.add
        while (found := scan(text, position)) is not None:
            group = found.lastgroup
            start, position = found.span(group or 0)
            if group == "NAME":
                word = text[start:position]
                add(Token(keywords.get(word, "NAME"), word, start, position))
            elif group == "sign":
                sign = text[start:position]
                kind = operators[sign]
                if kind in _OPENERS:
                    self.open(kind, sign, start, position)
                elif kind in _CLOSERS:
                    if self.close(kind, sign, start, position):
                        return position
                else:
                    if kind == "SLASH" and self.tight(text, start, position):
                        kind = "TIGHT_SLASH"
                    add(Token(kind, sign, start, position))
            elif group == "newline":
                if self.frames and self.frames[-1].lines:
                    self.newline = True
            elif group == "comment":
                self.comment(text, start, position)
            elif group == "quote":
                quote = text[start:position]
                add(Token("TEXT_OPEN", quote, start, position))
                self.frames.append(_Frame(quote, False, len(tokens) - 1, start))
                return position
            elif group == "other":
                position = self.other(text, start)
            else:
                add(Token(group or "", text[start:position], start, position))
        return len(text)

    def add(self, token: Token) -> None:
        """Append a token, and before it the newline that it makes count."""
        kind, tokens = token.kind, self.tokens
        if self.newline:
            self.newline = False
            if kind not in _CONTINUES and tokens and tokens[-1].kind not in ("COMMA", "LBRACE"):
                end = tokens[-1].end
                tokens.append(Token("NEWLINE", "\n", end, end))
        if kind in ITEM_WORDS and not self.frames and self.begins_item():
            self.items.append(len(tokens))
        elif kind == "MATCH" and tokens and tokens[-1].kind == "ARROW":
            self.match_depth = len(self.frames)
        tokens.append(token)

    def begins_item(self) -> bool:
        """Whether the last token lets a new item begin; `x = language` does not."""
        if not self.tokens:
            return True
        last = self.tokens[-1]
        return last.kind in ("NAME", "NUMBER", "DURATION", "TEXT_CLOSE", "RPAR", "RSQB", "RBRACE") or (
            last.text.isidentifier()
            and last.kind not in ("IF", "THEN", "ELSE", "NOT", "AND", "OR", "IN", "AS", "FROM")
        )

    def open(self, kind: str, sign: str, start: int, end: int) -> None:
        """An opening bracket."""
        tokens = self.tokens
        lines = kind == "LBRACE" and (
            self.match_depth == len(self.frames)
            or (
                bool(tokens)
                and tokens[-1].kind in LINE_BLOCKS
                and (len(tokens) < 2 or tokens[-2].kind not in _NAMED)
            )
        )
        if lines:
            self.match_depth = -1
        self.add(Token(kind, sign, start, end))
        self.frames.append(_Frame(kind, lines, len(self.tokens) - 1, start))

    def close(self, kind: str, sign: str, start: int, end: int) -> bool:
        """A closing bracket; True when it ends an interpolation, so that the string goes on."""
        if self.frames and self.frames[-1].kind == "${" and kind == "RBRACE":
            self.frames.pop()
            self.tokens.append(Token("INTERPOLATION_CLOSE", sign, start, end))
            return True
        self.add(Token(kind, sign, start, end))
        if self.frames and self.frames[-1].kind == _CLOSERS[kind]:
            self.frames.pop()
        self.match_depth = -1
        return False

    def tight(self, text: str, start: int, end: int) -> bool:
        """Whether a slash joins two names without a space, as node paths do."""
        last = self.tokens[-1] if self.tokens else None
        return (
            last is not None
            and last.end == start
            and last.text[0].isidentifier()
            and end < len(text)
            and text[end].isidentifier()
        )

    def comment(self, text: str, start: int, end: int) -> None:
        """Note a comment."""
        line, _ = self.source.position(start)
        alone = not text[self.source.line_starts[line - 1] : start].strip()
        self.comments.append(Comment(text[start:end].rstrip(), start, end, line, alone))

    def string_piece(self, text: str, position: int) -> int:
        """Read one literal piece of the open string and what follows it."""
        frame = self.frames[-1]
        found = (_ONE_LINE if frame.kind == '"' else _MANY_LINES).match(text, position)
        assert found is not None, "a literal piece may be empty but always matches"
        end = found.end()
        if end > position:
            self.tokens.append(Token("TEXT_PIECE", text[position:end], position, end))
        if text.startswith("${", end):
            self.tokens.append(Token("INTERPOLATION_OPEN", "${", end, end + 2))
            self.frames.append(_Frame("${", False, len(self.tokens) - 1, end))
            return end + 2
        if text.startswith(frame.kind, end):
            self.frames.pop()
            self.tokens.append(Token("TEXT_CLOSE", frame.kind, end, end + len(frame.kind)))
            return end + len(frame.kind)
        return self.unterminated(text, frame, end)

    def unterminated(self, text: str, frame: _Frame, end: int) -> int:
        """A string without its closing quote."""
        self.frames.pop()
        self.tokens.append(Token("TEXT_CLOSE", "", end, end))
        place = self.place(frame.start, frame.start + len(frame.kind))
        edit = Edit(self.place(end, end), frame.kind)
        fix = Fix("close the string", (edit,), Applicability.MAYBE)
        self.diagnostics.append(report("WT0002", "this string is never closed", place, fixes=[fix]))
        return end

    def other(self, text: str, start: int) -> int:
        """A character that begins no token."""
        word = _WORD.match(text, start)
        end = word.end() if word else start + 1
        self.diagnostics.append(
            report("WT0001", f"`{text[start:end]}` is not part of the language", self.place(start, end))
        )
        return end

    def place(self, start: int, end: int) -> Place:
        """A place in this file."""
        return Place(self.source.name, Span(start, end))


def lex(source: Source) -> Lexed:
    """Cut a text into tokens; total, and linear in the length of the text."""
    lexer = _Lexer(source, table())
    lexer.run()
    return Lexed(lexer.tokens, lexer.items, lexer.comments, lexer.diagnostics)
