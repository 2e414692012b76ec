"""The shape of each expression: operators, functions, reads of nodes; and what is wrong with them.

One `Expressions` serves one workflow. Recursion is bounded by the nesting that the parser allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from windtunnel.compiler.accesses import Accesses
from windtunnel.compiler.assignability import overlap
from windtunnel.compiler.calls import Calls
from windtunnel.compiler.conditions import assume
from windtunnel.compiler.description import describe
from windtunnel.compiler.findings import Findings, Mend
from windtunnel.compiler.fitting import Fitting
from windtunnel.compiler.operators import (
    MAX_LITERAL,
    arithmetic,
    as_text,
    is_whole,
    negated,
    ordered_kind,
)
from windtunnel.compiler.paths import path_of
from windtunnel.compiler.resolver import Declaration, Program, Scope
from windtunnel.compiler.signatures import is_bool, is_insertable, is_whole_number, items_of
from windtunnel.compiler.stored import Env, Stored
from windtunnel.compiler.types import (
    BOOL,
    JSON,
    MAX_DEPTH,
    MAX_WEIGHT,
    NEVER,
    NULL,
    UNKNOWN,
    Composite,
    DurationShape,
    FieldShape,
    JsonShape,
    ListShape,
    LiteralShape,
    MapShape,
    NeverShape,
    NullShape,
    RecordShape,
    Shape,
    TextShape,
    UnknownShape,
    literal,
    members,
)
from windtunnel.compiler.unions import is_nullable, join, may_be_null, optional, read_shape, without_null
from windtunnel.dsl.syntax import (
    Binary,
    Call,
    Comprehension,
    Duration,
    Entry,
    Expr,
    Field,
    If,
    Index,
    ListExpr,
    Literal,
    Record,
    Ref,
    Span,
    Spread,
    Text,
    Unary,
)

MAX_SPREAD: Final = 16
"""Most kinds of records that one record expression with spreads may give; past it the result is `json`."""


class Expressions:
    """Infers shapes and reports mistakes; what it learns on the way is kept for later passes.

    `whole` tells for each `/` and `*` and its sides whether it is a whole number or a duration wherever it
    is read; `accesses` and `calls` know which names were asked for.
    """

    def __init__(
        self, program: Program, scope: Scope, stored: Stored, templates: Mapping[tuple[str, str], Shape]
    ) -> None:
        self.templates = templates
        self.program = program
        self.scope = scope
        self.stored = stored
        self.findings: Findings = scope.file.findings
        self.fitting = Fitting(stored, self.findings)
        self.accesses = Accesses(self)
        self.calls = Calls(self)
        self.whole: dict[int, bool] = {}
        self._shapes: dict[type[Any], Callable[[Any, Env], Shape]] = {
            Literal: lambda expr, env: NULL if expr.value is None else literal(expr.value),
            Duration: lambda expr, env: DurationShape(expr.milliseconds, expr.milliseconds),
            Text: self._text,
            Ref: self.accesses.ref,
            Field: self.accesses.field,
            Index: self._index,
            Call: self.calls.shape,
            Unary: self._unary,
            Binary: self._binary,
            If: self._if,
            Record: self._record,
            ListExpr: self._list,
            Comprehension: self._comprehension,
        }

    def shape(self, expr: Expr, env: Env) -> Shape:
        """The shape of an expression at its place; mistakes are reported, and what is broken is `UNKNOWN`."""
        shape = self._shapes[type(expr)](expr, env)
        if isinstance(shape, Composite) and (shape.weight > MAX_WEIGHT or shape.depth > MAX_DEPTH):
            self.findings.add("WT0417", f"the type of this value has more than {MAX_WEIGHT} parts", expr.span)
            return UNKNOWN
        return shape

    def let(self, declaration: Declaration, env: Env) -> Shape:
        """The shape of a `let` for who reads it here."""
        return self.accesses.let(declaration, env)

    def inner(self, declaration: Declaration, name: str) -> Declaration | None:
        """The node of that name inside an include."""
        return self.accesses.inner(declaration, name)

    def value(self, expr: Expr, env: Env, use: str) -> Shape:
        """The shape without null, which is reported as `… may be null, {use}`."""
        return self.fitting.without_null(expr, self.shape(expr, env), env, use)

    def condition(self, expr: Expr, env: Env) -> Shape:
        """The shape of a condition, which must be true or false."""
        shape = self.value(expr, env, "and a condition is true or false")
        if not is_bool(shape):
            self.findings.add("WT0412", f"a condition is true or false, not {describe(shape)}", expr.span)
            return BOOL
        if isinstance(shape, LiteralShape) and not isinstance(expr, Literal) and not env.inside_let:
            word = "true" if shape.value else "false"
            self.findings.add("WT0423", f"this condition is always {word}", expr.span)
        return shape

    # --- leaves ---------------------------------------------------------------------------------------------

    def _text(self, expr: Text, env: Env) -> Shape:
        low, high = 0, 0
        open_end = False
        for part in expr.parts:
            if isinstance(part, str):
                low, high = low + len(part), high + len(part)
                continue
            inserted = as_text(self._inserted(part, env))
            low += 0 if inserted is None else inserted.low
            open_end = open_end or inserted is None or inserted.high is None
            high += 0 if inserted is None or inserted.high is None else inserted.high
        constant = expr.constant
        if constant is not None and len(constant) <= MAX_LITERAL:
            return literal(constant)
        return TextShape(low, None if open_end else high)

    def _inserted(self, part: Expr, env: Env) -> Shape:
        shape = self.value(part, env, "and null cannot be inserted in text")
        if not is_insertable(shape):
            fix = self.findings.replacing("write it as JSON", Span(part.span.start, part.span.start), "json(")
            edits = (*fix.edits, *self.findings.replacing("", Span(part.span.end, part.span.end), ")").edits)
            self.findings.add(
                "WT0411",
                f"{describe(shape)} cannot be inserted in text",
                part.span,
                help="`json()` writes records and lists, `join()` and `bullets()` lists of texts",
                fixes=(replace(fix, edits=edits),),
            )
        return shape

    # --- parts of values ------------------------------------------------------------------------------------

    def _index(self, expr: Index, env: Env) -> Shape:
        target = self.value(expr.target, env, "and `[…]` needs a value")
        index = self.value(expr.index, env, "and an index is not null")
        found: list[Shape] = []
        for member in members(target):
            match member:
                case UnknownShape():
                    return UNKNOWN
                case NeverShape():
                    continue
                case JsonShape():
                    found.append(JSON)
                case ListShape() if is_whole_number(index):
                    found.append(_item_at(member, index))
                case MapShape() if as_text(index) is not None:
                    found.append(optional(member.value))
                case RecordShape() if isinstance(index, LiteralShape) and isinstance(index.value, str):
                    own = member.field(index.value)
                    found.append(NULL if own is None else read_shape(own))
                case _ if isinstance(index, UnknownShape):
                    return UNKNOWN
                case _:
                    self.findings.add(
                        "WT0408",
                        f"{describe(member)} has no item at {describe(index)}",
                        expr.span,
                        help="lists are indexed by whole numbers, maps by their keys",
                    )
                    return UNKNOWN
        return join(found) if found else NEVER

    # --- operators ------------------------------------------------------------------------------------------

    def _unary(self, expr: Unary, env: Env) -> Shape:
        if expr.operator == "not":
            shape = self.condition(expr.operand, env)
            return literal(not shape.value) if isinstance(shape, LiteralShape) else BOOL
        inner = self.value(expr.operand, env, "and null has no negative")
        result = negated(inner)
        if result is None:
            self.findings.add("WT0408", f"`-` does not apply to {describe(inner)}", expr.span)
            return UNKNOWN
        return result

    def _binary(self, expr: Binary, env: Env) -> Shape:
        operator = expr.operator
        if operator in ("and", "or"):
            self.condition(expr.left, env)
            self.condition(expr.right, assume(self, expr.left, operator == "and", env))
            return BOOL
        if operator == "??":
            return self._otherwise(expr, env)
        if operator in ("==", "!="):
            return self._equality(expr, env)
        if operator == "in":
            return self._in(expr, env)
        left = self.value(expr.left, env, f"and `{operator}` needs a value")
        right = self.value(expr.right, env, f"and `{operator}` needs a value")
        if operator in ("<", "<=", ">", ">="):
            return self._order(expr, left, right)
        result = arithmetic(operator, left, right)
        if result is None:
            help_ = 'insert values in text: `"${…}"`' if operator == "+" and _has_text(left, right) else None
            self.findings.add(
                "WT0408",
                f"`{operator}` does not apply to {describe(left)} and {describe(right)}",
                expr.span,
                help=help_,
            )
            return UNKNOWN
        if operator in ("/", "*"):
            for part, shape in ((expr.left, left), (expr.right, right), (expr, without_null(result))):
                self.whole[id(part)] = is_whole(shape) and self.whole.get(id(part), True)
        return result

    def _otherwise(self, expr: Binary, env: Env) -> Shape:
        found = len(self.findings.sink)
        self.fitting.before_default.append(expr.left)
        left = self.shape(expr.left, env)
        self.fitting.before_default.pop()
        path = path_of(expr.left, self.scope, env.variables)
        missing = path is not None and self.stored.is_unassigned(path.root, env)
        told = missing or len(self.findings.sink) > found
        never_null = not may_be_null(left) and not isinstance(left, NeverShape)
        if never_null and not env.inside_let and not told:
            self.findings.add(
                "WT0419",
                "this is never null, so `??` never gives its right side",
                expr.left.span,
                fixes=(
                    self.findings.replacing(
                        "drop the right side", Span(expr.left.span.end, expr.right.span.end), ""
                    ),
                ),
            )
        right = self.shape(expr.right, env)
        return join((without_null(left), right))

    def _equality(self, expr: Binary, env: Env) -> Shape:
        left, right = self.shape(expr.left, env), self.shape(expr.right, env)
        if overlap(left, right) or NEVER in (left, right):
            return BOOL
        never = "never" if expr.operator == "==" else "always"
        if NULL in (left, right):
            if not env.inside_let:
                self.findings.add("WT0419", f"the other side is never null, so this {never} holds", expr.span)
            return BOOL
        self.findings.add(
            "WT0409",
            f"{describe(left)} and {describe(right)} have no value in common, so this {never} holds",
            expr.span,
            **self._near_value(expr, left, right),
        )
        return BOOL

    def _near_value(self, expr: Binary, left: Shape, right: Shape) -> Mend:
        """A literal text that is compared with others may be one of them, misspelt."""
        for side, shape, other in ((expr.left, left, right), (expr.right, right, left)):
            if isinstance(side, Text) and isinstance(shape, LiteralShape) and isinstance(shape.value, str):
                known = [m.value for m in members(other) if isinstance(m, LiteralShape)]
                return self.findings.near_text(
                    side.span, shape.value, [k for k in known if isinstance(k, str)]
                )
        return Mend(help=None, fixes=())

    def _in(self, expr: Binary, env: Env) -> Shape:
        left = self.shape(expr.left, env)
        right = self.value(expr.right, env, "and `in` needs a list or a record")
        for member in members(right):
            match member:
                case UnknownShape() | NeverShape():
                    continue
                case ListShape():
                    if not overlap(left, member.item):
                        self.findings.add(
                            "WT0409",
                            f"{describe(left)} is never one of {describe(member)}",
                            expr.span,
                        )
                case RecordShape() | MapShape():
                    if not all(as_text(m) or isinstance(m, UnknownShape | NullShape) for m in members(left)):
                        self.findings.add("WT0408", f"a key is text, not {describe(left)}", expr.left.span)
                case _:
                    self.findings.add(
                        "WT0408",
                        f"`in` looks into a list or a record, not into {describe(member)}",
                        expr.right.span,
                        help="for text use `contains(text, part)`",
                    )
        return BOOL

    def _order(self, expr: Binary, left: Shape, right: Shape) -> Shape:
        if UNKNOWN in (left, right) or NEVER in (left, right):
            return BOOL
        one, other = ordered_kind(left), ordered_kind(right)
        if one is None or one != other:
            self.findings.add(
                "WT0408",
                f"`{expr.operator}` does not compare {describe(left)} with {describe(right)}",
                expr.span,
                help="two numbers, two durations or two texts have an order",
            )
        return BOOL

    def _if(self, expr: If, env: Env) -> Shape:
        self.condition(expr.condition, env)
        yes = self.shape(expr.consequent, assume(self, expr.condition, True, env))
        no = self.shape(expr.alternative, assume(self, expr.condition, False, env))
        return join((yes, no))

    # --- records and lists ----------------------------------------------------------------------------------

    def _record(self, expr: Record, env: Env) -> Shape:
        variants: list[dict[str, FieldShape]] = [{}]
        seen: dict[str, Span] = {}
        for entry in expr.entries:
            if isinstance(entry, Spread):
                spread = self.value(entry.value, env, "and `...` needs a record")
                grown = self._spread(entry, spread, variants)
                if grown is None:
                    return UNKNOWN if isinstance(spread, UnknownShape) else JSON
                variants = grown
                seen = {}
                continue
            name = entry.key.text
            if name in seen:
                self.findings.add(
                    "WT0424",
                    f"`{name}` is given twice",
                    entry.key.span,
                    secondary=[(seen[name], "first given here")],
                )
            seen[name] = entry.key.span
            field = self._entry(entry, env)
            for variant in variants:
                variant.pop(name, None)
                if field is not None:
                    variant[name] = field
        return join(RecordShape(tuple(variant.values())) for variant in variants)

    def _entry(self, entry: Entry, env: Env) -> FieldShape | None:
        shape = self.shape(entry.value, env)
        name = entry.key.text
        if not entry.optional:
            return FieldShape(name, shape)
        if isinstance(shape, NullShape):
            return None
        if isinstance(shape, JsonShape | UnknownShape):
            return FieldShape(name, shape, optional=True)
        return FieldShape(name, without_null(shape), optional=is_nullable(shape))

    def _spread(
        self, entry: Spread, shape: Shape, variants: list[dict[str, FieldShape]]
    ) -> list[dict[str, FieldShape]] | None:
        parts = members(shape)
        if not all(isinstance(part, RecordShape | NeverShape) for part in parts):
            if not any(isinstance(part, UnknownShape | JsonShape | MapShape) for part in parts):
                self.findings.add("WT0408", f"`...` needs a record, not {describe(shape)}", entry.span)
            return None
        records = [part for part in parts if isinstance(part, RecordShape)]
        if len(records) * len(variants) > MAX_SPREAD:
            return None
        return [
            {**variant, **{f.name: _over(variant.get(f.name), f) for f in part.fields}}
            for variant in variants
            for part in records
        ] or variants

    def _list(self, expr: ListExpr, env: Env) -> Shape:
        items: list[Shape] = []
        low, high = 0, 0
        open_end = False
        for item in expr.items:
            if not isinstance(item, Spread):
                items.append(self.shape(item, env))
                low, high = low + 1, high + 1
                continue
            shape = self.value(item.value, env, "and `...` needs a list")
            if not all(isinstance(m, ListShape | UnknownShape | NeverShape) for m in members(shape)):
                self.findings.add("WT0408", f"`...` needs a list, not {describe(shape)}", item.span)
            spread = items_of(shape)
            items.append(spread.item)
            low += spread.low
            open_end = open_end or spread.high is None
            high += spread.high or 0
        return ListShape(join(items), low, None if open_end else high)

    def _comprehension(self, expr: Comprehension, env: Env) -> Shape:
        source = self.value(expr.source, env, "and `for` needs a list")
        if not all(isinstance(m, ListShape | UnknownShape | NeverShape) for m in members(source)):
            self.findings.add("WT0408", f"`for` goes over a list, not {describe(source)}", expr.source.span)
        items = items_of(source)
        inner = env.binding(expr.variable.text, items.item)
        if expr.condition is not None:
            self.condition(expr.condition, inner)
            inner = assume(self, expr.condition, True, inner)
        item = self.shape(expr.item, inner)
        return ListShape(item, items.low if expr.condition is None else 0, items.high)


def _item_at(shape: ListShape, index: Shape) -> Shape:
    if isinstance(index, LiteralShape) and isinstance(index.value, int) and 0 <= index.value < shape.low:
        return shape.item
    return optional(shape.item)


def _over(before: FieldShape | None, after: FieldShape) -> FieldShape:
    """A field that a spread writes over another: where it may be missing the other one stays."""
    if before is None or not after.optional:
        return after
    return FieldShape(after.name, join((before.shape, after.shape)), optional=before.optional)


def _has_text(left: Shape, right: Shape) -> bool:
    return any(as_text(member) is not None for shape in (left, right) for member in members(shape))
