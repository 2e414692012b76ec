"""The input of a run: JSON on the command line, from a file or from standard input, or made up."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import click
from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.canonical import CanonicalError, parse_json
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.commands.console import reason
from windtunnel.simulator.providers.generated import run_inputs

MAX_INPUT: Final = 16 * 1024 * 1024
"""Bytes of an input."""


def run_input(snapshot: Snapshot, given: str | None) -> JsonValue:
    """The accepted input, defaults filled. Raises click's UsageError where it does not fit."""
    if given is None:
        made = run_inputs(snapshot)
        if not made:
            raise click.UsageError("no valid input could be made up for this workflow; give one with --input")
        return made[0]
    verdict = accept(snapshot.input, json_value(given), snapshot.types)
    if isinstance(verdict, Accepted):
        return verdict.value
    listed = "".join(f"\n  {problem}" for problem in verdict.problems)
    raise click.UsageError(f"the input does not fit {snapshot.workflow}:{listed}")


def json_value(given: str) -> JsonValue:
    """JSON as it is, or of a file named after an `@`. Raises click's UsageError."""
    try:
        return parse_json(_text(given))
    except CanonicalError as problem:
        raise click.UsageError(f"the input cannot be used: {problem}") from None


def _text(given: str) -> str | bytes:
    if not given.startswith("@"):
        return os.fsencode(given)  # What is no UTF-8 in the command line comes as lone surrogates.
    name = given[1:]
    try:
        data = sys.stdin.buffer.read(MAX_INPUT + 1) if name == "-" else _file(Path(name))
    except OSError as problem:
        raise click.UsageError(f"cannot read the input from {name}: {reason(problem)}") from None
    except ValueError:
        raise click.UsageError(f"cannot read the input from {name!r}: not a usable path") from None
    if len(data) > MAX_INPUT:
        raise click.UsageError(f"the input from {name} has more than {MAX_INPUT:,} bytes")
    return data


def _file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_INPUT + 1)
