"""Goes on after a syntax error with the change to the tokens that lets the parse get furthest.

Where the machine is stuck, several changes are tried on the states alone, without building anything: a
misspelt keyword nearby, a reserved word or a bad name where a name is declared, one token inserted, replaced
or removed, an entry cut off where the next one begins, and, always possible, skipping to the next entry.
Among those that read a few tokens more, the one that reads furthest wins, then the cheapest. An entry that is
given up becomes a HOLE, so that one broken line costs one line.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from windtunnel.dsl.brackets import lay_lines
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.expected import Expected
from windtunnel.dsl.foreign import NAME_RULE, shortened
from windtunnel.dsl.machine import HOLE, Machine, Mark
from windtunnel.dsl.source import Source
from windtunnel.dsl.spelling import nearest
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tables import END
from windtunnel.dsl.tokens import CLOSERS, NODE_WORDS, PARTNERS, Token

MAX_FINDINGS: Final = 50
MAX_REPAIRS: Final = 400
WINDOW: Final = 12
NEED: Final = 4
LOOK_BACK: Final = 12
OUTWARD: Final = 4

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
_PREVIOUS: Final = 3.1
_UNLIKELY: Final = 20.0
_LIKELY: Final = 2.4
_KNOWN_WORD: Final = 2.5
_GIVEN_UP: Final = 10.0
_COMPARISONS: Final = frozenset({"EQUAL_TO", "UNEQUAL_TO", "LESS", "AT_MOST", "MORE", "AT_LEAST"})
_MEANT: Final = {
    "SEMICOLON": ("COMMA",),
    "EQUAL": ("COLON", "EQUAL_TO"),
    "COLON": ("EQUAL", "COMMA"),
    "MORE": ("ARROW",),
    "MINUS": ("ARROW",),
    "OR": ("VBAR",),
    "VBAR": ("COMMA", "OR"),
    "DOT": ("COMMA",),
    "COMMA": ("VBAR", "DOT"),
    "ARROW": ("EQUAL", "COLON"),
}
_DECLARING: Final = NODE_WORDS | {"COMPUTE", "INCLUDE", "LET", "TYPE", "TEMPLATE", "WORKFLOW"}
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


class Recovery:
    """Parses the items of one file with one machine, and collects findings and holes."""

    def __init__(self, source: Source, machine: Machine, known: Sequence[Diagnostic]) -> None:
        self.source = source
        self.machine = machine
        self.expected = Expected(machine)
        self.known = sorted(each.primary.span.start for each in known)
        self.findings: list[Diagnostic] = []
        self.holes: list[Span] = []
        self.repaired = -NEED
        self.joined = False
        self.repairs = 0
        self.reserved_words: dict[str, int] = {}

    @property
    def exhausted(self) -> bool:
        """Whether so much was mended that the rest of the file is not worth reading."""
        return self.repairs > MAX_REPAIRS

    def know(self, findings: Sequence[Diagnostic]) -> None:
        """More findings that errors of the parser may follow from."""
        self.known = sorted([*self.known, *(each.primary.span.start for each in findings)])

    def items(self, tokens: list[Token]) -> Iterator[Any]:
        """The items that the tokens (with END) spell: several when a word that begins one is misspelt."""
        rest: list[Token] | None = tokens
        while rest is not None:
            tokens, rest = rest, None
            self.machine.reset()
            self.repaired = -NEED
            self.joined = False
            index = 0
            while (stuck := self.machine.run(tokens, index)) is not None:
                if 0 < stuck < len(tokens) - 1 and self.fresh(tokens, stuck) and self.machine.completes():
                    rest = tokens[stuck:]
                    tokens[stuck:] = [Token(END, "", tokens[stuck - 1].end, tokens[stuck - 1].end)]
                    index = stuck
                    continue
                self.repairs += 1
                repair = self.choose(tokens, stuck) if not self.exhausted else self.drop(tokens, stuck)
                self.note(repair, tokens, stuck)
                if repair.new == () and repair.first == 0 and repair.last == len(tokens):
                    break
                index = self.apply(repair, tokens)
            else:
                yield self.machine.values[-1]

    def note(self, repair: Repair, tokens: list[Token], stuck: int) -> None:
        """Report a repair, unless it follows from what was reported already; remember what it skips."""
        finding = repair.finding()
        given_up = repair.last - repair.first > 1 if repair.new == () else repair.new[0].kind == HOLE
        if given_up and repair.last > repair.first:
            end = next(each.end for each in reversed(tokens[: repair.last]) if each.kind != END)
            self.holes.append(Span(tokens[repair.first].start, end))
        if tokens[stuck].kind == END:
            span = Span(tokens[0].start, tokens[-1].end)
        else:
            entry = tokens[self.machine.marks[-1].token if self.machine.marks else 0]
            start = min(entry.start, finding.primary.span.start)
            span = Span(start, tokens[max(stuck, repair.last - 1)].end)
        place = bisect_left(self.known, span.start)
        follows = place < len(self.known) and self.known[place] <= span.end
        joined = bool(repair.new) and repair.new[0].kind == "NEWLINE"
        if finding.code == "WT0010" and self.also_named(tokens[stuck].text, finding):
            return
        if not follows and stuck >= self.repaired and not (joined and self.joined):
            if finding.code == "WT0010":
                self.reserved_words[tokens[stuck].text] = len(self.findings)
            self.findings.append(finding)
        self.joined = self.joined or joined

    def also_named(self, word: str, finding: Diagnostic) -> bool:
        """Whether this reserved word was reported as a name before; the fix then mends this place too."""
        number = self.reserved_words.get(word)
        if number is None:
            return False
        first = self.findings[number]
        (fix,) = first.fixes
        edits = (*fix.edits, *finding.fixes[0].edits)
        title = f"call it `{word}_` at all {len(edits)} places"
        self.findings[number] = replace(first, fixes=(Fix(title, edits, fix.applicability),))
        return True

    def apply(self, repair: Repair, tokens: list[Token]) -> int:
        """Change the tokens and take the machine back; returns where it goes on."""
        machine = self.machine
        if repair.mark is not None:
            machine.back_to(repair.mark)
        elif (
            machine.values
            and repair.new == ()
            and repair.last == repair.first + 1
            and repair.cost == _PREVIOUS
        ):
            machine.values.pop()
            machine.state = machine.below.pop()
        tokens[repair.first : repair.last] = repair.new
        lay_lines(self.source.text, tokens, repair.first)
        self.repaired = repair.first + len(repair.new) + 1
        return repair.first if repair.mark is None else repair.mark.token

    # --- candidates ---------------------------------------------------------------------------------------

    def choose(self, tokens: list[Token], at: int) -> Repair:
        """The best repair."""
        start = Mark(0, self.machine.table.start, 0)
        self.forget_closed(tokens, at)
        marks = [*reversed(self.machine.marks[-OUTWARD:])]
        tried = list(self.candidates(tokens, at, marks or [start]))
        enough = [repair for repair in tried if repair.cost < _GIVEN_UP and self.reads_on(tokens, at, repair)]
        if enough:
            return min(enough, key=lambda repair: (-min(repair.far, at + WINDOW), repair.cost))
        given_up = [repair for repair in tried if repair.far > at]
        if given_up:
            return min(given_up, key=lambda repair: repair.cost)
        return self.drop(tokens, at)

    def drop(self, tokens: list[Token], at: int) -> Repair:
        """Give the whole item up."""
        start = Mark(0, self.machine.table.start, 0)
        return Repair(0, 0, start, 0, len(tokens), (), partial(self.does_not_fit, tokens, at))

    def forget_closed(self, tokens: list[Token], at: int) -> None:
        """Drop the marks of entries and lists that have ended; the machine itself does not look for them."""
        live: list[Mark] = []
        for mark in self.machine.marks:
            if mark.depth >= len(self.machine.below):
                continue
            depth = 0
            for token in tokens[mark.token : at]:
                depth += (token.kind in PARTNERS) - (token.kind in CLOSERS)
                if depth < 0:
                    break
            else:
                live.append(mark)
        self.machine.marks[:] = live

    def reads_on(self, tokens: list[Token], at: int, repair: Repair) -> bool:
        """Whether a repair reads a few tokens more, or to the end of the line."""
        need = NEED if repair.cost > _LIKELY else NEED // 2
        if repair.far >= min(at + need, len(tokens)):
            return True
        ends = range(at + 1, min(repair.far, len(tokens) - 1) + 1)
        return any(tokens[end].kind in ("NEWLINE", END) or self.fresh(tokens, end) for end in ends)

    def candidates(self, tokens: list[Token], at: int, marks: list[Mark]) -> Iterator[Repair]:
        """Everything that may be tried."""
        stack = self.machine.stack()
        yield from self.bad_names(tokens, at, marks[0])
        yield from self.reserved(tokens, at, stack)
        for mark in marks[:2]:
            yield from self.typos(tokens, at, mark)
        yield from self.insertions(tokens, at, stack)
        yield from self.replacements(tokens, at, stack)
        yield from self.removals(tokens, at, stack)
        if self.machine.marks:
            yield from self.cuts(tokens, at, marks)
        yield from self.skips(tokens, at, marks if self.machine.marks else [])

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

    def reserved(self, tokens: list[Token], at: int, stack: list[int]) -> Iterator[Repair]:
        """A reserved word where a name is expected."""
        token = tokens[at]
        if token.kind == "NAME" or not token.text.isidentifier() or not self.machine.takes(stack, "NAME"):
            return
        message = f"`{token.text}` is a reserved word and cannot be a name"
        fixes = self.fix(f"call it `{token.text}_`", token.start, token.end, f"{token.text}_", safe=False)
        finding = partial(self.report, "WT0010", message, token.start, token.end, fixes=fixes)
        yield self.tried(tokens, at, 1.5, None, (at, at + 1), (token._replace(kind="NAME"),), finding)

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
            if token.kind != "NAME" and token.kind not in keywords.values():
                continue
            for number, word in enumerate(nearest(token.text, keywords)):
                fixes = self.fix(f"write `{word}`", token.start, token.end, word, safe=number == 0)
                message = f"`{shortened(token.text)}` has no meaning here; did you mean `{word}`?"
                finding = partial(self.report, "WT0006", message, token.start, token.end, fixes=fixes)
                new = Token(keywords[word], word, token.start, token.end)
                known = 0.0 if token.kind == "NAME" else _KNOWN_WORD
                cost = 1 + 0.05 * (at - place) + 0.1 * number + known
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
            if kind == "ARROW" and not in_lines:
                cost = _UNLIKELY
            sign = self.machine.table.spellings.get(kind, "\n")
            if kind == "NEWLINE":
                message, sign = "each entry stands on a line of its own", "\n"
            else:
                message = f"`{sign}` is missing before {self.named(tokens[at])}"
            text = sign if kind in ("COMMA", "COLON", "NEWLINE", "DOT") else f" {sign}"
            fixes = self.fix("begin a new line" if sign == "\n" else f"insert `{sign}`", end, end, text)
            finding = partial(self.report, "WT0007", message, end, end, fixes=fixes)
            new = Token(kind, sign, end, end)
            yield self.tried(tokens, at, cost, None, (at, at), (new,), finding)

    def replacements(self, tokens: list[Token], at: int, stack: list[int]) -> Iterator[Repair]:
        """Another sign was meant."""
        token = tokens[at]
        for number, kind in enumerate(_MEANT.get(token.kind, ())):
            if not self.machine.takes(stack, kind):
                continue
            sign = self.machine.table.spellings[kind]
            fixes = self.fix(f"write `{sign}`", token.start, token.end, sign)
            message = f"`{token.text}` does not fit here; write `{sign}`"
            finding = partial(self.report, "WT0004", message, token.start, token.end, fixes=fixes)
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
            yield self.tried(tokens, at, _PREVIOUS, None, (at - 1, at), (), finding, stack[:-1])
        if token.kind not in PARTNERS and token.kind not in CLOSERS and token.kind not in (END, "NEWLINE"):
            fixes = self.fix(f"remove {self.named(token)}", token.start, token.end, "", safe=False)
            finding = partial(self.does_not_fit, tokens, at, fixes)
            yield self.tried(tokens, at, 4.0, None, (at, at + 1), (), finding)

    def cuts(self, tokens: list[Token], at: int, marks: list[Mark]) -> Iterator[Repair]:
        """The entry broke off, and a later one begins at or before the token that does not fit."""
        for level, mark in enumerate(marks[:2]):
            cost = 3.0 if level == 0 else _GIVEN_UP + level
            ends = self.entry_ends(tokens, self.machine.stack(mark), mark.token)
            for end in deque(itertools.takewhile(lambda end: end <= at, ends), maxlen=NEED):
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
                    tokens, at, _GIVEN_UP + 0.5, None, (at, end), self.hole(tokens[end].start), finding
                )
        for level, mark in enumerate(marks):
            stack = self.machine.stack(mark)
            end = next((end for end in self.entry_ends(tokens, stack, mark.token) if end >= at), -1)
            hole = self.hole(tokens[end].start)
            repair = self.tried(tokens, at, _GIVEN_UP + 1 + level, mark, (mark.token, end), hole, finding)
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
        elif token.kind in _COMPARISONS:
            help, fixes = "comparisons do not chain: write `a < b and b < c`", ()
        return self.report("WT0004", message, token.start, token.end, help=help, fixes=fixes)

    def report(self, code: str, message: str, start: int, end: int, **more: Any) -> Diagnostic:
        """A finding about this file."""
        return report(code, message, Place(self.source.name, Span(start, end)), **more)

    def fix(self, title: str, start: int, end: int, text: str, safe: bool = True) -> list[Fix]:
        """One fix with one edit."""
        how = Applicability.SAFE if safe else Applicability.MAYBE
        return [Fix(title, (Edit(Place(self.source.name, Span(start, end)), text),), how)]
