"""The page of a code: what it means, why it matters, a failing and a mended example.

The examples are files of the package and are checked by the tests: the failing one has the finding, the
mended one has not. A code of band 10 is about two versions: its examples hold `before.flow` beside
`main.flow`, or a lock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from windtunnel.compiler.changes import Change
from windtunnel.compiler.compatibility import compare
from windtunnel.compiler.pipeline import check, compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.revision import LOCK_NAME, Lock, check_lock, read_lock, renames_between, versions
from windtunnel.dsl.codes import CODES
from windtunnel.dsl.diagnostics import Diagnostic, Severity
from windtunnel.dsl.snippets import render
from windtunnel.dsl.source import Source

MAIN: Final = "main.flow"
BEFORE: Final = "before.flow"
WIDTH: Final = 100
"""Columns of running text."""
_SECTION: Final = re.compile(r"^# === (\S+)\n", re.MULTILINE)

Texts = Mapping[str, str]
"""The files of an example by name."""


@dataclass(frozen=True, slots=True)
class Page:
    """What there is to say about a code; no examples where no file of readable size has the finding."""

    code: str
    title: str
    severity: Severity
    meaning: str
    reason: str
    failing: Texts | None
    mended: Texts | None


@dataclass(frozen=True, slots=True)
class Shown:
    """What an example shows: findings with the sources to draw them, or changes since `before.flow`."""

    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    changes: tuple[Change, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes, in order."""
        return (*(each.code for each in self.diagnostics), *(each.code for each in self.changes))


def page(code: str) -> Page | None:
    """The page of a code of the table; None for another word."""
    if code not in CODES:
        return None
    title, severity = CODES[code]
    text = _text(f"{code}.txt")
    assert text is not None, f"{code} has no page"
    meaning, _, reason = text.strip().partition("\n\n")
    failing, mended = (_text(f"{code}.{kind}.flow") for kind in ("fail", "ok"))
    return Page(
        code,
        title,
        severity,
        meaning,
        reason,
        None if failing is None else texts_of(failing),
        None if mended is None else texts_of(mended),
    )


def texts_of(case: str) -> dict[str, str]:
    """The files of an example by name; what stands before the first `# === name` is `main.flow`."""
    first, *rest = _SECTION.split(case)
    return {MAIN: first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def shown(texts: Texts) -> Shown:
    """Check an example, or compare its two versions, or hold it against its lock."""
    reader = MemoryReader(dict(texts))
    checked = check(reader, MAIN)
    sources = checked.modules.sources
    found = checked.diagnostics
    lock = Lock()
    wrong: tuple[Diagnostic, ...] = ()
    if LOCK_NAME in texts:
        source = Source(LOCK_NAME, texts[LOCK_NAME])
        sources[LOCK_NAME] = source
        lock, wrong = read_lock(source)
    if BEFORE in texts:
        old, new = (compile_workflow(reader, name).snapshot for name in (BEFORE, MAIN))
        assert old is not None, "an example compiles before"
        assert new is not None, "an example compiles now"
        return Shown(wrong, sources, compare(old, new, renames_between(lock, old, new)))
    if LOCK_NAME in texts and checked.ok:
        found = (*found, *(wrong or check_lock(lock, versions(checked), {})))
    return Shown(found, sources)


def page_text(page: Page) -> str:
    """The page as plain text, with a newline at the end."""
    parts = [f"{page.code}: {page.title} ({page.severity})"]
    parts += [_filled(part) for part in f"{page.meaning}\n\n{page.reason}".split("\n\n") if part]
    if page.failing is not None and page.mended is not None:
        if BEFORE in page.failing:
            parts.append("Between two versions:\n\n" + _indented(_since(page.failing)))
            parts.append("What is said:\n\n" + _indented(_said(page)))
            parts.append("Without it:\n\n" + _indented(_since(page.mended)))
        else:
            parts.append("With it:\n\n" + _indented(_example(page.failing)))
            parts.append("What is said:\n\n" + _indented(_said(page)))
            parts.append("Mended:\n\n" + _indented(_difference(page.failing, page.mended)))
    return "\n\n".join(parts) + "\n"


def _said(page: Page) -> str:
    assert page.failing is not None, "there is an example"
    seen = shown(page.failing)
    drawn = [render(each, seen.sources) for each in seen.diagnostics if each.code == page.code]
    for change in seen.changes:
        if change.code == page.code:
            drawn.append(f"{change.rank}[{change.code}]: {change.message}")
            drawn += [f"  {sign} {side}" for sign, side in (("-", change.before), ("+", change.now)) if side]
    return "\n".join(drawn)


def _example(texts: Texts) -> str:
    """All files of an example."""
    if len(texts) == 1:
        return texts[MAIN].rstrip()
    return "\n\n".join(f"--- {name}\n{texts[name].rstrip()}" for name in texts)


def _since(texts: Texts) -> str:
    """What `main.flow` has otherwise than `before.flow`."""
    return "\n".join(_changed_lines(texts[BEFORE], texts[MAIN]))


def _difference(failing: Texts, mended: Texts) -> str:
    """The lines that the mended example has otherwise."""
    parts: list[str] = []
    for name in dict.fromkeys((*failing, *mended)):
        lines = _changed_lines(failing.get(name, ""), mended.get(name, ""))
        if lines:
            parts += lines if len(failing) == 1 else [f"--- {name}", *lines]
    return "\n".join(parts)


def _changed_lines(before: str, now: str) -> list[str]:
    """A unified difference with one line around each change."""
    from difflib import unified_diff

    lines = unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=1)
    return ["…" if line.startswith("@@") else line for line in list(lines)[2:]]


def _filled(text: str) -> str:
    from textwrap import fill

    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _indented(text: str) -> str:
    shown = "".join(letter if letter == "\n" or letter.isprintable() else "\ufffd" for letter in text)
    return "\n".join(f"  {line}".rstrip() for line in shown.split("\n"))


def _text(name: str) -> str | None:
    file = files("windtunnel.compiler.pages").joinpath(name)
    return file.read_text(encoding="utf-8") if file.is_file() else None
