"""Values that an expression has without running anything: literals, lists and records of them."""

from __future__ import annotations

from typing import TypeAlias

from windtunnel.compiler.types import (
    NULL,
    DurationShape,
    FieldShape,
    ListShape,
    RecordShape,
    Shape,
    literal,
)
from windtunnel.compiler.unions import join
from windtunnel.dsl.syntax import Duration, Entry, Expr, ListExpr, Literal, Record, Spread, Text, Unary

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class NotConstant(Exception):
    """Raised inside this file for an expression that has no value before the run; callers see None."""


def constant(expr: Expr) -> tuple[Json, Shape] | None:
    """The JSON value of a constant expression with its shape, or None; a duration is whole milliseconds.

    Recursion is bounded by the nesting that the parser allows.
    """
    try:
        return _value(expr)
    except NotConstant:
        return None


def _value(expr: Expr) -> tuple[Json, Shape]:
    match expr:
        case Literal(value=None):
            return None, NULL
        case Literal(value=value) if value is not None:
            return value, literal(value)
        case Duration(milliseconds=milliseconds):
            return milliseconds, DurationShape(milliseconds, milliseconds)
        case Text() if expr.constant is not None:
            return expr.constant, literal(expr.constant)
        case Unary(operator="-", operand=operand):
            return _negative(operand)
        case ListExpr(items=items):
            values: list[Json] = []
            shapes: list[Shape] = []
            for item in items:
                if isinstance(item, Spread):
                    raise NotConstant
                inner, shape = _value(item)
                values.append(inner)
                shapes.append(shape)
            return values, ListShape(join(shapes), len(values), len(values))
        case Record(entries=entries):
            return _record(entries)
    raise NotConstant


def _negative(operand: Expr) -> tuple[Json, Shape]:
    value, _ = _value(operand)
    if isinstance(operand, Duration) and isinstance(value, int):
        return -value, DurationShape(-value, -value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotConstant
    return -value, literal(-value)


def _record(entries: tuple[Entry | Spread, ...]) -> tuple[Json, Shape]:
    values: dict[str, Json] = {}
    fields: dict[str, FieldShape] = {}
    for entry in entries:
        if isinstance(entry, Spread):
            raise NotConstant
        value, shape = _value(entry.value)
        if entry.optional and value is None:
            continue
        values[entry.key.text] = value
        fields[entry.key.text] = FieldShape(entry.key.text, shape)
    return values, RecordShape(tuple(fields.values()))
