"""What does not fit, said where it stands: null that is not handled, and shapes that part.

Null is traced to its cause: an output that may not exist yet comes with a shortest path on which it does not.
"""

from __future__ import annotations

from collections.abc import Iterable

from windtunnel.compiler.assignability import Mismatch, Reason, mismatch
from windtunnel.compiler.description import describe
from windtunnel.compiler.findings import Findings
from windtunnel.compiler.flow import path_words
from windtunnel.compiler.graph import START
from windtunnel.compiler.operators import as_range
from windtunnel.compiler.paths import Path, path_of
from windtunnel.compiler.stored import Env, Stored
from windtunnel.compiler.types import DurationShape, NeverShape, Shape
from windtunnel.compiler.unions import is_nullable, without_null
from windtunnel.dsl.diagnostics import Fix
from windtunnel.dsl.spelling import nearest, suggestion
from windtunnel.dsl.syntax import Binary, Entry, Expr, Field, Index, Record, Span


class Fitting:
    """Compares what is given with what is wanted and reports; each reader hears of one unready root once."""

    def __init__(self, stored: Stored, findings: Findings) -> None:
        self.stored = stored
        self.findings = findings
        self._told: set[tuple[str, str]] = set()
        self.before_default: list[Expr] = []
        """The left sides of `??` that are being looked at: what they read is meant to be null at times."""

    def without_null(self, expr: Expr, shape: Shape, env: Env, use: str) -> Shape:
        """The shape without null; null is reported as `… may be null, {use}`."""
        if not is_nullable(shape):
            return shape
        self.report_null(expr, env, use)
        return without_null(shape)

    def report_null(self, expr: Expr, env: Env, use: str, read: Field | None = None) -> None:
        """Say that `expr` may be null, and why; `read` is the access to one of its fields."""
        path = None if env.isolated else path_of(expr, self.stored.scope, env.variables)
        if path is not None and self.stored.is_unassigned(path.root, env):
            self._report_unassigned(path, expr, env, read)
            return
        help = "say what to use instead with `??`, or test for null first"
        words = _words(expr)
        if isinstance(expr, Index):
            words = f"an item of {_words(expr.target)}" if _words(expr.target) != "this" else "an item"
            help = "the index may lie outside, and the first item is 0: " + help
        if isinstance(expr, Binary) and expr.operator in ("/", "%"):
            words = "a division" if expr.operator == "/" else "what a division leaves"
            help = "it is null where the divisor is 0: " + help
        fixes = self._optional_read(read)
        self.findings.add("WT0402", f"{words} may be null, {use}", expr.span, help=help, fixes=fixes)

    def _report_unassigned(self, path: Path, expr: Expr, env: Env, read: Field | None) -> None:
        if self.findings.is_muted or (env.reader, path.root) in self._told:
            return
        self._told.add((env.reader, path.root))
        vertex, _, way = path.root.partition(".")
        before = "before anything runs" if env.reader == START else f"when `{env.reader}` reads it"
        arrows = self.stored.flow.without(env.reader, vertex, way or None)
        notes = [] if arrows is None else [self._witness(path_words(arrows, env.reader), vertex, way)]
        if vertex == env.reader and env.state is not None:
            notes = [
                *notes,
                f"in its own expressions `{vertex}` is its previous output, null on the first visit",
            ]
        self.findings.add(
            "WT0401",
            f"`{path.root}` may not be there {before}",
            root_span(expr, path),
            notes=notes,
            help="read it with `?.` and give a value for null with `??`, or route every path through it",
            fixes=self._optional_read(read),
        )

    def _witness(self, words: str, vertex: str, way: str) -> str:
        declaration = self.stored.scope.lookup(vertex)
        if not way or declaration is None:
            return f"{words} never finishes `{vertex}`"
        return f"{words} does not leave `{vertex}` by `{way}`"

    def _optional_read(self, read: Field | None) -> tuple[Fix, ...]:
        """`a.b` to `a?.b`: surely meant where `??` says what to take instead."""
        if read is None or read.optional:
            return ()
        chain: Expr | None = self.before_default[-1] if self.before_default else None
        while isinstance(chain, Binary) and chain.operator == "??":
            chain = chain.right
        while isinstance(chain, Field) and chain is not read:
            chain = chain.target
        dot = Span(read.target.span.end, read.name.span.start)
        fix = self.findings.replacing("read it as null where it is not there", dot, "?.", safe=chain is read)
        return (fix,)

    # --- shapes ---------------------------------------------------------------------------------------------

    def fits(
        self,
        expr: Expr,
        shape: Shape,
        wanted: Shape,
        env: Env,
        what: str,
        *,
        code: str = "WT0403",
        secondary: Iterable[tuple[Span, str]] = (),
    ) -> bool:
        """Whether `expr` may be given for `wanted`; `what` names it in the message, as in ``the timeout``."""
        parted = mismatch(shape, wanted)
        if parted is None:
            return True
        where = locate(expr, parted.path)
        if parted.reason is Reason.NULL and where is not None:
            self.report_null(where, env, f"and {what}{_at(parted)} needs {describe(parted.target)}")
            return False
        at = where if where is not None else expr
        self.findings.add(
            code,
            mismatch_words(parted, what),
            at.span,
            secondary=secondary,
            notes=_notes(parted, shape, wanted),
            help=_help(parted, wanted),
        )
        return False


def mismatch_words(parted: Mismatch, what: str) -> str:
    """The finding in one sentence: the thing, the path where the two part, and both shapes there."""
    match parted.reason:
        case Reason.MISSING:
            return f"{what} lacks `{parted.path.lstrip('.')}`, which is {describe(parted.target)}"
        case Reason.UNKNOWN_FIELD:
            return f"{what} has `{parted.path.lstrip('.')}`, which is not wanted"
        case Reason.NULL:
            return f"{what}{_at(parted)} may be null, but {describe(parted.target)} is wanted"
    return f"{what}{_at(parted)} is {describe(parted.source)}, but {describe(parted.target)} is wanted"


def _at(parted: Mismatch) -> str:
    return f" at `{parted.path.lstrip('.')}`" if parted.path else ""


def _notes(parted: Mismatch, shape: Shape, wanted: Shape) -> list[str]:
    if not parted.path or isinstance(shape, NeverShape):
        return []
    return [f"given: {describe(shape)}", f"wanted: {describe(wanted)}"]


def _help(parted: Mismatch, wanted: Shape) -> str | None:
    if isinstance(parted.target, DurationShape) and as_range(parted.source) is not None:
        return "write a unit, as in `30s`, `5m` or `2h`"
    if parted.reason is not Reason.UNKNOWN_FIELD or parted.path.count(".") != 1:
        return None
    names = getattr(wanted, "names", ())
    return suggestion(nearest(parted.path.lstrip("."), names))


def locate(expr: Expr, path: str) -> Expr | None:
    """The part of a record expression that a path leads to; None where the path leaves what is written."""
    for step in [part for part in path.split(".") if part]:
        if step.endswith("]") or not isinstance(expr, Record):
            return None
        entries = [e for e in expr.entries if isinstance(e, Entry) and e.key.text == step]
        if not entries:
            return None
        expr = entries[-1].value
    return expr


def root_span(expr: Expr, path: Path) -> Span:
    """Where the root of an access path stands in the expression that reads it."""
    for _ in path.fields:
        if isinstance(expr, Field):
            expr = expr.target
    return expr.span


def _words(expr: Expr) -> str:
    names: list[str] = []
    inner = expr
    while isinstance(inner, Field):
        names.append(inner.name.text)
        inner = inner.target
    name = getattr(inner, "name", None)
    if not isinstance(name, str):
        return "this"
    return f"`{'.'.join([name, *reversed(names)])}`"
