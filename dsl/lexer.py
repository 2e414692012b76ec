"""Text to tokens: terminals of the grammar, strings cut at their interpolations, and the newlines that count.

The lexer never fails. What it cannot read becomes a diagnostic, and the token that was most likely meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.foreign import (
    Odd,
    read_doubled,
    read_foreign,
    read_odd_character,
    read_odd_number,
    read_odd_word,
)
from windtunnel.dsl.openstrings import shallow_line, swallows
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tables import Table, table
from windtunnel.dsl.tokens import (
    CLOSERS,
    ITEM_WORDS,
    MAX_NESTING,
    PARTNERS,
    Comment,
    Lexed,
    Token,
    ends_entry,
    opens_lines,
)

MAX_RESTARTS: Final = 20
MAX_ODD: Final = 500
_WORD: Final = re.compile(r"[^\W\d]\w*(?:-\w+)*")
_ITEM_AHEAD: Final = re.compile(
    r'(?:import|type|workflow)[ \t]+[A-Za-z_]|scenario[ \t]+"|language[ \t]+\d'
    r"|template[ \t]+[A-Za-z_]\w*\([^=\n]*\)[ \t]*=(?!=)"
)
_ONE_LINE: Final = re.compile(r'(?:[^"\\\n$]+|\\[^\n]|\$\$\{|\$(?!\{))*')
_MANY_LINES: Final = re.compile(r'(?:[^"$]+|"(?!"")|\$\$\{|\$(?!\{))*')
_CODE_AT_END: Final = re.compile(r"(?:[\])},\s]+|\s\{\s*)\Z")
_NO_ITEM_AFTER: Final = frozenset(
    {"IF", "THEN", "ELSE", "NOT", "AND", "OR", "IN", "AS", "IMPORT", "TYPE", "TEMPLATE", "WORKFLOW"}
    | {"SCENARIO", "FOR"}
)

_TELLING: Final = ITEM_WORDS | {"MATCH"}
_token: Callable[[tuple[str, str, int, int]], Token] = partial(tuple.__new__, Token)


class _Frame(NamedTuple):
    """An open bracket, string or interpolation: its terminal, its place, and whether newlines count inside.

    `bound` is true where no newline may stand: between the quotes of a one-line string.
    """

    kind: str
    token: int
    start: int
    lines: bool
    bound: bool


_frame: Callable[[tuple[str, int, int, bool, bool]], _Frame] = partial(tuple.__new__, _Frame)


class _TooDeep(Exception):
    """More open brackets than allowed."""


class _Lexer:
    """One walk over a text."""

    def __init__(self, source: Source, table: Table, wary: bool = False) -> None:
        self.source = source
        self.ended: set[int] = set()
        self.wary = MAX_RESTARTS if wary else 0
        self.text = source.text
        self.table = table
        self.meanings = table.keywords | table.operators
        self.signs = frozenset(table.operators.values())
        self.tokens: list[Token] = []
        self.items: list[int] = []
        self.unbalanced: set[int] = set()
        self.comments: list[Comment] = []
        self.diagnostics: list[Diagnostic] = []
        self.frames: list[_Frame] = []
        self.match_depth = -1
        self.newline = False
        self.restarts = 0
        self.strange: set[str] = set()

    def run(self) -> None:
        """Read the whole text."""
        position, end = 0, len(self.text)
        try:
            while True:
                frame = self.frames[-1] if self.frames else None
                if frame is not None and frame[0] == "TEXT_OPEN":
                    position = self.string(frame, position)
                elif position < end or (frame is not None and frame.bound):
                    position = self.code(position)
                else:
                    break
                if position == end and (string := self.open_string()) is not None:
                    position = self.open_end(string)
        except _TooDeep:
            frame = self.frames[-1]
            message = f"brackets are nested more than {MAX_NESTING} deep here"
            self.diagnostics.append(report("WT0013", message, self.place(frame.start, frame.start + 1)))
            first = self.items[-1] if self.items else 0
            del self.tokens[first:], self.items[-1:]
            self.frames.clear()
        if self.frames:
            self.unbalance()

    def open_string(self) -> _Frame | None:
        """The outermost open string, unless it is a one-line string."""
        return next((f for f in self.frames if f.kind == "TEXT_OPEN" and not f.bound), None)

    def code(self, position: int) -> int:
        """Read tokens until a string begins or goes on, or to the end; returns where it stopped."""
        text, keywords, operators = self.text, self.table.keywords, self.table.operators
        tokens, frames = self.tokens, self.frames
        for found in self.table.pattern.finditer(text, position):
            group, word, position = found.lastgroup, found[found.lastindex or 0], found.end()
            start = position - len(word)
            if group == "NAME":
                kind = keywords.get(word, "NAME")
                if kind in _TELLING:
                    self.word(kind, start)
                if self.newline:
                    self.end_line(kind)
                tokens.append(_token((kind, word, start, position)))
            elif group == "mark" or group == "sign":
                kind = operators[word]
                if kind in CLOSERS:
                    if self.close(kind, start, position):
                        return position
                    continue
                if self.newline:
                    self.end_line(kind)
                if kind in PARTNERS:
                    self.open(kind, start)
                elif kind == "SLASH" and self.tight(start, position):
                    kind = "TIGHT_SLASH"
                tokens.append(_token((kind, word, start, position)))
            elif group == "newline":
                if frames:
                    if frames[-1][3]:
                        self.newline = True
                    elif frames[-1][4]:
                        return self.unfinished(start)
            elif group == "plain":
                if self.newline:
                    self.end_line("TEXT_OPEN")
                last = position - 1
                tokens.append(_token(("TEXT_OPEN", '"', start, start + 1)))
                if last - start > 1:
                    tokens.append(_token(("TEXT_PIECE", text[start + 1 : last], start + 1, last)))
                tokens.append(_token(("TEXT_CLOSE", '"', last, position)))
            elif group == "quote":
                if self.newline:
                    self.end_line("TEXT_OPEN")
                self.push("TEXT_OPEN", start, False, position - start == 1)
                tokens.append(_token(("TEXT_OPEN", word, start, position)))
                return position
            elif group == "comment":
                self.comment(start, position)
            elif group == "NUMBER" or group == "DURATION":
                if self.newline:
                    self.end_line(group)
                tokens.append(_token((group, word, start, position)))
            else:
                end = self.odd(group or "", start, position)
                if end != position:
                    return end
        return len(text) if not (frames and frames[-1].bound) else self.unfinished(len(text))

    # --- words and brackets -------------------------------------------------------------------------------

    def end_line(self, kind: str) -> None:
        """A newline was passed in a line block, and a token of this kind follows."""
        self.newline = False
        last = self.tokens[-1]
        if ends_entry(last, kind):
            self.tokens.append(_token(("NEWLINE", "\n", last.end, last.end)))

    def word(self, kind: str, start: int) -> None:
        """A keyword that may begin an item or a match is about to be added."""
        if kind in ITEM_WORDS and self.begins_item(start):
            if self.frames:
                self.unbalance()
                self.frames.clear()
            self.newline = False
            self.items.append(len(self.tokens))
        if kind == "MATCH" and not self.newline and self.tokens and self.tokens[-1].kind == "ARROW":
            self.match_depth = len(self.frames)

    def begins_item(self, start: int) -> bool:
        """Whether a word begins an item: outside brackets, or as a heading in column 1."""
        if not self.tokens:
            return True
        last = self.tokens[-1].kind
        if not self.frames and last not in _NO_ITEM_AFTER and (last in CLOSERS or last not in self.signs):
            return True
        at_margin = self.text[start - 1] == "\n" and not any(frame.bound for frame in self.frames)
        return at_margin and _ITEM_AHEAD.match(self.text, start) is not None

    def unbalance(self) -> None:
        """Note that the brackets of the current item do not pair."""
        self.unbalanced.add(len(self.items) - 1)

    def push(self, kind: str, start: int, lines: bool, bound: bool) -> None:
        """Open a frame; its token is added next."""
        self.frames.append(_frame((kind, len(self.tokens), start, lines, bound)))
        if len(self.frames) > MAX_NESTING:
            raise _TooDeep

    def open(self, kind: str, start: int) -> None:
        """An opening bracket is about to be added."""
        lines = kind == "LBRACE" and (self.match_depth == len(self.frames) or opens_lines(self.tokens))
        if lines:
            self.match_depth = -1
        self.push(kind, start, lines, bool(self.frames) and self.frames[-1][4])

    def close(self, kind: str, start: int, end: int) -> bool:
        """A closing bracket; True when it ends an interpolation, so that the string goes on."""
        frames = self.frames
        if len(frames) <= self.match_depth:
            self.match_depth = -1
        innermost = frames[-1][0] if frames else ""
        if kind == "RBRACE" and innermost != "LBRACE":
            inner = next(
                (f.kind for f in reversed(frames) if f.kind in ("LBRACE", "INTERPOLATION_OPEN")), None
            )
            if inner == "INTERPOLATION_OPEN":
                while frames[-1].kind != "INTERPOLATION_OPEN":
                    self.unbalance()
                    frames.pop()
                frames.pop()
                self.tokens.append(_token(("INTERPOLATION_CLOSE", "}", start, end)))
                return True
        if self.newline:
            self.end_line(kind)
        self.tokens.append(_token((kind, self.text[start:end], start, end)))
        if innermost == CLOSERS[kind]:
            frames.pop()
            return False
        self.unbalance()
        for depth in range(len(frames) - 1, -1, -1):
            if frames[depth].kind == CLOSERS[kind]:
                del frames[depth:]
                break
            if frames[depth].kind == "INTERPOLATION_OPEN":
                break
        return False

    def tight(self, start: int, end: int) -> bool:
        """Whether a slash joins two names without a space, as node paths do."""
        last = self.tokens[-1] if self.tokens else None
        return (
            last is not None
            and last.end == start
            and last.text[:1].isidentifier()
            and self.text[end : end + 1].isidentifier()
        )

    def comment(self, start: int, end: int) -> None:
        """Note a comment."""
        line, column = self.source.position(start)
        alone = column == 1 or self.text[start - column + 1 : start].isspace()
        self.comments.append(Comment(self.text[start:end].rstrip(), start, end, line, alone))

    def odd(self, group: str, start: int, end: int) -> int:
        """Text that is no token of the language; returns its end."""
        file, text = self.source.name, self.text
        if len(self.diagnostics) >= MAX_ODD:
            return end
        if group == "foreign":
            in_lines = bool(self.frames) and self.frames[-1].lines
            odd = read_foreign(file, text[start:end], start, in_lines, self.meanings)
        elif group == "odd_number":
            odd = read_odd_number(file, text[start:end], start)
        elif (word := _WORD.match(text, start)) is not None:
            end = word.end()
            odd = read_odd_word(file, text[start:end], start)
        else:
            while end < len(text) and text[end] == text[start]:
                end += 1
            odd = read_odd_character(file, text[start:end], start)
        self.take(odd)
        return end

    def take(self, odd: Odd) -> None:
        """Add what an odd stretch was read as; the same strange word is reported once."""
        first = odd.tokens[0] if odd.tokens else None
        span = odd.finding.primary.span
        text = self.text[span.start : span.end]
        if text not in self.strange:
            self.diagnostics.append(odd.finding)
        if text == "$" or (first is not None and first.kind == "NAME"):
            self.strange.add(text)
        if first is not None:
            if self.newline:
                self.end_line(first.kind)
            self.tokens.extend(odd.tokens)

    # --- strings ------------------------------------------------------------------------------------------

    def string(self, frame: _Frame, position: int) -> int:
        """Read one literal piece of the open string and what follows it."""
        text = self.text
        quote = '"' if self.tokens[frame.token].text == '"' else '"""'
        found = (_ONE_LINE if quote == '"' else _MANY_LINES).match(text, position)
        assert found is not None, "a literal piece may be empty but always matches"
        end = found.end()
        if end > position:
            self.tokens.append(_token(("TEXT_PIECE", text[position:end], position, end)))
        if text.startswith("${", end):
            if text.startswith("{", end + 2) and (odd := read_doubled(self.source.name, text, end, quote)):
                self.take(odd)
                return odd.tokens[0].end
            self.push("INTERPOLATION_OPEN", end, False, frame.bound)
            self.tokens.append(_token(("INTERPOLATION_OPEN", "${", end, end + 2)))
            return end + 2
        if text.startswith(quote, end):
            if self.wary and quote != '"' and (stop := swallows(self.source, frame.start, end)) is not None:
                self.wary -= 1
                return self.cut(frame, stop)
            self.frames.pop()
            self.tokens.append(_token(("TEXT_CLOSE", quote, end, end + len(quote))))
            return end + len(quote)
        return self.open_line(frame, end) if quote == '"' else end

    def open_line(self, frame: _Frame, end: int) -> int:
        """A one-line string that reaches the end of its line: cut where code seems to go on."""
        if any(outer.kind == "INTERPOLATION_OPEN" and outer.bound for outer in self.frames[:-1]):
            return self.unfinished(end)
        stop = end
        last = self.tokens[-1]
        if last.kind == "TEXT_PIECE" and (code := _CODE_AT_END.search(last.text)) is not None:
            outer = self.frames[-2] if len(self.frames) > 1 else None
            closers = last.text[code.start() :].strip()
            if closers and (
                closers[0] in ",{" or (outer and PARTNERS[outer.kind] == self.meanings[closers[0]])
            ):
                stop = last.start + code.start()
                self.tokens[-1] = _token(("TEXT_PIECE", self.text[last.start : stop], last.start, stop))
                if stop == last.start:
                    self.tokens.pop()
        self.report_open(frame, stop, '"')
        return stop

    def report_open(self, frame: _Frame, stop: int, quote: str) -> None:
        """Report a string without its end, and end it at `stop`."""
        self.frames.pop()
        self.tokens.append(_token(("TEXT_CLOSE", "", stop, stop)))
        place = self.place(frame.start, frame.start + len(quote))
        fix = Fix("close the string", (Edit(self.place(stop, stop), quote),), Applicability.MAYBE)
        self.diagnostics.append(report("WT0002", "this string is never closed", place, fixes=[fix]))

    def unfinished(self, end: int) -> int:
        """The line ends inside an interpolation of a one-line string: its `${` is read as text instead."""
        depth = next(n for n, f in enumerate(self.frames) if f.kind == "INTERPOLATION_OPEN" and f.bound)
        frame = self.frames[depth]
        self.rewind(depth, frame.token, frame.start)
        start = frame.start + 2
        line_end = self.text.find("\n", start)
        line_end = len(self.text) if line_end < 0 else line_end
        quote = self.text.find('"', start, line_end)
        stop = line_end if quote < 0 else quote
        string = self.frames.pop()
        if quote < 0:
            place = self.place(string.start, string.start + 1)
            self.diagnostics.append(report("WT0002", "this string is never closed", place))
        else:
            self.report_interpolation(frame.start)
        if stop > start:
            self.tokens.append(_token(("TEXT_PIECE", self.text[start:stop], start, stop)))
        close_end = stop if quote < 0 else stop + 1
        self.tokens.append(_token(("TEXT_CLOSE", self.text[stop:close_end], stop, close_end)))
        return close_end

    def report_interpolation(self, start: int) -> None:
        """Report an interpolation without its end."""
        help = "write `$${` for the two characters themselves"
        place = self.place(start, start + 2)
        self.diagnostics.append(report("WT0019", "this `${` is never closed", place, help=help))

    def open_end(self, last: _Frame) -> int:
        """A triple-quoted string reaches the end of the file: find the one that most likely lacks its end.

        Text in triple quotes is indented deeper than the line that opens it. The first such string with a
        line that is not, is taken for the open one, and ends before that line. When an interpolation is still
        open in it, that is what lacks its end, and its `${` is read as text.
        """
        inner = next(
            (f for f in self.frames if f.kind == "INTERPOLATION_OPEN" and f.token > last.token), None
        )
        if inner is not None and self.restarts < MAX_RESTARTS:
            self.restarts += 1
            self.rewind(self.frames.index(inner), inner.token, inner.start)
            self.report_interpolation(inner.start)
            return inner.start + 2
        for index, token in enumerate(self.tokens):
            if token.kind != "TEXT_OPEN" or token.text != '"""' or token.start in self.ended:
                continue
            stop = shallow_line(self.source, token.start)
            close = next(
                (t.start for t in self.tokens[index:] if t.kind == "TEXT_CLOSE" and t.text == '"""'), None
            )
            if stop is not None and (close is None or stop < close) and self.restarts < MAX_RESTARTS:
                self.restarts += 1
                return self.cut(_Frame("TEXT_OPEN", index, token.start, False, False), stop)
        return self.cut(last, len(self.text))

    def cut(self, frame: _Frame, stop: int) -> int:
        """End a triple-quoted string at `stop`, and forget everything behind."""
        self.restart_at(frame.token, frame)
        self.ended.add(frame.start)
        start = frame.start + 3
        self.tokens.append(_token(("TEXT_PIECE", self.text[start:stop], start, stop)))
        self.report_open(frame, stop, '"""')
        self.newline = bool(self.frames) and self.frames[-1].lines
        return stop

    def restart_at(self, index: int, frame: _Frame) -> None:
        """Forget everything behind the token `index`, which opens a string."""
        start = frame.start
        del self.tokens[index + 1 :]
        self.frames = _open_frames(self.tokens[:index])
        self.frames.append(frame)
        self.comments = [comment for comment in self.comments if comment.start < start]
        self.diagnostics = [each for each in self.diagnostics if each.primary.span.start < start]
        self.items = [item for item in self.items if item <= index]
        self.unbalanced = {number for number in self.unbalanced if number < len(self.items) - 1}

    def rewind(self, depth: int, token: int, start: int) -> None:
        """Forget the interpolation that the frame `depth` opened, as far as it was read."""
        del self.frames[depth:], self.tokens[token + 1 :]
        self.tokens[token] = _token(("TEXT_PIECE", "$${", start, start + 2))
        self.comments = [comment for comment in self.comments if comment.start < start]
        self.diagnostics = [each for each in self.diagnostics if each.primary.span.start < start]

    def place(self, start: int, end: int) -> Place:
        """A place in this file."""
        return Place(self.source.name, Span(start, end))


def _open_frames(tokens: list[Token]) -> list[_Frame]:
    """The frames that are open behind these tokens."""
    frames: list[_Frame] = []
    match = False
    for index, token in enumerate(tokens):
        if token.kind == "MATCH" and tokens[index - 1].kind == "ARROW":
            match = True
        elif token.kind in PARTNERS:
            lines = token.kind == "LBRACE" and (match or opens_lines(tokens[max(0, index - 2) : index]))
            match = match and token.kind != "LBRACE"
            bound = token.text == '"' or (bool(frames) and frames[-1].bound)
            frames.append(_Frame(token.kind, index, token.start, lines, bound))
        elif token.kind in CLOSERS:
            while frames and frames.pop().kind != CLOSERS[token.kind]:
                pass
    return frames


def lex(source: Source, wary: bool = False) -> Lexed:
    """Cut a text into tokens; total, and linear in the length of the text.

    `wary` takes a triple-quoted string that seems to hold code for one whose end was forgotten.
    """
    lexer = _Lexer(source, table(), wary)
    lexer.run()
    items, unbalanced = lexer.items, lexer.unbalanced
    if lexer.tokens and (not items or items[0] > 0):
        items, unbalanced = [0, *items], {number + 1 for number in unbalanced}
    return Lexed(lexer.tokens, items, frozenset(unbalanced), lexer.comments, lexer.diagnostics)
