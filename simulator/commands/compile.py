"""`windtunnel compile FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from windtunnel.simulator.commands.console import show, write_whole
from windtunnel.simulator.commands.options import outside_option

if TYPE_CHECKING:
    from windtunnel.compiler.snapshot import Snapshot


def _show_schema(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        import json

        from windtunnel.compiler.snapshotfile import snapshot_schema

        show(json.dumps(snapshot_schema(), indent=1, sort_keys=True) + "\n")
        context.exit()


@click.command(name="compile", epilog="Example: windtunnel compile builtin:autoplan -o autoplan.json")
@click.argument("file")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of standard output."
)
@click.option(
    "--map",
    "places",
    metavar="MAP",
    type=click.Path(path_type=Path),
    help="Also write where every node, include and arrow of the snapshot stands in the text, as JSON.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_schema,
    help="Print the JSON Schema of snapshots, and nothing else.",
)
@outside_option
def command(file: str, output: Path | None, places: Path | None, allow_outside: bool) -> None:
    """Print the snapshot of a workflow: canonical JSON that holds all that changes its behaviour.

    Places in the text are no part of it: they stand in the MAP, which names the digest that it belongs to.
    """
    from windtunnel.compiler import snapshot_text
    from windtunnel.simulator.commands.loading import load_snapshot

    snapshot = load_snapshot(file, allow_outside)
    if places is not None:
        write_whole(places, _map(file, snapshot, allow_outside).encode())
    text = snapshot_text(snapshot)
    if output is None:
        show(text)
    else:
        write_whole(output, text.encode())


def _map(file: str, snapshot: Snapshot, allow_outside: bool) -> str:
    import json

    from windtunnel.compiler import check_file
    from windtunnel.compiler.sourcemap import source_map
    from windtunnel.simulator.commands.loading import one_of
    from windtunnel.simulator.commands.naming import from_here

    flow, _ = one_of(file)
    if flow.endswith(".json"):
        raise click.UsageError(f"{file} is a snapshot: the text that it was made from is not in it")
    places = source_map(check_file(flow, allow_outside=allow_outside), snapshot, from_here(flow))
    return json.dumps(places, indent=1, ensure_ascii=False) + "\n"
