"""`windtunnel replay TOKEN`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.options import outside_option


@click.command(name="replay", epilog="Example: windtunnel replay wt1.eyJjIjpb… --json")
@click.argument("token")
@click.option("--json", "as_json", is_flag=True, help="Print the trace, one JSON event a line.")
@outside_option
def command(token: str, as_json: bool, allow_outside: bool) -> None:
    """Tell again, event by event, the run that a token stands for.

    The workflow is read where the token was made, and must not have changed since. Ends with 1 when an
    invariant breaks.
    """
    from windtunnel.simulator.commands.console import FINDINGS, leave
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.commands.telling import tell
    from windtunnel.simulator.operations import replay

    with refusals():
        run = replay(token, lambda file: load_snapshot(file, allow_outside))
    tell(run, as_json=as_json)
    if run.violations:
        leave(FINDINGS)
