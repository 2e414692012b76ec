"""`windtunnel run FILE`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.options import full_option, input_option, outside_option


@click.command(
    name="run",
    epilog="""Example: windtunnel run builtin:plain-summary --input '{"source": "…", "purpose": "…"}'""",
)
@click.argument("file")
@input_option
@click.option("--json", "as_json", is_flag=True, help="Print the trace, one JSON event a line.")
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Draw faults and misbehaviour from this seed."
)
@full_option
@outside_option
def command(
    file: str, given: str | None, as_json: bool, seed: int | None, full: bool, allow_outside: bool
) -> None:
    """Run a workflow once and tell what happened.

    The model is simulated: it answers with values of the right types. Without --seed nothing goes wrong.
    Without --input the smallest valid input is made up. Ends with 1 when an invariant broke or the run did
    not complete.
    """
    from windtunnel.simulator.commands.console import FINDINGS, leave
    from windtunnel.simulator.commands.input import run_input
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.commands.telling import tell
    from windtunnel.simulator.operations import simulate

    snapshot = load_snapshot(file, allow_outside)
    with refusals():
        finished = simulate(snapshot, run_input(snapshot, given), seed=seed)
    tell(finished, as_json=as_json, full=full)
    if finished.violations or finished.status not in ("completed", "waiting"):
        leave(FINDINGS)
