"""Text to tree: `parse` reads a whole file, item by item, and goes on after errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windtunnel.dsl.comments import Comments, read_allows
from windtunnel.dsl.diagnostics import Diagnostic
from windtunnel.dsl.lexer import lex
from windtunnel.dsl.tokens import Token
from windtunnel.dsl.scenarios import Builder
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import File, Span
from windtunnel.dsl.tables import END, Table, table
from windtunnel.dsl.workflows import Header

LANGUAGE: int = 1


@dataclass(frozen=True)
class Parsed:
    """What could be read of a file, and every problem found on the way, in the order of the text.

    `holes` are the spans that were skipped after an error: where one lies inside a declaration, that declaration
    is not whole, and what seems to be missing from it may have stood there.
    """

    source: Source
    file: File
    diagnostics: tuple[Diagnostic, ...]
    holes: tuple[Span, ...] = ()


def parse(source: Source) -> Parsed:
    """Read a file. Total: every text gives a tree of what is intact, and diagnostics for the rest."""
    lexed = lex(source)
    tables = table()
    builder = Builder(source.name, Comments(source, lexed.comments))
    reducers = [
        (p.origin, p.size, getattr(builder, p.builder) if p.builder else None, p.absent)
        for p in tables.productions
    ]
    allows, problems = read_allows(source, lexed.comments)
    items: list[Any] = []
    bounds = [*lexed.items, len(lexed.tokens)]
    if not bounds or bounds[0] != 0:
        bounds.insert(0, 0)
    for first, last in zip(bounds, bounds[1:], strict=False):
        item = _advance(tables, reducers, lexed.tokens[first:last], builder)
        if item is not None:
            items.append(item)
    language = next((int(item.number) for item in items if isinstance(item, Header)), None)
    tree = File(
        language,
        tuple(item for item in items if not isinstance(item, Header)),
        allows,
        Span(0, len(source.text)),
    )
    found = [*lexed.diagnostics, *problems, *builder.diagnostics]
    return Parsed(source, tree, tuple(sorted(found, key=lambda each: each.primary.span)))


def _advance(tables: Table, reducers: list[Any], tokens: list[Token], builder: Builder) -> Any:
    actions, gotos = tables.actions, tables.gotos
    below: list[int] = []
    values: list[Any] = []
    state = tables.start
    at = tokens[-1].end if tokens else 0
    for token in [*tokens, Token(END, "", at, at)]:
        kind = token.kind
        while True:
            action = actions[state].get(kind)
            if action is None:
                what = token.text or "the end"
                builder.report("WT0004", f"`{what}` does not fit here", Span(token.start, token.end))
                return None
            if action >= 0:
                below.append(state)
                state = action
                values.append(token)
                break
            origin, size, make, absent = reducers[~action]
            if make is None:
                pass
            elif size == 1 and not absent:
                values[-1] = make(values[-1])
            elif size:
                children = values[-size:]
                del values[-size:]
                if size > 1:
                    del below[1 - size :]
                for place in absent:
                    children.insert(place, None)
                values.append(make(*children))
            else:
                below.append(state)
                values.append(make(*(None for _ in absent)))
            state = gotos[below[-1]][origin]
            if kind == END and state == tables.end:
                return values[-1]
    return None
