"""After how many rounds a match leaves a cycle, because its condition counts visits.

A comparison such as `visits(write) >= input.most` is taken to hold, all else to be unknown; where every value
that the match can then look at leads out of the cycle, the count is a bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from windtunnel.compiler.reading import subexpressions
from windtunnel.compiler.snapshot import ComputeNode, EdgeModel, Expression, Snapshot

MAX_FOLLOWED: Final = 20
"""Computed nodes and `let`s, each read by the one before it, that are followed."""

_TURNED: Final = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}

_Values = frozenset[tuple[str, Any]] | None
"""Possible values, each with its type's name; None for any."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A match leaves at the latest when `node` has been visited `most` times, `more` tells once more.

    With an `outcome` only the visits that ended so are counted.
    """

    node: str
    outcome: str | None
    most: Expression
    more: bool


def counted(snapshot: Snapshot, edge: EdgeModel, members: Collection[str]) -> Iterator[Counted]:
    """Every count that surely makes the match of an edge leave the vertices of a cycle."""
    if edge.subject is None:
        return
    for comparison in _comparisons(snapshot, edge.subject, members):
        operator, left, right = _parts(comparison)
        if right[0] == "visits":
            operator, left, right = _TURNED[operator], right, left
        possible = _Assuming(snapshot, comparison, operator in (">=", ">"), members).values(edge.subject, ())
        if possible is not None and all(_leaves(edge, value, members) for value in possible):
            yield Counted(left[1], left[2], right, operator in (">", "<="))


def _parts(comparison: Any) -> tuple[str, Any, Any]:
    """The operator of a comparison and its sides."""
    return comparison[1], comparison[2], comparison[3]


def _leaves(edge: EdgeModel, value: tuple[str, Any], members: Collection[str]) -> bool:
    """Whether a value leads out; one that no arm takes ends the run."""
    taken = [arm for arm in edge.arms if arm.cases is not None and value in map(_typed, arm.cases)]
    taken = taken or [arm for arm in edge.arms if arm.cases is None]
    return all(arm.to.node not in members for arm in taken)


def _typed(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value


def _comparisons(snapshot: Snapshot, subject: Expression, members: Collection[str]) -> Iterator[Expression]:
    """The comparisons of a count with something that is no count, in all that is computed for the subject."""
    seen: set[str] = set()
    stack: list[Any] = [subject]
    while stack:
        top = stack.pop()
        inner = _definition(snapshot, top, members)
        if inner is not None and top[1] not in seen:
            seen.add(top[1])
            stack.append(inner)
        if top[0] == "op" and top[1] in _TURNED and len(top) == 4:
            counts = [side[0] == "visits" for side in top[2:]]
            if sum(counts) == 1 and not any(_counts(side) for side in top[2:] if side[0] != "visits"):
                yield top
        stack += subexpressions(top)


def _counts(expression: Any) -> bool:
    stack: list[Any] = [expression]
    while stack:
        top = stack.pop()
        if top[0] == "visits":
            return True
        stack += subexpressions(top)
    return False


def _definition(snapshot: Snapshot, expression: Any, members: Collection[str]) -> Any:
    """What stands for a name: the value of a `let`, or of what is computed anew in each round."""
    if expression[0] == "let":
        return snapshot.lets[expression[1]]
    if expression[0] == "node" and expression[1] in members:
        node = snapshot.nodes.get(expression[1])
        return node.value if isinstance(node, ComputeNode) else None
    return None


class _Assuming:
    """Evaluates expressions with one comparison known and everything else unknown."""

    def __init__(
        self, snapshot: Snapshot, comparison: Expression, truth: bool, members: Collection[str]
    ) -> None:
        self._snapshot = snapshot
        self._comparison = comparison
        self._truth = truth
        self._members = members
        self._open: set[str] = set()
        self._known: dict[tuple[str, tuple[str, ...]], _Values] = {}

    def values(self, expression: Any, fields: tuple[str, ...]) -> _Values:
        """What is possible in the fields of an expression."""
        if expression == self._comparison:
            return frozenset([_typed(self._truth)])
        match expression[0]:
            case "const":
                return _inside(expression[1], fields)
            case "field":
                return self.values(expression[1], (expression[2], *fields))
            case "let" | "node":
                return self._named(expression, fields)
            case "record" if fields:
                return self._field(expression[1:], fields)
            case "if":
                return self._branches(expression[1:], fields)
            case "and" | "or":
                return self._joined(expression[1:], strong=expression[0] == "or")
            case "not":
                truth = self.values(expression[1], ())
                return None if truth is None else frozenset(_typed(value is False) for _, value in truth)
        return None

    def _named(self, expression: Any, fields: tuple[str, ...]) -> _Values:
        inner = _definition(self._snapshot, expression, self._members)
        name = expression[1]
        if inner is None or name in self._open:
            return None
        if (name, fields) in self._known or len(self._open) >= MAX_FOLLOWED:
            return self._known.get((name, fields))
        self._open.add(name)
        found = self._known[name, fields] = self.values(inner, fields)
        self._open.discard(name)
        return found

    def _field(self, parts: Any, fields: tuple[str, ...]) -> _Values:
        for part in reversed(parts):
            if part[0] == "spread":
                return None
            if part[1] == fields[0]:
                return self.values(part[2], fields[1:])
        return frozenset([_typed(None)])

    def _branches(self, parts: Any, fields: tuple[str, ...]) -> _Values:
        found: frozenset[tuple[str, Any]] = frozenset()
        for condition, consequent in zip(parts[:-1:2], parts[1::2], strict=False):
            truth = self.values(condition, ())
            if truth == frozenset([_typed(False)]):
                continue
            values = self.values(consequent, fields)
            if values is None or truth == frozenset([_typed(True)]):
                return None if values is None else found | values
            found |= values
        last = self.values(parts[-1], fields)
        return None if last is None else found | last

    def _joined(self, sides: Any, *, strong: bool) -> _Values:
        """`or` and `and`: one side that is surely strong decides; all have to be known else."""
        found = [self.values(side, ()) for side in sides]
        if frozenset([_typed(strong)]) in found:
            return frozenset([_typed(strong)])
        weak = frozenset([_typed(not strong)])
        return weak if all(each == weak for each in found) else None


def _inside(value: Any, fields: tuple[str, ...]) -> _Values:
    """A field of a constant, as a scalar."""
    for name in fields:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return None if isinstance(value, Mapping | list) else frozenset([_typed(value)])
