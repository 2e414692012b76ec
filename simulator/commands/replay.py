"""`windtunnel replay TOKEN`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.options import outside_option, report_option


@click.command(name="replay", epilog="Example: windtunnel replay wt1.eyJjIjpb… --json")
@click.argument("token")
@click.option("--json", "as_json", is_flag=True, help="Print the trace, one JSON event a line.")
@click.option("--scenario", is_flag=True, help="Print it as a scenario, to keep as a test of the workflow.")
@report_option
@outside_option
def command(token: str, as_json: bool, scenario: bool, report: str | None, allow_outside: bool) -> None:
    """Tell again, event by event, the run that a token stands for.

    The workflow is read where the token was made, and must not have changed since. Ends with 1 when an
    invariant breaks. With --scenario it is written down as text instead, by its causes.
    """
    if scenario and (as_json or report is not None):
        raise click.UsageError("--scenario is printed alone: leave out --json and --report")
    from windtunnel.simulator.commands.console import FINDINGS, leave
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.commands.reporting import checked_name, report_token
    from windtunnel.simulator.commands.telling import tell
    from windtunnel.simulator.operations import replay

    checked_name(report)
    if scenario:
        _write_down(token, allow_outside)
        return
    with refusals():
        run = replay(token, lambda file: load_snapshot(file, allow_outside))
    tell(run, as_json=as_json)
    if report is not None:
        report_token(report, run, token, allow_outside)
    if run.violations:
        leave(FINDINGS)


def _write_down(token: str, allow_outside: bool) -> None:
    from windtunnel.simulator.commands.console import FINDINGS, leave, say, show
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.operations import scenario_of
    from windtunnel.simulator.scenario.writing import Unwritable

    try:
        with refusals():
            text = scenario_of(token, lambda file: load_snapshot(file, allow_outside))
    except Unwritable as problem:
        say(f"no scenario can say this yet: {problem}")
        leave(FINDINGS)
    show(text)
