"""Band 07: decisions. Choices without a route are found with the other ways out, in the structure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

from windtunnel.compiler.clauses import clause
from windtunnel.compiler.constants import constant
from windtunnel.compiler.flow import path_words
from windtunnel.compiler.graph import START, Arrow, Route
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Declaration, Kind
from windtunnel.dsl.syntax import After, Duration, Node

MAX_WORK: Final = 2_000_000
"""Most arrows followed in search of ways around decisions; in larger workflows the first decisions are
searched.
"""


def check_decisions(typed: Typed) -> None:
    """Report decisions that decide nothing, defaults that cannot be taken, and ways around an approval."""
    for declaration in typed.scope.nodes:
        if declaration.kind is Kind.DECISION and isinstance(declaration.tree, Node):
            _check_choices(typed, declaration, declaration.tree)
            _check_default(typed, declaration, declaration.tree)
            _check_expiry(typed, declaration, declaration.tree)
    _check_bypasses(typed)


def _check_choices(typed: Typed, declaration: Declaration, node: Node) -> None:
    choices = declaration.choices
    if choices is None:
        return  # The clause is reported as missing.
    count = len(choices.items)
    if count == 0:
        typed.scope.file.findings.add("WT0701", f"`{node.name.text}` offers no choice", choices.span)
    elif count == 1 and not typed.scope.file.module.has_hole(choices.span):
        typed.scope.file.findings.add(
            "WT0703",
            f"`{node.name.text}` offers only `{choices.items[0].name.text}`",
            choices.span,
            help="a `checkpoint` waits for a person without a choice",
        )


def _check_default(typed: Typed, declaration: Declaration, node: Node) -> None:
    part = clause(node, "after")
    choices = declaration.choices
    if part is None or not isinstance(part.value, After) or choices is None:
        return
    findings = typed.scope.file.findings
    wanted = part.value.choice
    chosen = next((choice for choice in choices.items if choice.name.text == wanted.text), None)
    if chosen is None:
        mend = findings.did_you_mean(wanted, [choice.name.text for choice in choices.items])
        if mend["help"] is None:
            listed = ", ".join(f"`{choice.name.text}`" for choice in choices.items)
            mend["help"] = f"its choices are {listed}" if listed else None
        findings.add("WT0704", f"`{node.name.text}` has no choice `{wanted.text}`", wanted.span, **mend)
    elif chosen.ask is not None:
        findings.add(
            "WT0704",
            f"the default `{wanted.text}` asks for `{chosen.ask.name.text}`, which nobody gives",
            wanted.span,
            secondary=[(chosen.ask.name.span, "asked here")],
            help="choose a default that asks nothing",
        )


def _check_expiry(typed: Typed, declaration: Declaration, node: Node) -> None:
    expires, after = clause(node, "expires"), clause(node, "after")
    if expires is None:
        return
    findings = typed.scope.file.findings
    if (
        typed.graph.route(declaration.name, None, "timed_out") is None
        and declaration.name not in typed.graph.open
    ):
        findings.add(
            "WT0706",
            f"when `{declaration.name}` expires, the whole run ends as timed out",
            expires.span,
            help=f"add `{declaration.name} on timed_out -> …` to the edges",
        )
    if after is None or not isinstance(after.value, After) or after.value.premise is not None:
        return
    delay = constant(after.value.delay)
    limit = constant(expires.value) if isinstance(expires.value, Duration) else None
    if delay is not None and limit is not None and _milliseconds(delay[0]) >= _milliseconds(limit[0]):
        findings.add(
            "WT0704",
            f"`{declaration.name}` expires before its default is taken",
            after.span,
            secondary=[(expires.span, "expires here")],
        )


def _milliseconds(value: object) -> float:
    assert isinstance(value, int | float), "a constant duration is whole milliseconds"
    return value


# --- approvals ----------------------------------------------------------------------------------------------


def _check_bypasses(typed: Typed) -> None:
    """Report effects that a decision can lead to or keep away from, and that a path reaches around it."""
    decisions = [d for d in typed.scope.nodes if d.kind is Kind.DECISION]
    effects = [d for d in typed.scope.nodes if d.kind in (Kind.ACTION, Kind.SHELL)]
    most = max(1, MAX_WORK // (len(typed.graph.arrows) + 1))
    for decision in decisions[:most] if effects else ():
        routes = [r for r in typed.graph.routes if r.source == decision.name and r.way is not None]
        by_way = [(route.way, set(_parents(typed, _goals(route), decision.name))) for route in routes]
        around = _parents(typed, [START], decision.name)
        for effect in effects:
            guarded = [way for way, reached in by_way if effect.name in reached]
            if not guarded or len(guarded) == len(by_way) or effect.name not in around:
                continue
            if not _prepares(typed, effect.name, decision.name):
                _report_bypass(typed, decision, effect, str(guarded[0]), around)


def _prepares(typed: Typed, effect: str, decision: str) -> bool:
    """Whether an effect belongs to what is decided about: before each decision, or always followed by it.

    A look-up that a choice repeats is such an effect; what is done and never asked about is none.
    """
    if decision not in _parents(typed, [START], effect):
        return True
    after = _parents(typed, [effect], decision)
    return not any(arrow.goal.exit is not None for node in after for arrow in typed.graph.leaving[node])


def _report_bypass(
    typed: Typed, decision: Declaration, effect: Declaration, way: str, around: Mapping[str, Arrow | None]
) -> None:
    arrows: list[Arrow] = []
    step = around[effect.name]
    while step is not None:
        arrows.append(step)
        step = around[step.source]
    arrows.reverse()
    typed.scope.file.findings.add(
        "WT0707",
        f"`{effect.name}` can be reached around `{decision.name}`",
        effect.tree.name.span,
        secondary=[(decision.tree.name.span, f"`{way}` leads to it")],
        notes=[f"{path_words(arrows, effect.name)} does not pass `{decision.name}`"],
    )


def _goals(route: Route) -> list[str]:
    goals = [goal for b in route.branches for goal in (b.goal, b.overflow) if goal is not None]
    return [goal.node for goal in goals if goal.node is not None]


def _parents(typed: Typed, first: list[str], without: str) -> dict[str, Arrow | None]:
    """What can be reached from `first` without passing a vertex, each with the arrow that found it."""
    found: dict[str, Arrow | None] = {node: None for node in first if node != without}
    queue = deque(found)
    while queue:
        for arrow in typed.graph.leaving[queue.popleft()]:
            goal = arrow.goal.node
            if goal is not None and goal != without and goal not in found:
                found[goal] = arrow
                queue.append(goal)
    return found
