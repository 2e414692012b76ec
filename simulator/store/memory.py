"""The store as exploration knows it: a transaction of run events is folded whole or not at all."""

from __future__ import annotations

from windtunnel.simulator.events import Event
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.state import Run, fold


def commit(program: Program, run: Run, events: tuple[Event, ...]) -> Run:
    """The state after one transaction."""
    for event in events:
        run = fold(program, run, event)
    return run


def created(input_text: str) -> Run:
    """What stands in the store when a run was asked for: its input, queued."""
    return Run(input=input_text)
