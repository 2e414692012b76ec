"""Where something stands, and a word that stands there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple


class Span(NamedTuple):
    """Half-open range of code points, counted from 0 in the normalised text of one file."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span that begins with this one and ends with `other`."""
        return Span(self.start, max(self.end, other.end))


span_at: Final[Callable[[tuple[int, int]], Span]] = partial(tuple.__new__, Span)
"""A span from its two ends, for where very many are made."""


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier where it stands."""

    text: str
    span: Span
