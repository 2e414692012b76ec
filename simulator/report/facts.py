"""The facts of a workflow in words and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from windtunnel.compiler.facts import Cost, Facts, Formula
from windtunnel.compiler.snapshot import Snapshot

SCHEMA: Final = "windtunnel.facts.v1"


def facts_text(snapshot: Snapshot, facts: Facts) -> str:
    """Everything, in the order in which a reader asks."""
    lines = [f"{snapshot.workflow}, revision {snapshot.revision}", ""]
    lines += _cost("steps", facts.steps)
    lines += _cost("turns of the model", facts.turns)
    most = facts.visible.whole.value
    if facts.presented:
        most = None if most is None else most + 1
    lines.append(f"visible answers: {_range(facts.visible_least, most)}")
    lines += _formulas(facts.visible.formulas)
    if facts.presented:
        lines.append("  and the presentation at the end")
    lines += ["", *_guards(facts), "", *_unrouted(snapshot, facts)]
    return "\n".join(lines) + "\n"


def _cost(what: str, cost: Cost) -> list[str]:
    bound = cost.whole
    if bound.value is None:
        head = f"{what}: without an end"
    else:
        head = f"{what}: at most {bound.value:_}" + (", by `maxSteps`" if bound.capped else "")
    return [head, *_formulas(cost.formulas)]


def _formulas(formulas: Sequence[Formula]) -> list[str]:
    """A line for each workflow that takes something; the includes it stands at before it."""
    lines: list[str] = []
    for each in formulas:
        bound = each.bound
        if bound.value == 0:
            continue
        where = f"  {each.workflow}" if each.mounts == ("",) else f"  {', '.join(each.mounts)}"
        if bound.formula is None:
            lines.append(f"{where}: {bound.reason}")
        elif not bound.formula.isdecimal() and bound.formula != str(bound.value):
            by = ", but `maxSteps` allows" if bound.capped else " ="
            lines.append(f"{where}: {bound.formula}{by} {bound.value:_}")
    return lines


def _range(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {most:_}"


def _guards(facts: Facts) -> list[str]:
    if not facts.guards:
        return ["effects: none"]
    lines = ["effects:"]
    for guard in facts.guards:
        said = " and ".join(f"`{name}` ({' or '.join(ways)})" for name, ways in guard.decisions)
        lines.append(f"  {guard.effect}: " + (f"only after {said}" if said else "no decision guards it"))
    return lines


def _unrouted(snapshot: Snapshot, facts: Facts) -> list[str]:
    """One line for each workflow and what can happen to its nodes, however often it is mounted."""
    if not facts.unrouted:
        return ["every failure has a route"]
    found: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for each in facts.unrouted:
        path, _, node = each.node.rpartition("/")
        workflow = snapshot.composition.mounts[path].workflow if path else snapshot.workflow
        found.setdefault((workflow, each.outcomes), {})[node] = None
    lines = ["what ends the whole run, since no route takes it:"]
    for (workflow, outcomes), nodes in sorted(
        found.items(), key=lambda each: each[0][0] != snapshot.workflow
    ):
        lines.append(f"  {workflow}: {', '.join(nodes)} ({' or '.join(outcomes)})")
    return lines


def facts_json(snapshot: Snapshot, facts: Facts) -> dict[str, Any]:
    """`{schema, workflow, revision, digest, steps, turns, visible, effects, unrouted}`."""
    visible = {"least": facts.visible_least, "presented": facts.presented, **_cost_json(facts.visible)}
    return {
        "schema": SCHEMA,
        "workflow": snapshot.workflow,
        "revision": snapshot.revision,
        "digest": snapshot.digest,
        "steps": _cost_json(facts.steps),
        "turns": _cost_json(facts.turns),
        "visible": visible,
        "effects": [
            {
                "node": guard.effect,
                "after": [{"decision": name, "by": list(ways)} for name, ways in guard.decisions],
            }
            for guard in facts.guards
        ],
        "unrouted": [{"node": each.node, "outcomes": list(each.outcomes)} for each in facts.unrouted],
    }


def _cost_json(cost: Cost) -> dict[str, Any]:
    formulas = [
        {
            "workflow": each.workflow,
            "mounts": list(each.mounts),
            "formula": each.bound.formula,
            "most": each.bound.value,
            "capped": each.bound.capped,
            "reason": each.bound.reason or None,
        }
        for each in cost.formulas
    ]
    return {"most": cost.whole.value, "capped": cost.whole.capped, "formulas": formulas}
