"""Whether a value of one shape may be given where another is wanted, and the path where the two part.

Refinements are checked when the value arrives, so `text` may be given for `text(1..500)`; only what can
never fit is refused here: another kind, a missing or an unknown field, null for something else, ranges that
do not touch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from windtunnel.compiler.patterns import matches_pattern
from windtunnel.compiler.types import (
    BoolShape,
    DurationShape,
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
    expand,
    members,
)
from windtunnel.compiler.unions import within, without_null

MAX_REFS: Final = 1_000
"""Most pairs of recursive types compared for one question; past it the pair counts as fitting."""


class Reason(StrEnum):
    """Why two shapes part."""

    KIND = "kind"
    NULL = "null"
    MISSING = "missing"
    UNKNOWN_FIELD = "unknown field"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first place where a source does not fit: a path (`.tasks[].id`, empty for the whole), and both
    shapes.

    For a missing or an unknown field the path ends in its name and the shape on the side that lacks it is
    `never`.
    """

    path: str
    source: Shape
    target: Shape
    reason: Reason


def mismatch(source: Shape, target: Shape) -> Mismatch | None:
    """Where a value of `source` cannot be given for `target`, or None when it can."""
    return _part(source, target, "", set())


def fits(source: Shape, target: Shape) -> bool:
    """Whether a value of `source` can be given for `target`."""
    return mismatch(source, target) is None


def overlap(left: Shape, right: Shape) -> bool:
    """Whether some value may be of both shapes; True when in doubt."""
    return any(_overlap(a, b) for a in members(left) for b in members(right))


def _overlap(left: Shape, right: Shape) -> bool:
    if isinstance(left, NeverShape) or isinstance(right, NeverShape):
        return False
    if isinstance(left, RecordShape) and isinstance(right, RecordShape):
        for own in left.fields:
            other = right.field(own.name)
            if other is not None and not (own.optional and other.optional):
                if not overlap(own.shape, other.shape):
                    return False
            elif other is None and not own.may_be_missing:
                return False
        return all(left.field(f.name) is not None or f.may_be_missing for f in right.fields)
    return fits(left, right) or fits(right, left)


def _part(source: Shape, target: Shape, path: str, seen: set[tuple[RefShape, RefShape]]) -> Mismatch | None:
    if source is target or isinstance(source, (UnknownShape, NeverShape)) or isinstance(target, UnknownShape):
        return None
    if isinstance(source, RefShape) and isinstance(target, RefShape):
        if source == target or (source, target) in seen or len(seen) >= MAX_REFS:
            return None
        seen.add((source, target))
    source, target = expand(source), expand(target)
    if isinstance(target, JsonShape):
        return None
    if isinstance(source, UnionShape):
        return _part_union(source, target, path, seen)
    if isinstance(target, UnionShape):
        return _part_to_union(source, target, path, seen)
    if isinstance(source, NullShape) and not isinstance(target, NullShape):
        return Mismatch(path, source, target, Reason.NULL)
    match source, target:
        case (ListShape(), ListShape()):
            if not _touch(source.low, source.high, target.low, target.high):
                return Mismatch(path, source, target, Reason.RANGE)
            return _part(source.item, target.item, f"{path}[]", seen)
        case (RecordShape(), RecordShape()):
            return _part_record(source, target, path, seen)
        case (MapShape(), MapShape()):
            return _part(source.key, target.key, f"{path}[key]", seen) or _part(
                source.value, target.value, f"{path}[]", seen
            )
        case (RecordShape(), MapShape()):
            for own in source.fields:
                parted = _part(own.shape, target.value, f"{path}.{own.name}", seen)
                if parted is not None:
                    return parted
            return None
    reason = scalar_reason(source, target)
    return None if reason is None else Mismatch(path, source, target, reason)


def _part_union(
    source: UnionShape, target: Shape, path: str, seen: set[tuple[RefShape, RefShape]]
) -> Mismatch | None:
    parts = [_part(member, target, path, seen) for member in members(source)]
    found = [part for part in parts if part is not None]
    if not found:
        return None
    if len(found) < len(parts):
        found = [part for part in found if part.path != path or part.reason is not Reason.RANGE]
        if not found:
            return None  # Some values fit; which, is seen when one arrives.
    real = [part for part in found if part.path != path or part.reason is not Reason.NULL]
    if real:
        return real[0] if real[0].path != path else Mismatch(path, source, target, real[0].reason)
    return Mismatch(path, source, target, Reason.NULL)


def _part_to_union(
    source: Shape, target: UnionShape, path: str, seen: set[tuple[RefShape, RefShape]]
) -> Mismatch | None:
    found: list[Mismatch] = []
    for member in members(target):
        parted = _part(source, member, path, seen)
        if parted is None:
            return None
        found.append(parted)
    if isinstance(source, RecordShape):
        alike = [m for m in found if m.path != path and not _tells_apart(m)]
        if len(alike) == 1 or (alike and len(found) == 1):
            return alike[0]
    inside = [m for m in found if m.path != path]
    if len(inside) == 1:
        return inside[0]
    reason = Reason.NULL if isinstance(source, NullShape) else _common_reason(found)
    return Mismatch(path, source, target, reason)


def _tells_apart(parted: Mismatch) -> bool:
    """Whether the part where they differ is a literal, so that another member of the union was meant."""
    return isinstance(parted.target, LiteralShape) and isinstance(parted.source, LiteralShape)


def _common_reason(found: list[Mismatch]) -> Reason:
    ranges = [m for m in found if m.reason is Reason.RANGE]
    return Reason.RANGE if ranges else Reason.KIND


def _part_record(
    source: RecordShape, target: RecordShape, path: str, seen: set[tuple[RefShape, RefShape]]
) -> Mismatch | None:
    wanted = {f.name: f for f in target.fields}
    given = {f.name: f for f in source.fields}
    ordered = sorted(source.fields, key=lambda f: not isinstance(f.shape, LiteralShape))
    for own in ordered:
        want = wanted.get(own.name)
        where = f"{path}.{own.name}"
        if want is None:
            return Mismatch(where, own.shape, NeverShape(), Reason.UNKNOWN_FIELD)
        if own.optional and not want.may_be_missing and not _takes_null(want.shape):
            return Mismatch(where, own.shape, want.shape, Reason.NULL)
        given_shape = without_null(own.shape) if want.optional else own.shape
        parted = _part(given_shape, want.shape, where, seen)
        if parted is not None:
            return parted
    for want in target.fields:
        if want.name not in given and not want.may_be_missing and not _takes_null(want.shape):
            return Mismatch(f"{path}.{want.name}", NeverShape(), want.shape, Reason.MISSING)
    return None


def _takes_null(shape: Shape) -> bool:
    return any(isinstance(member, NullShape) for member in members(shape))


def _touch(low: float | None, high: float | None, other_low: float | None, other_high: float | None) -> bool:
    return (low is None or other_high is None or low <= other_high) and (
        high is None or other_low is None or other_low <= high
    )


def scalar_reason(source: Shape, target: Shape) -> Reason | None:
    """Why a scalar cannot be given for another, or None when some value of it can."""
    match source, target:
        case (LiteralShape(), LiteralShape()):
            if source == target:
                return None
            return Reason.KIND
        case (LiteralShape(), _):
            return _literal_reason(source, target)
        case (TextShape(), TextShape()):
            return None if _touch(source.low, source.high, target.low, target.high) else Reason.RANGE
        case (IntShape(), IntShape()):
            return None if _touch(source.low, source.high, target.low, target.high) else Reason.RANGE
        case (IntShape() | NumberShape(), NumberShape()):
            return None if _touch(source.low, source.high, target.low, target.high) else Reason.RANGE
        case (DurationShape(), DurationShape()):
            return None if _touch(source.low, source.high, target.low, target.high) else Reason.RANGE
        case (BoolShape(), BoolShape()) | (NullShape(), NullShape()):
            return None
    return Reason.KIND


def _literal_reason(source: LiteralShape, target: Shape) -> Reason | None:
    value = source.value
    match target:
        case TextShape() if isinstance(value, str):
            inside = within(len(value), target.low, target.high)
            right = target.pattern is None or matches_pattern(target.pattern, value)
            return None if inside and right else Reason.RANGE
        case BoolShape() if source.kind == "bool":
            return None
        case IntShape() if source.kind == "int" and not isinstance(value, str):
            return None if within(value, target.low, target.high) else Reason.RANGE
        case NumberShape() if source.kind in ("int", "number") and not isinstance(value, str):
            return None if within(value, target.low, target.high) else Reason.RANGE
    return Reason.KIND
