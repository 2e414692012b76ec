"""`windtunnel graph FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from windtunnel.compiler.drawing import FORMATS
from windtunnel.simulator.commands.console import reason, show, write_whole
from windtunnel.simulator.commands.options import outside_option

if TYPE_CHECKING:
    from windtunnel.compiler.drawing.marking import Course
    from windtunnel.compiler.snapshot import Snapshot


@click.command(name="graph", epilog="Example: windtunnel graph builtin:autoplan -o autoplan.svg")
@click.argument("file", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write to this file, in the format of its ending, instead of standard output.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="The format; txt where nothing tells it.")
@click.option(
    "--expand",
    default="1",
    show_default=True,
    metavar="N|all",
    help="Levels of workflows to show: 1 folds every include, 2 opens those of FILE, all opens every one.",
)
@click.option("--theme", type=click.Choice(("light", "dark")), default="light", show_default=True)
@click.option(
    "--engine",
    type=click.Choice(("pure", "dot")),
    default="pure",
    show_default=True,
    help="pure: needs nothing installed; dot: the program of Graphviz.",
)
@click.option("--ascii", "plain", is_flag=True, help="Draw txt with nothing but ASCII.")
@click.option("--diff", "old", metavar="FILE", help="Mark what changed since this flow or snapshot.")
@click.option(
    "--coverage",
    "report",
    metavar="JSON",
    type=click.Path(path_type=Path),
    help="Mark what an exploration took.",
)
@click.option(
    "--run",
    "stored",
    nargs=2,
    metavar="DB RUN",
    help="Mark the path that a run of this store took; FILE may be left out.",
)
@outside_option
def command(
    file: str | None,
    output: Path | None,
    form: str | None,
    expand: str,
    theme: str,
    engine: str,
    plain: bool,
    old: str | None,
    report: Path | None,
    stored: tuple[str, str] | None,
    allow_outside: bool,
) -> None:
    """Draw a workflow: nodes, edges, exits, and what is included.

    Without -o and --format it is drawn for the terminal. FILE and the one of --diff may be snapshots that
    `windtunnel compile` wrote; --coverage takes what `windtunnel explore --json` printed. --run draws what
    was run, however FILE looks by now.
    """
    from windtunnel.simulator.commands.loading import load_snapshot

    wanted = _format(output, form)
    options: dict[str, Any] = {"expand": _levels(expand), "theme": theme, "engine": engine, "ascii": plain}
    if sum(mark is not None for mark in (old, report, stored)) > 1:
        raise click.UsageError(
            "--diff, --coverage and --run mark different things; draw one picture for each"
        )
    if stored is not None:
        snapshot, options["course"] = _of_run(*stored)
        if file is not None and load_snapshot(file, allow_outside).digest != snapshot.digest:
            raise click.UsageError(
                f"{stored[1]} ran another version of {snapshot.workflow} than {file} is; leave {file} out"
            )
    elif file is None:
        raise click.UsageError("say which FILE to draw, or which run of a store with --run")
    else:
        snapshot = load_snapshot(file, allow_outside)
    if old is not None:
        options["against"] = load_snapshot(old, allow_outside)
    if report is not None:
        options["taken"] = _taken(snapshot, report)
    if wanted == "html" and file is not None:
        from windtunnel.simulator.commands.pinning import pinned

        options["remarks"] = pinned(file, snapshot, allow_outside)
    picture = _drawn(snapshot, wanted, options)
    data = picture if isinstance(picture, bytes) else picture.encode()
    if output is not None:
        write_whole(output, data)
    elif isinstance(picture, bytes):
        raise click.UsageError("this format is not text; say where to write it with -o")
    else:
        show(picture)


def _drawn(snapshot: Snapshot, form: str, options: dict[str, Any]) -> str | bytes:
    """Draw; what cannot be drawn as asked is wrong usage."""
    from windtunnel.compiler import draw
    from windtunnel.compiler.drawing.picture import DrawingError

    try:
        drawn: Any = draw(snapshot, form, **options)  # type: ignore[arg-type]
    except DrawingError as problem:
        raise click.UsageError(str(problem)) from None
    assert isinstance(drawn, str | bytes), "a picture is text or bytes"
    return drawn


def _of_run(name: str, run: str) -> tuple[Snapshot, Course]:
    """What a run of a store ran, and how far it came; its whole path, also through runs that continue it."""
    from windtunnel.simulator.commands.stored import opened
    from windtunnel.simulator.durable.driving import snapshot_of
    from windtunnel.simulator.durable.lines import written
    from windtunnel.simulator.report.course import course_of

    with opened(name) as place:
        record = place.store.run(run)
        trace = written(record.run, place.store.trace(record.run))
        return snapshot_of(place.store, record), course_of(trace, record.run)


def _taken(snapshot: Snapshot, report: Path) -> frozenset[str]:
    """The arrows that a report of an exploration covers. Raises click's UsageError for another file."""
    import json

    from windtunnel.compiler.drawing.marking import taken_of_report

    try:
        found = json.loads(report.read_text("utf-8"))
        digest, taken = found["digest"], taken_of_report(snapshot, found)
    except OSError as problem:
        raise click.UsageError(f"cannot read {report}: {reason(problem)}") from None
    except (ValueError, LookupError, TypeError):
        raise click.UsageError(f"{report} is not what `windtunnel explore --json` prints") from None
    if digest != snapshot.digest:
        raise click.UsageError(f"{report} tells of another version of {snapshot.workflow}; explore it again")
    return taken


def _format(output: Path | None, form: str | None) -> str:
    """The format that was asked for, by name or by the ending of the file."""
    if form is not None:
        return form
    if output is None:
        return "txt"
    ending = output.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        listed = ", ".join(f".{name}" for name in FORMATS)
        raise click.UsageError(
            f"cannot tell the format of {output}: end its name in {listed}, or give --format"
        )
    return ending


def _levels(expand: str) -> int | str:
    if expand == "all":
        return "all"
    if expand.isdecimal() and len(expand) < 4 and int(expand) >= 1:
        return int(expand)
    raise click.UsageError("--expand is a number from 1, or all")
