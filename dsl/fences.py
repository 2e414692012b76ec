"""Code that was pasted with the Markdown around it: what stands outside of the fences is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span

_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^`\n]*$", re.MULTILINE)
_ITEM: Final = re.compile(r"^[ \t]*(?:language|import|type|template|workflow|scenario)\b", re.MULTILINE)


def meets_fence(source: Source, found: Iterable[Diagnostic]) -> bool:
    """Whether one of these findings is about a fence."""
    starts = (each.primary.span.start for each in found)
    return any(source.text.startswith(("```", "~~~"), start) for start in starts)


def unfenced(source: Source) -> tuple[Source, Diagnostic] | None:
    """The file with blanks for all that stands outside of its first fences, and a finding that says so.

    None when nothing inside looks like code. A single fence behind the code ends it.
    """
    text = source.text
    fences = list(_FENCE.finditer(text))
    if not fences:
        return None
    first = fences[0]
    start, end = first.end(), fences[1].start() if len(fences) > 1 else len(text)
    if _ITEM.search(text, 0, first.start()):
        start, end = 0, first.start()
    if not _ITEM.search(text, start, end):
        return None
    outside = [Span(0, start), Span(end, len(text))]
    edits = tuple(Edit(Place(source.name, span), "") for span in outside if span.start < span.end)
    finding = report(
        "WT0005",
        "a file holds the code alone; the fences and what stands around them belong to Markdown",
        Place(source.name, Span(first.start(), first.end())),
        fixes=[Fix("remove what is no code", edits, Applicability.MAYBE)],
    )
    blank = re.compile(r"[^\n]")
    code = f"{blank.sub(' ', text[:start])}{text[start:end]}{blank.sub(' ', text[end:])}"
    return Source(source.name, code), finding
