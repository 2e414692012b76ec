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


def best(
    work: Callable[[], object], *, rounds: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest of several times, in seconds of that clock."""
    times: list[float] = []
    for _ in range(rounds):
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)


def best_of_cpu(work: Callable[[], object], *, rounds: int = 3) -> float:
    """The least time that the processor worked: what other processes take away does not count."""
    return best(work, rounds=rounds, clock=time.process_time)


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Seconds and the ratio to the first row."""
    baseline = rows[0]
    width = max(len(row.name) for row in rows)
    print(f"{title} (ratio to: {baseline.name}; Python {sys.version.split()[0]})")  # noqa: T201
    for row in rows:
        ratio = row.seconds / baseline.seconds
        line = f"  {row.name:<{width}}  {row.seconds:9.3f} s  {ratio:8.2f} ×  {row.note}"
        print(line.rstrip())  # noqa: T201
