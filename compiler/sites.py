"""Where expressions stand: all those of one declaration, in source order."""

from __future__ import annotations

from collections.abc import Iterator

from windtunnel.dsl.syntax import (
    After,
    AssistantOutput,
    CallEffect,
    Choices,
    Compute,
    Expr,
    Include,
    Let,
    ListType,
    LiteralType,
    MapType,
    NamedType,
    Node,
    NodeDecl,
    PromptFile,
    RecordType,
    UnionType,
    Validate,
    Word,
    walk,
)


def expressions_of(tree: NodeDecl | Let) -> Iterator[Expr]:
    """Every expression of a node or a `let`."""
    match tree:
        case Let() | Compute():
            yield tree.value
        case Include():
            if tree.label is not None:
                yield tree.label
            yield tree.input
        case Node():
            if tree.label is not None:
                yield tree.label
            for clause in tree.clauses:
                match clause.value:
                    case (
                        Word()
                        | NamedType()
                        | LiteralType()
                        | ListType()
                        | MapType()
                        | RecordType()
                        | UnionType()
                    ):
                        continue
                    case PromptFile():
                        yield clause.value.path
                    case AssistantOutput() | Validate() | CallEffect() | Choices() | After():
                        yield from _inside(clause.value)
                    case _:
                        yield clause.value


def parts_of(tree: NodeDecl | Let) -> tuple[Expr, ...]:
    """Every expression of a node or a `let` and all below it, outermost first."""
    return tuple([part for expr in expressions_of(tree) for part in walk(expr)])


def _inside(value: AssistantOutput | Validate | CallEffect | Choices | After) -> Iterator[Expr]:
    found: list[Expr | None] = []
    match value:
        case AssistantOutput():
            found = [value.max_chars]
        case CallEffect():
            found = [value.action, value.argument]
        case After():
            found = [value.delay, value.premise]
        case Validate():
            for item in value.items:
                found += (
                    [item.value] if isinstance(item, Let) else [item.premise, item.condition, item.message]
                )
        case Choices():
            for choice in value.items:
                found += [choice.label, None if choice.ask is None else choice.ask.prompt]
    yield from (expr for expr in found if expr is not None)
