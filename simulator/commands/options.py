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
