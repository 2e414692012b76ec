"""`windtunnel torture FILE`."""

from __future__ import annotations

import time  # noqa: TID251
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from windtunnel.simulator.commands.console import is_terminal
from windtunnel.simulator.commands.options import input_option, outside_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from windtunnel.simulator.durable.mirroring import Mirrored
    from windtunnel.simulator.durable.torture import Tortured
    from windtunnel.simulator.search.exploration import Setup


@click.command(name="torture", epilog="Example: windtunnel torture builtin:autoplan")
@click.argument("file")
@click.option(
    "--faults",
    type=click.IntRange(0, 3),
    metavar="N",
    default=1,
    show_default="1",
    help="Faults of the graph over which model and SQLite are compared.",
)
@click.option("--every", type=click.IntRange(1), metavar="N", default=1, help="Take each Nth point only.")
@click.option(
    "--depth",
    type=click.IntRange(1, 10_000),
    metavar="N",
    default=1_000,
    show_default="1000",
    help="Crash among the first N transitions of a run.",
)
@click.option("--race", is_flag=True, help="Start two processes after each crash; one of them must win.")
@click.option(
    "--workers", type=click.IntRange(1, 64), metavar="N", help="Points at a time; one for each core."
)
@input_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@outside_option
def command(
    file: str,
    faults: int,
    every: int,
    depth: int,
    race: bool,
    workers: int | None,
    given: str | None,
    as_json: bool,
    allow_outside: bool,
) -> None:
    """Kill real processes on a real store, at every point at which `crashpoints` crashes simulated ones.

    For each point a process runs the workflow on SQLite with a session log in a file, kills itself exactly
    there, and is started again. It must end in the very trace, state and log that the simulated crash ends
    in, or stand there after 1,500 transitions more. Then every transaction of the explored graph is made on
    the model of the store and on SQLite, and both must say the same. Ends with 1 when anything differs.
    """
    import json
    import os

    from windtunnel.simulator.commands.console import FINDINGS, leave, show
    from windtunnel.simulator.commands.input import run_input
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.durable.driving import VISITS
    from windtunnel.simulator.durable.mirroring import mirror
    from windtunnel.simulator.durable.torture import torture
    from windtunnel.simulator.report.stored import torture_text
    from windtunnel.simulator.search.exploration import Setup

    if not hasattr(os, "fork"):
        raise click.UsageError("torture needs a system where a process can be forked")
    snapshot = load_snapshot(file, allow_outside)
    began = time.monotonic()
    with refusals():
        value = run_input(snapshot, given)
        setup = Setup(snapshot, value, reference=file, visit_cap=VISITS)
        searched = Setup(snapshot, value, reference=file)
    with _refusing_disk(), _bar("crash points") as progress:
        tortured = torture(setup, every=every, depth=depth, race=race, workers=workers, progress=progress)
    with _bar("states") as progress:
        mirrored = mirror(searched, faults=faults, progress=progress)
    report = _report(setup, tortured, mirrored, faults, time.monotonic() - began)
    show(json.dumps(report, indent=2, ensure_ascii=False) + "\n" if as_json else torture_text(report))
    if report["total"] != report["equal"] or mirrored.difference is not None:
        leave(FINDINGS)


def _report(
    setup: Setup, tortured: Tortured, mirrored: Mirrored, faults: int, seconds: float
) -> dict[str, Any]:
    return {
        "schema": "windtunnel.torture.v1",
        "workflow": setup.snapshot.workflow,
        "revision": setup.snapshot.revision,
        "digest": setup.snapshot.digest,
        "total": len(tortured.survived),
        "equal": sum(point.difference is None for point in tortured.survived),
        "different": tortured.different,
        "crashPoints": tortured.points,
        "deeperTransitions": tortured.deeper,
        "points": [point._asdict() for point in tortured.survived],
        "mirrored": {"faults": faults, **mirrored._asdict()},
        "seconds": round(seconds, 3),
    }


@contextmanager
def _refusing_disk() -> Iterator[None]:
    """Stores are made and broken in the folder for temporary files; say so where that does not work."""
    from windtunnel.simulator.commands.console import reason

    try:
        yield
    except OSError as problem:
        said = f"cannot make stores among the temporary files: {reason(problem)}"
        raise click.ClickException(f"{said}; set TMPDIR to a folder with room for them") from None


@contextmanager
def _bar(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, nothing elsewhere. No thread draws it: a process with threads is not forked."""
    if not is_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    bar = Progress(
        name,
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    )
    task = bar.add_task("", total=None)

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total, refresh=True)

    with bar:
        yield show
