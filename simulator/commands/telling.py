"""A run on the terminal: a story for a person, or the trace as it is."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Final

import click

from windtunnel.simulator.commands.console import say, show, wants_colour
from windtunnel.simulator.report.columns import plain
from windtunnel.simulator.report.folding import folded
from windtunnel.simulator.report.story import (
    DEFAULT_WIDTH,
    SIGNS,
    Mood,
    StoryLine,
    TraceEvent,
    story,
    story_lines,
)
from windtunnel.simulator.simulation import Run

_COLOURS: Final = {Mood.GOOD: "green", Mood.BAD: "red", Mood.FAULT: "yellow"}


def tell(run: Run, *, as_json: bool, full: bool = True) -> None:
    """Print the trace; as a story it is followed by how the run ended.

    Without `full`, visits in which nothing went wrong are one line each.
    """
    if as_json:
        for line in run.trace:
            show(line + "\n")
        for violation in run.violations:
            say(f"✗ {violation.invariant}: {violation.message}")
        return
    tell_story(run.events if full else folded(run.events, keep_last=bool(run.violations)))
    for node, why in run.gaps.items():
        say(f"! {node}: {why}")
    ended = f"the run is {run.status}" + (f", by exit {run.exit}" if run.exit else "")
    for violation in run.violations:
        show(f"\n✗ {violation.invariant}: {plain(violation.message)}\n")
    show(f"\n{'✗' if run.violations else '✓'} {ended}\n")


def paint(line: StoryLine, *, colour: bool) -> str:
    """One line of a story with its sign."""
    said = f"{SIGNS[line.mood]} {line.text}"
    return click.style(said, fg=_COLOURS.get(line.mood)) if colour else said


def tell_story(events: Sequence[TraceEvent]) -> None:
    """Print a story alone, in colour where a terminal shows it."""
    if not wants_colour():
        show(story(events))
        return
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    for line in story_lines(events, width=width):
        show(paint(line, colour=True) + "\n")
