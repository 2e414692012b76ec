"""Names near to a wrong one: at most three, the nearest first, the same answer every time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MOST_SUGGESTIONS: Final = 3
LONGEST_COMPARED: Final = 64


def nearest(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The candidates that `name` may have been meant for, nearest first, equals in alphabetical order.

    A candidate is near when changing a third of the longer name's letters (at least one) can reach it; names
    that differ in case only are always near. Names of more than 64 letters are compared by their first 64.
    """
    found: list[tuple[float, str]] = []
    short = name[:LONGEST_COMPARED]
    for candidate in set(candidates):
        if candidate == name:
            continue
        other = candidate[:LONGEST_COMPARED]
        most = max(1.0, max(len(short), len(other)) // 3)
        if abs(len(short) - len(other)) > most:
            continue
        cost = 0.5 if short.lower() == other.lower() else distance(short, other, most)
        if cost <= most and cost < max(len(short), len(other)):
            found.append((cost, candidate))
    return tuple(candidate for _, candidate in sorted(found)[:MOST_SUGGESTIONS])


def distance(left: str, right: str, most: float = float("inf")) -> float:
    """Damerau-Levenshtein distance with adjacent swaps; above `most` it may stop early."""
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        line = [row]
        for column, other in enumerate(right, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) > most:
            return float(min(line))
        before, last = last, line
    return float(last[-1])


def suggestion(names: tuple[str, ...]) -> str | None:
    """`did you mean `a`, `b` or `c`?`, or None for no names."""
    if not names:
        return None
    quoted = [f"`{name}`" for name in names]
    listed = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
    return f"did you mean {listed}?"
