"""Types as they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from windtunnel.dsl.syntax.expressions import Expr
from windtunnel.dsl.syntax.spans import Name, Span


@dataclass(frozen=True, slots=True)
class Bounds:
    """`low..high` with either end open; both inclusive."""

    low: int | float | None
    high: int | float | None
    span: Span


@dataclass(frozen=True, slots=True)
class NamedType:
    """`text`, `text(1..64, "pattern")`, `json(..50_000)`, or the name of a declared or imported type."""

    name: Name
    bounds: Bounds | None
    pattern: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class LiteralType:
    """`"ready"`, `3`, `true`, `null` as a type."""

    value: str | int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class ListType:
    """`[T]` or `[T; 2..4]`."""

    item: TypeExpr
    bounds: Bounds | None
    span: Span


@dataclass(frozen=True, slots=True)
class MapType:
    """`{ [text]: T; ..32 }`."""

    key: TypeExpr
    value: TypeExpr
    bounds: Bounds | None
    span: Span


@dataclass(frozen=True, slots=True)
class FieldType:
    """One field of a record type; `?` (optional) and `= default` exclude each other."""

    name: Name
    type: TypeExpr
    optional: bool
    default: Expr | None
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class RecordType:
    """`{ a: T, b?: T, c: T = default }`, closed."""

    fields: tuple[FieldType, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class UnionType:
    """`A | B | …` with two or more members."""

    members: tuple[TypeExpr, ...]
    span: Span


TypeExpr: TypeAlias = NamedType | LiteralType | ListType | MapType | RecordType | UnionType
