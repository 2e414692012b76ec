"""Draws a diagnostic: the place, the source line, carets under it, and what can be done."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Place
from windtunnel.dsl.source import Source

MAX_COLUMNS: Final = 160
_LEAD: Final = 40


class _Mark(NamedTuple):
    """One underline: line number, first and one past the last code point in it, sign and words."""

    line: int
    start: int
    end: int
    sign: str
    text: str


def concise(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> str:
    """`file:line:col code message`, on one line."""
    message = " ".join(diagnostic.message.split())
    return f"{where(diagnostic.primary, sources)} {diagnostic.code} {message}"


def where(place: Place, sources: Mapping[str, Source]) -> str:
    """`file:line:col`; 1:1 when the file's text is not at hand."""
    source = sources.get(place.file)
    line, column = source.position(place.span.start) if source else (1, 1)
    return f"{_visible(place.file)}:{line}:{column}"


def render(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> str:
    """The diagnostic as plain text over several lines, without a last newline; fails for no span."""
    head = f"{diagnostic.severity.value}[{diagnostic.code}]: {diagnostic.message}"
    lines = [head]
    files = [diagnostic.primary.file]
    files.extend(label.place.file for label in diagnostic.secondary if label.place.file not in files)
    gutter = _gutter(diagnostic, sources)
    for number, file in enumerate(dict.fromkeys(files)):
        at = diagnostic.primary if number == 0 else _first(diagnostic, file)
        lines.append(f"{' ' * gutter} {'-->' if number == 0 else ':::'} {where(at, sources)}")
        if (source := sources.get(file)) is not None:
            lines.extend(_excerpt(_marks(diagnostic, file, source), source, gutter))
    pad = " " * gutter
    lines.extend(f"{pad} = note: {note}" for note in diagnostic.notes)
    if diagnostic.help is not None:
        lines.append(f"{pad} = help: {diagnostic.help}")
    for fix in diagnostic.fixes:
        sure = "" if fix.applicability is Applicability.SAFE else " (check it)"
        lines.append(f"{pad} = fix: {fix.title}{sure}")
    lines.extend(f"{pad} = see: {each}" for each in diagnostic.related)
    return "\n".join(lines)


def _first(diagnostic: Diagnostic, file: str) -> Place:
    """The first secondary place in a file."""
    return next(label.place for label in diagnostic.secondary if label.place.file == file)


def _marks(diagnostic: Diagnostic, file: str, source: Source) -> list[_Mark]:
    """The underlines in one file, by line; the primary one first on its line."""
    marks: list[_Mark] = []
    if diagnostic.primary.file == file:
        marks.append(_mark(diagnostic.primary, source, "^", diagnostic.label))
    for label in diagnostic.secondary:
        if label.place.file == file:
            marks.append(_mark(label.place, source, "-", label.text))
    return sorted(marks, key=lambda mark: (mark.line, mark.sign != "^"))


def _mark(place: Place, source: Source, sign: str, text: str) -> _Mark:
    """An underline for a place: clamped to the text, at least one wide, and on the first line only."""
    line, column = source.position(place.span.start)
    last, end = source.position(max(place.span.end, place.span.start))
    width = len(source.line(line))
    if last > line:
        text = f"{text} (to line {last})".strip()
        end = max(width, column) + 1
    return _Mark(line, column - 1, max(end - 1, column), sign, text)


def _gutter(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> int:
    """Width of the column of line numbers."""
    places = [diagnostic.primary, *(label.place for label in diagnostic.secondary)]
    lines = [source.position(p.span.start)[0] for p in places if (source := sources.get(p.file)) is not None]
    return len(str(max(lines, default=1)))


def _excerpt(marks: list[_Mark], source: Source, gutter: int) -> Iterator[str]:
    """The marked lines of one file with their underlines."""
    blank = " " * gutter
    yield f"{blank} |"
    shown: int | None = None
    for mark in marks:
        text = source.line(mark.line)
        first = max(0, min(mark.start, len(text)) - _LEAD) if len(text) > MAX_COLUMNS else 0
        cut = text[first : first + MAX_COLUMNS]
        dots = "…" if first else ""
        if mark.line != shown or first:
            if shown is not None and mark.line > shown + 1:
                yield f"{blank} ..."
            after = "…" if first + MAX_COLUMNS < len(text) else ""
            yield f"{mark.line:>{gutter}} | {dots}{_visible(cut)}{after}".rstrip()
            shown = mark.line
        before = dots.replace("…", " ") + "".join(_space(letter) for letter in cut[: mark.start - first])
        under = cut[mark.start - first : mark.end - first]
        carets = mark.sign * max(1, sum(_width(letter) for letter in under))
        yield f"{blank} | {before}{carets} {mark.text}".rstrip()


def _space(letter: str) -> str:
    """White space as wide as a letter; a tab stays a tab."""
    return "\t" if letter == "\t" else " " * _width(letter)


def _width(letter: str) -> int:
    """Columns that a letter takes on a terminal."""
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def _visible(text: str) -> str:
    """Text without control characters, so that a file cannot steer the terminal; a tab stays."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter == "\t" or unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp") else "\ufffd"
        for letter in text
    )
