"""Who stands behind the model: the option `--provider` to a provider."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from windtunnel.compiler.snapshot import Snapshot
    from windtunnel.simulator.providers.behaviour import Provider
    from windtunnel.simulator.providers.scripted import ScriptedProvider

COMMAND: Final = "cmd:"
RECORDED: Final = "recorded:"

MAX_SESSION: Final = 100_000_000
"""Bytes of a session file that is read."""

_F = TypeVar("_F", bound=Callable[..., Any])


def provider_options(command: _F) -> _F:
    """The options `--provider` and `--patience`."""
    who = "Who is the model: cmd:PROGRAM, asked by one JSON line at a time, or recorded:SESSION.jsonl."
    long = "Seconds that a program may take for one answer."
    patience = click.FloatRange(min=0, max=86_400, min_open=True)
    option = click.option("--patience", type=patience, default=60, show_default=True, metavar="S", help=long)
    return click.option("--provider", "who", metavar="WHO", help=who)(option(command))


@contextmanager
def provider_of(who: str | None, snapshot: Snapshot, patience_s: float) -> Iterator[Provider | None]:
    """The provider that was asked for, None for the one that is made up. Raises click's UsageError."""
    if who is None:
        yield None
    elif who.startswith(COMMAND):
        from windtunnel.simulator.commands.piping import ProgramProvider

        with ProgramProvider(snapshot, _words(who.removeprefix(COMMAND)), patience_s) as provider:
            yield provider
    elif who.startswith(RECORDED):
        yield _recorded(Path(who.removeprefix(RECORDED)), snapshot)
    else:
        raise click.UsageError(f"no provider {who!r}: there is {COMMAND}PROGRAM and {RECORDED}SESSION.jsonl")


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise click.UsageError(f"cannot read the command {command!r}: {str(problem).lower()}") from None
    if not words:
        raise click.UsageError(f"{COMMAND} needs a program, as in {COMMAND}./my-model")
    return words


def _recorded(file: Path, snapshot: Snapshot) -> ScriptedProvider:
    from windtunnel.simulator.chat.recording import NothingRecorded, recorded
    from windtunnel.simulator.commands.console import reason

    try:
        if file.exists() and not file.is_file():
            raise click.UsageError(f"cannot read {file}: it is no file")
        if file.stat().st_size > MAX_SESSION:
            raise click.UsageError(f"cannot read {file}: it has more than {MAX_SESSION:,} bytes")
        return recorded(file.read_text(encoding="utf-8", errors="replace"), snapshot)
    except OSError as problem:
        raise click.UsageError(f"cannot read {file}: {reason(problem)}") from None
    except ValueError as problem:
        if isinstance(problem, NothingRecorded):
            raise click.UsageError(f"{file}: {problem}") from None
        raise click.UsageError(f"cannot read {str(file)!r}: not a usable path") from None


def say_unused(provider: Provider | None, events: Sequence[dict[str, Any]]) -> None:
    """Tell which lines of a script no visit of the run came to."""
    from windtunnel.simulator.commands.console import say
    from windtunnel.simulator.providers.scripted import ScriptedProvider, unused

    if not isinstance(provider, ScriptedProvider):
        return
    for line in unused(provider.lines, visits_of(events)):
        visit = "" if line.visit is None else f"visit {line.visit} of "
        say(f"! what the script has for {visit}{line.node} was never used")


def visits_of(events: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    """Every visit of a trace: node and number; only a visit comes by an arrow."""
    counts: dict[str, int] = {}
    found: list[tuple[str, int]] = []
    for event in events:
        if event["type"] == "node_started" and "via" in event["payload"]:
            node = event["nodeId"]
            counts[node] = counts.get(node, 0) + 1
            found.append((node, counts[node]))
    return found
