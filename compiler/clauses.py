"""Which clauses each kind of node has, and what each of them wants: the table of nodes of the language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from windtunnel.compiler.types import (
    BOOL,
    DURATION,
    JSON,
    TEXT,
    IntShape,
    ListShape,
    MapShape,
    Shape,
)
from windtunnel.dsl.syntax import Clause, Node


@dataclass(frozen=True, slots=True)
class Rule:
    """One clause of a kind: whether it must be there, may be repeated, and the shape of its expression.

    `wanted` is None where the clause holds no plain expression, such as `validate` or `choices`.
    """

    wanted: Shape | None
    required: bool = False
    repeats: bool = False
    constant: bool = False


DEFAULT_NUDGES: Final = 2
"""How often an agent is asked again when it settles without a submission, unless `nudges` says otherwise."""

_TIMEOUT: Final = Rule(DURATION)
_KEY: Final = Rule(TEXT)

CLAUSES: Final[dict[str, dict[str, Rule]]] = {
    "agent": {
        "prompt": Rule(TEXT, required=True),
        "expectedOutput": Rule(None),
        "validate": Rule(None),
        "example": Rule(JSON, repeats=True),
        "tools": Rule(ListShape(TEXT), constant=True),
        "model": Rule(TEXT, constant=True),
        "timeout": _TIMEOUT,
        "nudges": Rule(IntShape(0, None), constant=True),
    },
    "action": {
        "call": Rule(None, required=True),
        "returns": Rule(None),
        "idempotencyKey": _KEY,
        "timeout": _TIMEOUT,
    },
    "shell": {
        "run": Rule(ListShape(TEXT, 1), required=True),
        "cwd": Rule(TEXT),
        "env": Rule(MapShape(TEXT, TEXT)),
        "stdin": Rule(TEXT),
        "allowNonZeroExit": Rule(BOOL, constant=True),
        "returns": Rule(None),
        "timeout": _TIMEOUT,
        "idempotencyKey": _KEY,
    },
    "notify": {
        "kind": Rule(None),
        "message": Rule(TEXT, required=True),
    },
    "checkpoint": {
        "show": Rule(TEXT, required=True),
        "answer": Rule(None),
    },
    "decision": {
        "audience": Rule(TEXT),
        "title": Rule(TEXT, required=True),
        "subject": Rule(JSON),
        "show": Rule(TEXT),
        "choices": Rule(None, required=True),
        "after": Rule(None),
        "expires": Rule(DURATION),
    },
}
"""By kind of node and keyword."""


def clause(node: Node, keyword: str) -> Clause | None:
    """The first clause of that keyword."""
    for each in node.clauses:
        if each.keyword.text == keyword:
            return each
    return None
