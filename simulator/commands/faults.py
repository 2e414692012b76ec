"""`windtunnel faults`."""

from __future__ import annotations

from typing import Final

import click

SCHEMA: Final = "windtunnel.faults.v1"


@click.command(name="faults", epilog="Example: windtunnel faults W01")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(ids: tuple[str, ...], as_json: bool) -> None:
    """List the bugs of real systems that can be put back, to see that they are found.

    `explore --fault ID` puts one back. With IDs only those are listed, with the small world in which each is
    found.
    """
    import json

    from windtunnel.simulator.commands.console import show
    from windtunnel.simulator.operations import seeded_faults

    known = {one.id: one for one in seeded_faults()}
    for id in ids:
        if id not in known:
            raise click.UsageError(f"there is no seeded fault {id}; there are {', '.join(known)}")
    chosen = [known[id] for id in dict.fromkeys(ids)] or list(known.values())
    if as_json:
        listed = [one.to_json() for one in chosen]
        show(json.dumps({"schema": SCHEMA, "faults": listed}, indent=2, ensure_ascii=False) + "\n")
        return
    from windtunnel.simulator.report.seeded import fault_entry, fault_list

    show("\n".join(map(fault_entry, chosen)) if ids else fault_list(chosen))
