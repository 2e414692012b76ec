"""A file as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from windtunnel.dsl.syntax.scenarios import Scenario
from windtunnel.dsl.syntax.spans import Span
from windtunnel.dsl.syntax.workflows import Import, TemplateDecl, TypeDecl, Workflow


@dataclass(frozen=True, slots=True)
class Allow:
    """`# allow(WT0309): reason`; it silences that code on the next line that holds code."""

    code: str
    reason: str
    line: int
    span: Span


Item: TypeAlias = Import | TypeDecl | TemplateDecl | Workflow | Scenario


@dataclass(frozen=True, slots=True)
class File:
    """One file: items in source order; `language` is the number of the header, None when it is missing."""

    language: int | None
    items: tuple[Item, ...]
    allows: tuple[Allow, ...]
    span: Span

    @property
    def imports(self) -> tuple[Import, ...]:
        """The import lines."""
        return tuple(item for item in self.items if isinstance(item, Import))

    @property
    def types(self) -> tuple[TypeDecl, ...]:
        """The declared types."""
        return tuple(item for item in self.items if isinstance(item, TypeDecl))

    @property
    def templates(self) -> tuple[TemplateDecl, ...]:
        """The declared templates."""
        return tuple(item for item in self.items if isinstance(item, TemplateDecl))

    @property
    def workflows(self) -> tuple[Workflow, ...]:
        """The workflows."""
        return tuple(item for item in self.items if isinstance(item, Workflow))

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios."""
        return tuple(item for item in self.items if isinstance(item, Scenario))
