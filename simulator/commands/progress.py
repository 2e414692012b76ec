"""The bar that a person sees while a search goes on."""

from __future__ import annotations

import time  # noqa: TID251
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

from windtunnel.simulator.commands.console import is_terminal

Progress: TypeAlias = Callable[[int, int, int, int], None]
"""Called with the number of faults that are tried, states, transitions and frontier."""


def progress_bar(faults: int) -> AbstractContextManager[Progress | None]:
    """A bar on a terminal, nothing elsewhere."""
    return _Bar(faults) if is_terminal() else nullcontext()


class _Bar(AbstractContextManager[Progress]):
    """States known and looked at, with the speed; the bar is full when the frontier is empty."""

    def __init__(self, faults: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[states]:>12,} states  {task.fields[speed]:>9,.0f} states/s"),
            TimeElapsedColumn(),
        )
        self._faults = faults
        self._began = time.monotonic()
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("starting", total=None, states=0, speed=0.0)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self._show

    def __exit__(self, *raised: Any) -> None:
        self._bar.stop()

    def _show(self, number: int, states: int, transitions: int, frontier: int) -> None:
        passed = max(time.monotonic() - self._began, 1e-6)
        self._bar.update(
            self._task,
            description=f"{number} of {self._faults} fault{'' if self._faults == 1 else 's'}",
            completed=max(states - frontier, 0),
            total=states,
            states=states,
            speed=states / passed,
        )
