"""Goes on after a syntax error with the change to the tokens that lets the parse get furthest.

Where the machine is stuck, the changes of `repairs` are tried on the states alone, without building anything.
Among those that read a few tokens more, the one that reads furthest wins, then the cheapest. An entry that is
given up becomes a HOLE, so that one broken line costs one line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from windtunnel.dsl.brackets import lay_lines
from windtunnel.dsl.diagnostics import Diagnostic, Fix
from windtunnel.dsl.machine import HOLE, Machine, Mark
from windtunnel.dsl.repairs import GIVEN_UP, PREVIOUS, WINDOW, Repair, Repairs
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tables import END
from windtunnel.dsl.tokens import CLOSERS, PARTNERS, Token

MAX_FINDINGS: Final = 50
MAX_REPAIRS: Final = 400
NEED: Final = 4
OUTWARD: Final = 4
_LIKELY: Final = 2.4


class Recovery(Repairs):
    """Parses the items of one file with one machine, and collects findings and holes."""

    def __init__(self, source: Source, machine: Machine, known: Sequence[Diagnostic]) -> None:
        super().__init__(source, machine)
        self.known = sorted(each.primary.span.start for each in known)
        self.findings: list[Diagnostic] = []
        self.holes: list[Span] = []
        self.repaired = -NEED
        self.joined: int | None = None
        self.repairs = 0

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
            self.joined = None
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
        joins = bool(repair.new) and repair.new[0].kind == "NEWLINE"
        if joins and self.joined is not None and self.same_line(self.findings[self.joined], finding):
            self.mends_too(self.joined, finding, "begin {} new lines")
            return
        word = tokens[stuck].text
        if finding.code == "WT0010" and word in self.reserved_words:
            self.mends_too(self.reserved_words[word], finding, f"call it `{word}_` at all {{}} places")
            return
        if not follows and stuck >= self.repaired:
            if finding.code == "WT0010":
                self.reserved_words[word] = len(self.findings)
            if joins:
                self.joined = len(self.findings)
            self.findings.append(finding)

    def same_line(self, one: Diagnostic, other: Diagnostic) -> bool:
        """Whether two findings are about one line."""
        first, last = sorted(each.primary.span.start for each in (one, other))
        return "\n" not in self.source.text[first:last]

    def mends_too(self, number: int, finding: Diagnostic, title: str) -> None:
        """Let the fix of an earlier finding mend this one too: they have one cause."""
        (fix,) = self.findings[number].fixes
        edits = (*fix.edits, *finding.fixes[0].edits)
        mended = Fix(title.format(len(edits)), edits, fix.applicability)
        self.findings[number] = replace(self.findings[number], fixes=(mended,))

    def apply(self, repair: Repair, tokens: list[Token]) -> int:
        """Change the tokens and take the machine back; returns where it goes on."""
        machine = self.machine
        if repair.mark is not None:
            machine.back_to(repair.mark)
        elif (
            machine.values
            and repair.new == ()
            and repair.last == repair.first + 1
            and repair.cost == PREVIOUS
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
        enough = [repair for repair in tried if repair.cost < GIVEN_UP and self.reads_on(tokens, at, repair)]
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
        yield from self.reserved(tokens, at)
        yield from self.swapped(tokens, at, marks[0])
        yield from self.units(tokens, at, marks)
        yield from self.conditions(tokens, at)
        yield from self.bare_text(tokens, at, stack)
        for mark in marks[:2]:
            yield from self.typos(tokens, at, mark)
        yield from self.insertions(tokens, at, stack)
        yield from self.replacements(tokens, at, stack)
        yield from self.removals(tokens, at, stack)
        if self.machine.marks:
            yield from self.cuts(tokens, at, marks)
        yield from self.skips(tokens, at, marks if self.machine.marks else [])
