"""`windtunnel explore FILE`."""

from __future__ import annotations

import json
import time  # noqa: TID251
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import click

from windtunnel.simulator.commands.console import FINDINGS, is_terminal, leave, show
from windtunnel.simulator.commands.input import input_option, run_input
from windtunnel.simulator.commands.loading import load_snapshot, outside_option
from windtunnel.simulator.commands.refusing import refusals
from windtunnel.simulator.commands.telling import tell_story
from windtunnel.simulator.operations import Exploration, explore, replay
from windtunnel.simulator.report.summary import exploration as summary
from windtunnel.simulator.search.exploration import Progress

_COUNT = click.IntRange(min=0, max=1_000)


@click.command(name="explore", epilog="Example: windtunnel explore builtin:autoplan --faults 2")
@click.argument("file", required=False)
@click.option("--faults", type=_COUNT, default=2, show_default=True, help="Faults of all kinds together.")
@click.option("--crashes", type=_COUNT, help="At most this many of them crashes.")
@click.option("--duplicates", type=_COUNT, help="At most this many of them repeated messages.")
@click.option("--provider-faults", type=_COUNT, help="At most this many of them deviations of the model.")
@click.option(
    "--fault", metavar="ID", help="Put a known bug back, to see it found. FILE may be left out then."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For what is too large."
)
@input_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@outside_option
def command(
    file: str | None,
    faults: int,
    crashes: int | None,
    duplicates: int | None,
    provider_faults: int | None,
    fault: str | None,
    seed: int,
    given: str | None,
    as_json: bool,
    allow_outside: bool,
) -> None:
    """Try every schedule of a workflow with up to N faults.

    A fault is a crash, a deviation of the model, a repeated message, or a person who interferes. Ends with a
    proof within these bounds, or with the shortest story of what breaks and a token that replays it; then the
    exit code is 1.
    """
    if file is None and fault is None:
        raise click.UsageError("name a FILE to explore, or a --fault whose own small world is explored")
    snapshot = None if file is None else load_snapshot(file, allow_outside)
    run = None if snapshot is None else run_input(snapshot, given)
    began = time.monotonic()
    with refusals(), _progress(faults) as progress:
        found = explore(
            snapshot,
            input=run,
            faults=faults,
            crashes=crashes,
            duplicates=duplicates,
            provider_faults=provider_faults,
            fault=fault,
            seed=seed,
            progress=progress,
            reference=file,
        )
    found = replace(found, seconds=round(time.monotonic() - began, 3))
    if as_json:
        show(json.dumps(found.to_json(), indent=2, ensure_ascii=False) + "\n")
    else:
        _tell(found, allow_outside)
    if found.violations:
        leave(FINDINGS)


def _tell(found: Exploration, allow_outside: bool) -> None:
    show(summary(found.to_json()))
    if found.violations:
        show(f"\nHow it comes to “{found.violations[0].invariant}”:\n\n")
        tell_story(replay(found.violations[0].token, lambda file: load_snapshot(file, allow_outside)))


def _progress(faults: int) -> AbstractContextManager[Progress | None]:
    """A bar on a terminal, nothing elsewhere."""
    return _Bar(faults) if is_terminal() else nullcontext()


class _Bar(AbstractContextManager[Progress]):
    """States known and looked at, with the speed; the end comes into sight only as the frontier shrinks."""

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

    def __enter__(self) -> Callable[[int, int, int, int], None]:
        self._bar.start()
        return self._show

    def __exit__(self, *raised: Any) -> None:
        self._bar.stop()

    def _show(self, number: int, states: int, transitions: int, frontier: int) -> None:
        passed = max(time.monotonic() - self._began, 1e-6)
        self._bar.update(
            self._task,
            description=f"{number} of {self._faults} faults",
            completed=max(states - frontier, 0),
            total=states,
            states=states,
            speed=states / passed,
        )
