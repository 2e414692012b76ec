"""Calls: functions of the language, reads of the run (`result`, `visits`, `latest`), and templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from windtunnel.compiler.description import describe
from windtunnel.compiler.findings import Findings
from windtunnel.compiler.fitting import Fitting
from windtunnel.compiler.functions import FUNCTIONS
from windtunnel.compiler.resolver import Declaration, Kind, Scope
from windtunnel.compiler.signatures import Unfit, signature, takes_null
from windtunnel.compiler.stored import Env, Stored
from windtunnel.compiler.types import NEVER, UNKNOWN, NeverShape, Shape
from windtunnel.dsl.syntax import Call, Expr, Field, Name, Ref, Text

RUN_FUNCTIONS: Final = ("result", "visits", "latest")
"""Functions whose arguments are nodes, not values."""
ENDINGS: Final = ("ok", "failed", "timed_out", "cancelled")
"""The outcomes that `visits` counts."""


class Shapes(Protocol):
    """What a call needs to know of the expressions around it."""

    scope: Scope
    stored: Stored
    findings: Findings
    fitting: Fitting
    templates: Mapping[tuple[str, str], Shape]

    def shape(self, expr: Expr, env: Env) -> Shape: ...
    def value(self, expr: Expr, env: Env, use: str) -> Shape: ...
    def inner(self, declaration: Declaration, name: str) -> Declaration | None: ...


class Calls:
    """The shape of a call; works for the expressions of one workflow."""

    def __init__(self, expressions: Shapes) -> None:
        self.expressions = expressions
        self.findings = expressions.findings
        self.used_templates: set[str] = set()

    def shape(self, expr: Call, env: Env) -> Shape:
        """The shape of what a call gives."""
        name = expr.function.text
        if expr.template:
            return self._template(expr, env)
        if name in RUN_FUNCTIONS:
            return UNKNOWN if env.isolated else self._run_function(expr, env)
        known = signature(name)
        if known is None:
            self._report_unknown(expr, env)
            return UNKNOWN
        _, least, most = FUNCTIONS[name]
        shapes = [self._argument(expr, index, env) for index in range(len(expr.arguments))]
        if len(shapes) < least or (most is not None and len(shapes) > most):
            self._report_count(expr, least, most)
            return UNKNOWN
        if any(isinstance(shape, NeverShape) for shape in shapes):
            return NEVER
        result = known(shapes)
        if isinstance(result, Unfit):
            given = describe(shapes[result.index])
            self.findings.add(
                "WT0410", f"`{name}` takes {result.wanted}, not {given}", expr.arguments[result.index].span
            )
            return UNKNOWN
        return result

    def _argument(self, expr: Call, index: int, env: Env) -> Shape:
        argument = expr.arguments[index]
        if takes_null(expr.function.text, index):
            return self.expressions.shape(argument, env)
        return self.expressions.value(argument, env, f"and `{expr.function.text}` needs a value")

    def _report_unknown(self, expr: Call, env: Env) -> None:
        for argument in expr.arguments:
            self.expressions.shape(argument, env)
        name = expr.function
        if name.text in self.expressions.scope.file.templates:
            self.findings.add(
                "WT0118",
                f"`{name.text}` is a template, not a function",
                name.span,
                help=f"write `template {name.text}(…)`",
            )
            return
        self.findings.add(
            "WT0118",
            f"there is no function `{name.text}`",
            name.span,
            **self.findings.did_you_mean(name, (*FUNCTIONS, *RUN_FUNCTIONS)),
        )

    def _report_count(self, expr: Call, least: int, most: int | None) -> None:
        wanted = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        self.findings.add(
            "WT0410", f"`{expr.function.text}` takes {wanted} arguments, not {len(expr.arguments)}", expr.span
        )

    # --- reads of the run -----------------------------------------------------------------------------------

    def _run_function(self, expr: Call, env: Env) -> Shape:
        name = expr.function.text
        stored = self.expressions.stored
        if not expr.arguments:
            self._report_count(expr, 1, None if name == "latest" else 1 + (name == "visits"))
            return UNKNOWN
        if name == "latest":
            found = [self._node(argument, name, env) for argument in expr.arguments]
            nodes = [declaration for declaration in found if declaration is not None]
            return stored.latest(nodes, env) if nodes and len(nodes) == len(found) else UNKNOWN
        declaration = self._node(expr.arguments[0], name, env)
        if len(expr.arguments) > 1 + (name == "visits"):
            self._report_count(expr, 1, 1 + (name == "visits"))
            return UNKNOWN
        outcome_given = len(expr.arguments) == 2
        if outcome_given:
            self._check_outcome(expr.arguments[1])
        if declaration is None:
            return UNKNOWN
        if name == "result":
            return stored.result(declaration, env)
        return stored.visits(declaration, env, not outcome_given)

    def _check_outcome(self, argument: Expr) -> None:
        value = argument.constant if isinstance(argument, Text) else None
        if value not in ENDINGS:
            self.findings.add(
                "WT0410",
                "the outcome that `visits` counts is one of " + ", ".join(f'"{word}"' for word in ENDINGS),
                argument.span,
            )

    def _node(self, argument: Expr, function: str, env: Env) -> Declaration | None:
        expressions = self.expressions
        if isinstance(argument, Ref) and argument.name not in env.variables:
            declaration = expressions.scope.lookup(argument.name)
            if declaration is not None and declaration.is_node:
                expressions.stored.read.add(argument.name)
                return declaration
            if declaration is None:
                self._report_hidden(argument, function)
                return None
        outer = argument.target if isinstance(argument, Field) else None
        if isinstance(outer, Ref) and isinstance(argument, Field):
            declaration = expressions.scope.lookup(outer.name)
            if declaration is not None and declaration.kind is Kind.INCLUDE:
                self._report_inside(argument.name, declaration, function)
                return None
        self.findings.add("WT0410", f"`{function}` takes the name of a node", argument.span)
        return None

    def _report_hidden(self, argument: Ref, function: str) -> None:
        """A name that is unknown here; when it lies inside an include, what counts it never counts."""
        expressions = self.expressions
        name = Name(argument.name, argument.span)
        for declaration in expressions.scope.includes:
            if expressions.inner(declaration, name.text) is not None:
                self._report_inside(name, declaration, function)
                return
        if name.text in self.findings.maybe:
            return
        known = [declaration.name for declaration in expressions.scope.nodes]
        self.findings.add(
            "WT0101", f"there is no node `{name.text}`", name.span, **self.findings.did_you_mean(name, known)
        )

    def _report_inside(self, name: Name, declaration: Declaration, function: str) -> None:
        counted = {
            "visits": "a count of it would stay 0",
            "result": "it would have no result",
            "latest": "it would never be the latest",
        }
        if self.expressions.inner(declaration, name.text) is None:
            message = f"`{function}` takes a node of this workflow, not a way out of `{declaration.name}`"
            self.findings.add("WT0410", message, name.span)
            return
        self.findings.add(
            "WT0112",
            f"`{name.text}` is a node inside the include `{declaration.name}`; "
            f"seen from here {counted[function]}",
            name.span,
            help=f"ask for `{function}({declaration.name})`, or let the include say it at an exit",
        )

    # --- templates ------------------------------------------------------------------------------------------

    def _template(self, expr: Call, env: Env) -> Shape:
        expressions = self.expressions
        name = expr.function
        template = expressions.scope.file.templates.get(name.text)
        shapes = [expressions.shape(argument, env) for argument in expr.arguments]
        if template is None:
            if name.text not in self.findings.maybe:
                known = expressions.scope.file.templates
                self.findings.add(
                    "WT0119",
                    f"there is no template `{name.text}`",
                    name.span,
                    **self.findings.did_you_mean(name, known),
                )
            return UNKNOWN
        self.used_templates.add(name.text)
        if len(shapes) != len(template.parameters):
            self.findings.add(
                "WT0410",
                f"template `{name.text}` takes {len(template.parameters)} arguments, not {len(shapes)}",
                expr.span,
            )
            return UNKNOWN
        for argument, shape, parameter, wanted in zip(
            expr.arguments, shapes, template.tree.parameters, template.parameters, strict=True
        ):
            expressions.fitting.fits(argument, shape, wanted, env, f"`{parameter.name.text}`", code="WT0410")
        return expressions.templates.get((template.module, template.tree.name.text), UNKNOWN)
