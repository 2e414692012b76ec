"""Where a FILE lies: the project it belongs to, its name there, and how names there look from here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import click

from windtunnel.dsl import Diagnostic, Place
from windtunnel.simulator.commands.console import reason

BUILTIN: Final = "builtin:"
ROOT_MARKS: Final = (".git", "windtunnel.lock")
"""What stands in the top folder of a project."""


class Located(NamedTuple):
    """A FILE as the reader wants it: the folder of the project, and the name below it."""

    root: Path
    name: str


def locate(file: str) -> Located:
    """Find the project of a FILE. Raises click's UsageError for a file that cannot be read."""
    here = Path.cwd()
    if file.startswith(BUILTIN):
        return Located(here, file)
    path = Path(file)
    try:
        if path.is_dir():
            raise click.UsageError(f"cannot read {file}: it is a folder")
        with path.open("rb"):
            pass
        real = path.resolve(strict=True)
    except OSError as problem:
        raise click.UsageError(f"cannot read {file}: {reason(problem)}") from None
    except ValueError:
        raise click.UsageError(f"cannot read {file!r}: not a usable path") from None
    root = next(
        (folder for folder in real.parents if any((folder / mark).exists() for mark in ROOT_MARKS)), None
    )
    if root is None:
        root = here.resolve() if real.is_relative_to(here.resolve()) else real.parent
    return Located(root, real.relative_to(root).as_posix())


def _tops_a_project(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in ROOT_MARKS)


def from_here(root: Path) -> Callable[[str], str]:
    """How a name below `root` is written from the current folder, so that an editor can open it."""

    def name(asked: str) -> str:
        if asked.startswith(BUILTIN) or os.path.isabs(asked):
            return asked
        try:
            return Path(os.path.relpath(root / asked)).as_posix()
        except ValueError:  # Another drive.
            return (root / asked).as_posix()

    return name


def renamed(diagnostic: Diagnostic, name: Callable[[str], str]) -> Diagnostic:
    """The diagnostic with every file under another name."""

    def placed(place: Place) -> Place:
        return Place(name(place.file), place.span)

    return replace(
        diagnostic,
        primary=placed(diagnostic.primary),
        secondary=tuple(replace(label, place=placed(label.place)) for label in diagnostic.secondary),
        fixes=tuple(
            replace(fix, edits=tuple(replace(edit, place=placed(edit.place)) for edit in fix.edits))
            for fix in diagnostic.fixes
        ),
    )
