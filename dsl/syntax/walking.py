"""Expressions and what is below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from windtunnel.dsl.syntax.expressions import (
    Binary,
    Call,
    Comprehension,
    Duration,
    Expr,
    Field,
    If,
    Index,
    ListExpr,
    Literal,
    Record,
    Ref,
    Spread,
    Text,
    Unary,
)

_BELOW: Final[dict[type[Any], Callable[[Any], tuple[Expr, ...]]]] = {
    Text: lambda expr: tuple([part for part in expr.parts if not isinstance(part, str)]),
    Field: lambda expr: (expr.target,),
    Index: lambda expr: (expr.target, expr.index),
    Call: lambda expr: expr.arguments,
    Unary: lambda expr: (expr.operand,),
    Binary: lambda expr: (expr.left, expr.right),
    If: lambda expr: (expr.condition, expr.consequent, expr.alternative),
    Record: lambda expr: tuple([entry.value for entry in expr.entries]),
    ListExpr: lambda expr: tuple([item.value if isinstance(item, Spread) else item for item in expr.items]),
    Comprehension: lambda expr: (
        (expr.source, expr.item) if expr.condition is None else (expr.source, expr.item, expr.condition)
    ),
    Literal: lambda _: (),
    Duration: lambda _: (),
    Ref: lambda _: (),
}


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions of `expr`, in source order."""
    return _BELOW[type(expr)](expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything below it, outermost first; iterative, so depth costs no stack."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        if below := _BELOW[type(top)](top):
            stack.extend(below[::-1])
