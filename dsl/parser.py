"""Text to tree: `parse` reads a whole file, item by item, and goes on after errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from windtunnel.dsl.brackets import mend
from windtunnel.dsl.codes import report
from windtunnel.dsl.collecting import uncollected
from windtunnel.dsl.comments import Comments, read_allows
from windtunnel.dsl.diagnostics import Diagnostic, Place
from windtunnel.dsl.fences import meets_fence, unfenced
from windtunnel.dsl.lexer import lex
from windtunnel.dsl.machine import Machine
from windtunnel.dsl.openstrings import any_swallows
from windtunnel.dsl.recovery import MAX_FINDINGS, Recovery
from windtunnel.dsl.scenarios import Builder
from windtunnel.dsl.source import MAX_FILE, Source, too_large
from windtunnel.dsl.syntax import File, Item, Span
from windtunnel.dsl.tables import END, table
from windtunnel.dsl.tokens import Comment, Lexed, Token
from windtunnel.dsl.workflows import Header

LANGUAGE: Final = 1
_MISLEADING: Final = frozenset({"WT0001", "WT0002", "WT0019"})


@dataclass(frozen=True)
class Parsed:
    """What could be read of a file, and every problem found on the way, in the order of the text.

    `holes` are the spans that were skipped after an error: where one lies inside a declaration, that
    declaration is not whole, and what seems to be missing from it may have stood there.
    """

    source: Source
    file: File
    diagnostics: tuple[Diagnostic, ...]
    holes: tuple[Span, ...] = ()
    comments: tuple[Comment, ...] = ()


@uncollected
def parse(source: Source) -> Parsed:
    """Read a file. Total: every text gives a tree of what is intact, and diagnostics for the rest."""
    whole = Span(0, len(source.text))
    empty = File(None, (), (), whole)
    size = len(source.text) if source.text.isascii() else len(source.text.encode("utf-8", "replace"))
    if size > MAX_FILE:
        place = Place(source.name, Span(0, 0))
        return Parsed(source, empty, (report("WT0012", too_large(source.name, size), place),), (whole,))
    lexed = lex(source)
    version = _other_language(source, lexed)
    if version is not None:
        return Parsed(source, empty, (version,), (whole,))
    parsed = _read(source, lexed)
    if meets_fence(source, parsed.diagnostics) and (code := unfenced(source)) is not None:
        inner = parse(code[0])
        return replace(inner, source=source, diagnostics=_in_order([code[1], *inner.diagnostics]))
    if parsed.diagnostics and any_swallows(source, lexed.tokens):
        return _read(source, lex(source, wary=True))
    return parsed


def _read(source: Source, lexed: Lexed) -> Parsed:
    """The tree of the tokens of a file, and what is wrong with it."""
    builder = Builder(source.name, Comments(source, lexed.comments))
    recovery = Recovery(source, Machine(table(), builder), lexed.diagnostics)
    items, unpaired = _items(source, lexed, recovery, builder)
    allows, silences = read_allows(source, lexed.comments)
    language, kept, misplaced = _header(source, items)
    tree = File(language, kept, allows, Span(0, len(source.text)))
    groups = [lexed.diagnostics, unpaired, recovery.findings, builder.diagnostics]
    found = list(_one_a_line(source, groups))
    found.extend((*silences, *misplaced))
    if not kept and not found:
        message = "there is no workflow, type, template or scenario in this file"
        found.append(report("WT0022", message, Place(source.name, Span(0, 0))))
    return Parsed(source, tree, _in_order(found), tuple(sorted(recovery.holes)), tuple(lexed.comments))


def _items(
    source: Source, lexed: Lexed, recovery: Recovery, builder: Builder
) -> tuple[list[Any], list[Diagnostic]]:
    """The items that could be read, and the findings about brackets."""
    items: list[Any] = []
    unpaired: list[Diagnostic] = []
    lines = {_line(source, each) for each in lexed.diagnostics}
    ends = {at for each in lexed.diagnostics if each.code == "WT0002" for at in _mended(each)}
    ends = {at for at in ends if not source.text[at:].strip()}  # a string that took the rest of the file
    bounds = [*lexed.items, len(lexed.tokens)]
    for number, first in enumerate(lexed.items):
        if recovery.exhausted:
            recovery.holes.append(Span(lexed.tokens[first].start, len(source.text)))
            break
        tokens = lexed.tokens[first : bounds[number + 1]]
        if number in lexed.unbalanced:
            tokens, odd = mend(source, tokens)
            odd = [each for each in odd if _line(source, each) not in lines and not ends & _mended(each)]
            unpaired.extend(odd)
            recovery.know(odd)
        end = tokens[-1].end if tokens else 0
        for item in recovery.items([*tokens, Token(END, "", end, end)]):
            builder.settle()
            items.append(item)
    return items, unpaired


def _one_a_line(source: Source, groups: list[list[Diagnostic]]) -> Iterator[Diagnostic]:
    """Findings of the lexer, about brackets, of the parser and of the builders, without what only follows.

    The lexer knows what it says. On a line where an earlier group has found something, a later one is likely
    to have stumbled over the same; and the parser is to be believed once on a line.
    """
    taken: set[int] = set()
    for place, group in enumerate(groups):
        lines = {_line(source, each) for each in group}
        told: set[int] = set()
        for finding in sorted(group, key=lambda each: each.primary.span):
            line = _line(source, finding)
            if line not in taken and (place != 2 or line not in told):
                told.add(line)
                yield finding
        taken |= lines if place else set()
        taken |= {_line(source, each) for each in group if each.code in _MISLEADING}


def _mended(finding: Diagnostic) -> set[int]:
    """Where the fixes of a finding change the text."""
    return {edit.place.span.start for fix in finding.fixes for edit in fix.edits}


def _line(source: Source, finding: Diagnostic) -> int:
    """The line that a finding is about."""
    return source.position(finding.primary.span.start)[0]


def _in_order(found: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings in the order of the text, without repeats, and not more than a person can use."""
    ordered = sorted(dict.fromkeys(found), key=lambda each: (each.primary.span, each.code))
    if len(ordered) <= MAX_FINDINGS:
        return tuple(ordered)
    message = f"this file has more problems than the {MAX_FINDINGS} that are shown"
    return (*ordered[:MAX_FINDINGS], report("WT0024", message, ordered[MAX_FINDINGS].primary))


def _other_language(source: Source, lexed: Lexed) -> Diagnostic | None:
    """The finding about a header that names a language this tool does not read."""
    if len(lexed.tokens) < 2 or lexed.tokens[0].kind != "LANGUAGE" or lexed.tokens[1].kind != "NUMBER":
        return None
    number = lexed.tokens[1]
    if number.text == str(LANGUAGE):
        return None
    place = Place(source.name, Span(number.start, number.end))
    if number.text.isdigit() and number.text.lstrip("0") and len(number.text) < 7:
        message = f"this file is written in language {number.text}; this windtunnel reads language {LANGUAGE}"
        return report(
            "WT0020", message, place, help="a newer windtunnel reads it: `pip install -U windtunnel`"
        )
    return report("WT0020", f"there is no language {number.text}", place, help=f"write `language {LANGUAGE}`")


def _header(source: Source, items: list[Any]) -> tuple[int | None, tuple[Item, ...], list[Diagnostic]]:
    """The language of the header, the other items, and findings about headers in other places."""
    kept: list[Item] = []
    misplaced: list[Diagnostic] = []
    language: int | None = None
    for number, item in enumerate(items):
        if not isinstance(item, Header):
            kept.append(item)
        elif number == 0:
            language = int(item.number)
        else:
            message = "the `language` line stands first in a file, and once"
            misplaced.append(report("WT0021", message, Place(source.name, item.span)))
    return language, tuple(kept), misplaced
