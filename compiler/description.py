"""Shapes in the syntax of the language, for messages."""

from __future__ import annotations

import json

from windtunnel.compiler.types import (
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
)


def describe(shape: Shape, limit: int = 160) -> str:
    """The shape in the syntax of the language, by its name where it has one, cut at `limit` characters."""
    text = _words(shape, True)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def describe_whole(shape: Shape) -> str:
    """The shape in the syntax of the language with its own name written out, whole."""
    return _words(shape, False)


def _words(shape: Shape, by_name: bool) -> str:
    match shape:
        case UnknownShape():
            return "unknown"
        case NeverShape():
            return "never"
        case TextShape():
            return "text" + _text_arguments(shape)
        case IntShape():
            bounds = _range_words(shape.low, shape.high)
            return f"int({bounds})" if bounds else "int"
        case NumberShape():
            bounds = _range_words(shape.low, shape.high)
            return f"number({bounds})" if bounds else "number"
        case DurationShape():
            return "duration"
        case BoolShape():
            return "bool"
        case NullShape():
            return "null"
        case JsonShape():
            return "json" if shape.high is None else f"json(..{_digits(shape.high)})"
        case LiteralShape():
            return json.dumps(shape.value, ensure_ascii=False)
        case RefShape():
            return shape.name
        case UnionShape():
            if by_name and shape.alias is not None:
                return shape.alias
            return " | ".join(_words(member, True) for member in shape.members)
        case ListShape():
            if isinstance(shape.item, NeverShape):
                return "[]"
            bounds = _range_words(shape.low or None, shape.high)
            return f"[{_words(shape.item, True)}{'; ' + bounds if bounds else ''}]"
        case MapShape():
            bounds = _range_words(shape.low or None, shape.high)
            inside = f"[{_words(shape.key, True)}]: {_words(shape.value, True)}"
            return f"{{ {inside}{'; ' + bounds if bounds else ''} }}"
        case RecordShape():
            if by_name and shape.alias is not None:
                return shape.alias
            return "{ " + ", ".join(_field_words(f) for f in shape.fields) + " }" if shape.fields else "{}"


def _field_words(shape: FieldShape) -> str:
    mark = "?" if shape.optional else ""
    default = "" if shape.default is None else f" = {shape.default}"
    return f"{shape.name}{mark}: {_words(shape.shape, True)}{default}"


def _text_arguments(shape: TextShape) -> str:
    bounds = _range_words(shape.low or None, shape.high)
    if shape.pattern is not None:
        quoted = json.dumps(shape.pattern, ensure_ascii=False)
        return f"({bounds or '0..'}, {quoted})"
    return f"({bounds})" if bounds else ""


def _range_words(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{'' if low is None else _digits(low)}..{'' if high is None else _digits(high)}"


def _digits(value: float) -> str:
    return f"{value:_}" if isinstance(value, int) else repr(value)
