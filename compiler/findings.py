"""Where a pass puts what it finds: diagnostics of one file, in the order they were found."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple, TypedDict

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Label, Place, Severity
from windtunnel.dsl.source import Source
from windtunnel.dsl.spelling import nearest, suggestion
from windtunnel.dsl.syntax import Name, Span

MAX_COMPARISONS: Final = 20_000
"""Most names that are compared in search of near ones, for all findings of a file together."""
MAX_ALSO: Final = 3
"""Most other places that are shown of a name that is wrong in several."""


class Mend(TypedDict):
    """The part of a finding that says how to mend it."""

    help: str | None
    fixes: tuple[Fix, ...]


class Elsewhere(NamedTuple):
    """A text that stands in a file of its own: spans from `base` on lie in it, `base` being its beginning."""

    base: int
    source: Source
    clause: Span


class Findings:
    """Collects diagnostics for one file; several files may share one `sink`.

    `elsewhere` holds the texts that were put in from other files, by where their spans begin.
    """

    def __init__(
        self, file: str, sink: list[Diagnostic] | None = None, elsewhere: Sequence[Elsewhere] = ()
    ) -> None:
        self.file = file
        self.elsewhere = elsewhere
        self.sink: list[Diagnostic] = [] if sink is None else sink
        self.maybe: frozenset[str] = frozenset()
        """Words that stand where the parser skipped text: what seems unknown may have been declared there."""
        self._comparisons = MAX_COMPARISONS
        self._seen: set[tuple[str, Span]] = set()
        self._names: dict[tuple[str, str], int] = {}
        self.is_muted = False

    def add(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        secondary: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
        help: str | None = None,
        fixes: Iterable[Fix] = (),
        severity: Severity | None = None,
    ) -> None:
        """Report one finding at `span`, once; secondary spans lie in the same file."""
        if self.is_muted or (code, span) in self._seen:
            return
        self._seen.add((code, span))
        self.sink.append(
            report(
                code,
                message,
                self.place(span),
                label=label,
                secondary=tuple(Label(self.place(where), text) for where, text in secondary),
                notes=notes,
                help=help,
                fixes=fixes,
                severity=severity,
            )
        )

    def add_name(self, code: str, message: str, name: Name, mend: Mend) -> None:
        """Report a wrong name where it stands first; that finding and its fix cover the other places too."""
        if self.is_muted or (code, name.span) in self._seen:
            return
        told = self._names.get((code, message))
        if told is None:
            self._names[code, message] = len(self.sink)
            self.add(code, message, name.span, **mend)
            return
        self._seen.add((code, name.span))
        first = self.sink[told]
        secondary = first.secondary
        if len(secondary) < MAX_ALSO:
            secondary = (*secondary, Label(self.place(name.span), "and here"))
        fixes = first.fixes
        if [fix.title for fix in fixes] == [fix.title for fix in mend["fixes"]]:
            both = zip(fixes, mend["fixes"], strict=True)
            fixes = tuple(replace(fix, edits=(*fix.edits, *other.edits)) for fix, other in both)
        self.sink[told] = replace(first, secondary=secondary, fixes=fixes)

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Report nothing for a while: what is found is not final."""
        before = self.is_muted
        self.is_muted = True
        yield
        self.is_muted = before

    def place(self, span: Span) -> Place:
        """The span in this file, or in the file that its text was put in from."""
        if self.elsewhere and span.start >= self.elsewhere[0].base:
            other = self.elsewhere[bisect_right(self.elsewhere, span.start, key=lambda text: text.base) - 1]
            return Place(other.source.name, Span(span.start - other.base, span.end - other.base))
        return Place(self.file, span)

    def replacing(self, title: str, span: Span, text: str, *, safe: bool = False) -> Fix:
        """A fix that puts `text` where `span` is; an empty span inserts."""
        mend = Applicability.SAFE if safe else Applicability.MAYBE
        return Fix(title, (Edit(self.place(span), text),), mend)

    def without(self, title: str, text: str, span: Span) -> tuple[Fix, ...]:
        """A safe fix that takes out the lines of `span`, where nothing else of `text` stands on them."""
        fix = removal(title, self.file, text, span)
        return () if fix is None else (fix,)

    def near(self, name: str, candidates: Iterable[str]) -> tuple[str, ...]:
        """The near names, while this file has comparisons left; of many unknown names the last get none."""
        names = list(candidates)
        if len(names) > self._comparisons:
            return ()
        self._comparisons -= len(names)
        return nearest(name, names)

    def near_text(self, span: Span, wrong: str, known: Iterable[str]) -> Mend:
        """At most three near texts in the help; a fix for a single one, which a person looks at."""
        near = self.near(wrong, known)
        fixes: tuple[Fix, ...] = ()
        if len(near) == 1:
            written = json.dumps(near[0], ensure_ascii=False)
            fixes = (self.replacing(f"write {written}", span, written),)
        return Mend(help=suggestion(tuple(f'"{name}"' for name in near)), fixes=fixes)

    def did_you_mean(self, wrong: Name, candidates: Iterable[str]) -> Mend:
        """At most three near names in the help; a fix for a single one, safe when only case differs."""
        near = self.near(wrong.text, candidates)
        if len(near) != 1:
            return Mend(help=suggestion(near), fixes=())
        safe = near[0].lower() == wrong.text.lower()
        fix = self.replacing(f"write `{near[0]}`", wrong.span, near[0], safe=safe)
        return Mend(help=suggestion(near), fixes=(fix,))


def removal(title: str, file: str, text: str, span: Span) -> Fix | None:
    """A safe fix that takes whole lines out of a file; None where something else stands on them."""
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end + 1
    if text[start : span.start].strip() or text[span.end : end].strip():
        return None
    return Fix(title, (Edit(Place(file, Span(start, end)), ""),), Applicability.SAFE)
