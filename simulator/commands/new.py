"""`windtunnel new NAME`."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from windtunnel.simulator.commands.console import reason, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.resources.abc import Traversable

    from windtunnel.dsl.syntax import Span

EXAMPLES: Final = "windtunnel.examples"
ENDING: Final = ".flow"
SCENARIOS: Final = ".scenarios.flow"
DEFAULT: Final = "hello"
NAME: Final = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*\Z")
MAX_NAME: Final = 60
"""Characters of a name that is also the name of two files."""


@click.command(name="new", epilog="Example: windtunnel new refund --template charge")
@click.argument("name", required=False)
@click.option("--template", default=DEFAULT, show_default=True, metavar="EXAMPLE", help="What to begin with.")
@click.option("--list", "listing", is_flag=True, help="List the templates.")
def command(name: str | None, template: str, listing: bool) -> None:
    """Begin a workflow: NAME.flow and NAME.scenarios.flow, in this folder.

    Both are copies of an example under another name; they check clean, their scenarios pass. A file that is
    already there is never touched.
    """
    known = templates()
    if listing:
        width = max(map(len, known))
        show("".join(f"{each:{width}}  {_teaches(known[each])}\n" for each in known))
        return
    if name is None:
        raise click.UsageError("say what the workflow is called: NAME; or --list the templates")
    if template not in known:
        raise click.UsageError(f"there is no template {template!r}; there are {', '.join(known)}")
    _refuse(name)
    flow, scenarios = f"{name}{ENDING}", f"{name}{SCENARIOS}"
    made = written(known, template, name)
    if (trouble := _trouble(made, (flow, scenarios))) is not None:
        raise click.UsageError(f"{name!r} cannot be the name of this workflow: {trouble}")
    place(made)
    told = (
        f"windtunnel check {flow} {scenarios}",
        f"windtunnel graph {flow}",
        f"windtunnel test {scenarios}",
        f"windtunnel explore {flow}",
    )
    show(f"{flow}\n{scenarios}\n\nnext:\n" + "".join(f"  {line}\n" for line in told))


def templates() -> Mapping[str, tuple[Traversable, Traversable]]:
    """The examples with their scenarios by name, the default first."""
    found = {each.name: each for each in files(EXAMPLES).iterdir() if each.name.endswith(ENDING)}
    names = sorted(name.removesuffix(SCENARIOS) for name in found if name.endswith(SCENARIOS))
    names.sort(key=lambda name: name != DEFAULT)
    return {name: (found[name + ENDING], found[name + SCENARIOS]) for name in names}


def _teaches(pair: tuple[Traversable, Traversable]) -> str:
    """The first line of the comment on top."""
    lines = pair[0].read_text("utf-8").splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))


def _refuse(name: str) -> None:
    """Raise click's UsageError for what is no name, or somebody else's."""
    from windtunnel.compiler.reader import builtin_names

    if not NAME.match(name) or len(name) > MAX_NAME:
        raise click.UsageError(
            f"{name!r} is no name: letters, digits and _, with dashes between them, at most {MAX_NAME}"
            " characters; the files are written in this folder"
        )
    if name in builtin_names():
        raise click.UsageError(f"{name} is a workflow that comes with windtunnel; choose another name")


def written(known: Mapping[str, tuple[Traversable, Traversable]], template: str, name: str) -> dict[str, str]:
    """The texts of both files, by their names, with the workflow renamed where it is declared and used."""
    from windtunnel.dsl import Source, format_file, parse

    made: dict[str, str] = {}
    for each, ending in zip(known[template], (ENDING, SCENARIOS), strict=True):
        source = Source(each.name, each.read_text("utf-8"))
        file = parse(source).file
        spans = [workflow.name.span for workflow in file.workflows if workflow.name.text == template]
        spans += [one.name.span for line in file.imports for one in line.names if one.name.text == template]
        spans += [scenario.workflow.span for scenario in file.scenarios]
        text = _replaced(source.text, spans, name).replace(f'"./{template}{ENDING}"', f'"./{name}{ENDING}"')
        made[name + ending] = format_file(Source(name + ending, text)) or text
    return made


def _replaced(text: str, spans: Iterable[Span], name: str) -> str:
    for span in sorted(spans, key=lambda span: span.start, reverse=True):
        text = text[: span.start] + name + text[span.end :]
    return text


def _trouble(made: Mapping[str, str], names: tuple[str, str]) -> str | None:
    """What is wrong with files before they are written; with the examples' own text only a name can be."""
    from windtunnel.compiler.pipeline import check
    from windtunnel.compiler.reader import MemoryReader

    found = [one for name in names for one in check(MemoryReader(dict(made)), name).diagnostics]
    return found[0].message if found else None


def place(made: Mapping[str, str]) -> None:
    """Write all files or none, and none over another. Raises click's UsageError."""
    there = [name for name in made if os.path.lexists(name)]
    if there:
        raise click.UsageError(f"{' and '.join(there)} {'are' if there[1:] else 'is'} already there")
    done: list[str] = []
    try:
        for name, text in made.items():
            _create(name, text.encode())
            done.append(name)
    except BaseException as problem:
        for each in done:
            os.unlink(each)
        if not isinstance(problem, OSError):
            raise
        raise click.UsageError(f"cannot write {name}: {reason(problem)}") from None


def _create(name: str, data: bytes) -> None:
    """A new file that is there whole or not at all. Raises OSError, also where one is there."""
    draft = Path(f".{name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        # A link is made in one step and never over another file.
        os.link(draft, name)
    finally:
        draft.unlink(missing_ok=True)
