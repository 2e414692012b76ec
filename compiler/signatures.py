"""The functions of the language on shapes: what each takes and what it gives. Its values: `functions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from windtunnel.compiler.operators import as_range, as_text, ordered_kind, ranged
from windtunnel.compiler.types import (
    BOOL,
    NEVER,
    TEXT,
    UNKNOWN,
    BoolShape,
    IntShape,
    ListShape,
    LiteralShape,
    MapShape,
    NeverShape,
    RecordShape,
    Shape,
    TextShape,
    UnknownShape,
    literal,
    members,
)
from windtunnel.compiler.unions import is_nullable, join, optional, read_shape, without_null


@dataclass(frozen=True, slots=True)
class Unfit:
    """An argument that the function cannot take: which one, and what it should be."""

    index: int
    wanted: str


Signature: TypeAlias = Callable[[Sequence[Shape]], "Shape | Unfit"]


def signature(name: str) -> Signature | None:
    """The function of that name; arguments are without null unless `takes_null` says otherwise."""
    return _SIGNATURES.get(name)


def takes_null(name: str, index: int) -> bool:
    """Whether null is a sensible argument there."""
    return name in ("json", "digest", "defined") or (name, index) in (
        ("contains", 1),
        ("slice", 2),
        ("any", 0),
    )


# --- what arguments are -------------------------------------------------------------------------------------


def _every(shape: Shape, test: Callable[[Shape], bool]) -> bool:
    return all(isinstance(m, UnknownShape | NeverShape) or test(m) for m in members(shape))


def is_text(shape: Shape) -> bool:
    """Whether every value is text."""
    return _every(shape, lambda m: as_text(m) is not None)


def is_number(shape: Shape) -> bool:
    """Whether every value is a number; durations are none."""
    return _every(shape, lambda m: (part := as_range(m)) is not None and part.kind != "duration")


def is_whole_number(shape: Shape) -> bool:
    """Whether every value is a whole number."""
    return _every(shape, lambda m: (part := as_range(m)) is not None and part.kind == "int")


def is_bool(shape: Shape) -> bool:
    """Whether every value is true or false."""
    return _every(
        shape, lambda m: isinstance(m, BoolShape) or (isinstance(m, LiteralShape) and m.kind == "bool")
    )


def is_insertable(shape: Shape) -> bool:
    """Whether every value can stand in text as it is: text, numbers, true and false."""
    return _every(
        shape,
        lambda m: (
            isinstance(m, BoolShape | LiteralShape)
            or as_text(m) is not None
            or ((part := as_range(m)) is not None and part.kind != "duration")
        ),
    )


def _is_list(shape: Shape) -> bool:
    return _every(shape, lambda m: isinstance(m, ListShape))


def items_of(shape: Shape) -> ListShape:
    """The lists of a shape as one; a shape that is none has unknown items."""
    lists = [m for m in members(shape) if isinstance(m, ListShape)]
    merged = join(lists) if lists else ListShape(UNKNOWN)
    return merged if isinstance(merged, ListShape) else ListShape(UNKNOWN)


# --- the functions ------------------------------------------------------------------------------------------


def _length(shape: Shape) -> Shape:
    low, high = 0, None
    if isinstance(shape, ListShape | MapShape):
        low, high = shape.low, shape.high
    elif (text := as_text(shape)) is not None:
        low, high = text.low, text.high
    elif isinstance(shape, RecordShape):
        low = sum(not f.optional for f in shape.fields)
        high = len(shape.fields)
    return literal(low) if low == high else IntShape(low, high)


def _len(arguments: Sequence[Shape]) -> Shape | Unfit:
    known = (TextShape, ListShape, MapShape, RecordShape)
    fit = _every(arguments[0], lambda m: isinstance(m, known) or as_text(m) is not None)
    return join(_length(m) for m in members(arguments[0])) if fit else Unfit(0, "text, a list or a record")


def _text(arguments: Sequence[Shape]) -> Shape | Unfit:
    if not is_insertable(arguments[0]):
        return Unfit(0, "text, a number or a bool (for others: `json()`)")
    return arguments[0] if is_text(arguments[0]) else TextShape(1)


def _gives(result: Shape) -> Signature:
    return lambda arguments: result


def _of_list(result: Callable[[ListShape], Shape], wanted: str, test: Callable[[Shape], bool]) -> Signature:
    def run(arguments: Sequence[Shape]) -> Shape | Unfit:
        shape = arguments[0]
        if isinstance(shape, UnknownShape):
            return UNKNOWN
        items = items_of(shape)
        if not _is_list(shape) or not test(items.item):
            return Unfit(0, wanted)
        return result(items)

    return run


def _of_texts(result: Callable[[Sequence[Shape]], Shape]) -> Signature:
    def run(arguments: Sequence[Shape]) -> Shape | Unfit:
        for index, shape in enumerate(arguments):
            if not is_text(shape):
                return Unfit(index, "text")
        return result(arguments)

    return run


def _joined(arguments: Sequence[Shape]) -> Shape | Unfit:
    if len(arguments) > 1 and not is_text(arguments[1]):
        return Unfit(1, "text")
    return _of_list(lambda items: TEXT, "a list of text, numbers or bools", is_insertable)(arguments)


def _slice(arguments: Sequence[Shape]) -> Shape | Unfit:
    for index in range(1, len(arguments)):
        if not is_whole_number(without_null(arguments[index])):
            return Unfit(index, "a whole number")
    if is_text(arguments[0]):
        return TextShape(0, _most_characters(arguments))
    if _is_list(arguments[0]):
        return ListShape(items_of(arguments[0]).item, 0, items_of(arguments[0]).high)
    return Unfit(0, "text or a list")


def _most_characters(arguments: Sequence[Shape]) -> int | None:
    """The longest a slice of text can be, when both bounds are literals."""
    bounds = [m.value for m in arguments[1:] if isinstance(m, LiteralShape) and isinstance(m.value, int)]
    return max(0, bounds[1] - bounds[0]) if len(bounds) == 2 and min(bounds) >= 0 else None


def _contains(arguments: Sequence[Shape]) -> Shape | Unfit:
    if _is_list(arguments[0]):
        return BOOL
    if not is_text(arguments[0]):
        return Unfit(0, "text or a list")
    return BOOL if is_text(arguments[1]) and not is_nullable(arguments[1]) else Unfit(1, "text")


def _keys(arguments: Sequence[Shape]) -> Shape | Unfit:
    if not _every(arguments[0], lambda m: isinstance(m, RecordShape | MapShape)):
        return Unfit(0, "a record or a map")
    return ListShape(join(_key(m) for m in members(arguments[0])))


def _key(shape: Shape) -> Shape:
    if isinstance(shape, MapShape):
        return shape.key
    return join(literal(name) for name in shape.names) if isinstance(shape, RecordShape) else UNKNOWN


def _values(arguments: Sequence[Shape]) -> Shape | Unfit:
    if not _every(arguments[0], lambda m: isinstance(m, RecordShape | MapShape)):
        return Unfit(0, "a record or a map")
    return ListShape(join(_value(m) for m in members(arguments[0])))


def _value(shape: Shape) -> Shape:
    if isinstance(shape, MapShape):
        return shape.value
    return join(read_shape(f) for f in shape.fields) if isinstance(shape, RecordShape) else UNKNOWN


def _end(items: ListShape) -> Shape:
    return items.item if items.low > 0 else optional(items.item)


def _sum(items: ListShape) -> Shape:
    kinds = {part.kind for m in members(items.item) if (part := as_range(m)) is not None}
    kind = "duration" if kinds == {"duration"} else "number" if "number" in kinds else "int"
    return ranged(kind, 0 if _never_negative(items.item) else float("-inf"), float("inf"))


def _never_negative(shape: Shape) -> bool:
    return all(
        isinstance(m, NeverShape) or ((p := as_range(m)) is not None and p.low >= 0) for m in members(shape)
    )


def _summable(shape: Shape) -> bool:
    return is_number(shape) or ordered_kind(shape) == "duration"


def _has_order(shape: Shape) -> bool:
    return isinstance(shape, UnknownShape | NeverShape) or ordered_kind(shape) is not None


def _least(arguments: Sequence[Shape]) -> Shape | Unfit:
    if len(arguments) == 1:
        return _of_list(_end, "a list of numbers, durations or texts", _has_order)(arguments)
    both = join(arguments)
    for index, shape in enumerate(arguments):
        if not _has_order(shape) or not _has_order(both):
            return Unfit(index, "numbers, durations or texts, all of one kind")
    return both


def _rounded(arguments: Sequence[Shape]) -> Shape | Unfit:
    if not is_number(arguments[0]):
        return Unfit(0, "a number")
    parts = [part for m in members(arguments[0]) if (part := as_range(m)) is not None]
    return join(ranged("int", part.low, part.high) for part in parts) if parts else NEVER


def _abs(arguments: Sequence[Shape]) -> Shape | Unfit:
    parts = [as_range(m) for m in members(arguments[0])]
    if any(part is None for part in parts):
        return arguments[0] if isinstance(arguments[0], UnknownShape | NeverShape) else Unfit(0, "a number")
    return join(
        ranged(p.kind, 0 if p.holds(0) else min(abs(p.low), abs(p.high)), max(abs(p.low), abs(p.high)))
        for p in parts
        if p is not None
    )


def _minutes(arguments: Sequence[Shape]) -> Shape | Unfit:
    if not is_number(arguments[0]):
        return Unfit(0, "a number")
    parts = [part for m in members(arguments[0]) if (part := as_range(m)) is not None]
    return join(ranged("duration", p.low * 60_000, p.high * 60_000) for p in parts) if parts else NEVER


def _same_length(items: ListShape) -> Shape:
    return ListShape(items.item, items.low, items.high)


def _count(items: ListShape) -> Shape:
    return IntShape(0, items.high)


def _any_shape(shape: Shape) -> bool:
    return True


def _bool_or_null(shape: Shape) -> bool:
    return is_bool(without_null(shape))


_SIGNATURES: Final[dict[str, Signature]] = {
    "len": _len,
    "text": _text,
    "json": _gives(TextShape(1)),
    "digest": _gives(TextShape(71, 71)),
    "unique": _of_list(lambda items: BOOL, "a list", _any_shape),
    "join": _joined,
    "split": _of_texts(lambda arguments: ListShape(TEXT)),
    "trim": _of_texts(lambda arguments: TextShape(0, _longest(arguments[0]))),
    "lower": _of_texts(lambda arguments: TEXT),
    "upper": _of_texts(lambda arguments: TEXT),
    "slice": _slice,
    "contains": _contains,
    "startsWith": _of_texts(lambda arguments: BOOL),
    "endsWith": _of_texts(lambda arguments: BOOL),
    "replace": _of_texts(lambda arguments: TEXT),
    "lines": _of_texts(lambda arguments: ListShape(TEXT)),
    "bullets": _of_list(lambda items: TEXT, "a list of text, numbers or bools", is_insertable),
    "keys": _keys,
    "values": _values,
    "first": _of_list(_end, "a list", _any_shape),
    "last": _of_list(_end, "a list", _any_shape),
    "sum": _of_list(_sum, "a list of numbers or durations", _summable),
    "min": _least,
    "max": _least,
    "sort": _of_list(_same_length, "a list of numbers, durations or texts", _has_order),
    "all": _of_list(lambda items: BOOL, "a list of bools", is_bool),
    "any": _of_list(lambda items: BOOL, "a list of bools", _bool_or_null),
    "count": _of_list(_count, "a list", _any_shape),
    "abs": _abs,
    "round": _rounded,
    "floor": _rounded,
    "ceil": _rounded,
    "defined": _gives(BOOL),
    "minutes": _minutes,
}


def _longest(shape: Shape) -> int | None:
    lengths = [text.high for m in members(shape) if (text := as_text(m)) is not None]
    known = [length for length in lengths if length is not None]
    return max(known) if known and len(known) == len(lengths) else None
