"""Tokens and comments as data, and the rule that says which newlines count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from windtunnel.dsl.diagnostics import Diagnostic

MAX_NESTING: Final = 200


class Token(NamedTuple):
    """A terminal of the grammar by its name, what stands in the source, and where.

    A token that the parser adds has an empty span.
    """

    kind: str
    text: str
    start: int
    end: int


class Comment(NamedTuple):
    """`# …` to the end of its line; `alone` when nothing stands before it. Lines count from 1."""

    text: str
    start: int
    end: int
    line: int
    alone: bool


@dataclass(frozen=True)
class Lexed:
    """Tokens, comments and problems of one file.

    `items` are the indices of the tokens that begin a top-level item; `unbalanced` are those of them (by
    number) whose brackets do not pair.
    """

    tokens: list[Token]
    items: list[int]
    unbalanced: frozenset[int]
    comments: list[Comment]
    diagnostics: list[Diagnostic]


PARTNERS: Final = {
    "LBRACE": "RBRACE",
    "LSQB": "RSQB",
    "LPAR": "RPAR",
    "INTERPOLATION_OPEN": "INTERPOLATION_CLOSE",
    "TEXT_OPEN": "TEXT_CLOSE",
}
CLOSERS: Final = {closer: opener for opener, closer in PARTNERS.items()}
ITEM_WORDS: Final = frozenset({"IMPORT", "TYPE", "WORKFLOW", "SCENARIO", "TEMPLATE", "LANGUAGE"})
NODE_WORDS: Final = frozenset({"AGENT", "ACTION", "SHELL", "NOTIFY", "CHECKPOINT", "DECISION"})

_LINE_BLOCKS: Final = frozenset({"EDGES", "CHOICES", "PROVIDER", "PERSON", "FAULTS"})
_NAMING: Final = NODE_WORDS | {"WORKFLOW", "FOR", "EQUAL", "DOT", "WITH"}
_CONTINUES: Final = frozenset({"ARROW", "VBAR", "THEN", "LBRACE", "LSQB", "LPAR", "RBRACE", "RSQB", "RPAR"})


def opens_lines(before: Sequence[Token]) -> bool:
    """Whether a `{` behind these tokens opens a block of one entry a line (for all but a match)."""
    return (
        bool(before)
        and before[-1].kind in _LINE_BLOCKS
        and (len(before) < 2 or before[-2].kind not in _NAMING)
    )


def ends_entry(last: Token, following: str) -> bool:
    """Whether a newline in a line block ends an entry, between `last` and a token of this kind."""
    return following not in _CONTINUES and last.kind != "COMMA" and last.kind != "LBRACE"
