"""Exit codes, messages on standard error, and files that are written whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Final, NoReturn

import click

CLEAN: Final = 0
FINDINGS: Final = 1
USAGE: Final = 2
OUR_BUG: Final = 3
STOPPED: Final = 130


class Finished(Exception):
    """The command is done and leaves with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise Finished(code)


def say(message: str) -> None:
    """A message for the person, beside the result."""
    click.echo(message, err=True)


def show(text: str) -> None:
    """A part of the result, as it is."""
    sys.stdout.write(text)


def is_terminal() -> bool:
    """Whether a person watches standard error, where progress is shown."""
    return sys.stderr.isatty()


def wants_colour() -> bool:
    """Whether the result goes to a terminal that has not asked for plain text."""
    told = os.environ  # noqa: TID251
    return sys.stdout.isatty() and not told.get("NO_COLOR") and told.get("TERM") != "dumb"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never a part.

    Raises click's UsageError when the place cannot be written to.
    """
    if path.is_dir():
        raise click.UsageError(f"cannot write {path}: it is a folder")
    # A link keeps pointing where it points; its target is replaced.
    target = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as problem:
        raise click.UsageError(f"cannot write {path}: {reason(problem)}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except OSError as problem:
        raise click.UsageError(f"cannot write {path}: {reason(problem)}") from None
    finally:
        if os.path.exists(name):
            os.unlink(name)


def _mode(target: Path) -> int:
    """The mode of the file that is replaced, or what a new file would get."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def reason(problem: OSError) -> str:
    """Why the system said no, in its own words."""
    return (problem.strerror or str(problem)).lower()
