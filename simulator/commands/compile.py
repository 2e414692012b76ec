"""`windtunnel compile FILE`."""

from __future__ import annotations

from pathlib import Path

import click

from windtunnel.simulator.commands.console import show, write_whole
from windtunnel.simulator.commands.options import outside_option


@click.command(name="compile", epilog="Example: windtunnel compile builtin:autoplan -o autoplan.json")
@click.argument("file")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of standard output."
)
@outside_option
def command(file: str, output: Path | None, allow_outside: bool) -> None:
    """Print the snapshot of a workflow: canonical JSON that holds all that changes its behaviour."""
    from windtunnel.compiler import snapshot_text
    from windtunnel.simulator.commands.loading import load_snapshot

    text = snapshot_text(load_snapshot(file, allow_outside))
    if output is None:
        show(text)
    else:
        write_whole(output, text.encode())
