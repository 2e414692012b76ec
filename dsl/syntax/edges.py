"""The lines of `edges`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from windtunnel.dsl.syntax.expressions import Expr
from windtunnel.dsl.syntax.spans import Name, Span
from windtunnel.dsl.syntax.types import LiteralType


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`node`, `mount.exit`, `decision.choice`, or `start` (as the head of a line)."""

    node: Name
    way: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class ExitEnd:
    """`exit name`."""

    name: Name
    span: Span


Target: TypeAlias = Endpoint | ExitEnd


@dataclass(frozen=True, slots=True)
class Limit:
    """`limit count then -> target`; counts the arrow it stands behind."""

    count: Expr
    then: Target
    span: Span


@dataclass(frozen=True, slots=True)
class Arm:
    """One line of a match: patterns (none for `else`) and the chain that follows."""

    patterns: tuple[LiteralType, ...]
    chain: tuple[Target, ...]
    limit: Limit | None
    span: Span

    @property
    def is_else(self) -> bool:
        """Whether this arm takes every case the others leave."""
        return not self.patterns


@dataclass(frozen=True, slots=True)
class Match:
    """`match .path { … }` on the source's output, or `match expr { … }` on another value (`own` tells which).

    With `own`, `subject` is the chain of fields over `Ref("output")`, which stands for the source's output.
    """

    subject: Expr
    own: bool
    arms: tuple[Arm, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """One line of `edges`.

    `heads` has several entries only for failure routes (`a, b on failed -> c`), which have `outcomes`.
    `chain` are the targets in order; a match may only come last. The limit belongs to the last arrow.
    """

    heads: tuple[Endpoint, ...]
    outcomes: tuple[Name, ...]
    chain: tuple[Target, ...]
    match: Match | None
    limit: Limit | None
    span: Span
