"""Files to snapshots; what is wrong with them is told on the way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from windtunnel.compiler import check_file, compile_file
from windtunnel.compiler.pipeline import Checked
from windtunnel.dsl import Diagnostic, Severity, Source, render
from windtunnel.dsl.syntax import Span
from windtunnel.simulator.commands.console import FINDINGS, leave, say
from windtunnel.simulator.commands.naming import from_here, readable, renamed
from windtunnel.simulator.report.findings import tally

if TYPE_CHECKING:
    from windtunnel.compiler.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that is wrong with some files, under the names to show, and the texts to draw it with.

    `programs` holds what was checked, in the order of the files, under the names of each one's project.
    """

    diagnostics: tuple[Diagnostic, ...]
    sources: dict[str, Source]
    programs: tuple[Checked, ...] = ()


def check_files(files: Sequence[str], allow_outside: bool) -> Found:
    """Check each file; what several of them import is reported once.

    Raises click's UsageError for a file that cannot be opened.
    """
    for file in files:
        readable(file)
    diagnostics: dict[Diagnostic, None] = {}
    sources: dict[str, Source] = {}
    programs: list[Checked] = []
    for file in files:
        programs.append(check_file(file, allow_outside=allow_outside))
        found = named(file, programs[-1])
        diagnostics.update(dict.fromkeys(found.diagnostics))
        sources.update(found.sources)
    return Found(tuple(diagnostics), sources, tuple(programs))


def declared(
    files: Sequence[str], programs: Sequence[Checked]
) -> dict[str, list[tuple[Span, dict[str, Span]]]]:
    """By file: the span of each workflow, and where its nodes are declared."""
    found: dict[str, list[tuple[Span, dict[str, Span]]]] = {}
    for file, checked in zip(files, programs, strict=True):
        name = from_here(file)
        for scope in checked.program.scopes.values():
            nodes = {node.name: node.tree.name.span for node in scope.nodes}
            found.setdefault(name(scope.id.module), []).append((scope.workflow.span, nodes))
    return found


def load_snapshot(file: str, allow_outside: bool = False) -> Snapshot:
    """The snapshot of a file's workflow, or the one that a `.json` file holds.

    `FILE#name` names one workflow of a file that declares several.

    Errors are told; with one the command ends. Warnings are counted. Raises click's UsageError for a file
    that cannot be opened and for a snapshot that cannot be used.
    """
    file, workflow = one_of(file)
    readable(file)
    if file.endswith(".json"):
        return _stored(file)
    compiled = compile_file(file, workflow=workflow, allow_outside=allow_outside)
    found = named(file, compiled.checked, compiled.diagnostics)
    tell_findings(file, found, broken=compiled.snapshot is None)
    if compiled.snapshot is None:
        if not any(each.severity is Severity.ERROR for each in found.diagnostics):
            raise click.UsageError(f"{file} holds no workflow")
        say(tally(found.diagnostics, 1))
        leave(FINDINGS)
    return compiled.snapshot


def tell_findings(file: str, found: Found, *, broken: bool) -> None:
    """What a command says of the findings of a file that it is to use, the same for each of them.

    Where the file is broken, all but the hints in full. Else one line that counts the warnings: `check` is
    the command to see them with, and they should not hide what was asked for.
    """
    from windtunnel.simulator.commands.severities import configured, weighed

    told = [each for each in weighed(found.diagnostics, configured()) if each.severity is not Severity.HINT]
    if broken:
        for diagnostic in told:
            say(render(diagnostic, found.sources) + "\n")
    elif told:
        say(f"{tally(told, 1).partition(' in ')[0]} in {file}: see `windtunnel check {file}`")


def one_of(file: str) -> tuple[str, str | None]:
    """A file and the name of one of its workflows, when it is written `FILE#name` and is no file as it is."""
    if "#" not in file or os.path.exists(file):
        return file, None
    path, _, name = file.rpartition("#")
    return path, name


def _stored(file: str) -> Snapshot:
    """The snapshot in a file that `compile` wrote."""
    from pathlib import Path

    from windtunnel.compiler import load_snapshot as read
    from windtunnel.compiler.snapshot import Snapshot

    snapshot = read(Path(file).read_bytes())
    if isinstance(snapshot, Snapshot):
        return snapshot
    raise click.UsageError(f"{file} is no snapshot that can be used: {snapshot}")


def named(file: str, checked: Checked, diagnostics: tuple[Diagnostic, ...] | None = None) -> Found:
    """The findings under the names that the person at the terminal would write."""
    name = from_here(file)
    wanted = checked.diagnostics if diagnostics is None else diagnostics
    sources = {name(file): source for file, source in checked.modules.sources.items()}
    return Found(tuple(renamed(each, name) for each in wanted), sources)
