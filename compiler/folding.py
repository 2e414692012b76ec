"""Stored expressions made smaller: what can be computed before the run is computed, neighbours become one.

A constant written in pieces and the same constant written whole are stored alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from windtunnel.compiler.canonical import CanonicalError, normalise
from windtunnel.compiler.evaluator import Environment, compile_expression
from windtunnel.compiler.reading import ENVIRONMENT_FORMS, subexpressions
from windtunnel.compiler.values import EvaluationError, text_of

Lowered = list[Any]

LEAVES: Final = frozenset({"const", "var", "visits", "latest", *ENVIRONMENT_FORMS})
"""Forms without sub-expressions."""


def fold(expression: Lowered) -> Lowered:
    """The constant that the expression is, when it reads nothing; else the expression."""
    head = expression[0]
    if head in LEAVES:
        return expression
    if head == "text":
        return _join(expression[1:])
    if head == "for":
        if expression[3][0] != "const" or not _closed(expression, ()):
            return expression
    elif not all(part[0] == "const" for part in subexpressions(expression)):
        return _shorten(expression) if head in ("and", "or", "??") else expression
    return _evaluate(expression) or expression


def _join(parts: Sequence[Lowered]) -> Lowered:
    """Text with neighbouring constants as one, and text within text as part of it."""
    joined: list[Lowered] = []
    for part in parts:
        for piece in part[1:] if part[0] == "text" else [part]:
            if piece[0] != "const":
                joined.append(piece)
                continue
            known = text_of(piece[1])
            if joined and joined[-1][0] == "const":
                joined[-1] = ["const", joined[-1][1] + known]
            elif known:
                joined.append(["const", known])
    if not joined:
        return ["const", ""]
    return joined[0] if len(joined) == 1 and joined[0][0] == "const" else ["text", *joined]


def _shorten(expression: Lowered) -> Lowered:
    """Drop sides that are constants and decide nothing; one that decides is the whole."""
    head, *sides = expression
    kept: list[Lowered] = []
    for side in sides:
        if side[0] != "const":
            kept.append(side)
        elif head == "??":
            if side[1] is not None:
                kept.append(side)
                break
        elif (side[1] is True) == (head == "or"):
            return ["const", head == "or"]
    if not kept:
        return ["const", {"and": True, "or": False, "??": None}[head]]
    if len(kept) == 1 and (head == "??" or kept[0][0] == "const"):
        return kept[0]
    return [head, *kept]


def _closed(expression: Lowered, bound: tuple[str, ...]) -> bool:
    """Whether the expression reads nothing but variables that it binds itself."""
    head = expression[0]
    if head == "const":
        return True
    if head == "var":
        return expression[1] in bound
    if head in LEAVES:
        return False
    if head == "for":
        inner = (*bound, expression[2])
        parts = [expression[1], *([] if expression[4] is None else [expression[4]])]
        return _closed(expression[3], bound) and all(_closed(part, inner) for part in parts)
    if head == "bind":
        return _closed(expression[2], bound) and _closed(expression[3], (*bound, expression[1]))
    return all(_closed(list(part), bound) for part in subexpressions(expression))


class _Nothing:
    """An environment for what reads nothing."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a constant does not read {name}")


def _evaluate(expression: Lowered) -> Lowered | None:
    environment: Environment = _Nothing()
    try:
        return ["const", normalise(compile_expression(expression)(environment))]
    except (EvaluationError, CanonicalError):
        # It will fail in the run as it would here, and there it fails one node only.
        return None


def bind(variable: str, value: Lowered, body: Lowered) -> Lowered:
    """The body with the variable bound; a constant or a plain name is put in its place."""
    if value[0] in ("const", "input", "node", "let"):
        return substitute(body, variable, value)
    return ["bind", variable, value, body]


def substitute(expression: Lowered, variable: str, value: Lowered) -> Lowered:
    if expression[0] == "var":
        return value if expression[1] == variable else expression
    return fold(_map(expression, lambda part: substitute(part, variable, value)))


def _map(expression: Lowered, change: Any) -> Lowered:
    """The expression with every direct sub-expression changed."""
    head = expression[0]
    match head:
        case _ if head in LEAVES:
            return expression
        case "record" | "list":
            return [head, *([*part[:-1], change(part[-1])] for part in expression[1:])]
        case "field":
            return [head, change(expression[1]), *expression[2:]]
        case "for":
            condition = None if expression[4] is None else change(expression[4])
            return [head, change(expression[1]), expression[2], change(expression[3]), condition]
        case "bind":
            return [head, expression[1], change(expression[2]), change(expression[3])]
        case "op" | "call":
            return [*expression[:2], *(change(part) for part in expression[2:])]
        case _:
            return [head, *(change(part) for part in expression[1:])]
