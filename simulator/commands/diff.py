"""`windtunnel diff OLD NEW`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from windtunnel.simulator.commands.options import outside_option

if TYPE_CHECKING:
    from windtunnel.compiler.changes import Change, Group
    from windtunnel.compiler.snapshot import Snapshot

SCHEMA = "windtunnel.diff.v1"


@click.command(name="diff", epilog="Example: windtunnel diff review-3.json review.flow --at-least callers")
@click.argument("old")
@click.argument("new")
@click.option(
    "--at-least",
    "least",
    type=click.Choice(("text", "callers", "runs")),
    default="text",
    show_default=True,
    help="Leave out changes that concern fewer: text, then callers, then runs.",
)
@click.option(
    "--renamed", "renames", metavar="OLD=NEW", multiple=True, help="A node that only has another name."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@outside_option
def command(
    old: str, new: str, least: str, renames: tuple[str, ...], as_json: bool, allow_outside: bool
) -> None:
    """Say in words what changed between two versions of a workflow, and whom it concerns.

    OLD and NEW are flows or snapshots that `windtunnel compile` wrote. text: what models and people read.
    callers: what goes in and comes out. runs: where an unfinished run can go and what it does there. Renames
    that windtunnel.lock declares need no --renamed. Ends with 1 when there is a change to tell.
    """
    from windtunnel.compiler.changes import ORDER, Rank
    from windtunnel.compiler.compatibility import compare, said_once
    from windtunnel.compiler.revision import renames_between
    from windtunnel.simulator.commands.console import FINDINGS, leave, show
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.locking import lock_file, read

    before, now = load_snapshot(old, allow_outside), load_snapshot(new, allow_outside)
    lock, _, _ = read(lock_file(new))
    names = renames_between(lock, before, now) | _given(renames)
    weight = ORDER.index(Rank(least))
    changes = tuple(c for c in compare(before, now, names) if ORDER.index(c.rank) >= weight)
    groups = said_once(changes, before, now)
    show(_json(before, now, groups) if as_json else _words(before, now, groups))
    if changes:
        leave(FINDINGS)


def _given(renames: tuple[str, ...]) -> dict[str, str]:
    names: dict[str, str] = {}
    for each in renames:
        old, sign, new = each.partition("=")
        if not sign or not old or not new:
            raise click.UsageError(f"--renamed takes OLD=NEW, not {each!r}")
        names[old] = new
    return names


def _words(before: Snapshot, now: Snapshot, groups: tuple[Group, ...]) -> str:
    lines = [f"{_name(before)} → {_name(now)}"]
    if before.digest == now.digest:
        lines.append("the behaviour is the same: unfinished runs resume")
    for rank in ("runs", "callers", "text"):
        ranked = [group for group in groups if group.change.rank == rank]
        if ranked:
            lines += ["", f"{rank}: {_TELLS[rank]}"]
            lines += [line for group in ranked for line in _lines(group)]
    if not groups:
        lines.append("nothing changed")
    return "\n".join(lines) + "\n"


_TELLS = {
    "runs": "what an unfinished run can meet",
    "callers": "what goes in and comes out",
    "text": "what models and people read",
}


def _lines(group: Group) -> list[str]:
    from windtunnel.simulator.report.columns import plain

    change: Change = group.change
    lines = [f"  {change.code} {plain(group.words)}"]
    lines += [
        f"      {sign} {plain(side)}" for sign, side in (("-", change.before), ("+", change.now)) if side
    ]
    return lines


def _name(snapshot: Snapshot) -> str:
    return f"{snapshot.workflow} {snapshot.revision} ({snapshot.digest[:19]})"


def _json(before: Snapshot, now: Snapshot, groups: tuple[Group, ...]) -> str:
    import json

    def version(snapshot: Snapshot) -> dict[str, Any]:
        return {"workflow": snapshot.workflow, "revision": snapshot.revision, "digest": snapshot.digest}

    changes = [
        {
            "code": group.change.code,
            "rank": group.change.rank.value,
            "places": list(group.places),
            "message": group.change.message,
            "before": group.change.before,
            "now": group.change.now,
        }
        for group in groups
    ]
    value = {
        "schema": SCHEMA,
        "old": version(before),
        "new": version(now),
        "same": before.digest == now.digest,
        "changes": changes,
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
