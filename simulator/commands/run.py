"""`windtunnel run FILE`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from windtunnel.simulator.commands.options import full_option, input_option, outside_option, report_option
from windtunnel.simulator.commands.providing import provider_of, provider_options, say_unused

if TYPE_CHECKING:
    from pydantic import JsonValue

    from windtunnel.compiler.snapshot import Snapshot


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
@click.option("--store", metavar="DB", help="Really run on this database, begun if it is not there.")
@click.option("--queue", is_flag=True, help="Only put the run into the store; `resume` begins it.")
@full_option
@provider_options
@report_option
@outside_option
def command(
    file: str,
    given: str | None,
    as_json: bool,
    seed: int | None,
    store: str | None,
    queue: bool,
    full: bool,
    who: str | None,
    patience: float,
    report: str | None,
    allow_outside: bool,
) -> None:
    """Run a workflow once and tell what happened.

    The model is simulated: it answers with values of the right types, unless a --provider is named.
    Without --seed nothing goes wrong. Without --input the smallest valid input is made up. Ends with 1 when
    an invariant broke or the run did not complete. With --store it survives its process: see `windtunnel
    runs`.
    """
    if store is None and queue:
        raise click.UsageError("--queue needs the --store to put the run into")
    if store is not None and seed is not None:
        raise click.UsageError("--seed draws faults; a run on a store meets none but real ones")
    if store is not None and who is not None:
        raise click.UsageError("--provider stands behind a simulated run; leave --store out")
    if store is not None and report is not None:
        raise click.UsageError("--report shows a simulated run; leave --store out")
    from windtunnel.simulator.commands.console import FINDINGS, leave
    from windtunnel.simulator.commands.input import run_input
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.commands.reporting import checked_name, report_run, texts_for
    from windtunnel.simulator.commands.telling import tell
    from windtunnel.simulator.commands.watching import show_picture
    from windtunnel.simulator.operations import simulate

    checked_name(report)
    snapshot = load_snapshot(file, allow_outside)
    value = run_input(snapshot, given)
    if store is not None:
        _on_store(store, snapshot, value, file, queue=queue, as_json=as_json)
        return
    with refusals(), provider_of(who, snapshot, patience) as provider:
        finished = simulate(snapshot, value, seed=seed, provider=provider)
    show_picture(snapshot, finished.events, as_json=as_json)
    tell(finished, as_json=as_json, full=full)
    say_unused(provider, finished.events)
    if report is not None:
        again = f"windtunnel run {shlex.quote(file)}" + ("" if seed is None else f" --seed {seed}")
        again += "" if who is None else f" --provider {shlex.quote(who)}"
        again += "" if given is None else f" --input {shlex.quote(given)}"
        report_run(report, finished, snapshot, texts_for(file, snapshot, allow_outside), again)
    if finished.violations or finished.status not in ("completed", "waiting"):
        leave(FINDINGS)


def _on_store(
    store: str, snapshot: Snapshot, value: JsonValue, file: str, *, queue: bool, as_json: bool
) -> None:
    """Begin the run in the store and, unless it is only queued, go on with it to its end."""
    from windtunnel.simulator.commands.console import say
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.commands.stored import go_on, opened
    from windtunnel.simulator.durable.driving import begin

    with opened(store, create=True) as place:
        with refusals():
            record = begin(place, snapshot, value, file)
        say(f"{record.run} in {store}")
        if not queue:
            go_on(place, record.run, as_json=as_json)
