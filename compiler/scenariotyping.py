"""The values and expectations of the scenarios of one file: their shapes, and what is wrong with them.

A value of a scenario is written out: it may use functions and templates, but reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from windtunnel.compiler.expectations import (
    Rewritten,
    run_shape,
    shapes_of,
    shown_parts,
)
from windtunnel.compiler.expressions import Expressions
from windtunnel.compiler.exprlowering import ExpressionLowering
from windtunnel.compiler.graph import START, Graph
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.nodepaths import Found, Lost, find, path_in
from windtunnel.compiler.plan import Mounted
from windtunnel.compiler.resolver import FileScope, Kind, Program, Scope, WorkflowId
from windtunnel.compiler.scenario import Part
from windtunnel.compiler.stored import Env, Stored, decision_output
from windtunnel.compiler.templating import empty_scope
from windtunnel.compiler.types import JSON, Shape
from windtunnel.dsl.syntax import Expr, NodePath, Span

CLOSED: Final = Env(None, START, isolated=True)
"""Where nothing can be read."""


@dataclass(frozen=True, slots=True)
class _Whole:
    whole: Mapping[int, bool]

    def is_whole(self, expr: Expr) -> bool:
        return self.whole.get(id(expr), False)


class ScenarioTyping:
    """Types and lowers what stands in the scenarios of one file."""

    def __init__(self, program: Program, workflows: Mapping[WorkflowId, Typed], file: FileScope) -> None:
        self.program = program
        self.workflows = workflows
        self.file = file
        scope = empty_scope(file)
        templates = next((typed.expressions.templates for typed in workflows.values()), {})
        self.expressions = Expressions(program, scope, Stored(program, scope, Graph((), ()), {}), templates)
        self._mounted = Mounted("", scope, None, None)

    # --- values ---------------------------------------------------------------------------------------------

    def shape(self, expr: Expr) -> Shape:
        """The shape of a value; mistakes in it are reported."""
        return self.expressions.shape(expr, CLOSED)

    def value(self, expr: Expr) -> tuple[JsonValue] | None:
        """The value that was typed before, in a tuple; None when a limit forbids it."""
        lowered = self._lowering().lower(expr)
        return (lowered[1],) if lowered[0] == "const" else None

    def _lowering(self) -> ExpressionLowering:
        whole = _Whole(self.expressions.whole)
        return ExpressionLowering(self.program, self._mounted, {}, whole)

    # --- nodes ----------------------------------------------------------------------------------------------

    def find(self, scope: Scope, path: NodePath) -> Found | Lost:
        """The node that a path leads to."""
        return find(self.program, scope, path)

    def output(self, found: Found) -> Shape:
        """The shape of what a node gives."""
        scope, declaration = found.way[-1]
        typed = self.workflows[scope.id]
        if declaration.kind is Kind.DECISION:
            asked = typed.expressions.stored.asked(declaration)
            return decision_output(declaration, asked, tuple(asked))
        return typed.outputs.get(declaration.name, JSON)

    # --- expectations ---------------------------------------------------------------------------------------

    def variables(self, scope: Scope, rewritten: Rewritten) -> dict[str, Shape]:
        """The shape of everything that an expectation about the workflow reads."""

        def output(name: str) -> Shape:
            found = find(self.program, scope, path_in(name, Span(0, 0)))
            return self.output(found) if isinstance(found, Found) else JSON

        return shapes_of(rewritten.reads, run_shape(self.workflows[scope.id].exits), output)

    def condition(self, scope: Scope, rewritten: Rewritten) -> Shape:
        """The shape of an expectation; mistakes in it are reported."""
        variables = self.variables(scope, rewritten)
        return self.expressions.condition(rewritten.expr, Env(None, START, variables, isolated=True))

    def lower(self, rewritten: Rewritten) -> list[Any]:
        """The list form of an expectation that was typed before, over the variables that it reads."""
        return self._lowering().lower(rewritten.expr, tuple(rewritten.reads))

    def parts(self, rewritten: Rewritten) -> tuple[Part, ...]:
        """What explains an expectation, as it is written."""
        text = self.file.module.source.text
        found: dict[str, Part] = {}
        for part in shown_parts(rewritten.expr, rewritten.reads):
            words = " ".join(text[part.span.start : part.span.end].split())
            lowered = self._lowering().lower(part, tuple(rewritten.reads))
            found.setdefault(words, Part(words, lowered))
        return tuple(found.values())
