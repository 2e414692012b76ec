"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def outside_option(command: _F) -> _F:
    """The option `--allow-outside`."""
    said = "Also read files outside the project, which is the current folder or the one FILE lies in."
    return click.option("--allow-outside", is_flag=True, help=said)(command)


def input_option(command: _F) -> _F:
    """The option `--input`, passed on as `given`."""
    said = "The input: JSON, @FILE, or @- for standard input."
    return click.option("--input", "given", metavar="JSON|@FILE", help=said)(command)


def full_option(command: _F) -> _F:
    """The option `--full`."""
    said = "Tell every event; without it a visit of a node in which nothing went wrong is one line."
    return click.option("--full", is_flag=True, help=said)(command)


def report_option(command: _F) -> _F:
    """The option `--report`, passed on as `report`."""
    said = "Also write it as one HTML page: sequence diagram, states, graph, conversation."
    return click.option("--report", metavar="FILE", help=said)(command)


def hosting_options(command: _F) -> _F:
    """The options `--host`, `--no-origin` (as `origin`), `--second-host` and `--also`."""
    options = (
        click.option(
            "--host",
            type=click.Choice(("interactive", "detached", "direct")),
            default="interactive",
            show_default=True,
            help="What works on the run: the session, a worker that nobody sees, or a client of its own.",
        ),
        click.option(
            "--no-origin",
            "origin",
            is_flag=True,
            flag_value=False,
            default=True,
            help="No session waits for what a worker says.",
        ),
        click.option("--second-host", is_flag=True, help="Another host may claim the run."),
        click.option(
            "--also",
            multiple=True,
            metavar="NAME",
            help="What else may happen, such as pause or branch; an unknown NAME lists all.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
