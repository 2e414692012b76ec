"""The changes to the tokens that may mend a syntax error, each with what it costs and what it says.

A misspelt keyword nearby, a reserved word or a bad name in a declaration, two parts in the wrong order, one
token inserted, replaced or removed, an entry cut off where the next one begins, and skipping to the next.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.expected import Expected
from windtunnel.dsl.foreign import NAME_RULE, UNITS, shortened
from windtunnel.dsl.machine import HOLE, Machine, Mark
from windtunnel.dsl.source import Source
from windtunnel.dsl.spelling import nearest
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tables import END
from windtunnel.dsl.tokens import CLOSERS, NODE_WORDS, PARTNERS, Token

WINDOW: Final = 12
LOOK_BACK: Final = 12
MOST_CUTS: Final = 4
GIVEN_UP: Final = 10.0
PREVIOUS: Final = 3.1
_INSERTED: Final = {
    "COMMA": 2.0,
    "COLON": 2.0,
    "EQUAL": 2.0,
    "ARROW": 2.1,
    "NEWLINE": 2.2,
    "THEN": 4.5,
    "ELSE": 4.5,
    "WITH": 4.6,
    "FROM": 4.6,
    "CHOOSE": 4.6,
    "DOT": 2.9,
}
_UNLIKELY: Final = 20.0
_KNOWN_WORD: Final = 2.5
_COMPARISONS: Final = frozenset({"EQUAL_TO", "UNEQUAL_TO", "LESS", "AT_MOST", "MORE", "AT_LEAST"})
_OPERATORS: Final = _COMPARISONS | {"AND", "OR", "IN", "PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "OR_ELSE"}
_MEANT: Final = {
    "SEMICOLON": ("COMMA", "NEWLINE"),
    "EQUAL": ("COLON", "EQUAL_TO"),
    "COLON": ("EQUAL", "COMMA", "ARROW"),
    "MORE": ("ARROW",),
    "MINUS": ("ARROW",),
    "OR": ("VBAR",),
    "VBAR": ("COMMA", "OR"),
    "DOT": ("COMMA",),
    "COMMA": ("VBAR", "DOT", "NEWLINE"),
    "ARROW": ("EQUAL", "COLON"),
}
_DECLARING: Final = NODE_WORDS | {"COMPUTE", "INCLUDE", "LET", "TYPE", "TEMPLATE", "WORKFLOW"}
_HINTS: Final = {
    "QMARK": "a choice is written `if c then a else b`",
    "IF": "to go by a value write `node -> match .field { … }`",
    "ON": "a route is written `node on failed -> target`",
}
_JOINING: Final = frozenset(
    {
        "ON",
        "THEN",
        "ELSE",
        "LIMIT",
        "WHEN",
        "EXIT",
        "AND",
        "OR",
        "NOT",
        "IN",
        "IF",
        "FROM",
        "AS",
        "FOR",
        "MATCH",
    }
)
_NAME_ENDS: Final = frozenset({"LBRACE", "EQUAL", "TEXT_OPEN", "LPAR", "NEWLINE", END})


class Repair(NamedTuple):
    """A change: tokens `first` to `last` become `new`, and the parse goes on from `mark` or `first`.

    `far` is the number of the first old token that is not read then; `finding` says what was wrong.
    """

    far: int
    cost: float
    mark: Mark | None
    first: int
    last: int
    new: tuple[Token, ...]
    finding: Callable[[], Diagnostic]


class Repairs:
    """Finds changes for one file with one machine."""

    def __init__(self, source: Source, machine: Machine) -> None:
        self.source = source
        self.machine = machine
        self.expected = Expected(machine)
        self.reserved_words: dict[str, int] = {}

    def tried(
        self,
        tokens: list[Token],
        at: int,
        cost: float,
        mark: Mark | None,
        edit: tuple[int, int],
        new: tuple[Token, ...],
        finding: Callable[[], Diagnostic],
        stack: list[int] | None = None,
    ) -> Repair:
        """A repair with how far it would get."""
        first, last = edit
        begin = first if mark is None else mark.token
        kinds = [token.kind for token in tokens[begin:first]]
        kinds.extend(token.kind for token in new)
        before = len(kinds)
        kinds.extend(token.kind for token in tokens[last : max(last, at) + WINDOW])
        taken = self.machine.probe(self.machine.stack(mark) if stack is None else list(stack), kinds)
        far = last + taken - before if taken >= before else -1
        return Repair(far, cost, mark, first, last, new, finding)

    def reserved(self, tokens: list[Token], at: int) -> Iterator[Repair]:
        """A reserved word where a name is expected, unless it rather stands in the wrong place."""
        token = tokens[at]
        stack = self.machine.stack()
        if token.kind == "NAME" or not token.text.isidentifier() or not self.machine.takes(stack, "NAME"):
            return
        message = f"`{token.text}` is a reserved word and cannot be a name"
        fixes = self.fix(f"call it `{token.text}_`", token.start, token.end, f"{token.text}_", safe=False)
        finding = partial(self.report, "WT0010", message, token.start, token.end, fixes=fixes)
        begins = self.fresh(tokens, at) and not self.machine.takes(stack, "NEWLINE")
        named = (at and tokens[at - 1].kind in _DECLARING) or token.text in self.reserved_words
        if not named and (begins or token.kind in _JOINING):
            finding = partial(self.does_not_fit, tokens, at)
        yield self.tried(tokens, at, 1.5, None, (at, at + 1), (token._replace(kind="NAME"),), finding)

    def swapped(self, tokens: list[Token], at: int, mark: Mark) -> Iterator[Repair]:
        """Two parts in the wrong order: a name before its keyword, or a label before the name."""
        last, token = tokens[at - 1], tokens[at]
        begin = mark.token
        if at > begin and last.kind == "NAME" and (token.kind in _DECLARING or token.kind == "EXIT"):
            order: tuple[Token, ...] = (token, last)
            yield self.reordered(tokens, at, mark, (at - 1, at + 1), order, f"{token.text} {last.text}")
        if tokens[begin].kind in NODE_WORDS and at == begin + 1 and token.kind == "TEXT_OPEN":
            stop = next((n for n in range(at, len(tokens)) if tokens[n].kind == "TEXT_CLOSE"), len(tokens))
            if stop + 1 < len(tokens) and tokens[stop + 1].kind == "NAME":
                name = tokens[stop + 1]
                label = self.source.text[token.start : tokens[stop].end]
                order = (name, *tokens[at : stop + 1])
                yield self.reordered(tokens, at, mark, (at, stop + 2), order, f"{name.text} {label}")

    def reordered(
        self,
        tokens: list[Token],
        at: int,
        mark: Mark,
        edit: tuple[int, int],
        order: tuple[Token, ...],
        text: str,
    ) -> Repair:
        """The repair that puts tokens into another order."""
        start, end = tokens[edit[0]].start, tokens[edit[1] - 1].end
        message = f"these stand in the other order: `{shortened(text)}`"
        fixes = self.fix(f"write `{shortened(text)}`", start, end, text, safe=False)
        finding = partial(self.report, "WT0004", message, start, end, fixes=fixes)
        return self.tried(tokens, at, 0.4, mark, edit, order, finding)

    def units(self, tokens: list[Token], at: int, marks: list[Mark]) -> Iterator[Repair]:
        """A number, a space, and the name of a unit."""
        for place in range(max(0, at - LOOK_BACK), at):
            mark = next((each for each in marks if each.token <= place), None)
            number, word = tokens[place], tokens[place + 1]
            unit = UNITS.get(word.text.lower()) if word.kind == "NAME" else None
            if mark is None or unit is None or self.fresh(tokens, place + 1):
                continue
            if number.kind != "NUMBER" or not number.text.isdigit():
                continue
            meant = f"{number.text}{unit}"
            message = f"`{number.text} {shortened(word.text)}` is no duration: write `{meant}`"
            fixes = self.fix(f"write `{meant}`", number.start, word.end, meant)
            finding = partial(self.report, "WT0025", message, number.start, word.end, fixes=fixes)
            new = Token("DURATION", meant, number.start, word.end)
            cost = 0.9 + 0.05 * (at - place)
            yield self.tried(tokens, at, cost, mark, (place, place + 2), (new,), finding)

    def bare_text(self, tokens: list[Token], at: int, stack: list[int]) -> Iterator[Repair]:
        """A word where a text is expected."""
        token = tokens[at]
        if (
            token.kind != "NAME"
            or self.machine.takes(stack, "NAME")
            or not self.machine.takes(stack, "TEXT_OPEN")
        ):
            return
        new = (
            Token("TEXT_OPEN", '"', token.start, token.start),
            Token("TEXT_PIECE", token.text, token.start, token.end),
            Token("TEXT_CLOSE", '"', token.end, token.end),
        )
        quoted = f'"{shortened(token.text)}"'
        message = f"a text stands in quotes: `{quoted}`"
        fixes = self.fix(f"write `{quoted}`", token.start, token.end, f'"{token.text}"')
        finding = partial(self.report, "WT0007", message, token.start, token.end, fixes=fixes)
        yield self.tried(tokens, at, 2.2, None, (at, at + 1), new, finding)

    def bad_names(self, tokens: list[Token], at: int, mark: Mark) -> Iterator[Repair]:
        """Something else where a declaration has its name."""
        begin = mark.token + 1
        if tokens[mark.token].kind not in _DECLARING or not begin <= at <= begin + 8:
            return
        stop = begin
        if tokens[begin].kind == "TEXT_OPEN":
            while stop < at + WINDOW and stop + 1 < len(tokens) and tokens[stop].kind != "TEXT_CLOSE":
                stop += 1
            stop += 1
        while (
            stop < len(tokens)
            and tokens[stop].kind not in _NAME_ENDS
            and not (stop > begin and self.fresh(tokens, stop))
        ):
            stop += 1
        if (
            not begin < stop < len(tokens)
            or (stop == begin + 1 and tokens[begin].text.isidentifier())
            or stop < at
        ):
            return
        span = Span(tokens[begin].start, tokens[stop - 1].end)
        raw = self.source.text[span.start : span.end]
        if tokens[begin].kind == "NAME" and tokens[begin + 1].kind == "COLON":
            name = tokens[begin].text
            message = f"no type stands behind `{shortened(name)}`: it follows from the value"
            fixes = self.fix(f"write `{shortened(name)}`", span.start, span.end, name, safe=False)
            finding = partial(self.report, "WT0004", message, span.start, span.end, fixes=fixes)
            yield self.tried(tokens, at, 0.5, mark, (begin, stop), (tokens[begin],), finding)
            return
        name = re.sub(r"\W+", "_", raw, flags=re.ASCII).strip("_") or "unnamed"
        name = name if name[0].isalpha() else f"n{name}"
        fixes = self.fix(f"call it `{name}`", span.start, span.end, name, safe=False)
        finding = partial(
            self.report,
            "WT0009",
            f"`{shortened(raw)}` is not a name",
            span.start,
            span.end,
            help=NAME_RULE,
            fixes=fixes,
        )
        token = Token("NAME", name, span.start, span.end)
        yield self.tried(tokens, at, 0.5, mark, (begin, stop), (token,), finding)

    def typos(self, tokens: list[Token], at: int, mark: Mark) -> Iterator[Repair]:
        """A word that is nearly a keyword, here or a little before."""
        keywords = self.machine.table.keywords
        places = {mark.token, *range(max(mark.token, at - LOOK_BACK), at + 1)}
        for place in sorted(places):
            token = tokens[place]
            known = token.kind in keywords.values()
            if len(token.text) < 2 + known or not (known or token.kind == "NAME"):
                continue
            for number, word in enumerate(nearest(token.text, keywords)):
                fixes = self.fix(f"write `{word}`", token.start, token.end, word, safe=number == 0)
                message = f"`{shortened(token.text)}` has no meaning here; did you mean `{word}`?"
                finding = partial(self.report, "WT0006", message, token.start, token.end, fixes=fixes)
                new = Token(keywords[word], word, token.start, token.end)
                cost = 1 + 0.05 * (at - place) + 0.1 * number + (_KNOWN_WORD if known else 0)
                yield self.tried(tokens, at, cost, mark, (place, place + 1), (new,), finding)

    def insertions(self, tokens: list[Token], at: int, stack: list[int]) -> Iterator[Repair]:
        """A token is missing."""
        end = tokens[at - 1].end if at else tokens[at].start
        in_lines = self.machine.takes(stack, "NEWLINE")
        for kind, cost in _INSERTED.items():
            if not self.machine.takes(stack, kind) or (
                kind == "CHOOSE" and self.machine.takes(stack, "NAME")
            ):
                continue
            if kind == "DOT" and tokens[at].kind != "NAME":
                continue
            if kind == "ARROW" and not in_lines:
                cost = _UNLIKELY
            sign = self.machine.table.spellings.get(kind, "\n")
            if kind == "NEWLINE":
                message, sign = "each entry stands on a line of its own", "\n"
            else:
                message = f"`{sign}` is missing before {self.named(tokens[at])}"
            text = sign if kind in ("COMMA", "COLON", "NEWLINE", "DOT") else f" {sign}"
            fixes = self.fix("begin a new line" if sign == "\n" else f"insert `{sign}`", end, end, text)
            if kind == "NEWLINE" and self.fresh(tokens, at):
                fixes = []  # It stands on a line of its own: what came before it let the line go on.
            finding = partial(self.report, "WT0007", message, end, end, fixes=fixes)
            new = Token(kind, sign, end, end)
            yield self.tried(tokens, at, cost, None, (at, at), (new,), finding)

    def replacements(self, tokens: list[Token], at: int, stack: list[int]) -> Iterator[Repair]:
        """Another sign was meant."""
        token = tokens[at]
        for number, kind in enumerate(_MEANT.get(token.kind, ())):
            if not self.machine.takes(stack, kind):
                continue
            if kind == "NEWLINE":
                if at + 1 == len(tokens) or tokens[at + 1].kind in ("NEWLINE", "RBRACE", "EXIT", END):
                    continue
                sign, message = "\n", "each entry stands on a line of its own"
                fixes = self.fix("begin a new line", token.start, token.end, sign)
            else:
                sign = self.machine.table.spellings[kind]
                fixes = self.fix(f"write `{sign}`", token.start, token.end, sign)
                message = f"`{token.text}` does not fit here; write `{sign}`"
            code = "WT0007" if kind == "NEWLINE" else "WT0004"
            finding = partial(self.report, code, message, token.start, token.end, fixes=fixes)
            new = Token(kind, sign, token.start, token.end)
            yield self.tried(tokens, at, 2.3 + number * 0.01, None, (at, at + 1), (new,), finding)

    def removals(self, tokens: list[Token], at: int, stack: list[int]) -> Iterator[Repair]:
        """A token too many: this one, or a closing brace just before."""
        token = tokens[at]
        last = tokens[at - 1] if at else token
        if last.kind == "RBRACE" and self.machine.values and self.machine.values[-1] is last:
            message = f"this `}}` closes too much: {self.named(token)} cannot stand behind it"
            fixes = self.fix("remove the `}`", last.start, last.end, "", safe=False)
            finding = partial(self.report, "WT0008", message, last.start, last.end, fixes=fixes)
            yield self.tried(tokens, at, PREVIOUS, None, (at - 1, at), (), finding, stack[:-1])
        if token.kind not in PARTNERS and token.kind not in CLOSERS and token.kind not in (END, "NEWLINE"):
            yield self.tried(tokens, at, 4.0, None, (at, at + 1), (), self.superfluous(tokens, at))

    def conditions(self, tokens: list[Token], at: int) -> Iterator[Repair]:
        """A condition where a match has its value: what follows the value is skipped up to the arms."""
        if tokens[at].kind not in _OPERATORS or not self.matched(tokens, at):
            return
        line = itertools.takewhile(lambda place: not self.fresh(tokens, place), range(at + 1, len(tokens)))
        arms = next((place for place in line if tokens[place].kind == "LBRACE"), None)
        if arms is not None:
            finding = partial(self.does_not_fit, tokens, at)
            yield self.tried(tokens, at, 0.5, None, (at, arms), (), finding)

    def superfluous(self, tokens: list[Token], at: int) -> Callable[[], Diagnostic]:
        """The finding about a token that is one too many."""
        token, last = tokens[at], tokens[at - 1] if at else tokens[at]
        title = f"remove {self.named(token)}"
        ends = at + 1 == len(tokens) or tokens[at + 1].kind in ("NEWLINE", END) or self.fresh(tokens, at + 1)
        if token.kind == "SEMICOLON" and ends:
            message = "a line needs no `;` at its end"
        elif token.kind == "COLON" and last.text.isidentifier() and not self.fresh(tokens, at):
            message = f"no `:` stands behind `{shortened(last.text)}`"
        else:
            fixes = self.fix(title, token.start, token.end, "", safe=False)
            return partial(self.does_not_fit, tokens, at, fixes)
        fixes = self.fix(title, token.start, token.end, "")
        return partial(self.report, "WT0004", message, token.start, token.end, fixes=fixes)

    def cuts(self, tokens: list[Token], at: int, marks: list[Mark]) -> Iterator[Repair]:
        """The entry broke off, and a later one begins at or before the token that does not fit."""
        for level, mark in enumerate(marks[:2]):
            cost = 3.0 if level == 0 else GIVEN_UP + level
            ends = self.entry_ends(tokens, self.machine.stack(mark), mark.token)
            for end in deque(itertools.takewhile(lambda end: end <= at, ends), maxlen=MOST_CUTS):
                finding = partial(self.broken_off, tokens, mark, end)
                hole = self.hole(tokens[end - 1].end)
                yield self.tried(tokens, at, cost, mark, (mark.token, end), hole, finding)

    def broken_off(self, tokens: list[Token], mark: Mark, end: int) -> Diagnostic:
        """The finding about an entry that ends too early."""
        last = tokens[end - 1]
        stack = self.machine.stack(mark)
        self.machine.probe(stack, [token.kind for token in tokens[mark.token : end]])
        message = f"something is missing behind {self.named(last)}"
        return self.report("WT0007", message, last.end, last.end, help=self.expected.phrase(stack))

    def skips(self, tokens: list[Token], at: int, marks: list[Mark]) -> Iterator[Repair]:
        """Give the entry up, or what follows a whole one, and go on with the next."""
        finding = partial(self.does_not_fit, tokens, at)
        here = self.machine.stack()
        if self.machine.takes(here, HOLE):
            end = next((end for end in self.entry_ends(tokens, here, at) if end > at), at)
            if end > at:
                yield self.tried(
                    tokens, at, GIVEN_UP + 0.5, None, (at, end), self.hole(tokens[end].start), finding
                )
        for level, mark in enumerate(marks):
            stack = self.machine.stack(mark)
            end = next((end for end in self.entry_ends(tokens, stack, mark.token) if end >= at), -1)
            hole = self.hole(tokens[end].start)
            repair = self.tried(tokens, at, GIVEN_UP + 1 + level, mark, (mark.token, end), hole, finding)
            if repair.far > end >= 0:
                yield repair

    def hole(self, offset: int) -> tuple[Token, ...]:
        """A token that stands for what was given up."""
        return (Token(HOLE, "", offset, offset),)

    def entry_ends(self, tokens: list[Token], stack: list[int], start: int) -> Iterator[int]:
        """Where an entry that begins at the token `start` may end: the numbers of tokens that follow it."""
        after = list(stack)
        self.machine.probe(after, (HOLE,))
        separator = next((kind for kind in ("NEWLINE", "COMMA") if self.machine.takes(after, kind)), None)
        depth = 0
        for index in range(start, len(tokens)):
            kind = tokens[index].kind
            if kind in CLOSERS:
                depth -= 1
                if depth < 0:
                    yield index
                    return
            elif index > start and depth == 0 and self.parts(tokens, index, separator):
                yield index
            if kind in PARTNERS:
                depth += 1

    def parts(self, tokens: list[Token], index: int, separator: str | None) -> bool:
        """Whether a token parts entries: the separator, or in clause blocks the first on its line."""
        return self.fresh(tokens, index) if separator is None else tokens[index].kind == separator

    # --- words --------------------------------------------------------------------------------------------

    def fresh(self, tokens: Sequence[Token], index: int) -> bool:
        """Whether a token is the first on its line."""
        return index == 0 or "\n" in self.source.text[tokens[index - 1].end : tokens[index].start]

    def named(self, token: Token) -> str:
        """A token in words."""
        if token.kind == END:
            return "the end"
        if token.kind == "NEWLINE":
            return "the end of the line"
        if token.kind in ("TEXT_OPEN", "TEXT_CLOSE", "TEXT_PIECE"):
            return "this string" if token.kind == "TEXT_OPEN" else "the string"
        return f"`{shortened(token.text)}`"

    def does_not_fit(self, tokens: Sequence[Token], at: int, fixes: Sequence[Fix] = ()) -> Diagnostic:
        """The finding about the token that the machine is stuck at."""
        token = tokens[at]
        message = f"{self.named(token)} does not fit here"
        help = self.expected.phrase(self.machine.stack())
        if token.kind in (END, "NEWLINE"):
            message = f"{self.named(token)} comes too early"
        elif token.kind in _OPERATORS and self.matched(tokens, at):
            help, fixes = (
                "a match looks at one value: give the condition a name, `let enough = …`, and match that",
                (),
            )
        elif token.kind == "MATCH" and at > 0 and tokens[at - 1].kind == "ARROW":
            help = "an arm leads to a node or an exit: match once more in a line of that node's own"
            fixes = ()
        elif token.kind in _COMPARISONS and self.compares(tokens, at):
            help, fixes = "comparisons do not chain: write `a < b and b < c`", ()
        elif token.kind == "QMARK" and tokens[at + 1].kind in ("COMMA", "RBRACE", "NEWLINE"):
            help, fixes = (
                "an optional field is written `name?: type`, a value that may be null `type | null`",
                (),
            )
        elif token.kind in _HINTS:
            help, fixes = _HINTS[token.kind], ()
        return self.report("WT0004", message, token.start, token.end, help=help, fixes=fixes)

    def matched(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether the value that a match looks at ends before a token."""
        while at > 0 and not self.fresh(tokens, at):
            at -= 1
            if tokens[at].kind in ("MATCH", "LBRACE", "ARROW"):
                return tokens[at].kind == "MATCH"
        return False

    def compares(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a comparison stands before a token on its line."""
        while at > 0 and not self.fresh(tokens, at):
            at -= 1
            if tokens[at].kind in _COMPARISONS:
                return True
        return False

    def report(self, code: str, message: str, start: int, end: int, **more: Any) -> Diagnostic:
        """A finding about this file."""
        return report(code, message, Place(self.source.name, Span(start, end)), **more)

    def fix(self, title: str, start: int, end: int, text: str, safe: bool = True) -> list[Fix]:
        """One fix with one edit."""
        how = Applicability.SAFE if safe else Applicability.MAYBE
        return [Fix(title, (Edit(Place(self.source.name, Span(start, end)), text),), how)]
