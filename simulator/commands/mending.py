"""`check --fix`: safe fixes applied to files, each file written whole, and only when that makes it better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from windtunnel.compiler import project
from windtunnel.compiler.mending import MAX_ROUNDS, helps, mended, safe_fixes
from windtunnel.compiler.pipeline import check
from windtunnel.compiler.reader import BUILTIN, FileReader, Refused
from windtunnel.dsl import Diagnostic, Severity, Source
from windtunnel.simulator.commands.console import reason, write_whole


@dataclass(frozen=True, slots=True)
class _Overlay:
    """A reader in which one file has another text."""

    under: FileReader
    name: str
    text: str

    def read(self, name: str) -> Source | Refused:
        """The source of that name."""
        found = self.under.read(name)
        return (
            Source(self.name, self.text) if isinstance(found, Source) and found.name == self.name else found
        )

    def candidates(self, workflow: str) -> tuple[str, ...]:
        """The names to try for a workflow."""
        return self.under.candidates(workflow)


@dataclass(slots=True)
class Mended:
    """What became of the files: how many fixes went in, by file, and the files whose fixes made it worse."""

    applied: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def mend_files(files: Sequence[str], allow_outside: bool) -> Mended:
    """Apply the safe fixes of each file; built-ins and imported files stay as they are.

    A file is checked again after each round; one in which no finding goes away is not taken. It is written
    once, when it has no more errors than before.
    """
    result = Mended()
    texts: dict[str, str] = {}
    for file in dict.fromkeys(files):
        if not file.startswith(BUILTIN):
            text = _raw(file)
            if text is not None:
                _mend(file, text, allow_outside, texts, result)
    for file, text in texts.items():
        write_whole(Path(file), text.encode())
    return result


def _mend(file: str, text: str, allow_outside: bool, texts: dict[str, str], result: Mended) -> None:
    under, name = project(file, allow_outside)
    before = found = check(under, name).diagnostics
    now, applied = text, 0
    for _ in range(MAX_ROUNDS):
        fixes = safe_fixes(found, name)
        if not fixes:
            break
        tried = mended(now, fixes)
        left = check(_Overlay(under, name, tried), name).diagnostics
        helped = helps(found, left, fixes)
        found = left if helped or _errors(left) > _errors(found) else found
        if not helped:
            break
        now, applied = tried, applied + len(fixes)
    if _errors(found) > _errors(before):
        result.left.append(file)
        return
    if not applied:
        return
    texts[file] = now
    result.applied[file] = applied


def _errors(diagnostics: Sequence[Diagnostic]) -> int:
    return sum(each.severity is Severity.ERROR for each in diagnostics)


def _raw(file: str) -> str | None:
    """The text as it lies on disk, line ends and all; None where it is no UTF-8."""
    try:
        return Path(file).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    except OSError as problem:
        raise click.UsageError(f"cannot read {file}: {reason(problem)}") from None
