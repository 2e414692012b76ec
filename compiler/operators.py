"""The shapes of operators: what arithmetic and comparison make of the shapes of their sides.

Ranges are carried along, so that `input.minutes * 1m` is known to be positive when `minutes` is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from windtunnel.compiler.types import (
    NEVER,
    NULL,
    UNKNOWN,
    DurationShape,
    IntShape,
    ListShape,
    LiteralShape,
    NeverShape,
    NumberShape,
    Shape,
    TextShape,
    UnknownShape,
    literal,
    members,
)
from windtunnel.compiler.unions import join, union

MAX_LITERAL: Final = 200
"""Longest text that is still known letter by letter after joining."""
MAX_WHOLE: Final = 2**53 - 1
"""Largest whole number that is exact; a range that leaves it is open."""


def arithmetic(operator: str, left: Shape, right: Shape) -> Shape | None:
    """The shape of `left operator right` for `+ - * / %`, or None where the operator does not apply.

    Sides are without null. The result has null in it where the right side of a division may be zero.
    """
    if isinstance(left, UnknownShape) or isinstance(right, UnknownShape):
        return UNKNOWN
    results: list[Shape] = []
    for one in members(left):
        for other in members(right):
            if isinstance(one, NeverShape) or isinstance(other, NeverShape):
                continue
            result = _pair(operator, one, other)
            if result is None:
                return None
            results.append(result)
    return join(results) if results else NEVER


def _pair(operator: str, left: Shape, right: Shape) -> Shape | None:
    if operator == "+":
        joined = _joined(left, right)
        if joined is not None:
            return joined
    one, other = as_range(left), as_range(right)
    if one is None or other is None:
        return None
    kind = _kind(operator, one.kind, other.kind)
    if kind is None:
        return None
    if operator in "/%":
        result = _divided(operator, one, other, kind)
        return union((result, NULL)) if other.holds(0) else result
    low, high = _BOUNDS[operator](one, other)
    return ranged(kind, low, high)


def _joined(left: Shape, right: Shape) -> Shape | None:
    if isinstance(left, ListShape) and isinstance(right, ListShape):
        high = None if left.high is None or right.high is None else left.high + right.high
        return ListShape(join((left.item, right.item)), left.low + right.low, high)
    one, other = as_text(left), as_text(right)
    if one is None or other is None:
        return None
    if isinstance(left, LiteralShape) and isinstance(right, LiteralShape):
        text = f"{left.value}{right.value}"
        if len(text) <= MAX_LITERAL:
            return literal(text)
    high = None if one.high is None or other.high is None else one.high + other.high
    return TextShape(one.low + other.low, high)


def as_text(shape: Shape) -> TextShape | None:
    """The lengths of a text shape or literal, or None for another kind."""
    if isinstance(shape, TextShape):
        return shape
    if isinstance(shape, LiteralShape) and isinstance(shape.value, str):
        return TextShape(len(shape.value), len(shape.value))
    return None


class Range:
    """A numeric shape as an interval; open ends are infinite."""

    __slots__ = ("high", "kind", "low")

    def __init__(self, kind: str, low: float | None, high: float | None) -> None:
        self.kind = kind
        self.low: float = -math.inf if low is None else low
        self.high: float = math.inf if high is None else high

    def holds(self, value: float) -> bool:
        """Whether the value lies inside."""
        return self.low <= value <= self.high


def as_range(shape: Shape) -> Range | None:
    """The interval of a number, a whole number or a duration, or None for another kind."""
    match shape:
        case IntShape():
            return Range("int", shape.low, shape.high)
        case NumberShape():
            return Range("number", shape.low, shape.high)
        case DurationShape():
            return Range("duration", shape.low, shape.high)
        case LiteralShape() if shape.kind in ("int", "number") and not isinstance(shape.value, str):
            return Range(shape.kind, shape.value, shape.value)
    return None


def ranged(kind: str, low: float, high: float) -> Shape:
    """The shape of an interval; bounds that are infinite or no longer exact are open."""
    if kind == "number":
        return NumberShape(None if math.isinf(low) else low, None if math.isinf(high) else high)
    whole_low = None if abs(low) > MAX_WHOLE else math.floor(low)
    whole_high = None if abs(high) > MAX_WHOLE else math.ceil(high)
    if kind == "duration":
        return DurationShape(whole_low, whole_high)
    if whole_low is not None and whole_low == whole_high:
        return literal(whole_low)
    return IntShape(whole_low, whole_high)


def _kind(operator: str, left: str, right: str) -> str | None:
    """The kind of the result, or None where the operator does not apply to these kinds."""
    if "duration" not in (left, right):
        return "number" if "number" in (left, right) else "int"
    if left == right == "duration":
        return {"+": "duration", "-": "duration", "%": "duration", "/": "number"}.get(operator)
    if operator == "*" or (operator == "/" and left == "duration"):
        return "duration"
    return None


def _sum(one: Range, other: Range) -> tuple[float, float]:
    return one.low + other.low, one.high + other.high


def _difference(one: Range, other: Range) -> tuple[float, float]:
    return one.low - other.high, one.high - other.low


def _product(one: Range, other: Range) -> tuple[float, float]:
    corners = [_times(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    return min(corners), max(corners)


def _times(left: float, right: float) -> float:
    return 0 if left == 0 or right == 0 else left * right


_BOUNDS: Final[dict[str, Callable[[Range, Range], tuple[float, float]]]] = {
    "+": _sum,
    "-": _difference,
    "*": _product,
}


def _divided(operator: str, one: Range, other: Range, kind: str) -> Shape:
    """Quotients and remainders; only what is never negative keeps a range."""
    if one.low < 0 or other.low < 0:
        return ranged(kind, -math.inf, math.inf)
    if operator == "%":
        high = min(one.high, other.high if kind == "number" else other.high - 1)
        return ranged(kind, 0, max(high, 0))
    if other.low <= 0:
        return ranged(kind, 0, math.inf)
    low = 0 if math.isinf(other.high) else one.low / other.high
    high = one.high / other.low
    if kind == "number" or math.isinf(high):
        return ranged(kind, low if kind == "number" else math.floor(low), high)
    return ranged(kind, math.floor(low), math.floor(high))


def negated(shape: Shape) -> Shape | None:
    """The shape of `-x`, or None where it does not apply."""
    if isinstance(shape, UnknownShape | NeverShape):
        return shape
    results: list[Shape] = []
    for member in members(shape):
        part = as_range(member)
        if part is None:
            return None
        results.append(ranged(part.kind, -part.high, -part.low))
    return join(results)


def ordered_kind(shape: Shape) -> str | None:
    """Which order a shape belongs to: `number`, `duration` or `text`; None when it has none or several."""
    found: set[str] = set()
    for member in members(shape):
        if as_text(member) is not None:
            found.add("text")
            continue
        part = as_range(member)
        if part is None:
            return None
        found.add("duration" if part.kind == "duration" else "number")
    return found.pop() if len(found) == 1 else None


def is_whole(shape: Shape) -> bool:
    """Whether every value is a whole number or a duration, so that `/` drops the fraction."""
    parts = [as_range(member) for member in members(shape)]
    return all(part is not None and part.kind in ("int", "duration") for part in parts)
