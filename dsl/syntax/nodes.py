"""Clauses and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from windtunnel.dsl.syntax.expressions import Expr, Record, Text
from windtunnel.dsl.syntax.spans import Name, Span
from windtunnel.dsl.syntax.types import TypeExpr


@dataclass(frozen=True, slots=True)
class AssistantOutput:
    """`expectedOutput assistant`, with `{ maxChars e }` when a limit is set."""

    max_chars: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """`let name = value`."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Require:
    """`require condition [when premise] else message`."""

    condition: Expr
    premise: Expr | None
    message: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Validate:
    """The block after `validate`, in source order."""

    items: tuple[Let | Require, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PromptFile:
    """`prompt file "x.md"`; the path is relative to the file that says so."""

    path: Text
    span: Span


@dataclass(frozen=True, slots=True)
class CallEffect:
    """`call "name" with argument`."""

    action: Text
    argument: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word as a clause value: `progress`, `none`; empty for a clause that is only its keyword."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Ask:
    """`asks name: type "prompt"` of a choice."""

    name: Name
    type: TypeExpr
    prompt: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """`id "Label" [asks …]`, one line of `choices`."""

    name: Name
    label: Expr | None
    ask: Ask | None
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Choices:
    """The block after `choices`."""

    items: tuple[Choice, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class After:
    """`after delay choose choice [when premise]`."""

    delay: Expr
    choice: Name
    premise: Expr | None
    span: Span


ClauseValue: TypeAlias = (
    Expr | TypeExpr | AssistantOutput | Validate | PromptFile | CallEffect | Word | Choices | After
)


@dataclass(frozen=True, slots=True)
class Clause:
    """`keyword value` of a node; `span` covers both, `keyword.span` the word alone.

    The value's class follows the keyword: `expectedOutput`, `returns`, `answer` hold a `TypeExpr` (or
    `AssistantOutput`); `validate` a `Validate`; `choices` a `Choices`; `after` an `After`; `call` a
    `CallEffect`; `kind` a `Word`; `tools` a `Word` or a list expression; `timeout none` a `Word`;
    `allowNonZeroExit` a `Word` with empty text or an expression; every other keyword an expression.
    """

    keyword: Name
    value: ClauseValue
    span: Span


@dataclass(frozen=True, slots=True)
class Node:
    """`agent`, `action`, `shell`, `notify`, `checkpoint` or `decision` with its clauses."""

    kind: OneOf["agent", "action", "shell", "notify", "checkpoint", "decision"]
    name: Name
    label: Expr | None
    clauses: tuple[Clause, ...]
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Compute:
    """`compute name = value`."""

    name: Name
    value: Expr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Include:
    """`include mount ["label"] = workflow { input }`."""

    name: Name
    label: Expr | None
    workflow: Name
    input: Record
    doc: str | None
    span: Span


NodeDecl: TypeAlias = Node | Compute | Include
