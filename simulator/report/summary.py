"""What an exploration or a round of crash points found, in words and tables that a person understands.

Works on the JSON form of the reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from windtunnel.simulator.report.columns import plain, table

Report: TypeAlias = Mapping[str, Any]

MAX_LISTED: Final = 8
"""Missed items that are named; the rest are counted."""

_BOUNDS: Final = {
    "faults": ("fault of any kind", "faults of any kind"),
    "crashes": ("crash", "crashes"),
    "duplicates": ("repeated message", "repeated messages"),
    "providerFaults": ("deviation of the model", "deviations of the model"),
}
_HOW_TO_REACH: Final = (
    "What was never taken was not tried. Give the agents before it an `example` that leads there,"
    " or an --input."
)

_TOO_LARGE: Final = (
    "The workflow is too large to walk every way through it: what these paths do not take was not tried."
    " Give an --input that leads there, or explore it."
)

_STOPPED: Final = "states"
"""The bound that a search stopped at which was too large to finish."""

_COVERED: Final = {
    "edges": "edges taken",
    "exits": "exits reached",
    "outcomes": "outcomes of nodes",
    "crashPoints": "crash points × nodes",
    "providerBehaviours": "behaviours of the model",
}


def exploration(report: Report) -> str:
    """The end of `explore`: the verdict, how much was looked at, what was covered, what broke."""
    lines = [verdict(report), ""]
    lines += _indented(table(_figures(report), right=frozenset({1})))
    covered = table(_coverage(report.get("coverage") or {}))
    lines += ["", *_indented(covered)] if covered else []
    if report.get("complete") and _never(report) and not report.get("violations"):
        lines += ["", f"! {_HOW_TO_REACH}"]
    for name, why in sorted((report.get("gaps") or {}).items()):
        lines += ["", f"! {name}: {plain(str(why))}"]
    lines += _failing(report) + _twice(report)
    for violation in report.get("violations") or ():
        lines += ["", *violation_lines(violation)]
    return "\n".join(lines) + "\n"


def _failing(report: Report) -> list[str]:
    """Runs that end without reaching an exit: in full where nothing had to go wrong, else by name."""
    failures: Sequence[Report] = report.get("failures") or ()
    lines: list[str] = []
    for failure in failures:
        if not failure["fault"] and failure["node"] not in (report.get("gaps") or {}):
            said = f"! Without any fault a run ends {failure['status']}: {plain(str(failure['error']))}"
            lines += ["", said, f"  see it: windtunnel replay {failure['token']}"]
    names = [f"{failure['node']} {failure['outcome']}" for failure in failures if failure["node"]]
    if names:
        listed = list(dict.fromkeys(plain(name) for name in names))
        rest = len(listed) - MAX_LISTED
        more = f" and {rest} more" if rest > 0 else ""
        lines += ["", f"  end the run, since no edge leads on: {', '.join(listed[:MAX_LISTED])}{more}"]
    return lines


def _twice(report: Report) -> list[str]:
    """Effects that a crash makes happen twice."""
    lines: list[str] = []
    for effect in report.get("doubledEffects") or ():
        said = f"! A crash makes {effect['node']} happen twice: give it an `idempotencyKey`."
        lines += ["", said, f"  see it: windtunnel replay {effect['token']}"]
    return lines


def verdict(report: Report) -> str:
    """One line: what was proved within which bounds, or that something breaks."""
    flow = f"{report['workflow']} revision {report['revision']}"
    found = len(report.get("violations") or ())
    if found:
        return f"✗ {_count(found, 'violation', 'violations')} in {flow}, with at most {bounds(report)}."
    if report.get("gaps"):
        return f"? {flow}: nothing broke, but for some nodes nothing valid could be made to try."
    never = _never(report)
    if report.get("complete") and never:
        return f"? {flow}: with at most {bounds(report)} nothing broke, but {never} never came to pass."
    if report.get("complete"):
        return f"✓ {flow} holds: every schedule with at most {bounds(report)} was tried, and nothing broke."
    said = f"? {flow}: nothing broke so far, but not every schedule with at most {bounds(report)} was tried."
    stopped = (report.get("bounds") or {}).get(_STOPPED)
    return f"{said} The search stopped after {stopped:,} states." if isinstance(stopped, int) else said


def _never(report: Report) -> str:
    """The edges and exits that no schedule took, in words; empty when all were taken."""
    coverage: Mapping[str, Any] = report.get("coverage") or {}
    said = []
    for kind in ("edge", "exit"):
        missed = len((coverage.get(f"{kind}s") or {}).get("missed") or ())
        said += [_count(missed, kind, f"{kind}s")] if missed else []
    return " and ".join(said)


def bounds(report: Report) -> str:
    """The bounds in words: `2 faults of any kind, 1 of them a crash`."""
    given: Mapping[str, Any] = report.get("bounds") or {}
    said = [
        _count(given[name], *words) for name, words in _BOUNDS.items() if isinstance(given.get(name), int)
    ]
    if not said:
        return "no fault"
    return said[0] if len(said) == 1 else f"{said[0]} (of these at most {', '.join(said[1:])})"


def violation_lines(violation: Report) -> list[str]:
    """A violation and the command that shows it again."""
    return [
        f"✗ {violation['invariant']}",
        f"  {plain(str(violation['message']))}",
        f"  see it: windtunnel replay {violation['token']}",
        "  keep it as a test: the same with --scenario",
    ]


def crash_points(report: Report) -> str:
    """The end of `crashpoints`: the points by node and label, and whether each was survived."""
    rows = [("node", "label", "points")]
    rows += [(str(row["node"] or "—"), str(row["label"]), str(row["points"])) for row in _labelled(report)]
    lines = table(rows, right=frozenset({2}))
    total, fired, recovered = (int(report[key]) for key in ("total", "fired", "recovered"))
    survived = total == fired == recovered
    said = f"{total} crash points, {fired} fired, {recovered} recovered to an end"
    flow = f"{report['workflow']} revision {report['revision']}"
    lines += ["", f"{'✓' if survived else '✗'} {flow}: {said}"]
    if not report.get("complete", True):
        lines += ["", f"! {_TOO_LARGE}"]
    for violation in report.get("violations") or ():
        lines += ["", *violation_lines(violation)]
    return "\n".join(lines) + "\n"


def _labelled(report: Report) -> Sequence[Report]:
    labelled: Sequence[Report] = report.get("labels") or ()
    return labelled


def _figures(report: Report) -> list[tuple[str, str]]:
    """How much was looked at, and how fast."""
    rows = [
        (name, f"{int(report[name]):,}") for name in ("schedules", "states", "transitions") if name in report
    ]
    calls, transitions = report.get("distinctCalls"), report.get("transitions")
    if calls and transitions:
        rows.append(("distinct handler calls", f"{int(calls):,}"))
        rows.append(("transitions per distinct call", f"{transitions / calls:.1f}"))
    bound = report.get("collisionBound")
    if bound and report.get("complete"):
        rows.append(("chance that something was overlooked", f"< {bound:.0e}"))
    seconds = report.get("seconds")
    if seconds:
        rows.append(("seconds", f"{seconds:.1f}"))
        rows.append(("states per second", f"{report.get('states', 0) / seconds:,.0f}"))
    return rows


def _coverage(coverage: Report) -> list[tuple[str, str, str]]:
    """Each kind of coverage, and what was missed."""
    rows: list[tuple[str, str, str]] = []
    for name, value in coverage.items():
        if not isinstance(value, Mapping) or not value.get("total"):
            continue
        missed = [_item(item) for item in value.get("missed") or ()]
        share = f"{value['covered']} of {value['total']}"
        rows.append((_COVERED.get(name, name), share, _missed(missed)))
    return rows


def _item(item: Any) -> str:
    if isinstance(item, Mapping):
        return " ".join(plain(str(part)) for part in item.values())
    return " ".join(plain(str(part)) for part in item) if isinstance(item, list | tuple) else plain(str(item))


def _missed(items: Sequence[str]) -> str:
    if not items:
        return "all"
    rest = len(items) - MAX_LISTED
    listed = ", ".join(items[:MAX_LISTED])
    return f"never: {listed} and {rest} more" if rest > 0 else f"never: {listed}"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
