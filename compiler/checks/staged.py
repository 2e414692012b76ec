"""One scenario under check: its workflow, its nodes by path, and values that must fit."""

from __future__ import annotations

from windtunnel.compiler.findings import Findings
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.nodepaths import Found, Lost, may_come_again, paths
from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.scenariotyping import CLOSED, ScenarioTyping
from windtunnel.compiler.types import DurationShape, LiteralShape, Shape, UnknownShape, members
from windtunnel.compiler.unions import without_null
from windtunnel.dsl.spelling import nearest, suggestion
from windtunnel.dsl.syntax import Comprehension, Expr, NodePath, Ref, Scenario, Span, children

WORDS = {
    Kind.AGENT: "an agent",
    Kind.COMPUTE: "a computed value",
    Kind.ACTION: "an action",
    Kind.SHELL: "a command",
    Kind.NOTIFY: "a notification",
    Kind.CHECKPOINT: "a checkpoint",
    Kind.DECISION: "a decision",
    Kind.INCLUDE: "an include",
}


class Staged:
    """What the checks of one scenario share."""

    def __init__(self, typing: ScenarioTyping, typed: Typed, scenario: Scenario) -> None:
        self.typing = typing
        self.typed = typed
        self.scenario = scenario
        self.findings: Findings = typing.file.findings

    # --- nodes ----------------------------------------------------------------------------------------------

    def find(self, path: NodePath) -> Found | None:
        """The node at the end of a path; one that is not there is reported."""
        found = self.typing.find(self.typed.scope, path)
        if isinstance(found, Found):
            return found
        self._report_lost(path, found)
        return None

    def _report_lost(self, path: NodePath, lost: Lost) -> None:
        if lost.part.text in self.findings.maybe:
            return
        before = "/".join(part.text for part in path.parts[: path.parts.index(lost.part)])
        if lost.scope is None:
            message = f"`{before}` is no include, so there is no `{lost.part.text}` in it"
            self.findings.add("WT1204", message, path.span)
            return
        inside = f" in `{before}`" if before else ""
        known = list(paths(self.typing.program, self.typed.scope))
        deeper = [each for each in known if each.rpartition("/")[2] == path.text]
        near = suggestion(tuple(deeper[:3])) or suggestion(nearest(path.text, known))
        self.findings.add("WT1204", f"there is no node `{lost.part.text}`{inside}", lost.part.span, help=near)

    def visit(self, found: Found, path: NodePath, visit: int | None, span: Span) -> None:
        """Report a second visit of a node that a run comes to only once."""
        graphs = {scope: typed.graph for scope, typed in self.typing.workflows.items()}
        if visit is not None and visit > 1 and not may_come_again(found, graphs):
            self.findings.add("WT1210", f"a run comes to `{path.text}` only once", span)

    # --- values ---------------------------------------------------------------------------------------------

    def shape(self, expr: Expr) -> Shape | None:
        """The shape of a value; None for one that reads something, which is reported."""
        read = free_name(expr)
        if read is None:
            return self.typing.shape(expr)
        self.findings.add(
            "WT1219", f"a value of a scenario is written out; it cannot read `{read.name}`", read.span
        )
        return None

    def fits(self, expr: Expr, wanted: Shape, what: str, code: str) -> bool:
        """Whether a value fits, with the reason where it does not."""
        shape = self.shape(expr)
        if shape is None:
            return False
        return self.typing.expressions.fitting.fits(expr, shape, wanted, CLOSED, what, code=code)

    def duration(self, expr: Expr, what: str) -> None:
        """Report what is not a duration, and one before the start."""
        shape = self.shape(expr)
        if shape is None:
            return
        parts = members(without_null(shape))
        if not all(isinstance(part, DurationShape | UnknownShape) for part in parts):
            plain = isinstance(shape, LiteralShape) and shape.kind in ("int", "number")
            help_ = "write a unit, as in `30s` or `5m`" if plain else None
            self.findings.add("WT1215", f"{what} is a duration", expr.span, help=help_)
        elif any(isinstance(part, DurationShape) and (part.low or 0) < 0 for part in parts):
            self.findings.add("WT1215", f"{what} is never before the start", expr.span)


def free_name(expr: Expr, bound: frozenset[str] = frozenset()) -> Ref | None:
    """The first name in an expression that no comprehension around it binds."""
    if isinstance(expr, Ref):
        return None if expr.name in bound else expr
    if isinstance(expr, Comprehension):
        inner = bound | {expr.variable.text}
        parts = [(expr.source, bound), (expr.item, inner)]
        parts += [] if expr.condition is None else [(expr.condition, inner)]
    else:
        parts = [(part, bound) for part in children(expr)]
    return next((found for part, names in parts if (found := free_name(part, names)) is not None), None)
