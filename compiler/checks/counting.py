"""What surely becomes of a match as a count of visits grows: whether a condition that counts ends a cycle.

Expressions are evaluated with the count beyond every number and all else unknown. The result is the set of
values that are possible then, or None where any is. A comparison for equality is taken at the moment when it
holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from windtunnel.compiler.graph import Route
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Kind
from windtunnel.dsl.syntax import (
    Binary,
    Call,
    Compute,
    Entry,
    Expr,
    Field,
    If,
    Let,
    Literal,
    Record,
    Ref,
    Text,
    Unary,
    walk,
)

Value = tuple[str, str | int | float | bool | None]
"""A value with its kind, so that `true` and `1` differ; ("count", 1) grows for ever, ("count", -1) falls."""

MAX_FOLLOWED: Final = 20
"""Computed nodes and `let`s, each read by the one before it, that are followed."""

TRUE: Final[Value] = ("bool", True)
FALSE: Final[Value] = ("bool", False)
_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COUNTS: Final[frozenset[Value]] = frozenset([("count", 1), ("count", -1)])


@dataclass(frozen=True, slots=True)
class Count:
    """A count that an expression reads: the visits of a node, or those that ended in one way."""

    node: str
    outcome: str | None


def count_of(call: Expr) -> Count | None:
    """The count that `visits(…)` gives."""
    if not isinstance(call, Call) or call.function.text != "visits" or not call.arguments:
        return None
    node = call.arguments[0]
    if not isinstance(node, Ref):
        return None
    if not call.arguments[1:]:
        return Count(node.name, None)
    outcome = call.arguments[1]
    return Count(node.name, outcome.constant) if isinstance(outcome, Text) else None


def value_of(case: str | int | float | bool | None) -> Value:
    """A case of a match as a value."""
    if case is None or isinstance(case, bool):
        return ("null" if case is None else "bool", case)
    return ("text" if isinstance(case, str) else "number", case)


def subject_reads(typed: Typed, route: Route) -> Iterator[Expr]:
    """Every part of what a match looks at, through `let`s and computed nodes."""
    assert route.match is not None, "only a route with a match has a subject"
    return parts_of(typed, route.match.subject, route.source)


def parts_of(typed: Typed, expr: Expr, own: str, *, computed: bool = True) -> Iterator[Expr]:
    """Every part of an expression, through `let`s and, if `computed`, through computed nodes.

    `output` is what `own` gives.
    """
    followed = (Let, Compute) if computed else (Let,)
    seen: set[str] = set()
    stack = [expr]
    while stack:
        for part in walk(stack.pop()):
            yield part
            if isinstance(part, Ref) and part.name not in seen:
                seen.add(part.name)
                declaration = typed.scope.lookup(own if part.name == "output" else part.name)
                if declaration is not None and isinstance(declaration.tree, followed):
                    stack.append(declaration.tree.value)


def leads_to(typed: Typed, route: Route, count: Count, inside: set[str]) -> frozenset[int] | None:
    """The branches that the match of a route can take once the count is large; None where that may be any.

    Computed nodes are followed where they lie `inside` the cycle, since only those are computed again.
    """
    assert route.match is not None, "only a route with a match has branches to choose from"
    possible = _Growing(typed, route.source, count, inside).values(route.match.subject, ())
    if possible is None or possible & _COUNTS:
        return None
    return frozenset(_branch(route, value) for value in possible)


def _branch(route: Route, value: Value) -> int:
    """The branch of a value; where no arm takes it the run fails, which any branch may stand for."""
    otherwise = 0
    for index, branch in enumerate(route.branches):
        if branch.cases is None:
            otherwise = index
        elif any(value_of(case) == value for case in branch.cases):
            return index
    return otherwise


Values = frozenset[Value] | None
"""The possible values; None for any."""


class _Growing:
    """Evaluates expressions with one count beyond every number."""

    def __init__(self, typed: Typed, own: str, count: Count, inside: set[str]) -> None:
        self._typed = typed
        self._own = own
        self._count = count
        self._inside = inside
        self._open: set[str] = set()
        self._known: dict[tuple[str, tuple[str, ...]], Values] = {}

    def values(self, expr: Expr, fields: tuple[str, ...]) -> Values:
        """What is possible in the fields of an expression."""
        match expr:
            case Field():
                return self.values(expr.target, (expr.name.text, *fields))
            case Record() if fields:
                return self._field(expr, fields)
            case Ref():
                return self._read(expr, fields)
            case If():
                truth = self.values(expr.condition, ())
                found: list[Values] = []
                if truth is None or TRUE in truth:
                    found.append(self.values(expr.consequent, fields))
                if truth is None or FALSE in truth:
                    found.append(self.values(expr.alternative, fields))
                return _either(found)
        return None if fields else self._plain(expr)

    def _field(self, record: Record, fields: tuple[str, ...]) -> Values:
        for entry in reversed(record.entries):
            if not isinstance(entry, Entry):
                return None
            if entry.key.text == fields[0]:
                return self.values(entry.value, fields[1:])
        return frozenset([("null", None)])

    def _read(self, ref: Ref, fields: tuple[str, ...]) -> Values:
        name = self._own if ref.name == "output" else ref.name
        declaration = self._typed.scope.lookup(name)
        if declaration is None or name in self._open:
            return None
        again = declaration.kind is not Kind.COMPUTE or name in self._inside
        if not isinstance(declaration.tree, Let | Compute) or not again:
            return None
        if (name, fields) in self._known or len(self._open) >= MAX_FOLLOWED:
            return self._known.get((name, fields))
        self._open.add(name)
        found = self._known[name, fields] = self.values(declaration.tree.value, fields)
        self._open.discard(name)
        return found

    def _plain(self, expr: Expr) -> Values:
        match expr:
            case Literal():
                return frozenset([value_of(expr.value)])
            case Text() if expr.constant is not None:
                return frozenset([value_of(expr.constant)])
            case Call() if count_of(expr) == self._count:
                return frozenset([("count", 1)])
            case Unary(operator="not"):
                truth = self.values(expr.operand, ())
                return None if truth is None else frozenset(FALSE if v == TRUE else TRUE for v in truth)
            case Unary():
                return _negated(self.values(expr.operand, ()))
            case Binary():
                return self._binary(expr)
        return None

    def _binary(self, expr: Binary) -> Values:
        left, right = self.values(expr.left, ()), self.values(expr.right, ())
        match expr.operator:
            case "or":
                return _joined(left, right, TRUE, FALSE)
            case "and":
                return _joined(left, right, FALSE, TRUE)
            case "??" if left is not None:
                return _either([left - {("null", None)}, right]) if ("null", None) in left else left
            case "+" | "-":
                grows = [v for v in (left, right if expr.operator == "+" else _negated(right)) if _sign(v)]
                return grows[0] if len(grows) == 1 else None
            case "<" | "<=" | ">" | ">=":
                return _compared(left, expr.operator) or _compared(right, _FLIPPED[expr.operator])
            case "==" | "!=" if bool(_sign(left)) != bool(_sign(right)):
                return frozenset([TRUE if expr.operator == "==" else FALSE])
        return None


def _either(found: list[Values]) -> Values:
    known = [values for values in found if values is not None]
    return frozenset().union(*known) if len(known) == len(found) else None


def _sign(values: Values) -> int:
    """1 for what grows beyond every number, -1 for what falls below, 0 for all else."""
    if values is None or len(values) != 1:
        return 0
    ((kind, sign),) = values
    return int(sign == 1) or -1 if kind == "count" else 0


def _negated(values: Values) -> Values:
    sign = _sign(values)
    return frozenset([("count", -sign)]) if sign else None


def _joined(left: Values, right: Values, strong: Value, weak: Value) -> Values:
    """`or` and `and`: the strong value of either side decides."""
    surely, never = frozenset([strong]), frozenset([weak])
    if surely in (left, right):
        return surely
    if left == never:
        return right
    return left if right == never else None


def _compared(side: Values, operator: str) -> Values:
    """How a count stands to any number that does not grow with it."""
    sign = _sign(side)
    return frozenset([TRUE if (sign == 1) == (operator in (">", ">=")) else FALSE]) if sign else None
