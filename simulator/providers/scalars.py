"""Values of the types that hold no other values."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.canonical import MAX_WHOLE, canonical
from windtunnel.compiler.snapshot import IntType, JsonType, LiteralValueType, NumberType, SimpleType

_KINDS: Final[tuple[JsonValue, ...]] = (
    {"note": "alpha"},
    "alpha",
    [],
    None,
    True,
    0,
    {},
    "",
    [{"a": [1, "x"]}],
)


def simple(of: SimpleType) -> tuple[JsonValue, ...]:
    """All values of `bool` and `null`, two of `duration` in milliseconds."""
    return {"bool": (True, False), "null": (None,), "duration": (1_000, 0)}[of.kind]


def within(of: IntType | NumberType) -> list[int | float]:
    """Numbers in the bounds: an ordinary one first, then the bounds themselves and their neighbours."""
    low, high = bounds(of)
    wanted: list[int | float] = [1, 0, low, high, low + 1, high - 1, -1]
    if isinstance(of, NumberType):
        wanted += [(low + high) / 2, 0.5]
    fitting = [number for number in wanted if low <= number <= high]
    if isinstance(of, NumberType) and not fitting and low <= high:
        fitting = [low]
    return sorted(set(fitting), key=fitting.index)


def outside(of: IntType | NumberType) -> list[int | float]:
    """Numbers next to a bound and beyond it."""
    return [
        number
        for bound, step in ((of.min, -1), (of.max, 1))
        if bound is not None and abs(number := bound + step) <= MAX_WHOLE
    ]


def bounds(of: IntType | NumberType) -> tuple[int | float, int | float]:
    """The least and greatest number that JSON keeps exactly; the wrong way round if there is none."""
    low = -MAX_WHOLE if of.min is None else max(of.min, -MAX_WHOLE)
    high = MAX_WHOLE if of.max is None else min(of.max, MAX_WHOLE)
    return low, high


def any_json(of: JsonType) -> list[JsonValue]:
    """Values of every JSON kind whose text is short enough."""
    return [value for value in _KINDS if of.max is None or len(canonical(value)) <= of.max]


def not_simple(of: SimpleType) -> tuple[JsonValue, ...]:
    """Values of other types."""
    wrong: dict[str, tuple[JsonValue, ...]] = {
        "bool": (0, "true", None),
        "null": (0, "", False),
        "duration": (-1, 0.5, "1s", None),
    }
    return wrong[of.kind]


def not_literal(of: LiteralValueType) -> list[JsonValue]:
    """Values near the literal, and ones of other types."""
    value = of.value
    near: list[JsonValue] = [None, "", 0, True, False, [value], str(value) + "x"]
    if isinstance(value, str):
        near += [value.upper(), value + " "]
    text = canonical(value)
    return [wrong for wrong in near if canonical(wrong) != text]
