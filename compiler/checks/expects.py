"""Band 12: what a scenario expects. An expectation reads the world, can hold, and can fail."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from windtunnel.compiler.checks.staged import WORDS, Staged
from windtunnel.compiler.expectations import FUNCTIONS, NAMES, OUTCOMES, reading, rewrite
from windtunnel.compiler.nodepaths import Found, path_in
from windtunnel.compiler.operators import as_range
from windtunnel.compiler.signatures import signature
from windtunnel.compiler.types import Shape, members
from windtunnel.dsl.syntax import Binary, Call, Comprehension, Expect, Expr, Name, Ref, Unary, children

MAY_BE_MISSING: Final = ("run", "result", "client")
"""What may not be there at all, so that no comparison of its parts is sure."""

NOTHING_BOUND: Final[frozenset[str]] = frozenset()


def check_expects(staged: Staged) -> None:
    """Report expectations about what is not there, and those that hold or fail whatever happens."""
    for expect in staged.scenario.expects:
        if expect.condition is None:
            _check_order(staged, expect)
        elif _check_reads(staged, expect.condition, NOTHING_BOUND):
            _check_condition(staged, expect.condition)


# --- names and functions ------------------------------------------------------------------------------------


def _check_reads(staged: Staged, expr: Expr, bound: frozenset[str]) -> bool:
    """Whether everything that is read is a part of the world."""
    if isinstance(expr, Ref):
        return expr.name in bound or expr.name in NAMES or _unknown(staged, expr, bound)
    if isinstance(expr, Call) and not expr.template:
        if expr.function.text in FUNCTIONS:
            return _check_function(staged, expr)
        if signature(expr.function.text) is None:
            known = (*FUNCTIONS, "len", "contains", "count", "startsWith", "unique", "all", "any")
            mend = staged.findings.did_you_mean(expr.function, known)
            message = f"there is no function `{expr.function.text}`"
            staged.findings.add("WT0118", message, expr.function.span, **mend)
            return False
    if isinstance(expr, Comprehension):
        inner = bound | {expr.variable.text}
        parts = [_check_reads(staged, expr.source, bound), _check_reads(staged, expr.item, inner)]
        parts += [] if expr.condition is None else [_check_reads(staged, expr.condition, inner)]
        return all(parts)
    parts = [_check_reads(staged, part, bound) for part in children(expr)]
    return all(parts)


def _unknown(staged: Staged, expr: Ref, bound: frozenset[str]) -> bool:
    name = Name(expr.name, expr.span)
    declaration = staged.typed.scope.lookup(expr.name.split("/")[0])
    mend = staged.findings.did_you_mean(name, (*NAMES, *bound))
    if declaration is not None and declaration.is_node:
        mend["help"] = f"ask the world about the node: `result({expr.name}).output`, `visits({expr.name})`"
    elif mend["help"] is None:
        mend["help"] = f"the world has {', '.join(f'`{each}`' for each in NAMES)}"
    staged.findings.add("WT1216", f"the world has no `{expr.name}`", expr.span, **mend)
    return False


def _check_function(staged: Staged, call: Call) -> bool:
    name = call.function.text
    found = reading(call)
    if found is None:
        staged.findings.add("WT1216", f"`{name}` takes {FUNCTIONS[name].words}", call.span)
        return False
    if found.node is None or found.rule.kinds is None:
        return True
    path = path_in(found.node.name, found.node.span)
    node = staged.find(path)
    if node is None:
        return False
    if node.kind not in found.rule.kinds:
        message = f"`{name}` takes {found.rule.words}; `{path.text}` is {WORDS[node.kind]}"
        staged.findings.add("WT1216", message, found.node.span)
        return False
    if found.texts and found.texts[0] not in OUTCOMES:
        listed = ", ".join(f'"{each}"' for each in OUTCOMES)
        staged.findings.add("WT1216", f"a node ends {listed}", call.arguments[1].span)
        return False
    return True


# --- conditions ---------------------------------------------------------------------------------------------


def _check_condition(staged: Staged, condition: Expr) -> None:
    rewritten = rewrite(condition)
    if not rewritten.reads:
        message = "this says nothing about the run, so it holds or fails whatever happens"
        staged.findings.add("WT1217", message, condition.span)
        return
    staged.typing.condition(staged.typed.scope, rewritten)
    _check_always(staged, condition)


def _check_always(staged: Staged, expr: Expr) -> None:
    """Comparisons of numbers that hold for every number there can be, as in `visits(a) >= 0`."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Unary) and part.operator == "not":
            waiting.append(part.operand)
        elif isinstance(part, Binary) and part.operator in ("and", "or"):
            waiting += [part.left, part.right]
        elif isinstance(part, Binary) and part.operator in ("<", "<=", ">", ">="):
            _check_comparison(staged, part)


def _check_comparison(staged: Staged, part: Binary) -> None:
    sides: list[Shape] = []
    for side in (part.left, part.right):
        rewritten = rewrite(side)
        if any(read.name in MAY_BE_MISSING for read in rewritten.reads.values()):
            return
        with staged.findings.muted():
            env = staged.typing.env(staged.typed.scope, rewritten)
            sides.append(staged.typing.expressions.shape(rewritten.expr, env))
    always = _compared(part.operator, *sides)
    if always is not None:
        word = "holds" if always else "fails"
        staged.findings.add("WT1217", f"this {word} whatever happens", part.span)


def _compared(operator: str, left: Shape, right: Shape) -> bool | None:
    """What a comparison of two ranges always gives; None when it depends."""
    one = [as_range(part) for part in members(left)]
    other = [as_range(part) for part in members(right)]
    if not one or not other or None in one or None in other:
        return None
    ranges = [part for part in one if part is not None]
    others = [part for part in other if part is not None]
    low, high = min(part.low for part in ranges), max(part.high for part in ranges)
    least, most = min(part.low for part in others), max(part.high for part in others)
    match operator:
        case "<":
            return True if high < least else False if low >= most else None
        case "<=":
            return True if high <= least else False if low > most else None
        case ">":
            return True if low > most else False if high <= least else None
        case _:
            return True if low >= most else False if high < least else None


# --- order --------------------------------------------------------------------------------------------------


def _check_order(staged: Staged, expect: Expect) -> None:
    nodes = [(path, staged.find(path)) for path in expect.order]
    for (before, first), (after, second) in pairwise(nodes):
        if first is not None and second is not None and not _may_follow(staged, first, second):
            staged.findings.add(
                "WT1218",
                f"no edge leads from `{before.text}` on to `{after.text}`",
                after.span,
                secondary=[(before.span, "the node before")],
            )


def _may_follow(staged: Staged, first: Found, second: Found) -> bool:
    """Whether a run can come to the second after the first: at the level where their paths part, or around a
    cycle that both lie in.
    """
    for (scope, one), (_, other) in zip(first.way, second.way, strict=False):
        graph = staged.typing.workflows[scope.id].graph.digraph
        onward = any(graph.reaches(after, other.name) for after in graph.successors(one.name))
        if onward:
            return True
        if one.name != other.name:
            return False
    # One lies inside the other, which is entered before what it holds.
    return len(first.way) < len(second.way)
