"""Values as they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from windtunnel.dsl.syntax.spans import Name, Span


@dataclass(frozen=True, slots=True)
class Literal:
    """`3`, `0.5`, `true`, `false`, `null`. Text is `Text`, a duration is `Duration`."""

    value: int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Duration:
    """`250ms`, `30s`, `15m`, `2h`, `1d`, as whole milliseconds; `unit` is the one that was written."""

    milliseconds: int
    unit: OneOf["ms", "s", "m", "h", "d"]
    span: Span


@dataclass(frozen=True, slots=True)
class Text:
    """A string: literal pieces and interpolated expressions in order; `multiline` for the triple-quoted form.

    Literal pieces are decoded (escapes resolved, triple-quoted text dedented). `Text((), …)` is the empty
    string.
    """

    parts: tuple[str | Expr, ...]
    multiline: bool
    span: Span

    @property
    def constant(self) -> str | None:
        """The value when nothing is interpolated, else None."""
        words: list[str] = []
        for part in self.parts:
            if not isinstance(part, str):
                return None
            words.append(part)
        return "".join(words)


@dataclass(frozen=True, slots=True)
class Ref:
    """A bare name: `input`, `output`, a node, a mount, a `let`, a parameter or a comprehension variable."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """`target.name`, or `target?.name` when `optional`."""

    target: Expr
    name: Name
    optional: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    """`target[index]`."""

    target: Expr
    index: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`; `template` when written `template name(arguments)`."""

    function: Name
    arguments: tuple[Expr, ...]
    template: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`not x` or `-x`."""

    operator: OneOf["not", "-"]
    operand: Expr
    span: Span


BinaryOperator: TypeAlias = OneOf[
    "==", "!=", "<", "<=", ">", ">=", "and", "or", "+", "-", "*", "/", "%", "in", "??"
]


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`."""

    operator: BinaryOperator
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """`if condition then consequent else alternative`."""

    condition: Expr
    consequent: Expr
    alternative: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Spread:
    """`...value` inside a record or a list."""

    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """`key: value`, `key?: value` (left out when null), or the shorthand `{key}` for `Ref(key)`."""

    key: Name
    optional: bool
    value: Expr
    shorthand: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Record:
    """`{ a: 1, b?: x, c, ...rest }`."""

    entries: tuple[Entry | Spread, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ListExpr:
    """`[a, ...rest]`."""

    items: tuple[Expr | Spread, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[item for variable in source if condition]`."""

    item: Expr
    variable: Name
    source: Expr
    condition: Expr | None
    span: Span


Expr: TypeAlias = (
    Literal
    | Duration
    | Text
    | Ref
    | Field
    | Index
    | Call
    | Unary
    | Binary
    | If
    | Record
    | ListExpr
    | Comprehension
)
