"""Safe fixes put into a text: each finding's first one, never two that touch, line ends as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix
from windtunnel.dsl.source import normalise

MAX_ROUNDS: Final = 10
"""Times that a file is mended and checked again: a fix may bring to light what the mistake hid."""


def safe_fixes(diagnostics: Iterable[Diagnostic], file: str) -> tuple[Fix, ...]:
    """The safe fixes that can be applied to one file together, in the order of the findings.

    Of two that touch, the later one waits for the next round. A fix that also edits another file is left to
    the person.
    """
    chosen: list[Fix] = []
    taken: list[Edit] = []
    for diagnostic in diagnostics:
        fix = next((fix for fix in diagnostic.fixes if fix.applicability is Applicability.SAFE), None)
        if fix is None or any(edit.place.file != file for edit in fix.edits):
            continue
        if not any(_touch(edit, other) for edit in fix.edits for other in taken):
            chosen.append(fix)
            taken += fix.edits
    return tuple(chosen)


def helps(before: Iterable[Diagnostic], after: Iterable[Diagnostic], fixes: Iterable[Fix]) -> bool:
    """Whether at least one of the findings that were fixed is gone; else the fixes were none."""
    meant = set(fixes)
    fixed = Counter(_said(found) for found in before if not meant.isdisjoint(found.fixes))
    left = Counter(_said(found) for found in after)
    return any(left[said] < count for said, count in fixed.items())


def _said(found: Diagnostic) -> tuple[str, str]:
    return found.code, found.message


def _touch(a: Edit, b: Edit) -> bool:
    left, right = a.place.span, b.place.span
    return left.start <= right.end and right.start <= left.end


def mended(text: str, fixes: Iterable[Fix]) -> str:
    """The text with the edits of all fixes.

    It may have a byte order mark and any line ends; spans count in the normalised text.
    """
    edits = sorted((edit for fix in fixes for edit in fix.edits), key=lambda edit: edit.place.span.start)
    offsets = _offsets(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    parts: list[str] = []
    done = 0
    for edit in edits:
        start, end = offsets[edit.place.span.start], offsets[edit.place.span.end]
        assert start >= done, "fixes that are applied together do not touch"
        parts += [text[done:start], edit.text.replace("\n", newline)]
        done = end
    return "".join([*parts, text[done:]])


def _offsets(text: str) -> range | list[int]:
    """For each offset of the normalised text, and its end, the offset in the text."""
    if normalise(text) == text:
        return range(len(text) + 1)
    offsets: list[int] = []
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        offsets.append(at)
        at += 2 if text.startswith("\r\n", at) else 1
    return [*offsets, len(text)]
