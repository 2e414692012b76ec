"""The functions of the language, by name. Each takes JSON values and returns one; only limits raise.

A function that gets a value of a kind it does not know, or another number of arguments, returns null.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from windtunnel.compiler.canonical import CanonicalError, digest
from windtunnel.compiler.values import (
    MAX_TEXT,
    EvaluationError,
    add,
    bounded_list,
    bounded_text,
    canonical_text,
    equal,
    is_number,
    multiply,
    negate,
    settle,
    sort_key,
    text_of,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

Function: TypeAlias = "Callable[..., JsonValue]"

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space, spelled out so that no version of Unicode changes a result."""


def length(value: JsonValue) -> JsonValue:
    """Code points of a text, items of a list, entries of a record."""
    return len(value) if isinstance(value, (str, list, dict)) else None


def json_text(value: JsonValue) -> JsonValue:
    """Canonical JSON."""
    return bounded_text(canonical_text(value))


def digest_of(value: JsonValue) -> JsonValue:
    """`sha256:` over canonical JSON."""
    try:
        return digest(value)
    except CanonicalError as error:
        raise EvaluationError(f"a value cannot be written as JSON: {error}") from None


def unique(items: JsonValue) -> JsonValue:
    """Whether no two items are equal."""
    if not isinstance(items, list):
        return None
    # Equal values have equal canonical text, so this stays linear.
    return len({canonical_text(item) for item in items}) == len(items)


def join(items: JsonValue, separator: JsonValue = "") -> JsonValue:
    """The items as text with the separator between them."""
    if not isinstance(items, list) or not isinstance(separator, str):
        return None
    texts = [text_of(item) for item in items]
    _refuse_length(sum(map(len, texts)) + len(separator) * max(0, len(texts) - 1))
    return separator.join(texts)


def split(text: JsonValue, separator: JsonValue) -> JsonValue:
    """The pieces between the separators; with an empty separator the code points."""
    if not isinstance(text, str) or not isinstance(separator, str):
        return None
    pieces: list[JsonValue] = list(text.split(separator) if separator else text)
    return bounded_list(pieces)


def trim(text: JsonValue) -> JsonValue:
    """The text without white space at both ends."""
    return text.strip(WHITE_SPACE) if isinstance(text, str) else None


def lower(text: JsonValue) -> JsonValue:
    """The text in lower case by Unicode's full mapping."""
    return bounded_text(text.lower()) if isinstance(text, str) else None


def upper(text: JsonValue) -> JsonValue:
    """The text in upper case by Unicode's full mapping."""
    return bounded_text(text.upper()) if isinstance(text, str) else None


def slice_of(value: JsonValue, start: JsonValue, end: JsonValue = None) -> JsonValue:
    """Code points or items from `start` to before `end`; bounds are clamped, a null `end` is the end."""
    if not isinstance(value, (str, list)) or not _is_index(start) or not (end is None or _is_index(end)):
        return None
    low = max(0, _index(start))
    high = len(value) if end is None else max(0, _index(end))
    return value[low:high]


def contains(container: JsonValue, part: JsonValue) -> JsonValue:
    """Whether the text holds the part, or the list holds an equal item."""
    if isinstance(container, str) and isinstance(part, str):
        return part in container
    if isinstance(container, list):
        return any(equal(part, item) for item in container)
    return None


def starts_with(text: JsonValue, part: JsonValue) -> JsonValue:
    """Whether the text begins with the part."""
    return text.startswith(part) if isinstance(text, str) and isinstance(part, str) else None


def ends_with(text: JsonValue, part: JsonValue) -> JsonValue:
    """Whether the text ends with the part."""
    return text.endswith(part) if isinstance(text, str) and isinstance(part, str) else None


def replace(text: JsonValue, old: JsonValue, new: JsonValue) -> JsonValue:
    """Every `old`, from the left, replaced by `new`; an empty `old` changes nothing."""
    if not isinstance(text, str) or not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return text
    _refuse_length(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def lines(text: JsonValue) -> JsonValue:
    """The lines of the text (`\\n`, `\\r\\n`, `\\r` end one); a newline at the end begins no further line."""
    if not isinstance(text, str):
        return None
    pieces: list[JsonValue] = list(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    if pieces[-1] == "":
        pieces.pop()
    return bounded_list(pieces)


def bullets(items: JsonValue) -> JsonValue:
    """One `- item` a line, later lines of an item indented by two; an empty list is the empty text."""
    if not isinstance(items, list):
        return None
    points = ["- " + text_of(item).replace("\n", "\n  ") for item in items]
    _refuse_length(sum(map(len, points)) + max(0, len(points) - 1))
    return "\n".join(points)


def keys(record: JsonValue) -> JsonValue:
    """The keys, sorted by code points."""
    return [*sorted(record)] if isinstance(record, dict) else None


def values(record: JsonValue) -> JsonValue:
    """The values in the order of `keys`."""
    return [record[key] for key in sorted(record)] if isinstance(record, dict) else None


def first(items: JsonValue) -> JsonValue:
    """The first item, or null."""
    return items[0] if isinstance(items, list) and items else None


def last(items: JsonValue) -> JsonValue:
    """The last item, or null."""
    return items[-1] if isinstance(items, list) and items else None


def sum_of(items: JsonValue) -> JsonValue:
    """The numbers added from the left; 0 when there is none, null when an item is no number."""
    if not isinstance(items, list):
        return None
    total: JsonValue = 0
    for item in items:
        total = add(total, item) if is_number(item) else None
        if total is None:
            return None
    return total


def least(*arguments: JsonValue) -> JsonValue:
    """The least of a list, or of several arguments: all numbers or all texts; null when there is none."""
    ordered = _ordered(arguments)
    return ordered[0] if ordered else None


def greatest(*arguments: JsonValue) -> JsonValue:
    """The greatest of a list, or of several arguments: all numbers or all texts; null when there is none."""
    ordered = _ordered(arguments)
    return ordered[-1] if ordered else None


def sort(items: JsonValue) -> JsonValue:
    """The items in order: null, false, true, numbers, texts by code points, lists, records. Stable."""
    return sorted(items, key=sort_key) if isinstance(items, list) else None


def all_of(items: JsonValue) -> JsonValue:
    """Whether every item is true; true for the empty list."""
    return all(item is True for item in items) if isinstance(items, list) else None


def any_of(items: JsonValue) -> JsonValue:
    """Whether an item is true."""
    return any(item is True for item in items) if isinstance(items, list) else None


def count(items: JsonValue) -> JsonValue:
    """How many items are neither false nor null."""
    if not isinstance(items, list):
        return None
    return sum(item is not None and item is not False for item in items)


def absolute(number: JsonValue) -> JsonValue:
    """The number without its sign."""
    return negate(number) if isinstance(number, (int, float)) and number < 0 else _number(number)


def rounded(number: JsonValue) -> JsonValue:
    """The nearest whole number; a half goes away from zero."""
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        return None
    whole = math.trunc(number)
    if abs(number - whole) >= 0.5:
        whole += 1 if number > 0 else -1
    return settle(whole)


def floor(number: JsonValue) -> JsonValue:
    """The greatest whole number that is not greater."""
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        return None
    return settle(math.floor(number))


def ceil(number: JsonValue) -> JsonValue:
    """The least whole number that is not less."""
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        return None
    return settle(math.ceil(number))


def defined(value: JsonValue) -> JsonValue:
    """Whether the value is not null."""
    return value is not None


def minutes(number: JsonValue) -> JsonValue:
    """The duration of that many minutes, rounded to whole milliseconds."""
    return rounded(multiply(number, 60_000))


FUNCTIONS: Final[dict[str, tuple[Function, int, int | None]]] = {
    "len": (length, 1, 1),
    "text": (text_of, 1, 1),
    "json": (json_text, 1, 1),
    "digest": (digest_of, 1, 1),
    "unique": (unique, 1, 1),
    "join": (join, 1, 2),
    "split": (split, 2, 2),
    "trim": (trim, 1, 1),
    "lower": (lower, 1, 1),
    "upper": (upper, 1, 1),
    "slice": (slice_of, 2, 3),
    "contains": (contains, 2, 2),
    "startsWith": (starts_with, 2, 2),
    "endsWith": (ends_with, 2, 2),
    "replace": (replace, 3, 3),
    "lines": (lines, 1, 1),
    "bullets": (bullets, 1, 1),
    "keys": (keys, 1, 1),
    "values": (values, 1, 1),
    "first": (first, 1, 1),
    "last": (last, 1, 1),
    "sum": (sum_of, 1, 1),
    "min": (least, 1, None),
    "max": (greatest, 1, None),
    "sort": (sort, 1, 1),
    "all": (all_of, 1, 1),
    "any": (any_of, 1, 1),
    "count": (count, 1, 1),
    "abs": (absolute, 1, 1),
    "round": (rounded, 1, 1),
    "floor": (floor, 1, 1),
    "ceil": (ceil, 1, 1),
    "defined": (defined, 1, 1),
    "minutes": (minutes, 1, 1),
}
"""By name: the function and the least and greatest number of its arguments (None: any number)."""


def _number(value: JsonValue) -> JsonValue:
    return value if is_number(value) else None


def _is_index(value: JsonValue) -> bool:
    return is_number(value) and float(value).is_integer()  # type: ignore[arg-type]


def _index(value: JsonValue) -> int:
    assert isinstance(value, (int, float)), "an index is checked to be a number first"
    return int(value)


def _ordered(arguments: tuple[JsonValue, ...]) -> list[JsonValue]:
    items = arguments[0] if len(arguments) == 1 else list(arguments)
    if not isinstance(items, list):
        return []
    if not (all(map(is_number, items)) or all(isinstance(item, str) for item in items)):
        return []
    return sorted(items, key=sort_key)


def _refuse_length(size: int) -> None:
    if size > MAX_TEXT:
        raise EvaluationError(f"a text of {size} characters would be made; the limit is {MAX_TEXT}")
