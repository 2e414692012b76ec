"""JSON values in expressions: equality, order, text, arithmetic, with a result for every pair of values.

`evaluator` tells the rules; this file is where they are carried out.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from windtunnel.compiler.canonical import MAX_WHOLE, CanonicalError, canonical, number_text

if TYPE_CHECKING:
    from pydantic import JsonValue

MAX_TEXT: Final = 4 * 2**20
"""Code points of a text that an expression may make."""

MAX_ITEMS: Final = 2**20
"""Items of a list that an expression may make."""

_LARGEST: Final = sys.float_info.max


class EvaluationError(ValueError):
    """A result beyond a limit; it ends the node as failed."""


def is_number(value: JsonValue) -> bool:
    """Whether the value is a number; booleans are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def equal(left: JsonValue, right: JsonValue) -> bool:
    """Deep equality of JSON values: `1 == 1.0`, `true != 1`, `{a: null} != {}`."""
    if left is right:
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(item, right[key]) for key, item in left.items())
    return left == right


def canonical_text(value: JsonValue) -> str:
    """Canonical JSON. Raises EvaluationError for a value nested too deep."""
    try:
        return canonical(value)
    except CanonicalError as error:
        raise EvaluationError(f"a value cannot be written as JSON: {error}") from None


def text_of(value: JsonValue) -> str:
    """What `${value}` inserts."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    return canonical_text(value)


def bounded_text(text: str) -> str:
    """The text itself. Raises EvaluationError when it is longer than MAX_TEXT."""
    if len(text) > MAX_TEXT:
        raise EvaluationError(f"a text of {len(text)} characters was made; the limit is {MAX_TEXT}")
    return text


def bounded_list(items: list[JsonValue]) -> list[JsonValue]:
    """The list itself. Raises EvaluationError when it is longer than MAX_ITEMS."""
    if len(items) > MAX_ITEMS:
        raise EvaluationError(f"a list of {len(items)} items was made; the limit is {MAX_ITEMS}")
    return items


SortKey = tuple[int, object]


def sort_key(value: JsonValue) -> SortKey:
    """A total order: null, false, true, numbers, texts by code points, lists by items, records by JSON."""
    if value is None:
        return (0, 0)
    if isinstance(value, bool):
        return (1, value)
    if isinstance(value, (int, float)):
        return (2, value)
    if isinstance(value, str):
        return (3, value)
    if isinstance(value, list):
        return (4, tuple(sort_key(item) for item in value))
    return (5, canonical_text(value))


def settle(number: int | float) -> int | float:
    """The one form of a computed number: int within ±(2^53 − 1), else the nearest finite double."""
    if isinstance(number, int):
        if -MAX_WHOLE <= number <= MAX_WHOLE:
            return number
        try:
            return float(number)
        except OverflowError:
            return _LARGEST if number > 0 else -_LARGEST
    if math.isinf(number):
        return _LARGEST if number > 0 else -_LARGEST
    if number.is_integer() and -MAX_WHOLE <= number <= MAX_WHOLE:
        return int(number)
    return number


def add(left: JsonValue, right: JsonValue) -> JsonValue:
    """Sum of numbers, or texts or lists joined; else null."""
    if isinstance(left, str) and isinstance(right, str):
        return bounded_text(left + right)
    if isinstance(left, list) and isinstance(right, list):
        return bounded_list(left + right)
    return _arithmetic(left, right, lambda a, b: a + b)


def subtract(left: JsonValue, right: JsonValue) -> JsonValue:
    """Difference of numbers; else null."""
    return _arithmetic(left, right, lambda a, b: a - b)


def multiply(left: JsonValue, right: JsonValue) -> JsonValue:
    """Product of numbers; else null."""
    return _arithmetic(left, right, lambda a, b: a * b)


def divide(left: JsonValue, right: JsonValue) -> JsonValue:
    """Quotient of doubles; null for a zero divisor and for what is no number."""
    return _arithmetic(left, right, lambda a, b: float(a) / float(b), zero_is_null=True)


def divide_whole(left: JsonValue, right: JsonValue) -> JsonValue:
    """Quotient without its fraction; null for a zero divisor and for what is no number."""
    return _arithmetic(left, right, _truncated, zero_is_null=True)


def remainder(left: JsonValue, right: JsonValue) -> JsonValue:
    """What truncated division leaves, with the sign of the left side; null for a zero divisor."""
    return _arithmetic(left, right, _remainder, zero_is_null=True)


def negate(value: JsonValue) -> JsonValue:
    """The number with the other sign; else null."""
    return subtract(0, value)


def less(left: JsonValue, right: JsonValue) -> bool:
    """Whether both are numbers, or both texts, and the left comes first."""
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    return _numbers(left, right) and left < right  # type: ignore[operator]


def less_or_equal(left: JsonValue, right: JsonValue) -> bool:
    """Whether both are numbers, or both texts, and the right does not come first."""
    if isinstance(left, str) and isinstance(right, str):
        return left <= right
    return _numbers(left, right) and left <= right  # type: ignore[operator]


def within(item: JsonValue, container: JsonValue) -> bool:
    """Whether the item is in the list, or is a key of the record; else false."""
    if isinstance(container, list):
        return any(equal(item, member) for member in container)
    if isinstance(container, dict):
        return isinstance(item, str) and item in container
    return False


def member(target: JsonValue, index: JsonValue) -> JsonValue:
    """`target[index]`: an item of a list or the value under a key; null outside."""
    if isinstance(target, list):
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(target):
            return target[index]
        return None
    if isinstance(target, dict) and isinstance(index, str):
        return target.get(index)
    return None


OPERATORS: Final[dict[str, Callable[[JsonValue, JsonValue], JsonValue]]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": less,
    "<=": less_or_equal,
    ">": lambda left, right: less(right, left),
    ">=": lambda left, right: less_or_equal(right, left),
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": divide_whole,
    "%": remainder,
    "in": within,
}


def _numbers(left: JsonValue, right: JsonValue) -> bool:
    return is_number(left) and is_number(right)


def _arithmetic(
    left: JsonValue,
    right: JsonValue,
    operation: Callable[[int | float, int | float], int | float],
    *,
    zero_is_null: bool = False,
) -> JsonValue:
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return None
    if isinstance(left, bool) or isinstance(right, bool) or (zero_is_null and right == 0):
        return None
    return settle(operation(left, right))


def _truncated(left: int | float, right: int | float) -> int | float:
    if _whole(left) and _whole(right):
        dividend, divisor = int(left), int(right)
        quotient = abs(dividend) // abs(divisor)
        return quotient if (dividend < 0) == (divisor < 0) else -quotient
    quotient_double = float(left) / float(right)
    return quotient_double if math.isinf(quotient_double) else math.trunc(quotient_double)


def _remainder(left: int | float, right: int | float) -> int | float:
    if isinstance(left, int) and isinstance(right, int):
        rest = abs(left) % abs(right)
        return -rest if left < 0 else rest
    return math.fmod(left, right)


def _whole(number: int | float) -> bool:
    return isinstance(number, int) or number.is_integer()
