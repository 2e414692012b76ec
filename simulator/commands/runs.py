"""`windtunnel runs STORE [RUN]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from windtunnel.simulator.store.interface import Store
    from windtunnel.simulator.store.records import RunRecord


@click.command(name="runs", epilog="Example: windtunnel runs run.db run-1 -o run-1.svg")
@click.argument("store")
@click.argument("run", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: every run, or all that is kept of one.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Draw the run here: its own definition, with the ways it took.",
)
def command(store: str, run: str | None, as_json: bool, output: Path | None) -> None:
    """List the runs of a store, or tell one of them.

    A run is told and drawn from the definition that it was begun with, whatever became of the file since.
    """
    if output is not None and run is None:
        raise click.UsageError("name the RUN to draw")
    import json

    from windtunnel.simulator.commands.console import show
    from windtunnel.simulator.commands.stored import opened, run_json, summary_json, tell_end
    from windtunnel.simulator.report.stored import runs_table

    with opened(store) as place:
        if run is None:
            listed = [summary_json(place.store, record) for record in place.store.runs()]
            show(json.dumps(listed, indent=2, ensure_ascii=False) + "\n" if as_json else runs_table(listed))
            return
        record = place.store.run(run)
        told = run_json(place.store, record)
        if output is not None:
            _draw(place.store, record, told["trace"], output)
        elif as_json:
            show(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
        else:
            tell_end(place, record, as_json=False)


def _draw(store: Store, record: RunRecord, trace: list[dict[str, Any]], output: Path) -> None:
    """The picture of the run's own definition, with the ways that it took."""
    from windtunnel.compiler import draw
    from windtunnel.compiler.drawing import FORMATS
    from windtunnel.compiler.drawing.picture import DrawingError
    from windtunnel.simulator.commands.console import write_whole
    from windtunnel.simulator.durable.driving import snapshot_of

    form = output.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        listed = ", ".join(f".{name}" for name in FORMATS)
        raise click.UsageError(f"cannot tell the format of {output}: end its name in {listed}")
    taken = {line["payload"]["via"] for line in trace if "via" in line["payload"]}
    try:
        drawn: Any = draw(snapshot_of(store, record), form, expand="all", taken=frozenset(taken))
    except DrawingError as problem:
        raise click.UsageError(str(problem)) from None
    write_whole(output, drawn if isinstance(drawn, bytes) else drawn.encode())
