"""Access paths: which stored value an expression reads, and along which fields.

The value is called its root: `input`, `output`, a variable, a node, a `let`, `mount.exit` or
`decision.choice`. Only expressions that are fields of a root have a path; what they read can be narrowed by
conditions and matches.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from windtunnel.compiler.resolver import Kind, Scope
from windtunnel.dsl.syntax import Expr, Field, Ref


class Path(NamedTuple):
    """A root by its key (`input`, `draft`, `approval.replan`) and the fields read from it."""

    root: str
    fields: tuple[str, ...]


def path_of(expr: Expr, scope: Scope, variables: Collection[str]) -> Path | None:
    """The access path of an expression; `variables` are bound names, which hide those of the workflow."""
    fields: list[str] = []
    while isinstance(expr, Field):
        fields.append(expr.name.text)
        expr = expr.target
    if not isinstance(expr, Ref):
        return None
    fields.reverse()
    if expr.name in variables or expr.name in ("input", "output"):
        return Path(expr.name, tuple(fields))
    declaration = scope.lookup(expr.name)
    if declaration is None:
        return None
    if declaration.kind is Kind.INCLUDE or (
        declaration.kind is Kind.DECISION and is_choice(declaration.name, fields, scope)
    ):
        return Path(f"{expr.name}.{fields[0]}", tuple(fields[1:])) if fields else None
    return Path(expr.name, tuple(fields))


def is_choice(name: str, fields: list[str], scope: Scope) -> bool:
    """Whether the first field of a decision is one of its choices, and not a field of its output."""
    declaration = scope.lookup(name)
    choices = None if declaration is None else declaration.choices
    return bool(fields) and choices is not None and any(c.name.text == fields[0] for c in choices.items)
