"""`windtunnel cancel STORE RUN`."""

from __future__ import annotations

import click


@click.command(name="cancel", epilog="Example: windtunnel cancel run.db run-1")
@click.argument("store")
@click.argument("run")
def command(store: str, run: str) -> None:
    """End a run, whoever works on it: it is cancelled, and that is final."""
    from windtunnel.simulator.commands.console import FINDINGS, leave, say
    from windtunnel.simulator.commands.stored import opened
    from windtunnel.simulator.durable.driving import cancel
    from windtunnel.simulator.store.records import FINAL

    with opened(store) as place:
        record = place.store.run(run)
        if record.status in FINAL:
            raise click.UsageError(f"cannot cancel workflow run {run} with status {record.status}")
        record = cancel(place, record.run)
    if record.status != "cancelled":
        say(f"✗ {run} was {record.status} before it could be cancelled")
        leave(FINDINGS)
    say(f"✓ {run} is cancelled")
