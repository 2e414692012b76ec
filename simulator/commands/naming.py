"""Names of files as the person at the terminal writes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from windtunnel.dsl import Diagnostic, Place
from windtunnel.simulator.commands.console import reason

BUILTIN: Final = "builtin:"


def readable(file: str) -> None:
    """Raise click's UsageError unless the FILE is a built-in's name or a file that can be opened."""
    if file.startswith(BUILTIN):
        return
    if not file:
        raise click.UsageError("the name of a FILE is empty")
    try:
        if Path(file).is_dir():
            raise click.UsageError(f"cannot read {file}: it is a folder")
        if Path(file).exists() and not Path(file).is_file():
            raise click.UsageError(
                f"cannot read {file}: it is a pipe or a device; write its text to a file first"
            )
        with Path(file).open("rb"):
            pass
    except OSError as problem:
        raise click.UsageError(f"cannot read {file}: {reason(problem)}") from None
    except ValueError:
        raise click.UsageError(f"cannot read {file!r}: not a usable path") from None


def from_here(file: str) -> Callable[[str], str]:
    """How a name in the project of `file` is written from the current folder, so that an editor can open it.

    The project of a file below the current folder is that folder, so names stay as they are; the project of
    any other file is the folder it lies in.
    """
    here = Path.cwd().resolve()
    if file.startswith(BUILTIN) or (here / file).resolve().is_relative_to(here):
        return lambda name: name
    folder = os.path.dirname(file)

    def name(asked: str) -> str:
        if asked.startswith(BUILTIN) or os.path.isabs(asked):
            return asked
        return Path(folder, asked).as_posix()

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
