"""`windtunnel crashpoints FILE`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.options import hosting_options, input_option, outside_option


@click.command(name="crashpoints", epilog="Example: windtunnel crashpoints builtin:autoplan")
@click.argument("file")
@hosting_options
@input_option
@click.option("--json", "as_json", is_flag=True, help="Print every point as JSON.")
@outside_option
def command(
    file: str,
    host: str,
    origin: bool,
    second_host: bool,
    also: tuple[str, ...],
    given: str | None,
    as_json: bool,
    allow_outside: bool,
) -> None:
    """List every point at which a process can die; kill it there, start it again, and go on to an end.

    A point lies before and after every commit, between any two events, and inside every append of several
    parts. Ends with 1 when a point is not survived.
    """
    import json

    from windtunnel.simulator.commands.console import FINDINGS, leave, show
    from windtunnel.simulator.commands.input import run_input
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.operations import crashpoints
    from windtunnel.simulator.report.summary import crash_points

    snapshot = load_snapshot(file, allow_outside)
    with refusals():
        found = crashpoints(
            snapshot,
            input=run_input(snapshot, given),
            reference=file,
            host=host,
            origin=origin,
            second_host=second_host,
            also=also,
        )
    report = found.to_json()
    show(json.dumps(report, indent=2, ensure_ascii=False) + "\n" if as_json else crash_points(report))
    if found.violations or not found.total == found.fired == found.recovered:
        leave(FINDINGS)
