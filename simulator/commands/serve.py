"""`windtunnel serve FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from windtunnel.simulator.commands.options import input_option, outside_option

if TYPE_CHECKING:
    import uvicorn

    from windtunnel.simulator.chat.logfile import LogProblem

NEEDS = "`serve` needs more packages; install them with: pip install 'windtunnel[serve]'"


@click.command(name="serve", epilog="Example: windtunnel serve builtin:plain-summary --session chat.jsonl")
@click.argument("file")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    default=8137,
    show_default=True,
    help="The port on this machine; 0 takes any that is free.",
)
@click.option("--session", metavar="LOG", help="Keep the conversation in this file, and go on with it.")
@click.option(
    "--chaos",
    type=click.IntRange(min=0),
    metavar="SEED",
    help="Lose, double, delay and cut what goes over the wire, drawn from SEED.",
)
@click.option(
    "--pace",
    type=click.IntRange(0, 600_000),
    metavar="MS",
    default=40,
    show_default=True,
    help="Milliseconds between two words of the simulated model.",
)
@input_option
@outside_option
def command(
    file: str,
    port: int,
    session: str | None,
    chaos: int | None,
    pace: int,
    given: str | None,
    allow_outside: bool,
) -> None:
    """Talk to a workflow's agent in a browser, and watch the workflow run there.

    The page and everything behind it are real: the log on disk, the stream, the follow-ups, the crashes that
    you cause. The model is simulated. Only browsers on this machine are answered. Without --session the
    conversation is kept in a folder of its own, which is told. Ends with Ctrl-C.
    """
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError:
        raise click.UsageError(NEEDS) from None
    del starlette
    import asyncio
    import sys
    import tempfile

    from windtunnel.simulator.commands.console import reason, say, show
    from windtunnel.simulator.commands.input import run_input
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.serving.running import Plan, address, listen, serve
    from windtunnel.simulator.serving.sessionlog import LogRefused
    from windtunnel.simulator.store.interface import StoreRefused

    snapshot = load_snapshot(file, allow_outside)
    value = run_input(snapshot, given)
    log = (
        Path(session) if session is not None else Path(tempfile.mkdtemp(prefix="windtunnel-")) / "chat.jsonl"
    )

    async def pause() -> None:
        await asyncio.sleep(pace / 1_000)

    plan = Plan(snapshot, value, file, log, pause, chaos)
    try:
        listening = listen(port)
    except OSError as problem:
        raise click.UsageError(f"cannot listen on port {port}: {reason(problem)}; try --port 0") from None

    def ready(server: uvicorn.Server, problems: tuple[LogProblem, ...]) -> None:
        for problem in problems:
            say(f"{log}:{problem.line}: {problem.message}")
        say(f"the conversation is kept in {log}; Ctrl-C ends the server")
        show(f"{address(listening)}\n")
        sys.stdout.flush()

    try:
        with refusals(), listening:
            asyncio.run(serve(plan, listening, ready))
    except (LogRefused, StoreRefused) as problem:
        raise click.UsageError(str(problem)) from None
