"""Where something stands, and a word that stands there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """Half-open range of code points, counted from 0 in the normalised text of one file."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span that begins with this one and ends with `other`."""
        return Span(self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier where it stands."""

    text: str
    span: Span
