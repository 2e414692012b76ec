"""Workflows and what stands beside them in a file."""

from __future__ import annotations

from dataclasses import dataclass

from windtunnel.dsl.syntax.edges import EdgeLine
from windtunnel.dsl.syntax.expressions import Expr, Text
from windtunnel.dsl.syntax.nodes import Let, NodeDecl
from windtunnel.dsl.syntax.spans import Name, Span
from windtunnel.dsl.syntax.types import RecordType, TypeExpr


@dataclass(frozen=True, slots=True)
class ImportName:
    """`name` or `name as alias`."""

    name: Name
    alias: Name | None

    @property
    def local(self) -> Name:
        """The name it goes by in this file."""
        return self.alias or self.name


@dataclass(frozen=True, slots=True)
class Import:
    """`import a, b as c from "path"`, `import x contract "…"`, or both."""

    names: tuple[ImportName, ...]
    path: Text | None
    contract: Text | None
    span: Span


@dataclass(frozen=True, slots=True)
class TypeDecl:
    """`type Name = type`."""

    name: Name
    type: TypeExpr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """`name: type` of a template."""

    name: Name
    type: TypeExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TemplateDecl:
    """`template name(parameters) = text`: a shared part of prompts."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Expr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ExitDecl:
    """`name: type` inside `exits`."""

    name: Name
    type: TypeExpr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Setting:
    """`revision 2`, `title "…"`, `contract "…"`, `maxSteps 12`, `budget turns 18`, `presentation …`.

    For `budget` the keyword's text is `budget turns`.
    """

    keyword: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block stands, from its keyword to its `}`: `input`, `exits`, `edges`, `provider`, …"""

    keyword: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow. Repeated settings or blocks are all kept, so that the compiler can point at each.

    `blocks` are the `input`, `exits` and `edges` blocks in source order; the n-th of a kind is the n-th entry
    there.
    """

    name: Name
    settings: tuple[Setting, ...]
    inputs: tuple[RecordType, ...]
    exits: tuple[tuple[ExitDecl, ...], ...]
    lets: tuple[Let, ...]
    nodes: tuple[NodeDecl, ...]
    edges: tuple[tuple[EdgeLine, ...], ...]
    doc: str | None
    span: Span
    blocks: tuple[Block, ...] = ()
