"""Expressions of the tree to the list form of `expression`.

Names are qualified, templates written out, constants folded. What an expression means does not depend on
how it was written: adjacent pieces of text are joined, parameters of templates are numbered, and what can
be computed before the run is a constant. A field of a mount's input that its parent gives as a constant is
that constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pydantic import JsonValue

from windtunnel.compiler.canonical import normalise
from windtunnel.compiler.folding import Lowered, bind, fold, substitute
from windtunnel.compiler.plan import Mounted
from windtunnel.compiler.reading import reads
from windtunnel.compiler.resolver import FileScope, Kind, Program, Template
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
    Spread,
    Text,
    Unary,
)

MAX_EXPRESSION_DEPTH: Final = 150
"""Lists inside one another that a stored expression may have, constants and written-out templates included.
"""

NODE_FUNCTIONS: Final = ("result", "visits", "latest")
"""Functions whose arguments are names of nodes."""


class Wholeness(Protocol):
    """What lowering asks of the types of expressions."""

    def is_whole(self, expr: Expr) -> bool:
        """Whether every value of the expression is a whole number or a duration, null aside."""


@dataclass(frozen=True, slots=True)
class Names:
    """The variables in sight, by written name, and the file whose templates count."""

    file: FileScope
    variables: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0
    whole: bool = True
    """Whether names of nodes, `let`s and `input` are in sight, as they are outside templates."""

    def with_variable(self, written: str) -> Names:
        """The same with one more variable of that name."""
        return Names(self.file, {**self.variables, written: written}, self.depth, self.whole)


class ExpressionLowering:
    """Lowers expressions of one mounted workflow; `given` are the fields its parent gives as constants."""

    def __init__(
        self, program: Program, mounted: Mounted, given: Mapping[str, JsonValue], types: Wholeness
    ) -> None:
        self.program = program
        self.mounted = mounted
        self.given = given
        self.types = types
        self.names = Names(mounted.scope.file)
        self.too_deep: list[Expr] = []
        """Expressions that would nest deeper than MAX_EXPRESSION_DEPTH."""
        self.lets: set[str] = set()
        """The lets that what was lowered so far reads."""

    def lower(self, expr: Expr, variables: Sequence[str] = ()) -> Lowered:
        """The list form. `variables` are bound outside, such as `output` in validators."""
        names = self.names
        for variable in variables:
            names = names.with_variable(variable)
        lowered = self._lower(expr, names)
        if _depth(lowered) > MAX_EXPRESSION_DEPTH:
            self.too_deep.append(expr)
            return ["const", None]
        self.lets |= lets_in(lowered)
        return lowered

    def lower_let(self, expr: Expr) -> Lowered:
        """The list form of a `let`, which is read only where something else reads it."""
        before = set(self.lets)
        lowered = self.lower(expr)
        self.lets = before
        return lowered

    def own_output(self, expr: Expr, output: Lowered) -> Lowered:
        """The list form of a match subject, in which `output` stands for the source's output."""
        lowered = self.lower(expr, ("output",))
        return fold(substitute(lowered, "output", output))

    # --- one method per construct ---------------------------------------------------------------------------

    def _lower(self, expr: Expr, names: Names) -> Lowered:
        match expr:
            case Literal():
                return ["const", normalise(expr.value)]
            case Duration():
                return ["const", expr.milliseconds]
            case Text():
                return self._text(expr, names)
            case Ref():
                return self._ref(expr.name, names)
            case Field():
                return self._field(expr, names)
            case Index():
                return fold(["index", self._lower(expr.target, names), self._lower(expr.index, names)])
            case Call():
                return self._call(expr, names)
            case Unary(operator="not"):
                return fold(["not", self._lower(expr.operand, names)])
            case Unary():
                return fold(["neg", self._lower(expr.operand, names)])
            case Binary():
                return self._binary(expr, names)
            case If():
                return self._if(expr, names)
            case Record():
                return fold(["record", *self._record_parts(expr, names)])
            case ListExpr():
                return fold(["list", *self._list_parts(expr, names)])
            case Comprehension():
                return self._comprehension(expr, names)

    def _text(self, expr: Text, names: Names) -> Lowered:
        parts = (
            ["const", part] if isinstance(part, str) else self._lower(part, names) for part in expr.parts
        )
        return fold(["text", *parts])

    def _ref(self, name: str, names: Names) -> Lowered:
        if name in names.variables:
            return ["var", names.variables[name]]
        assert names.whole, f"`{name}` is not a parameter of its template, which inference reports"
        if name == "input":
            return ["input", self.mounted.path]
        declaration = self.mounted.scope.lookup(name)
        assert declaration is not None, f"`{name}` is declared nowhere, which inference reports"
        qualified = self.mounted.qualified(name)
        return ["let", qualified] if declaration.kind is Kind.LET else ["node", qualified]

    def _field(self, expr: Field, names: Names) -> Lowered:
        """A field; mounts and decisions have ways for fields. Chains cost no depth of the stack."""
        chain: list[Field] = []
        target: Expr = expr
        while isinstance(target, Field):
            chain.append(target)
            target = target.target
        chain.reverse()
        lowered: Lowered | None = None
        if isinstance(target, Ref) and target.name not in names.variables:
            lowered = self._way(target.name, chain[0].name.text, names)
            if lowered is not None:
                chain = chain[1:]
        if lowered is None:
            lowered = self._lower(target, names)
        for part in chain:
            lowered = fold(["field", lowered, part.name.text, part.optional])
        return lowered

    def _way(self, name: str, field_name: str, names: Names) -> Lowered | None:
        if name == "input":
            return ["const", self.given[field_name]] if names.whole and field_name in self.given else None
        declaration = self.mounted.scope.lookup(name)
        if declaration is None:
            return None
        qualified = self.mounted.qualified(name)
        if declaration.kind is Kind.INCLUDE:
            return ["way", qualified] if field_name == "exit" else ["exit", qualified, field_name]
        if declaration.kind is Kind.DECISION:
            if field_name == "choice":
                return ["way", qualified]
            choices = declaration.choices
            if choices is not None and any(item.name.text == field_name for item in choices.items):
                return ["choice", qualified, field_name]
        return None

    def _call(self, expr: Call, names: Names) -> Lowered:
        name = expr.function.text
        if expr.template:
            return self._template(names.file.templates[name], expr.arguments, names)
        if name in NODE_FUNCTIONS and not any(
            isinstance(argument, Ref) and argument.name in names.variables for argument in expr.arguments
        ):
            return self._node_function(name, expr.arguments)
        return fold(["call", name, *(self._lower(argument, names) for argument in expr.arguments)])

    def _node_function(self, name: str, arguments: Sequence[Expr]) -> Lowered:
        nodes = [self.mounted.qualified(argument.name) for argument in arguments if isinstance(argument, Ref)]
        if name == "result":
            return ["result", nodes[0]]
        if name == "latest":
            return ["latest", *nodes]
        outcome = arguments[1] if len(arguments) > 1 else None
        return ["visits", nodes[0], outcome.constant if isinstance(outcome, Text) else None]

    def _template(self, template: Template, arguments: Sequence[Expr], names: Names) -> Lowered:
        depth = names.depth + 1
        parameters = [parameter.name.text for parameter in template.tree.parameters]
        # Numbered by depth, a parameter never hides what an argument means.
        variables = {written: f"{depth}.{index}" for index, written in enumerate(parameters)}
        inner = Names(self.program.files[template.module], variables, depth, whole=False)
        lowered = self._lower(template.tree.body, inner)
        bound = list(zip(variables.values(), arguments, strict=True))
        for variable, argument in reversed(bound):
            lowered = bind(variable, self._lower(argument, names), lowered)
        return lowered

    def _binary(self, expr: Binary, names: Names) -> Lowered:
        """A chain of operators from the left costs no depth: equal neighbours become one form."""
        spine: list[Binary] = []
        left: Expr = expr
        while isinstance(left, Binary):
            spine.append(left)
            left = left.left
        lowered = self._lower(left, names)
        for part in reversed(spine):
            lowered = self._operate(part, lowered, self._lower(part.right, names))
        return lowered

    def _operate(self, expr: Binary, left: Lowered, right: Lowered) -> Lowered:
        operator: str = expr.operator
        if operator in ("and", "or", "??"):
            sides = [*(left[1:] if left[0] == operator else [left])]
            sides += right[1:] if right[0] == operator else [right]
            return fold([operator, *sides])
        if operator == "/" and self.types.is_whole(expr):
            operator = "//"
        if operator == "*" and self.types.is_whole(expr) and not self._both_whole(expr):
            # A share of a duration is a duration again, in whole milliseconds.
            return fold(["call", "round", fold(["op", operator, left, right])])
        if left[0] == "op" and left[1] == operator:
            return [*left, right]
        return fold(["op", operator, left, right])

    def _both_whole(self, expr: Binary) -> bool:
        return self.types.is_whole(expr.left) and self.types.is_whole(expr.right)

    def _if(self, expr: If, names: Names) -> Lowered:
        arms: list[Lowered] = []
        tail: Expr = expr
        while isinstance(tail, If):
            condition = self._lower(tail.condition, names)
            if condition[0] != "const":
                arms += [condition, self._lower(tail.consequent, names)]
            elif condition[1] is True:
                tail = tail.consequent
                break
            tail = tail.alternative
        last = self._lower(tail, names)
        if not arms:
            return last
        return ["if", *arms, *(last[1:] if last[0] == "if" else [last])]

    def _record_parts(self, expr: Record, names: Names) -> list[Lowered]:
        """Parts between two spreads are sorted by key: their order has no meaning."""
        parts: list[Lowered] = []
        run: dict[str, Lowered] = {}
        for entry in expr.entries:
            if isinstance(entry, Spread):
                parts += [run[key] for key in sorted(run)]
                run = {}
                parts.append(["spread", self._lower(entry.value, names)])
                continue
            part = self._entry(entry, names)
            if part is not None:
                run[entry.key.text] = part
        return parts + [run[key] for key in sorted(run)]

    def _entry(self, entry: Entry, names: Names) -> Lowered | None:
        """The part for one entry; None for one that is always left out."""
        value = self._lower(entry.value, names)
        if not entry.optional:
            return ["field", entry.key.text, value]
        if value[0] != "const":
            return ["maybe", entry.key.text, value]
        return None if value[1] is None else ["field", entry.key.text, value]

    def _list_parts(self, expr: ListExpr, names: Names) -> list[Lowered]:
        parts: list[Lowered] = []
        for item in expr.items:
            if not isinstance(item, Spread):
                parts.append(["item", self._lower(item, names)])
                continue
            value = self._lower(item.value, names)
            if value[0] == "list":
                parts += value[1:]
            elif value[0] == "const" and isinstance(value[1], list):
                parts += [["item", ["const", member]] for member in value[1]]
            else:
                parts.append(["spread", value])
        return parts

    def _comprehension(self, expr: Comprehension, names: Names) -> Lowered:
        variable = expr.variable.text
        inner = names.with_variable(variable)
        source = self._lower(expr.source, names)
        condition = None if expr.condition is None else self._lower(expr.condition, inner)
        return fold(["for", self._lower(expr.item, inner), variable, source, condition])


def lets_in(expression: Lowered) -> set[str]:
    """The names of the lets that an expression reads, without those that these read in turn."""
    return {read.name for read in reads(expression) if read.kind == "let"}


def _depth(value: Any) -> int:
    """How deep lists and records stand inside one another; iterative, and it stops once the limit is
    passed.
    """
    deepest, level = 0, [value] if isinstance(value, (list, dict)) else []
    while level and deepest <= MAX_EXPRESSION_DEPTH:
        deepest += 1
        level = [
            part
            for each in level
            for part in (each.values() if isinstance(each, dict) else each)
            if isinstance(part, (list, dict))
        ]
    return deepest
