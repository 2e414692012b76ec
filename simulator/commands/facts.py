"""`windtunnel facts FILE`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.console import show
from windtunnel.simulator.commands.options import outside_option


@click.command(name="facts", epilog="Example: windtunnel facts builtin:plan-change")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@outside_option
def command(file: str, as_json: bool, allow_outside: bool) -> None:
    """Say what can be told of a workflow before it runs.

    The most steps and turns of the model that one run takes, as a formula over its limits: a number before a
    node counts its nudges, and a limit is taken with the default of its input. How many answers people see,
    which decisions guard its effects, and what ends the whole run since nothing routes it.
    """
    import json

    from windtunnel.compiler.facts import facts
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.report.facts import facts_json, facts_text

    snapshot = load_snapshot(file, allow_outside)
    found = facts(snapshot)
    if as_json:
        show(json.dumps(facts_json(snapshot, found), indent=2, ensure_ascii=False) + "\n")
    else:
        show(facts_text(snapshot, found))
