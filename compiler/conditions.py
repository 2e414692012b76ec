"""What a condition tells where it holds, and where it does not: `if`, `when`, `and`, `or`, comprehensions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final, Protocol

from windtunnel.compiler.narrowing import Test, different_from, equal_to, none_of, one_of, refine
from windtunnel.compiler.paths import Path, path_of
from windtunnel.compiler.resolver import Declaration, Scope
from windtunnel.compiler.stored import Env, Stored
from windtunnel.compiler.types import ListShape, LiteralShape, NullShape, Scalar, Shape, members
from windtunnel.compiler.unions import join, may_be_null
from windtunnel.dsl.syntax import Binary, Call, Expr, Field, ListExpr, Literal, Ref, Spread, Text, Unary

MAX_MIXED: Final = 8
"""Deepest that alternatives inside alternatives are followed: each one doubles the work."""


class Shapes(Protocol):
    """What narrowing needs to know of expressions."""

    scope: Scope
    stored: Stored

    def shape(self, expr: Expr, env: Env) -> Shape: ...
    def let(self, declaration: Declaration, env: Env) -> Shape: ...


def assume(shapes: Shapes, condition: Expr, truth: bool, env: Env, mixed: int = 0) -> Env:
    """The place where the condition is known to be true, or known to be false.

    `mixed` counts the alternatives that the condition stands in; past MAX_MIXED nothing is concluded.
    """
    match condition:
        case Unary(operator="not", operand=operand):
            return assume(shapes, operand, not truth, env, mixed)
        case Binary(operator="and" | "or" as operator, left=left, right=right):
            if truth == (operator == "and"):
                return assume(shapes, right, truth, assume(shapes, left, truth, env, mixed), mixed)
            if mixed >= MAX_MIXED:
                return env
            first = assume(shapes, left, truth, env, mixed + 1)
            passed = assume(shapes, left, not truth, env, mixed + 1)
            return _either(first, assume(shapes, right, truth, passed, mixed + 1), env)
        case Binary(operator="==" | "!=" as operator, left=left, right=right):
            equal = truth == (operator == "==")
            env = _compare(shapes, left, right, equal, env)
            return _compare(shapes, right, left, equal, env)
        case Binary(operator="in", left=left, right=right):
            test = _membership(shapes, right, truth, env)
            return env if test is None else _narrow(shapes, left, test, env)
        case Binary(operator="<" | "<=" | ">" | ">=", left=left, right=right) if truth:
            env = _narrow(shapes, left, different_from(None), env)
            return _narrow(shapes, right, different_from(None), env)
        case Call(function=function, arguments=(argument,)) if function.text == "defined":
            return _narrow(shapes, argument, different_from(None) if truth else equal_to(None), env)
        case Ref() | Field():
            return _narrow(shapes, condition, equal_to(truth), env)
    return env


def _compare(shapes: Shapes, side: Expr, other: Expr, equal: bool, env: Env) -> Env:
    if not isinstance(side, Ref | Field):
        return env
    known, value = _constant_of(shapes, other, env)
    if known:
        return _narrow(shapes, side, equal_to(value) if equal else different_from(value), env)
    if equal and _is_plain(shapes, other, env) and not may_be_null(shapes.shape(other, env)):
        return _narrow(shapes, side, different_from(None), env)
    return env


def _constant_of(shapes: Shapes, expr: Expr, env: Env) -> tuple[bool, Scalar | None]:
    if not _is_plain(shapes, expr, env):
        return False, None
    shape = shapes.shape(expr, env)
    if isinstance(shape, NullShape):
        return True, None
    return (True, shape.value) if isinstance(shape, LiteralShape) else (False, None)


def _is_plain(shapes: Shapes, expr: Expr, env: Env) -> bool:
    """Whether the shape of an expression is cheap to ask for again."""
    if isinstance(expr, ListExpr):
        return all(not isinstance(item, Spread) and _is_constant(item) for item in expr.items)
    return _is_constant(expr) or path_of(expr, shapes.scope, env.variables) is not None


def _is_constant(expr: Expr) -> bool:
    return isinstance(expr, Literal) or (isinstance(expr, Text) and expr.constant is not None)


def _membership(shapes: Shapes, container: Expr, truth: bool, env: Env) -> Test | None:
    shape = shapes.shape(container, env) if _is_plain(shapes, container, env) else None
    if not isinstance(shape, ListShape):
        return None
    values: list[Scalar | None] = []
    for member in members(shape.item):
        if isinstance(member, LiteralShape):
            values.append(member.value)
        elif isinstance(member, NullShape):
            values.append(None)
        else:
            return different_from(None) if truth and not may_be_null(shape.item) else None
    if truth:
        return one_of(values)
    written = isinstance(container, ListExpr) and not any(isinstance(i, Spread) for i in container.items)
    return none_of(values) if written and shape.low == len(values) else None


def _narrow(shapes: Shapes, expr: Expr, test: Test, env: Env) -> Env:
    path = _path(shapes.scope, expr, env)
    if path is None:
        return env
    return env.narrowing(path.root, refine(_root(shapes, path.root, env), path.fields, test))


def _path(scope: Scope, expr: Expr, env: Env) -> Path | None:
    names: Collection[str] = env.variables
    path = path_of(expr, scope, names)
    if path is None or (env.isolated and path.root not in names):
        return None
    return path


def _root(shapes: Shapes, root: str, env: Env) -> Shape:
    declaration = None if root in env.variables else shapes.scope.lookup(root)
    if declaration is not None and not declaration.is_node:
        return shapes.let(declaration, env)
    return shapes.stored.root(root, env)


def _either(first: Env, second: Env, env: Env) -> Env:
    """What holds on both ways: a root that either narrowed is one of what they made of it."""
    narrowed = dict(env.narrowed)
    for root in first.narrowed:
        if root in second.narrowed:
            narrowed[root] = join((first.narrowed[root], second.narrowed[root]))
    return replace(env, narrowed=narrowed)
