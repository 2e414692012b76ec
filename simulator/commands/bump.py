"""`windtunnel bump FILE…`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from windtunnel.simulator.commands.console import FINDINGS, leave, reason, say, show, write_whole
from windtunnel.simulator.commands.options import outside_option

if TYPE_CHECKING:
    from windtunnel.compiler.revision import Bump, Lock, Renamed, Version
    from windtunnel.simulator.commands.loading import Found

MAX_SEARCHED: Final = 5_000
"""Flow files below the lock that are looked through for what includes the changed ones."""


@click.command(name="bump", epilog="Example: windtunnel bump flows/review.flow --renamed check=inspect")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--renamed",
    "renames",
    metavar="OLD=NEW",
    multiple=True,
    help="Declare that a node of the last workflow of FILE has another name since this revision.",
)
@click.option(
    "--keep/--no-keep",
    "keeps",
    default=True,
    help="Keep the snapshots in .windtunnel/locked, so that check --locked can say what changed since.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be raised, and write nothing.")
@outside_option
def command(
    files: tuple[str, ...], renames: tuple[str, ...], keeps: bool, dry_run: bool, allow_outside: bool
) -> None:
    """Raise the revision of every workflow that is not as locked, and write windtunnel.lock.

    That is each workflow of the FILEs and of what they import, and each one below the lock that includes one
    of them, directly or not. A workflow that is not in the lock is added with the revision it has.
    """
    from windtunnel.compiler.revision import bumps, lock_text, with_bumps
    from windtunnel.simulator.commands.locking import keep, lock_file, read, shown

    path = lock_file(files[0])
    for file in files:
        if lock_file(file) != path:
            raise click.UsageError(f"{file} is under another lock than {files[0]}; bump them one by one")
    lock, wrong, source = read(path)
    if wrong:
        _tell(wrong, {source.name: source})
    found = _versions(files, path, allow_outside)
    needed = bumps(lock, found)
    declared = _renames(renames, files[-1], found, needed)
    for bump in needed:
        _say(bump, lock)
    if not needed and not declared:
        show(f"everything is as in {shown(path)}\n")
        return
    if dry_run:
        return
    _write_sources(needed)
    now = with_bumps(lock, needed, declared)
    write_whole(path, lock_text(now).encode())
    for version in found if keeps else ():
        revision = next((b.revision for b in needed if b.version is version), version.revision)
        keep(path, version.snapshot.model_copy(update={"revision": revision}))
    show(f"wrote {shown(path)}\n")


def _say(bump: Bump, lock: Lock) -> None:
    version = bump.version
    if bump.raised_to is None:
        known = lock.highest(version.workflow)
        said = "is new" if known is None else f"goes from {known} to {version.revision}"
    else:
        said = f"goes from {version.revision} to {bump.raised_to}"
    show(f"{version.workflow} {said} ({version.place.file})\n")


# --- what is looked at --------------------------------------------------------------------------------------


def _versions(files: Sequence[str], path: Path, allow_outside: bool) -> tuple[Version, ...]:
    """The workflows of the files, of what they import, and of what includes them; errors end the command."""
    from windtunnel.simulator.commands.loading import check_files
    from windtunnel.simulator.commands.locking import shown

    found: dict[tuple[str, str], Version] = {}
    given = check_files(files, allow_outside)
    if not all(program.ok for program in given.programs):
        _tell(tuple(d for d in given.diagnostics if d.severity == "error"), given.sources)
    _add(files, given, found)
    changed = {file for file, _ in found}
    others = [shown(other) for other in _flows(path.parent) if shown(other) not in changed]
    for other in others:
        parents = check_files([other], allow_outside)
        (program,) = parents.programs
        if program.ok and {module.name for module in program.modules.order} & changed:
            _add([other], parents, found)
    return tuple(found.values())


def _add(files: Sequence[str], given: Found, found: dict[tuple[str, str], Version]) -> None:
    from windtunnel.compiler.revision import versions
    from windtunnel.simulator.commands.locking import placed
    from windtunnel.simulator.commands.naming import from_here

    for file, program in zip(files, given.programs, strict=True):
        name = from_here(file)
        for version in versions(program):
            where = name(version.place.file)
            found.setdefault((where, version.workflow), placed(version, where))


def _flows(folder: Path) -> list[Path]:
    """The flow files below a folder, without those in hidden ones, in order."""
    found = [
        file
        for file in folder.rglob("*.flow")
        if not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    if len(found) > MAX_SEARCHED:
        raise click.UsageError(
            f"more than {MAX_SEARCHED} flows lie below {folder}; put a lock nearer to them"
        )
    return sorted(found)


# --- what is written ----------------------------------------------------------------------------------------


def _renames(
    written: Sequence[str], file: str, found: Sequence[Version], needed: Sequence[Bump]
) -> tuple[Renamed, ...]:
    """The declared renames, for the last workflow of the last file."""
    from windtunnel.compiler.revision import Renamed

    if not written:
        return ()
    ours = [version for version in found if Path(version.place.file) == Path(file)]
    if not ours:
        raise click.UsageError(f"{file} holds no workflow")
    version = ours[-1]
    bump = next((each for each in needed if each.version is version), None)
    if bump is None:
        raise click.UsageError(f"`{version.workflow}` is as locked, so nothing in it was renamed")
    made: list[Renamed] = []
    for each in written:
        old, sign, new = each.partition("=")
        there = version.snapshot.nodes.keys() | version.snapshot.composition.mounts.keys()
        if not sign or not old or not new:
            raise click.UsageError(f"--renamed takes OLD=NEW, not {each!r}")
        if new not in there or old in there:
            raise click.UsageError(f"`{version.workflow}` has {_wrong(old, new, new in there)}")
        made.append(Renamed(version.workflow, bump.revision, old, new))
    return tuple(made)


def _wrong(old: str, new: str, is_there: bool) -> str:
    return f"a node `{old}` still, so that was not renamed" if is_there else f"no node `{new}`"


def _write_sources(needed: Sequence[Bump]) -> None:
    """Write the raised revisions, each file once."""
    from windtunnel.compiler.mending import mended
    from windtunnel.dsl import Applicability, Edit, Fix

    by_file: dict[str, list[Fix]] = {}
    for bump in needed:
        if bump.raised_to is not None:
            edit = Edit(bump.version.edit.place, bump.version.edit.text.format(bump.raised_to))
            fix = Fix("raise the revision", (edit,), Applicability.SAFE)
            by_file.setdefault(edit.place.file, []).append(fix)
    for file, fixes in by_file.items():
        try:
            text = Path(file).read_bytes().decode("utf-8")
        except OSError as problem:
            raise click.UsageError(f"cannot read {file}: {reason(problem)}") from None
        write_whole(Path(file), mended(text, fixes).encode())


def _tell(diagnostics: Sequence[object], sources: object) -> None:
    from windtunnel.dsl import render

    for each in diagnostics:
        say(render(each, sources) + "\n")  # type: ignore[arg-type]
    leave(FINDINGS)
