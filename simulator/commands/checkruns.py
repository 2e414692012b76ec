"""`windtunnel check-runs RUNS FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from windtunnel.simulator.commands.console import FINDINGS, leave, reason, show
from windtunnel.simulator.commands.options import outside_option

if TYPE_CHECKING:
    from windtunnel.compiler.snapshot import Snapshot
    from windtunnel.compiler.standing import Judged, RunState, Verdict

SCHEMA: Final = "windtunnel.verdicts.v1"


@click.command(name="check-runs", epilog="Example: windtunnel check-runs run.db review.flow")
@click.argument("runs", type=click.Path(path_type=Path))
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@outside_option
def command(runs: Path, file: str, as_json: bool, allow_outside: bool) -> None:
    """Say for each run that is not over what the workflow as it is now means to it.

    same: the behaviour is the same, it resumes. restart: it can meet a change, told with where and what to
    do. untouched: it can meet none, and starts again all the same: no run goes on under another behaviour.

    RUNS is a store of `windtunnel run --store`, or JSON: {"schema": "windtunnel.runs.v1", "snapshots":
    {digest: snapshot}, "runs": [{"run", "workflow", "revision", "digest", "status", "at": [{"node",
    "phase"}]}]}. Ends with 1 unless all are the same.
    """
    import json

    from windtunnel.compiler.revision import renames_between
    from windtunnel.compiler.standing import judge
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.locking import lock_file, read

    states, snapshots = _states(runs)
    new = load_snapshot(file, allow_outside)
    lock, _, _ = read(lock_file(file))
    names = {digest: renames_between(lock, old, new) for digest, old in snapshots.items()}
    judged = judge(states, snapshots, new, names)
    show(json.dumps(_json(judged), indent=2, ensure_ascii=False) + "\n" if as_json else _words(judged))
    if any(verdict.kind != "same" for verdict in judged.verdicts):
        leave(FINDINGS)


def _states(runs: Path) -> tuple[tuple[RunState, ...], dict[str, Snapshot]]:
    """The states of runs in a store or a JSON file. Raises click's UsageError for a file that holds none."""
    from windtunnel.compiler.standing import read_runs
    from windtunnel.simulator.commands.standings import is_store, of_store

    try:
        if is_store(runs):
            return of_store(runs)
        found = read_runs(runs.read_bytes())
    except OSError as problem:
        raise click.UsageError(f"cannot read {runs}: {reason(problem)}") from None
    if isinstance(found, str):
        raise click.UsageError(f"{runs} holds no states of runs: {found}")
    return found


def _words(judged: Judged) -> str:
    lines = [line for verdict in judged.verdicts for line in _lines(verdict)]
    counts = [
        (kind, sum(v.kind == kind for v in judged.verdicts)) for kind in ("same", "restart", "untouched")
    ]
    told = ", ".join(f"{count} {kind}" for kind, count in counts if count) or "no run is unfinished"
    more = [f"{judged.over} over"] if judged.over else []
    more += [f"{judged.others} of other workflows"] if judged.others else []
    lines.append(told + (f" ({', '.join(more)})" if more else ""))
    return "\n".join(lines) + "\n"


def _lines(verdict: Verdict) -> list[str]:
    from windtunnel.simulator.report.columns import plain

    said = {
        "same": "it resumes",
        "restart": "it starts again",
        "untouched": "it can meet no change, and starts again all the same",
    }
    lines = [f"{plain(verdict.run)}: {verdict.kind}, {said[verdict.kind]}"]
    for each in verdict.reasons:
        mark = "!" if each.bites else "-"
        place = f"{each.place}: " if "/" in each.place else ""
        lines += [f"  {mark} {each.code} {place}{plain(each.why)}", f"      {each.todo}"]
    if verdict.more:
        lines.append(f"  and {verdict.more} more")
    lines += [f"  ? {plain(each)}" for each in verdict.unsure]
    return lines


def _json(judged: Judged) -> dict[str, Any]:
    verdicts = [
        {
            "run": verdict.run,
            "verdict": verdict.kind,
            "reasons": [
                {"code": r.code, "place": r.place, "why": r.why, "todo": r.todo, "now": r.bites}
                for r in verdict.reasons
            ],
            "more": verdict.more,
            "unsure": list(verdict.unsure),
        }
        for verdict in judged.verdicts
    ]
    return {"schema": SCHEMA, "verdicts": verdicts, "over": judged.over, "others": judged.others}
