"""`windtunnel builtins`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from windtunnel.simulator.commands.console import show

if TYPE_CHECKING:
    from windtunnel.compiler.facts import Facts
    from windtunnel.compiler.snapshot import Snapshot

SCHEMA: Final = "windtunnel.builtins.v1"


@click.command(name="builtins", epilog="Example: windtunnel builtins plain-summary --json")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all facts.")
def command(names: tuple[str, ...], as_json: bool) -> None:
    """List the workflows that come with windtunnel: revision, digest, exits, and what a run can cost.

    With NAMEs it is only those.
    """
    import json

    from windtunnel.compiler.facts import facts
    from windtunnel.compiler.reader import BUILTIN, builtin_names
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.report.facts import facts_json

    listed: list[dict[str, Any]] = []
    known = builtin_names()
    for name in names:
        if name not in known:
            raise click.UsageError(f"there is no built-in {name}; there are {', '.join(known)}")
    for name in names or known:
        snapshot = load_snapshot(BUILTIN + name)
        found = facts(snapshot)
        if as_json:
            listed.append(
                {**facts_json(snapshot, found), "contract": snapshot.contract, "exits": list(snapshot.exits)}
            )
        else:
            show(_entry(snapshot, found))
    if as_json:
        show(json.dumps({"schema": SCHEMA, "builtins": listed}, indent=2, ensure_ascii=False) + "\n")


def _entry(snapshot: Snapshot, found: Facts) -> str:
    costs = [
        _most(found.steps.whole.value, "step"),
        _most(found.turns.whole.value, "turn"),
        _most(found.visible.whole.value, "visible answer"),
    ]
    lines = [
        f"builtin:{snapshot.workflow}  revision {snapshot.revision}  {snapshot.digest[:19]}",
        f"  exits   {', '.join(snapshot.exits)}",
        f"  at most {', '.join(costs)}",
        f"  effects {', '.join(guard.effect for guard in found.guards) or 'none'}",
    ]
    if snapshot.contract is not None:
        lines.insert(1, f"  contract {snapshot.contract}")
    return "\n".join(lines) + "\n\n"


def _most(value: int | None, what: str) -> str:
    if value is None:
        return f"any number of {what}s"
    return f"{value:_} {what}{'' if value == 1 else 's'}"
