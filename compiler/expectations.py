"""What a scenario may expect: names of the world, their shapes, and expectations over them.

An expectation is rewritten so that it reads nothing but variables: `visits(a/b)` becomes a variable of that
name. From then on it is an expression like any other, typed and lowered by the same passes. Shapes are
lenient about null: an output that is not there makes an expectation fail, it needs no `??`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.scenario import WorldRead
from windtunnel.compiler.types import (
    BOOL,
    JSON,
    NULL,
    TEXT,
    DurationShape,
    FieldShape,
    IntShape,
    JsonShape,
    ListShape,
    MapShape,
    NullShape,
    RecordShape,
    Shape,
    UnknownShape,
    expand,
    literal,
    members,
    record,
)
from windtunnel.compiler.unions import join, union
from windtunnel.dsl.syntax import (
    Binary,
    Call,
    Comprehension,
    Expr,
    Field,
    If,
    Index,
    ListExpr,
    Record,
    Ref,
    Spread,
    Text,
    Unary,
    children,
)

COUNT: Final = IntShape(0, None)
STATUSES: Final = (
    "queued",
    "starting",
    "running",
    "paused",
    "completed",
    "failed",
    "timed_out",
    "cancelled",
    "waiting",
)
OUTCOMES: Final = ("ok", "failed", "timed_out", "cancelled")
MESSAGE: Final = record(
    role=union(literal(role) for role in ("user", "assistant", "tool", "prompt", "notice")),
    text=TEXT,
    node=TEXT,
    stop=TEXT,
)
DECISIONS: Final = record(requested=COUNT, winners=COUNT, answered=COUNT, defaulted=COUNT, cancelled=COUNT)

WORLD: Final[Mapping[str, Shape]] = {
    "clock": DurationShape(0, None),
    "client": record(connected=BOOL),
    "transcript": record(canonical=ListShape(MESSAGE), client=ListShape(MESSAGE)),
    "queue": record(ids=ListShape(TEXT), texts=ListShape(TEXT)),
    "decisions": DECISIONS,
}
"""The names of the world but `run`, whose shape depends on the workflow."""

NAMES: Final = ("run", *WORLD)

AGENT: Final = frozenset({Kind.AGENT})
ANY: Final = frozenset(Kind) - {Kind.LET}
NODE: Final = ANY - {Kind.INCLUDE}


class WorldFunction(NamedTuple):
    """A function of the world: kinds of nodes that it takes first (None: a text), and texts after it."""

    kinds: frozenset[Kind] | None
    texts: int
    words: str


FUNCTIONS: Final[Mapping[str, WorldFunction]] = {
    "visible": WorldFunction(AGENT, 0, "an agent"),
    "prompts": WorldFunction(AGENT, 0, "an agent"),
    "refused": WorldFunction(AGENT, 0, "an agent"),
    "visits": WorldFunction(ANY, 1, "a node, and an outcome if you like"),
    "result": WorldFunction(NODE, 0, "a node"),
    "effects": WorldFunction(None, 1, "the name of an effect, and a key if you like"),
}
"""`visible` counts the answers of a node that a person can see, `prompts` how often its model was asked, and
`refused` the submissions that were turned away."""


def run_shape(exits: Mapping[str, Shape]) -> Shape:
    """The shape of `run`: its output is what any exit gives, its exit null until it has completed."""
    output = lenient(join(exits.values())) if exits else JSON
    return record(
        status=union(literal(status) for status in STATUSES),
        exit=union((*(literal(name) for name in sorted(exits)), NULL)),
        output=output,
        error=TEXT,
    )


def result_shape(output: Shape) -> Shape:
    """The shape of `result(node)`: like the workflow's own, with the output beside it."""
    return record(
        outcome=union((*(literal(outcome) for outcome in OUTCOMES), NULL)),
        error=TEXT,
        attempts=COUNT,
        durationMs=COUNT,
        cut=BOOL,
        receipt=JSON,
        provenance=union((literal("human"), literal("timeout"), NULL)),
        output=lenient(output),
    )


def lenient(shape: Shape, depth: int = 0) -> Shape:
    """The shape for a reader who takes null as a failed expectation: records of a union are merged."""
    if depth > MAX_LENIENT:
        return JSON
    parts = [part for part in members(expand(shape)) if not isinstance(part, NullShape)]
    if not parts or any(isinstance(part, UnknownShape | JsonShape) for part in parts):
        return JSON
    if all(isinstance(part, RecordShape) for part in parts):
        fields: dict[str, list[FieldShape]] = {}
        for part in parts:
            assert isinstance(part, RecordShape), "all parts are records"
            for field in part.fields:
                fields.setdefault(field.name, []).append(field)
        return RecordShape(tuple(_merged(found, len(parts), depth) for found in fields.values()))
    return union(_lenient_part(part, depth) for part in parts)


MAX_LENIENT: Final = 20
"""Records within records that an expectation may look into; deeper ones, and recursive ones, are `json`."""


def _merged(fields: list[FieldShape], parts: int, depth: int) -> FieldShape:
    """One field for those of that name in some of the parts of a union."""
    missing = len(fields) < parts or any(field.optional for field in fields)
    return FieldShape(fields[0].name, lenient(join(field.shape for field in fields), depth + 1), missing)


def _lenient_part(part: Shape, depth: int) -> Shape:
    match part:
        case ListShape():
            return ListShape(lenient(part.item, depth + 1), part.low, part.high)
        case MapShape():
            return MapShape(part.key, lenient(part.value, depth + 1), part.low, part.high)
        case RecordShape():
            return JSON
        case _:
            return part


# --- rewriting ----------------------------------------------------------------------------------------------


class Rewritten(NamedTuple):
    """An expectation over variables: its expression, and what each variable stands for."""

    expr: Expr
    reads: Mapping[str, WorldRead]


class Reading(NamedTuple):
    """A call that reads the world, as it is written; `node` is its first argument where it takes one."""

    call: Call
    rule: WorldFunction
    node: Ref | None
    texts: tuple[str, ...]


def rewrite(expr: Expr) -> Rewritten:
    """The expectation with every read of the world as a variable. Calls must have been checked."""
    reads: dict[str, WorldRead] = {}

    def change(part: Expr, bound: frozenset[str]) -> Expr | None:
        if isinstance(part, Ref) and part.name in NAMES and part.name not in bound:
            reads[part.name] = WorldRead(part.name)
            return part
        found = reading(part) if isinstance(part, Call) else None
        if found is None:
            return None
        arguments = (*(() if found.node is None else (found.node.name,)), *found.texts)
        read = WorldRead(found.call.function.text, arguments)
        name = f"{read.name}({json.dumps(arguments)[1:-1]})"
        reads[name] = read
        return Ref(name, part.span)

    return Rewritten(mapped(expr, change, frozenset()), reads)


def reading(call: Call) -> Reading | None:
    """What a call reads of the world; None for any other call, and for one whose arguments do not fit."""
    rule = FUNCTIONS.get(call.function.text)
    if rule is None or call.template:
        return None
    arguments = call.arguments
    node: Ref | None = None
    if rule.kinds is not None:
        if not arguments or not isinstance(arguments[0], Ref):
            return None
        node, arguments = arguments[0], arguments[1:]
    elif not arguments:
        return None
    most = rule.texts + (rule.kinds is None)
    texts = [argument.constant for argument in arguments if isinstance(argument, Text)]
    known = tuple(text for text in texts if text is not None)
    return Reading(call, rule, node, known) if len(known) == len(arguments) <= most else None


Change = Callable[[Expr, frozenset[str]], "Expr | None"]


def mapped(expr: Expr, change: Change, bound: frozenset[str]) -> Expr:
    """The expression with each outermost part replaced that `change` gives something for.

    `bound` are the variables of comprehensions around the part. Recursion is bounded by the parser's nesting.
    """
    changed = change(expr, bound)
    if changed is not None:
        return changed

    def inner(part: Expr, also: str | None = None) -> Expr:
        return mapped(part, change, bound if also is None else bound | {also})

    match expr:
        case Text():
            parts = tuple(part if isinstance(part, str) else inner(part) for part in expr.parts)
            return replace(expr, parts=parts)
        case Field():
            return replace(expr, target=inner(expr.target))
        case Index():
            return replace(expr, target=inner(expr.target), index=inner(expr.index))
        case Call():
            return replace(expr, arguments=tuple(inner(argument) for argument in expr.arguments))
        case Unary():
            return replace(expr, operand=inner(expr.operand))
        case Binary():
            return _mapped_chain(expr, inner)
        case If():
            return replace(
                expr,
                condition=inner(expr.condition),
                consequent=inner(expr.consequent),
                alternative=inner(expr.alternative),
            )
        case Record():
            entries = tuple(replace(entry, value=inner(entry.value)) for entry in expr.entries)
            return replace(expr, entries=entries)
        case ListExpr():
            items = tuple(
                replace(item, value=inner(item.value)) if isinstance(item, Spread) else inner(item)
                for item in expr.items
            )
            return replace(expr, items=items)
        case Comprehension():
            name = expr.variable.text
            condition = None if expr.condition is None else inner(expr.condition, name)
            source, item = inner(expr.source), inner(expr.item, name)
            return replace(expr, source=source, item=item, condition=condition)
        case _:
            return expr


def _mapped_chain(expr: Binary, inner: Callable[[Expr], Expr]) -> Expr:
    """A chain of operators from the left costs no depth."""
    spine: list[Binary] = []
    left: Expr = expr
    while isinstance(left, Binary):
        spine.append(left)
        left = left.left
    made = inner(left)
    for part in reversed(spine):
        made = replace(part, left=made, right=inner(part.right))
    return made


def shapes_of(reads: Mapping[str, WorldRead], run: Shape, output: Callable[[str], Shape]) -> dict[str, Shape]:
    """The shape of every variable; `output` gives the shape of a node's output."""
    found: dict[str, Shape] = {}
    for name, read in reads.items():
        if not read.arguments:
            found[name] = run if read.name == "run" else WORLD[read.name]
        else:
            found[name] = result_shape(output(read.arguments[0])) if read.name == "result" else COUNT
    return found


def shown_parts(expr: Expr, names: Iterable[str]) -> list[Expr]:
    """The parts of a rewritten expectation that explain it: each read of the world with its fields."""
    known = frozenset(names)
    found: list[Expr] = []
    waiting = [expr]
    while waiting:
        part = waiting.pop(0)
        root = part
        while isinstance(root, Field):
            root = root.target
        if isinstance(root, Ref) and root.name in known:
            found.append(part)
        elif isinstance(part, Comprehension):
            waiting.append(part.source)
        else:
            waiting += children(part)
    return sorted(found, key=lambda part: part.span)
