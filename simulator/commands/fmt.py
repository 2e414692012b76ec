"""`windtunnel fmt [PATH…]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from windtunnel.dsl import Diagnostic, Source


@click.command(name="fmt", epilog="Example: windtunnel fmt --check flows")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; name the files that would change.")
@click.option("--diff", "as_diff", is_flag=True, help="Write nothing; show what would change.")
def command(paths: tuple[str, ...], only_check: bool, as_diff: bool) -> None:
    """Write .flow files in their one canonical form; a folder stands for every .flow file in it.

    Comments and meaning stay as they are. A file with errors is left alone and told. Ends with 1 when a file
    has errors, and with --check or --diff also when a file would change.
    """
    from windtunnel.dsl import format_parsed, parse
    from windtunnel.simulator.commands.console import FINDINGS, leave, say, show, write_whole

    changed = broken = 0
    for file in _files(paths):
        source = _read(file)
        parsed = parse(source)
        errors = [each for each in parsed.diagnostics if each.severity == "error"]
        if errors:
            broken += 1
            _tell(errors, source)
            continue
        text = format_parsed(parsed)
        if text == file.read_bytes().decode("utf-8"):
            continue
        changed += 1
        if as_diff:
            show(_difference(file, source.text, text))
        elif only_check:
            say(f"{file.as_posix()} would change")
        else:
            write_whole(file, text.encode("utf-8"))
            say(f"{file.as_posix()} written")
    if broken:
        say(f"{broken} file{'' if broken == 1 else 's'} with errors left as before")
    if broken or (changed and (only_check or as_diff)):
        leave(FINDINGS)


def _files(paths: Sequence[str]) -> Iterator[Path]:
    """Each file once, folders opened in the order of their names. Raises click's UsageError."""
    from windtunnel.simulator.commands.naming import readable

    seen: set[Path] = set()
    for path in paths:
        if path and Path(path).is_dir():
            found = sorted(Path(path).rglob("*.flow"))
        else:
            readable(path)
            if path.startswith("builtin:"):
                raise click.UsageError(f"{path} is no file of yours; name the path of a .flow file")
            found = [Path(path)]
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


def _read(file: Path) -> Source:
    """The text of a file. Raises click's UsageError for one that is too large or no UTF-8."""
    from windtunnel.dsl import Source, read_source
    from windtunnel.dsl.source import MAX_FILE

    with file.open("rb") as opened:
        source = read_source(file.as_posix(), opened.read(MAX_FILE + 1))
    if isinstance(source, Source):
        return source
    raise click.UsageError(source.message)


def _tell(errors: Sequence[Diagnostic], source: Source) -> None:
    """What stops a file from being formatted."""
    from windtunnel.dsl import render
    from windtunnel.simulator.commands.console import say

    for error in errors:
        say(render(error, {source.name: source}) + "\n")


def _difference(file: Path, before: str, after: str) -> str:
    """The change as a unified diff."""
    import difflib

    name = file.as_posix()
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, f"{name} (formatted)"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
