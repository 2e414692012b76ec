"""The runs of a store in words and tables.

Works on the JSON form of runs and traces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from windtunnel.simulator.report.columns import plain, table
from windtunnel.simulator.report.story import DEFAULT_WIDTH, moment, story

Told: TypeAlias = Mapping[str, Any]

KINDS: Final = {
    "assistant": "assistant response",
    "submit": "submission",
    "compute": "computed value",
    "action": "result of an action",
    "shell": "result of a command",
    "notify": "notification",
    "checkpoint": "answer of a person",
    "decision": "decision of a person",
}
"""What a node gives, by how it is completed."""


def runs_table(runs: Sequence[Told]) -> str:
    """Every run on a line: name, workflow, how it stands."""
    if not runs:
        return "no runs\n"
    rows = [("run", "workflow", "status", "lines")]
    rows += [
        (
            str(run["run"]),
            f"{run['workflow']} revision {run['revision']}",
            standing(run),
            str(run["lines"]),
        )
        for run in runs
    ]
    return "".join(f"{line}\n" for line in table(rows, right=frozenset({3})))


def standing(run: Told) -> str:
    """The status of a run, with what stands beside it."""
    said = [str(run["status"])]
    if run.get("current", run["run"]) != run["run"]:
        said[0] = f"{said[0]} as {run['current']}"
    said += [flag for flag in ("paused", "parked") if run.get(flag)]
    if run.get("interrupted"):
        said.append("nobody works on it")
    return ", ".join(said)


def run_text(run: Told, *, width: int = DEFAULT_WIDTH) -> str:
    """One run: what it is, its story, and what each of its nodes gave."""
    head = [
        f"{run['run']}: {run['workflow']} revision {run['revision']}, {standing(run)}",
        f"  definition {run['digest']}",
    ]
    if run.get("claimedBy"):
        head.append(f"  held by {plain(str(run['claimedBy']))}")
    parts = ["".join(f"{line}\n" for line in head)]
    parts += [story(run["trace"], width=width)] if run["trace"] else []
    rows = [
        (node["node"], node["gives"], node["outcome"] or "—", str(node["attempts"])) for node in run["nodes"]
    ]
    if rows:
        lines = table([("node", "gives", "outcome", "attempts"), *rows], right=frozenset({3}))
        parts.append("".join(f"{line}\n" for line in lines))
    parts += [
        _request(one["request"], str(one["node"])) for one in run["decisions"] if one["state"] == "open"
    ]
    untold = [one for one in run["notifications"] if not one["delivered"]]
    parts += [f"not delivered yet: {plain(str(one['notification']['message']))}\n" for one in untold]
    return "\n".join(parts)


def _request(request: Told, node: str) -> str:
    """What is asked, and what can be answered."""
    lines = [
        f"{node} waits for an answer: {plain(str(request.get('title') or request.get('subject') or ''))}"
    ]
    for choice in request.get("choices", ()):
        asks = f", asks for {choice['asks']}" if choice.get("asks") else ""
        label = f": {plain(str(choice['label']))}" if choice.get("label") else ""
        lines.append(f"  {choice['id']}{label}{asks}")
    if request.get("dueMs") is not None:
        default = request.get("default")
        then = f"then {default} is taken" if default else "then it expires"
        lines.append(f"  within {moment(int(request['dueMs']))}, {then}")
    return "".join(f"{line}\n" for line in lines)


def nodes_of(trace: Sequence[Told], gives: Mapping[str, str]) -> list[dict[str, Any]]:
    """The nodes of a trace in the order of their first start; `gives` is one of KINDS' keys by node."""
    found: dict[str, dict[str, Any]] = {}
    for event in trace:
        node = event.get("nodeId")
        if event["type"] == "node_started" and node is not None:
            kind = gives.get(node, "")
            fresh = {"node": node, "gives": KINDS.get(kind, kind), "outcome": None, "attempts": 0}
            entry = found.setdefault(node, fresh)
            entry["attempts"] += 1
            entry["outcome"] = None
        elif event["type"] in ("node_finished", "node_failed") and node in found:
            found[node]["outcome"] = event["payload"].get("outcome")
    return list(found.values())


MAX_DIFFERENCES: Final = 10
"""Points that are told one by one; they often have one cause."""


def torture_text(report: Told) -> str:
    """The end of `torture`: how many points by node, and whether each ended as its simulation does."""
    counts: dict[str, list[int]] = {}
    for point in report["points"]:
        entry = counts.setdefault(str(point["node"] or "—"), [0, 0])
        entry[0] += 1
        entry[1] += point["difference"] is None
    rows = [("node", "points", "equal")]
    rows += [(node, str(total), str(equal)) for node, (total, equal) in counts.items()]
    lines = table(rows, right=frozenset({1, 2}))
    total, equal = int(report["total"]), int(report["equal"])
    flow = f"{report['workflow']} revision {report['revision']}"
    said = f"{report['crashPoints']:,} crash points, {report['different']:,} of them different, "
    said += f"{total:,} killed for real, {equal:,} ended as the simulation says"
    lines += ["", f"{'✓' if total == equal else '✗'} {flow}: {said}"]
    if report["deeperTransitions"]:
        lines.append(f"  {report['deeperTransitions']:,} transitions lie too deep in a run (--depth)")
    mirrored = report["mirrored"]
    same = mirrored["difference"] is None
    lines.append(
        f"{'✓' if same else '✗'} model and SQLite {'agree' if same else 'differ'} on "
        f"{mirrored['transactions']:,} transactions of {mirrored['states']:,} states "
        f"({mirrored['faults']} fault{'' if mirrored['faults'] == 1 else 's'}"
        f"{'' if mirrored['complete'] else '; the first of a larger graph'})"
    )
    if not same:
        lines.append(f"  {plain(str(mirrored['difference']))}")
    different = [point for point in report["points"] if point["difference"] is not None]
    for point in different[:MAX_DIFFERENCES]:
        lines += ["", f"✗ {point['node'] or 'run'}: {point['place']}"]
        lines.append(f"  {plain(str(point['difference']))}")
    if len(different) > MAX_DIFFERENCES:
        lines += ["", f"and {len(different) - MAX_DIFFERENCES:,} more; --json lists them all"]
    return "\n".join(lines) + "\n"
