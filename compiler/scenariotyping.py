"""The values and expectations of the scenarios of one file: their shapes, and what is wrong with them.

A value of a scenario is written out: it may use functions and templates, but reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.compiler.constants import constant
from windtunnel.compiler.expectations import Rewritten, run_shape, shapes_of
from windtunnel.compiler.expressions import Expressions
from windtunnel.compiler.graph import START, Graph
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.nodepaths import Found, Lost, find, path_in
from windtunnel.compiler.resolver import FileScope, Kind, Program, Scope, WorkflowId
from windtunnel.compiler.stored import Env, Stored, decision_output
from windtunnel.compiler.templating import empty_scope
from windtunnel.compiler.types import JSON, Shape
from windtunnel.dsl.syntax import Expr, NodePath, Span

CLOSED: Final = Env(None, START, isolated=True)
"""Where nothing can be read."""

ABOUT_NULL: Final = ("WT0401", "WT0402", "WT0419", "WT0421")
"""Findings about what may be null, or never is."""


class ScenarioTyping:
    """Types what stands in the scenarios of one file."""

    def __init__(self, program: Program, workflows: Mapping[WorkflowId, Typed], file: FileScope) -> None:
        self.program = program
        self.workflows = workflows
        self.file = file
        self.scope = empty_scope(file)
        templates = next((typed.expressions.templates for typed in workflows.values()), {})
        stored = Stored(program, self.scope, Graph((), ()), {})
        self.expressions = Expressions(program, self.scope, stored, templates)

    def shape(self, expr: Expr) -> Shape:
        """The shape of a value; mistakes in it are reported."""
        shape = self.expressions.shape(expr, CLOSED)
        known = constant(expr)
        return shape if known is None else known[1]

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

    def condition(self, scope: Scope, rewritten: Rewritten) -> Shape:
        """The shape of an expectation about a workflow; mistakes in it are reported.

        What may be null need not be handled: there it fails the expectation, and asking for it is fair.
        """
        sink = self.file.findings.sink
        before = len(sink)
        shape = self.expressions.condition(rewritten.expr, self.env(scope, rewritten))
        sink[before:] = [found for found in sink[before:] if found.code not in ABOUT_NULL]
        return shape

    def env(self, scope: Scope, rewritten: Rewritten) -> Env:
        """What an expectation sees: the variables that it reads."""

        def output(name: str) -> Shape:
            found = find(self.program, scope, path_in(name, Span(0, 0)))
            return self.output(found) if isinstance(found, Found) else JSON

        run = run_shape(self.workflows[scope.id].exits)
        return Env(None, START, shapes_of(rewritten.reads, run, output), isolated=True)
