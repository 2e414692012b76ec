"""Scenarios: what models, people and the world do, and what must hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from windtunnel.dsl.syntax.expressions import Expr, Record, Text
from windtunnel.dsl.syntax.nodes import Word
from windtunnel.dsl.syntax.spans import Name, Span
from windtunnel.dsl.syntax.workflows import Block


@dataclass(frozen=True, slots=True)
class NodePath:
    """`summary/summarize`, standing bare."""

    parts: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        """The qualified id."""
        return "/".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a provider: `verb argument`, e.g. `says "…"`, `calls read({…})` (then `tool` is set)."""

    verb: Name
    tool: Name | None
    argument: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """`node [visit n] act, act then act`: turns of acts."""

    node: NodePath
    visit: int | None
    turns: tuple[tuple[Act, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class EventRef:
    """`event [of node] [visit n]`."""

    event: Name
    node: NodePath | None
    visit: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class Moment:
    """`at duration`, or `after|before|during event …`; `every` when nothing was said."""

    relation: OneOf["at", "after", "before", "during"]
    at: Expr | None
    event: EventRef | None
    span: Span


@dataclass(frozen=True, slots=True)
class PersonLine:
    """`verb [node] [with choice] [argument] [moment]`, e.g. `answers approve with rewrite {…} after …`."""

    verb: Name
    node: NodePath | None
    choice: Name | None
    argument: Expr | None
    moment: Moment | None
    span: Span


@dataclass(frozen=True, slots=True)
class FaultLine:
    """`kind [process] [moment] [for duration]`, e.g. `crash host after message_end of a/b for 5s`."""

    kind: Name
    process: Name | None
    event: EventRef | None
    moment: Moment | None
    duration: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Expect:
    """`expect condition`, `expect always …`, `expect eventually …`, or `expect a -> b` (`order` is set)."""

    mode: OneOf["end", "always", "eventually", "order"]
    condition: Expr | None
    order: tuple[NodePath, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Scenario:
    """`scenario "title" for workflow { … }`; `blocks` are all its parts but the expectations."""

    title: Text
    workflow: Name
    input: Record | None
    host: tuple[Word, ...]
    provider: tuple[ProviderLine, ...]
    has_provider: bool
    person: tuple[PersonLine, ...]
    faults: tuple[FaultLine, ...]
    expects: tuple[Expect, ...]
    doc: str | None
    span: Span
    blocks: tuple[Block, ...] = ()
