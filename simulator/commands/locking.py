"""The lock of a project on disk, and the snapshots of locked revisions that were kept beside it.

The nearest `windtunnel.lock` counts: beside the file, or in a folder above it up to the project's. `bump`
keeps the snapshot of each revision in `.windtunnel/locked/`, so that `check --locked` can say what changed
since.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from windtunnel.compiler import load_snapshot, snapshot_text
from windtunnel.compiler.compatibility import compare, said_once
from windtunnel.compiler.reader import BUILTIN
from windtunnel.compiler.revision import (
    LOCK_NAME,
    Lock,
    Version,
    check_lock,
    read_lock,
    renames_between,
    versions,
)
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl import Diagnostic, Edit, Place, Source, read_source
from windtunnel.simulator.commands.console import reason, write_whole
from windtunnel.simulator.commands.loading import Found
from windtunnel.simulator.commands.naming import from_here

KEPT: Final = Path(".windtunnel", "locked")
MAX_NOTES: Final = 8
"""Changes that a finding about the lock lists; `windtunnel diff` lists all."""


def lock_file(file: str) -> Path:
    """Where the lock of a file is, or where it would be written: in the folder of its project."""
    here = Path.cwd().resolve()
    folder = (here / file).resolve().parent
    project = here if folder.is_relative_to(here) else folder
    for each in (folder, *folder.parents):
        if (each / LOCK_NAME).is_file() or each == project:
            return each / LOCK_NAME
    return project / LOCK_NAME


def read(path: Path) -> tuple[Lock, tuple[Diagnostic, ...], Source]:
    """A lock, what is wrong with it, and its text. One that does not exist is empty."""
    name = shown(path)
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as problem:
        raise click.UsageError(f"cannot read {name}: {reason(problem)}") from None
    source = read_source(name, data)
    if isinstance(source, Diagnostic):
        return Lock(), (source,), Source(name, "")
    return *read_lock(source), source


def shown(path: Path) -> str:
    """A path as the person at the terminal writes it."""
    here = Path.cwd().resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def held_against_lock(files: Iterable[str], found: Found) -> Found:
    """What `check --locked` adds: every workflow that is not as locked. Files with errors have no digest."""
    diagnostics = dict.fromkeys(found.diagnostics)
    sources = dict(found.sources)
    by_lock: dict[Path, dict[tuple[str, str], Version]] = {}
    for file, program in zip(files, found.programs, strict=True):
        if program.ok and not file.startswith(BUILTIN):
            name = from_here(file)
            for version in versions(program):
                where = name(version.place.file)
                known = by_lock.setdefault(lock_file(where), {})
                known.setdefault((where, version.workflow), placed(version, where))
    for path, known in by_lock.items():
        lock, wrong, source = read(path)
        sources[source.name] = source
        found_here = known.values()
        notes = {version.digest: what_changed(path, lock, version) for version in found_here}
        findings = wrong or check_lock(lock, found_here, notes, source.name)
        diagnostics.update(dict.fromkeys(findings))
    return Found(tuple(diagnostics), sources, found.programs)


def placed(version: Version, file: str) -> Version:
    """The version with its places under another name of the file."""
    place = Place(file, version.place.span)
    return replace(version, place=place, edit=Edit(Place(file, version.edit.place.span), version.edit.text))


def what_changed(path: Path, lock: Lock, version: Version) -> tuple[str, ...]:
    """What a workflow has otherwise than its locked revision; nothing where no snapshot of that was kept."""
    if lock.digest(version.workflow, version.revision) in (None, version.digest):
        return ()
    old = kept(path, version.workflow, version.revision)
    if old is None or old.digest != lock.digest(version.workflow, version.revision):
        return ()
    new = version.snapshot
    groups = said_once(compare(old, new, renames_between(lock, old, new)), old, new)
    lines = [f"{group.change.code} {group.change.rank}: {group.words}" for group in groups]
    more = len(lines) - MAX_NOTES
    return (*lines[:MAX_NOTES], *([f"and {more} more changes"] if more > 0 else []))


def keep(path: Path, snapshot: Snapshot) -> None:
    """Keep the snapshot of a locked revision."""
    file = _kept_file(path, snapshot.workflow, snapshot.revision)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, snapshot_text(snapshot).encode())


def kept(path: Path, workflow: str, revision: int) -> Snapshot | None:
    """The snapshot of a locked revision, if it was kept and can be used."""
    file = _kept_file(path, workflow, revision)
    try:
        snapshot = load_snapshot(file.read_bytes())
    except OSError:
        return None
    return snapshot if isinstance(snapshot, Snapshot) else None


def _kept_file(path: Path, workflow: str, revision: int) -> Path:
    return path.parent / KEPT / f"{workflow}@{revision}.json"
