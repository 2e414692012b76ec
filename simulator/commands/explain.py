"""`windtunnel explain CODE`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.console import show


@click.command(name="explain", epilog="Example: windtunnel explain WT0204")
@click.argument("code", required=False)
@click.option("--list", "listed", is_flag=True, help="List every code with its severity and title.")
def command(code: str | None, listed: bool) -> None:
    """Say what a finding means and why it matters, with an example that has it and one that is mended."""
    from windtunnel.dsl import CODES, nearest, suggestion

    if listed:
        if code is not None:
            raise click.UsageError("--list lists every code; leave out CODE")
        for known, (title, severity) in CODES.items():
            show(f"{known}  {severity.value:<7}  {title}\n")
        return
    if code is None:
        raise click.UsageError("give the CODE of a finding, or --list for all of them")
    from windtunnel.compiler.explanation import page, page_text

    wanted = code.upper()
    found = page(f"WT{wanted}" if wanted.isdecimal() else wanted)
    if found is None:
        near = suggestion(nearest(wanted, CODES))
        raise click.UsageError(f"there is no finding {code}; {near or '--list shows all of them'}")
    show(page_text(found))
