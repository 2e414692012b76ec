"""Expressions and what is below them."""

from __future__ import annotations

from collections.abc import Iterator

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


def children(expr: Expr) -> Iterator[Expr]:
    """The direct sub-expressions of `expr`, in source order."""
    match expr:
        case Literal() | Duration() | Ref():
            return
        case Text():
            yield from (part for part in expr.parts if not isinstance(part, str))
        case Field():
            yield expr.target
        case Index():
            yield expr.target
            yield expr.index
        case Call():
            yield from expr.arguments
        case Unary():
            yield expr.operand
        case Binary():
            yield expr.left
            yield expr.right
        case If():
            yield expr.condition
            yield expr.consequent
            yield expr.alternative
        case Record():
            yield from (entry.value for entry in expr.entries)
        case ListExpr():
            yield from (item.value if isinstance(item, Spread) else item for item in expr.items)
        case Comprehension():
            yield expr.source
            yield expr.item
            if expr.condition is not None:
                yield expr.condition


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything below it, outermost first; iterative, so depth costs no stack."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(list(children(top))))
