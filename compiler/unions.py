"""The algebra of shapes: what includes what, unions in normal form, and what is left without null."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from windtunnel.compiler.patterns import matches_pattern
from windtunnel.compiler.types import (
    BOOL,
    NEVER,
    NULL,
    UNKNOWN,
    BoolShape,
    DurationShape,
    FieldShape,
    IntShape,
    JsonShape,
    ListShape,
    LiteralShape,
    MapShape,
    NeverShape,
    NullShape,
    NumberShape,
    RecordShape,
    RefShape,
    Shape,
    TextShape,
    UnionShape,
    UnknownShape,
    literal,
    members,
)


def within(value: float, low: float | None, high: float | None) -> bool:
    """Whether `low <= value <= high`, open where None."""
    return (low is None or value >= low) and (high is None or value <= high)


def _range_in(
    low: float | None, high: float | None, outer_low: float | None, outer_high: float | None
) -> bool:
    return (outer_low is None or (low is not None and low >= outer_low)) and (
        outer_high is None or (high is not None and high <= outer_high)
    )


def includes(big: Shape, small: Shape) -> bool:
    """Whether every value of `small` is one of `big`; False when in doubt."""
    if big is small or big == small or isinstance(small, NeverShape):
        return True
    match big, small:
        case (JsonShape(), JsonShape()):
            return _range_in(0, small.high, 0, big.high)
        case (JsonShape(), _):
            return big.high is None and not isinstance(small, UnknownShape)
        case (_, UnionShape()):
            return all(includes(big, member) for member in small.members)
        case (UnionShape(), _):
            return any(includes(member, small) for member in big.members)
        case (TextShape(), TextShape()):
            same = big.pattern is None or big.pattern == small.pattern
            return same and _range_in(small.low, small.high, big.low, big.high)
        case (IntShape(), IntShape()):
            return _range_in(small.low, small.high, big.low, big.high)
        case (NumberShape(), IntShape() | NumberShape()):
            return _range_in(small.low, small.high, big.low, big.high)
        case (DurationShape(), DurationShape()):
            return _range_in(small.low, small.high, big.low, big.high)
        case (_, LiteralShape()):
            return _holds_literal(big, small)
        case (ListShape(), ListShape()):
            return _range_in(small.low, small.high, big.low, big.high) and includes(big.item, small.item)
        case (MapShape(), MapShape()):
            inside = _range_in(small.low, small.high, big.low, big.high)
            return inside and includes(big.key, small.key) and includes(big.value, small.value)
        case (RecordShape(), RecordShape()):
            return _includes_record(big, small)
    return False


def _holds_literal(big: Shape, small: LiteralShape) -> bool:
    value = small.value
    match big:
        case TextShape() if isinstance(value, str):
            return within(len(value), big.low, big.high) and (
                big.pattern is None or matches_pattern(big.pattern, value)
            )
        case BoolShape():
            return small.kind == "bool"
        case IntShape() if small.kind == "int":
            return not isinstance(value, str) and within(value, big.low, big.high)
        case NumberShape() if small.kind in ("int", "number"):
            return not isinstance(value, str) and within(value, big.low, big.high)
    return False


def _includes_record(big: RecordShape, small: RecordShape) -> bool:
    if len(big.fields) != len(small.fields):
        return False
    for own in big.fields:
        other = small.field(own.name)
        if other is None or other.optional > own.optional or other.default != own.default:
            return False
        if not includes(own.shape, other.shape):
            return False
    return True


def _flat(shapes: Iterable[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if isinstance(shape, UnionShape):
            yield from shape.members
        else:
            yield shape


def union(shapes: Iterable[Shape]) -> Shape:
    """One of the shapes: flattened, without members that another includes; `true | false` is `bool`."""
    shapes = tuple(shapes)
    if len(shapes) == 1:
        return shapes[0]
    literals: dict[LiteralShape, None] = {}
    others: list[Shape] = []
    order: list[Shape] = []
    for shape in _flat(shapes):
        if isinstance(shape, UnknownShape):
            return UNKNOWN
        if isinstance(shape, NeverShape):
            continue
        if isinstance(shape, LiteralShape):
            if shape not in literals:
                literals[shape] = None
                order.append(shape)
            continue
        if any(includes(other, shape) for other in others):
            continue
        swallowed = [other for other in others if includes(shape, other)]
        others = [other for other in others if other not in swallowed] + [shape]
        order = [other for other in order if other not in swallowed] + [shape]
    yes, no = literal(True), literal(False)
    if yes in literals and no in literals and BOOL not in others:
        order[order.index(yes)] = BOOL
        others.append(BOOL)
    kept = [m for m in order if not isinstance(m, LiteralShape) or not any(_covers(o, m) for o in others)]
    return NEVER if not kept else kept[0] if len(kept) == 1 else UnionShape(tuple(kept))


def _covers(other: Shape, member: LiteralShape) -> bool:
    return includes(other, member)


def join(shapes: Iterable[Shape]) -> Shape:
    """A shape that includes all of them and stays small: ranges and lists are widened to one."""
    shapes = tuple(shapes)
    if len(shapes) == 1 or (len(shapes) == 2 and shapes[0] is shapes[1]):
        return shapes[0]
    merged: list[Shape] = []
    for shape in _flat(shapes):
        for index, other in enumerate(merged):
            both = _hull(other, shape)
            if both is not None:
                merged[index] = both
                break
        else:
            merged.append(shape)
    return union(merged)


def _hull(left: Shape, right: Shape) -> Shape | None:
    match left, right:
        case (TextShape(), TextShape()):
            pattern = left.pattern if left.pattern == right.pattern else None
            return TextShape(min(left.low, right.low), _most(left.high, right.high), pattern)
        case (IntShape(), IntShape()):
            return IntShape(_least(left.low, right.low), _most(left.high, right.high))
        case (DurationShape(), DurationShape()):
            return DurationShape(_least(left.low, right.low), _most(left.high, right.high))
        case (NumberShape(), NumberShape()):
            low = None if left.low is None or right.low is None else min(left.low, right.low)
            high = None if left.high is None or right.high is None else max(left.high, right.high)
            return NumberShape(low, high)
        case (JsonShape(), JsonShape()):
            return JsonShape(_most(left.high, right.high))
        case (ListShape(), ListShape()):
            item = join((left.item, right.item))
            return ListShape(item, min(left.low, right.low), _most(left.high, right.high))
    return None


def _least(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else min(left, right)


def _most(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else max(left, right)


def optional(shape: Shape) -> Shape:
    """`T?`: the shape or null."""
    return shape if may_be_null(shape) else union((shape, NULL))


def may_be_null(shape: Shape) -> bool:
    """Whether null is one of the values, so far as the author must handle it; `json` handles itself."""
    return any(isinstance(member, (NullShape, UnknownShape, JsonShape)) for member in members(shape))


def is_nullable(shape: Shape) -> bool:
    """Whether null stands among the members, `json` and mistakes aside: what `T?` means."""
    if not isinstance(shape, (UnionShape, RefShape)):
        return isinstance(shape, NullShape)
    return any(isinstance(member, NullShape) for member in members(shape))


def without_null(shape: Shape) -> Shape:
    """The shape without null; `json` stays `json`."""
    if not is_nullable(shape):
        return shape
    return union(member for member in members(shape) if not isinstance(member, NullShape))


def read_shape(field: FieldShape) -> Shape:
    """What a reader of the field gets: an optional one may be null."""
    return optional(field.shape) if field.optional else field.shape
