"""Names and their fields: what a read of the input, a node, a way out or a `let` gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from windtunnel.compiler.description import describe
from windtunnel.compiler.findings import Findings
from windtunnel.compiler.fitting import Fitting
from windtunnel.compiler.resolver import Declaration, Kind, Program, Scope
from windtunnel.compiler.stored import Env, Stored
from windtunnel.compiler.types import (
    JSON,
    NEVER,
    NULL,
    UNKNOWN,
    JsonShape,
    ListShape,
    MapShape,
    NeverShape,
    NullShape,
    RecordShape,
    Shape,
    TextShape,
    UnknownShape,
    members,
)
from windtunnel.compiler.unions import is_nullable, join, optional, read_shape, without_null
from windtunnel.dsl.syntax import Expr, Field, Let, Name, Ref, Span


class Shapes(Protocol):
    """What a read needs to know of the expressions around it."""

    program: Program
    scope: Scope
    stored: Stored
    findings: Findings
    fitting: Fitting

    def shape(self, expr: Expr, env: Env) -> Shape: ...


class Accesses:
    """The shapes of names and fields; works for the expressions of one workflow.

    `used_lets` are the names that were asked for, `input_fields` the fields of the input (None: all of it).
    """

    def __init__(self, expressions: Shapes) -> None:
        self.expressions = expressions
        self.program = expressions.program
        self.scope = expressions.scope
        self.stored = expressions.stored
        self.findings = expressions.findings
        self.fitting = expressions.fitting
        self.used_lets: set[str] = set()
        self.input_fields: set[str | None] = set()
        self._lets: dict[tuple[object, ...], Shape] = {}
        self._open_lets: list[str] = []

    # --- names ----------------------------------------------------------------------------------------------

    def ref(self, expr: Ref, env: Env) -> Shape:
        """The shape of a bare name."""
        name = expr.name
        if name in env.variables:
            return self.stored.root(name, env)
        if name == "input" and not env.isolated:
            self.input_fields.add(None)
            return self.stored.root(name, env)
        declaration = None if env.isolated else self.scope.lookup(name)
        if declaration is None:
            self._report_unknown(expr, env)
            return UNKNOWN
        if declaration.kind is Kind.LET:
            return self.let(declaration, env)
        if declaration.kind is Kind.INCLUDE:
            self._report_bare_include(declaration, expr)
            return UNKNOWN
        shape = self.stored.root(name, env)
        if isinstance(shape, NullShape):
            self._report_never_there(name, expr.span, env)
        return shape

    def _report_never_there(self, root: str, span: Span, env: Env) -> None:
        whole = not self.stored.graph.open and not self.stored.graph.loose
        if whole and not env.inside_let and root not in env.narrowed:
            self.findings.add(
                "WT0421", f"`{root}` is never there when `{env.reader}` reads it: it is always null", span
            )

    def _report_bare_include(self, declaration: Declaration, expr: Ref) -> None:
        ways = self.stored.ways.get(declaration.name, ())
        listed = ", ".join(f"`{declaration.name}.{way}`" for way in ways)
        self.findings.add(
            "WT0425",
            f"`{declaration.name}` is an include; what can be read is the output of an exit",
            expr.span,
            help=f"read {listed}" if listed else None,
        )

    def _report_unknown(self, expr: Ref, env: Env) -> None:
        name = expr.name
        if name in self.findings.maybe:
            return
        if name == "output" or env.isolated:
            where = (
                "a template sees only its parameters" if env.isolated else "`output` is read in `validate`"
            )
            self.findings.add("WT0101", f"there is no `{name}` here: {where}", expr.span)
            return
        if self.scope.input.field(name) is not None:
            fix = self.findings.replacing(f"write `input.{name}`", expr.span, f"input.{name}")
            self.findings.add(
                "WT0101",
                f"`{name}` is a field of the input",
                expr.span,
                help=f"write `input.{name}`",
                fixes=(fix,),
            )
            return
        inside = [d.name for d in self.scope.includes if self.inner(d, name) is not None]
        if inside:
            self.findings.add(
                "WT0112",
                f"`{name}` is a node inside the include `{inside[0]}` and cannot be seen from here",
                expr.span,
                help=f"read what `{inside[0]}` gives at its exits",
            )
            return
        known = [*self.scope.declarations, *env.variables, "input"]
        wrong = Name(name, expr.span)
        mend = self.findings.did_you_mean(wrong, known)
        self.findings.add_name("WT0101", f"there is no `{name}` here", wrong, mend)

    def inner(self, declaration: Declaration, name: str) -> Declaration | None:
        """The node of that name inside an include."""
        child = self.program.child(declaration)
        found = None if child is None else child.lookup(name)
        return found if found is not None and found.is_node else None

    def forget_lets(self) -> None:
        """Infer `let`s anew, after the shapes of nodes have changed."""
        self._lets.clear()

    def let(self, declaration: Declaration, env: Env) -> Shape:
        """The shape of a `let` for who reads it here."""
        known = env.narrowed.get(declaration.name)
        if known is not None:
            return known
        self.used_lets.add(declaration.name)
        assert isinstance(declaration.tree, Let), "a declaration of kind let holds a let"
        if declaration.name in self._open_lets:
            chain = [*self._open_lets[self._open_lets.index(declaration.name) :], declaration.name]
            self.findings.add(
                "WT0420", f"`let`s depend on each other: {' → '.join(chain)}", declaration.tree.name.span
            )
            return UNKNOWN
        key = (declaration.name, env.state, env.reader)
        if key not in self._lets:
            self._open_lets.append(declaration.name)
            inner = Env(env.state, env.reader, inside_let=True)
            self._lets[key] = self.expressions.shape(declaration.tree.value, inner)
            self._open_lets.pop()
        return self._lets[key]

    # --- fields ---------------------------------------------------------------------------------------------

    def field(self, expr: Field, env: Env) -> Shape:
        """The shape of a field: of the input, of a way out, or of any value."""
        if isinstance(expr.target, Ref) and expr.target.name not in env.variables and not env.isolated:
            if expr.target.name == "input":
                self.input_fields.add(expr.name.text)
                return self._part(expr, self.stored.root("input", env), env)
            declaration = self.scope.lookup(expr.target.name)
            if declaration is not None and declaration.kind in (Kind.INCLUDE, Kind.DECISION):
                shape = self._way(expr, declaration, env)
                if shape is not None:
                    return shape
        return self._part(expr, self.expressions.shape(expr.target, env), env)

    def _way(self, expr: Field, declaration: Declaration, env: Env) -> Shape | None:
        """A field of a mount or a decision; None when it is a field of a decision's output."""
        name = expr.name.text
        word = "exit" if declaration.kind is Kind.INCLUDE else "choice"
        if name == word:
            return self.stored.way_taken(declaration, env)
        ways = self.stored.ways.get(declaration.name)
        if ways is None:
            return UNKNOWN
        if name in ways:
            shape = self.stored.root(f"{declaration.name}.{name}", env)
            if isinstance(shape, NullShape):
                self._report_never_there(f"{declaration.name}.{name}", expr.span, env)
            return shape
        if declaration.kind is Kind.DECISION and name in ("provenance", "input"):
            return None
        if self.inner(declaration, name) is not None:
            self.findings.add(
                "WT0112",
                f"`{name}` is a node inside the include `{declaration.name}` and cannot be seen from here",
                expr.name.span,
                help=f"read one of its exits: {', '.join(f'`{way}`' for way in ways)}",
            )
            return UNKNOWN
        mend = self.findings.did_you_mean(expr.name, (*ways, word))
        self.findings.add("WT0209", f"`{declaration.name}` has no {word} `{name}`", expr.name.span, **mend)
        return UNKNOWN

    def _part(self, expr: Field, target: Shape, env: Env) -> Shape:
        nullable = is_nullable(target)
        if nullable and isinstance(target, NullShape):
            if not expr.optional:
                self.fitting.report_null(expr.target, env, f"and `.{expr.name.text}` needs a value", expr)
            return NULL
        inside = without_null(target)
        if nullable and not expr.optional:
            self.fitting.report_null(expr.target, env, f"and `.{expr.name.text}` needs a value", expr)
        shape = self._member_field(expr, inside)
        return optional(shape) if nullable and expr.optional else shape

    def _member_field(self, expr: Field, shape: Shape) -> Shape:
        name = expr.name.text
        found: list[Shape] = []
        lacking: list[Shape] = []
        for member in members(shape):
            match member:
                case UnknownShape():
                    return UNKNOWN
                case NeverShape():
                    continue
                case JsonShape():
                    found.append(JSON)
                case MapShape():
                    found.append(optional(member.value))
                case RecordShape() if (own := member.field(name)) is not None:
                    found.append(read_shape(own))
                case _:
                    lacking.append(member)
        if lacking:
            self._report_no_field(expr, lacking, bool(found), shape)
            return join(found) if found else UNKNOWN
        return join(found) if found else NEVER

    def _report_no_field(self, expr: Field, lacking: Sequence[Shape], some: bool, shape: Shape) -> None:
        name = expr.name.text
        records = [member for member in lacking if isinstance(member, RecordShape)]
        if some:
            self.findings.add(
                "WT0404",
                f"not every value here has `{name}`: {describe(lacking[0])} lacks it",
                expr.name.span,
                help="narrow the value first, with an arm of a `match`, with `if` or with `when`",
            )
        elif records:
            names = list(dict.fromkeys(n for member in records for n in member.names))
            mend = self.findings.did_you_mean(expr.name, names)
            if mend["help"] is None and names:
                mend["help"] = f"its fields: {', '.join(f'`{n}`' for n in names[:12])}"
            self.findings.add("WT0404", f"there is no field `{name}` here", expr.name.span, **mend)
        else:
            length = name in ("length", "size", "count") and isinstance(
                shape, TextShape | ListShape | MapShape
            )
            text = self.scope.file.module.source.text[expr.target.span.start : expr.target.span.end]
            written = f"len({text})" if length and text else ""
            self.findings.add(
                "WT0404",
                f"{describe(shape)} has no fields, so no `{name}`",
                expr.name.span,
                help=f"write `{written}`" if written else None,
                fixes=[self.findings.replacing(f"write `{written}`", expr.span, written)] if written else [],
            )
