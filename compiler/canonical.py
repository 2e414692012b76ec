"""Canonical JSON (RFC 8785) and the digests made of it.

One value has one text: no white space, keys sorted by UTF-16 code units, strings with the fewest escapes,
numbers as ECMAScript writes them. A JSON value is None, bool, int, float, str, list, or dict with text keys.
`normalise` gives each value one Python form: a whole number within ±(2^53 − 1) is an int, any other number a
float, so that what is read back from canonical text equals what was written.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic import JsonValue


MAX_DEPTH: Final = 200
"""Lists and records inside one another; a value nested deeper has no canonical text."""

MAX_STORED_DEPTH: Final = 600
"""The same for snapshots: one level of a type is up to four of its JSON."""

MAX_WHOLE: Final = 2**53 - 1
"""The largest whole number whose neighbours a double can still tell apart."""


class CanonicalError(ValueError):
    """The value has no canonical text; the message says why."""


def canonical(value: JsonValue, max_depth: int = MAX_DEPTH) -> str:
    """The canonical text of a JSON value.

    Raises CanonicalError for NaN, infinities, whole numbers that a double cannot hold, lone surrogates, keys
    that are not text, and values nested deeper than `max_depth`.
    """
    text = _text(value, max_depth)
    _refuse_surrogates(text)
    return text


def digest(value: JsonValue, max_depth: int = MAX_DEPTH) -> str:
    """`sha256:` and the hex digest of the canonical text in UTF-8. Raises CanonicalError."""
    return "sha256:" + hashlib.sha256(canonical(value, max_depth).encode("utf-8")).hexdigest()


def number_text(number: int | float) -> str:
    """A number as ECMAScript's `Number::toString` writes it. Raises CanonicalError."""
    if isinstance(number, int):
        if abs(number) <= MAX_WHOLE:
            return str(number)
        number = _exact_double(number)
    if not math.isfinite(number):
        raise CanonicalError("a number must be finite")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    digits, exponent = _shortest(abs(number))
    # The value is 0.DIGITS × 10^exponent; the five shapes below are those of ECMA-262.
    count = len(digits)
    if count <= exponent <= 21:
        return sign + digits + "0" * (exponent - count)
    if 0 < exponent <= 21:
        return sign + digits[:exponent] + "." + digits[exponent:]
    if -6 < exponent <= 0:
        return sign + "0." + "0" * -exponent + digits
    power = exponent - 1
    mantissa = digits if count == 1 else digits[0] + "." + digits[1:]
    return f"{sign}{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"


def normalise(value: JsonValue, max_depth: int = MAX_DEPTH) -> JsonValue:
    """A copy in which every number has its one form. Raises CanonicalError where `canonical` does."""
    return _normalise(value, max_depth)


def normal_number(number: int | float) -> int | float:
    """An int for a whole number within ±(2^53 − 1), else a float. Raises CanonicalError if neither fits."""
    if isinstance(number, int):
        return number if abs(number) <= MAX_WHOLE else _exact_double(number)
    if not math.isfinite(number):
        raise CanonicalError("a number must be finite")
    if number.is_integer() and abs(number) <= MAX_WHOLE:
        return int(number)
    return number


def parse_json(text: str | bytes, max_depth: int = MAX_DEPTH) -> JsonValue:
    """The normalised value of a JSON text. Raises CanonicalError, also for a key twice in one record."""
    try:
        value: JsonValue = json.loads(
            text.decode("utf-8") if isinstance(text, bytes) else text,
            object_pairs_hook=_unique_pairs,
            parse_constant=_refuse_constant,
            parse_int=_whole,
        )
    except RecursionError:
        raise CanonicalError("lists and records are nested too deep") from None
    except json.JSONDecodeError as error:
        raise CanonicalError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except UnicodeDecodeError:
        raise CanonicalError("not UTF-8") from None
    return normalise(value, max_depth)


def _text(value: JsonValue, room: int) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, (list, tuple)):
        return _list_text(value, room)
    if isinstance(value, dict):
        return _record_text(value, room)
    raise CanonicalError(f"{type(value).__name__} is no JSON value")


# Snapshots are large and deep: one frame for each level, and what is frequent asked first.
def _list_text(items: Iterable[JsonValue], room: int) -> str:
    _refuse_depth(room)
    found: list[str] = []
    for item in items:  # a comprehension would be one more frame
        found.append(_WRITERS.get(type(item), _text)(item, room - 1))
    return f"[{','.join(found)}]"


def _record_text(record: dict[str, JsonValue], room: int) -> str:
    _refuse_depth(room)
    found: list[str] = []
    for key in _sorted_keys(record):
        item = record[key]
        found.append(f"{encode_basestring(key)}:{_WRITERS.get(type(item), _text)(item, room - 1)}")
    return f"{{{','.join(found)}}}"


_WRITERS: Final[dict[type[Any], Callable[[Any, int], str]]] = {
    str: lambda text, _: encode_basestring(text),
    list: _list_text,
    dict: _record_text,
}


def _sorted_keys(record: dict[str, JsonValue]) -> list[str]:
    try:
        keys = sorted(record)
        plain = "".join(keys).isascii()
    except TypeError:
        raise CanonicalError("a key must be text") from None
    # Code points and UTF-16 code units sort alike unless a key leaves the basic plane.
    return keys if plain else sorted(keys, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def _normalise(value: JsonValue, room: int) -> JsonValue:
    if isinstance(value, str):
        _refuse_surrogates(value)
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return normal_number(value)
    if isinstance(value, (list, tuple)):
        _refuse_depth(room)
        return [_normalise(item, room - 1) for item in value]
    if isinstance(value, dict):
        _refuse_depth(room)
        for key in value:
            if not isinstance(key, str):
                raise CanonicalError(f"a key must be text, not {type(key).__name__}")
            _refuse_surrogates(key)
        return {key: _normalise(item, room - 1) for key, item in value.items()}
    raise CanonicalError(f"{type(value).__name__} is no JSON value")


def _exact_double(number: int) -> float:
    try:
        double = float(number)
    except OverflowError:
        double = math.inf
    # Canonical text may round the last digits of a large double, so its own text counts as exact too.
    if math.isinf(double) or (int(double) != number and number_text(double) != str(number)):
        shown = f" {number}" if abs(number) < 10**40 else ""
        raise CanonicalError(f"the whole number{shown} cannot be kept exactly; give it as text")
    return double


def _shortest(number: float) -> tuple[str, int]:
    """Shortest digits that read back as `number` (positive), and the exponent e in 0.DIGITS × 10^e."""
    mantissa, _, power = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    exponent = len(whole) + (int(power) if power else 0)
    stripped = digits.lstrip("0")
    exponent -= len(digits) - len(stripped)
    return stripped.rstrip("0"), exponent


def _refuse_depth(room: int) -> None:
    if room <= 0:
        raise CanonicalError("lists and records are nested too deep")


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise CanonicalError("text holds half of a surrogate pair") from None


def _refuse_constant(name: str) -> float:
    raise CanonicalError(f"a number must be finite, not {name}")


def _whole(text: str) -> int | float:
    # Python refuses to read very long whole numbers; none of them could be kept exactly anyway.
    if len(text) > 400:
        raise CanonicalError("a whole number of more than 400 digits cannot be kept exactly; give it as text")
    return int(text)


def _unique_pairs(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    record = dict(pairs)
    if len(record) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise CanonicalError(
                    f"the key {json.dumps(key, ensure_ascii=False)} stands twice in one record"
                )
            seen.add(key)
    return record
