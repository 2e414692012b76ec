"""`windtunnel resume STORE RUN [FILE]`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.options import outside_option


@click.command(name="resume", epilog="Example: windtunnel resume run.db run-1")
@click.argument("store")
@click.argument("run")
@click.argument("file", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the trace, one JSON event a line.")
@outside_option
def command(store: str, run: str, file: str | None, as_json: bool, allow_outside: bool) -> None:
    """Go on with a run that a process left behind: one that died, that paused it, or that never began.

    It goes on with the definition that it was begun with. Name the FILE to make sure that this is still the
    one in it; a changed one is refused, since what was done under the old one may not fit the new one.
    """
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.stored import go_on, opened
    from windtunnel.simulator.durable.driving import due_ms
    from windtunnel.simulator.durable.wall import now_ms
    from windtunnel.simulator.store.records import FINAL

    snapshot = None if file is None else load_snapshot(file, allow_outside)
    with opened(store) as place:
        record = place.store.run(run)
        due = due_ms(place.store, record)
        waits = record.status == "waiting" and (due is None or due > now_ms())
        if (record.status in FINAL and not record.untold) or waits:
            hint = f"; answer it with `windtunnel answer {store} {run}`" if waits else ""
            raise click.UsageError(f"cannot resume workflow run {run} with status {record.status}{hint}")
        if snapshot is not None and snapshot.digest != record.digest:
            raise click.UsageError(
                f"the definition changed since {run} was begun: revision {record.revision}, {record.digest}, "
                f"now revision {snapshot.revision}, {snapshot.digest}; restart it with "
                f"`windtunnel run {file} --store {store}`, or leave FILE out to go on with the old one"
            )
        go_on(place, record.run, as_json=as_json, releases=True)
