"""What the benchmarks share: best of several times, and a table whose ratios name their baseline."""

from __future__ import annotations

import sys
import time  # noqa: TID251
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One measurement; the first row of a table is the baseline of its ratios."""

    name: str
    seconds: float
    note: str = ""


def best(work: Callable[[], object], *, rounds: int = 3) -> float:
    """The shortest of several times, in seconds."""
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Seconds and the ratio to the first row."""
    baseline = rows[0]
    width = max(len(row.name) for row in rows)
    print(f"{title} (ratio to: {baseline.name}; Python {sys.version.split()[0]})")  # noqa: T201
    for row in rows:
        ratio = row.seconds / baseline.seconds
        line = f"  {row.name:<{width}}  {row.seconds:9.3f} s  {ratio:8.2f} ×  {row.note}"
        print(line.rstrip())  # noqa: T201
