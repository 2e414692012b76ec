"""What is left of a shape once something is known of it: that a field is this value, is not that one, is not
null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from windtunnel.compiler.types import (
    NEVER,
    NULL,
    BoolShape,
    FieldShape,
    JsonShape,
    LiteralShape,
    MapShape,
    NeverShape,
    NullShape,
    RecordShape,
    Scalar,
    Shape,
    UnknownShape,
    literal,
    members,
)
from windtunnel.compiler.unions import includes, may_be_null, read_shape, union, without_null

Test: TypeAlias = Callable[[Shape], Shape]
"""What is left of one shape; `NEVER` when nothing is."""


def refine(shape: Shape, fields: tuple[str, ...], test: Test) -> Shape:
    """What is left of `shape` when the value at the end of `fields` passes the test.

    Fields are read through null (`?.`): a null on the way reads as null. Members of a union that cannot
    pass vanish.
    """
    if not fields:
        return test(shape)
    kept: list[Shape] = []
    for member in members(shape):
        left = _refine_member(member, fields, test)
        if not isinstance(left, NeverShape):
            kept.append(left)
    result = union(kept)
    return shape if result == shape else result


def _refine_member(member: Shape, fields: tuple[str, ...], test: Test) -> Shape:
    match member:
        case RecordShape():
            own = member.field(fields[0])
            if own is None:
                return _if_null_passes(member, test)
            before = read_shape(own)
            after = refine(before, fields[1:], test)
            if after == before:
                return member
            if isinstance(after, NeverShape):
                return NEVER
            return _with_field(member, own, after)
        case NullShape():
            return _if_null_passes(member, test)
        case JsonShape() | UnknownShape() | MapShape():
            return member
    return _if_null_passes(member, test)


def _if_null_passes(member: Shape, test: Test) -> Shape:
    return NEVER if isinstance(test(NULL), NeverShape) else member


def _with_field(record: RecordShape, own: FieldShape, shape: Shape) -> RecordShape:
    missing = own.optional and may_be_null(shape) and not isinstance(shape, JsonShape | UnknownShape)
    inner = without_null(shape) if missing and not isinstance(shape, NullShape) else shape
    field = replace(own, shape=inner, optional=missing)
    return RecordShape(tuple(field if f.name == own.name else f for f in record.fields))


def equal_to(value: Scalar | None) -> Test:
    """Keeps what may equal the scalar, or null."""

    def test(shape: Shape) -> Shape:
        return union(_equal_part(member, value) for member in members(shape))

    return test


def _equal_part(member: Shape, value: Scalar | None) -> Shape:
    if isinstance(member, UnknownShape | JsonShape):
        return member
    if value is None:
        return member if isinstance(member, NullShape) else NEVER
    wanted = literal(value)
    if member == wanted:
        return member
    return wanted if includes(member, wanted) else NEVER


def different_from(value: Scalar | None) -> Test:
    """Keeps what may differ from the scalar, or from null."""

    def test(shape: Shape) -> Shape:
        return union(_different_part(member, value) for member in members(shape))

    return test


def _different_part(member: Shape, value: Scalar | None) -> Shape:
    if value is None:
        return NEVER if isinstance(member, NullShape) else member
    if isinstance(member, BoolShape) and isinstance(value, bool):
        return literal(not value)
    return NEVER if isinstance(member, LiteralShape) and member == literal(value) else member


def one_of(values: Iterable[Scalar | None]) -> Test:
    """Keeps what may equal one of the values."""
    tests = [equal_to(value) for value in values]

    def test(shape: Shape) -> Shape:
        return union(part(shape) for part in tests)

    return test


def none_of(values: Iterable[Scalar | None]) -> Test:
    """Keeps what may differ from all of the values."""
    tests = [different_from(value) for value in values]

    def test(shape: Shape) -> Shape:
        for part in tests:
            shape = part(shape)
        return shape

    return test
