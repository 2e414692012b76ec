"""The server process: a port of this machine, the session, the workflow, and their end."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvicorn
from pydantic import JsonValue
from starlette.applications import Starlette

from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.chat.host import SUBSCRIBER_LIMIT
from windtunnel.simulator.chat.logfile import LogProblem
from windtunnel.simulator.chat.window import REPLAY_LIMIT
from windtunnel.simulator.durable.driving import Place
from windtunnel.simulator.serving.app import HEARTBEAT_S, Served, create_app
from windtunnel.simulator.serving.chaos import Chaos
from windtunnel.simulator.serving.service import Pause, Service
from windtunnel.simulator.serving.sessionlog import SessionLog
from windtunnel.simulator.serving.workflow import Workflow
from windtunnel.simulator.store.sqlite import open_store

LOOPBACK: Final = "127.0.0.1"
SESSION: Final = "main"
"""The name of the one session of a log."""

TICK_S: Final = 1.0
"""How often a run's claim, its timers and what others ask of it are looked at."""

LONGEST_END_S: Final = 2
"""How long open connections may take to end when the server stops."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is served: a workflow with its input, on a log, with a store of its runs beside it.

    `pause` is waited for before each piece that the simulated model says; `chaos` is the seed of a bad wire.
    """

    snapshot: Snapshot
    input: JsonValue
    reference: str
    log: Path
    pause: Pause
    chaos: int | None = None
    heartbeat_s: float = HEARTBEAT_S
    replay_limit: int = REPLAY_LIMIT
    backlog_limit: int = SUBSCRIBER_LIMIT


def store_path(log: Path) -> Path:
    """Where the runs of a log are stored."""
    return log.with_name(log.name + ".runs")


def listen(port: int) -> socket.socket:
    """A port of this machine, 0 for any that is free. Raises OSError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def address(listening: socket.socket) -> str:
    """Where a browser finds it."""
    return f"http://{LOOPBACK}:{listening.getsockname()[1]}/"


async def tick(workflow: Workflow) -> None:
    """Look at the clock, for as long as the server runs."""
    while True:
        await asyncio.sleep(TICK_S)
        workflow.pump()


async def serve(
    plan: Plan,
    listening: socket.socket,
    ready: Callable[[uvicorn.Server, tuple[LogProblem, ...]], None],
) -> None:
    """Serve until the process is asked to stop. Raises LogRefused, StoreRefused and NotSimulated.

    `ready` is told once requests are answered, with the lines of the log that could not be used.
    """
    log = SessionLog(plan.log, f"process {os.getpid()}, {address(listening)}")
    service = Service(
        log, SESSION, plan.pause, replay_limit=plan.replay_limit, backlog_limit=plan.backlog_limit
    )
    try:
        with open_store(store_path(plan.log), create=True) as store:
            place = Place(store, store_path(plan.log))
            workflow = Workflow(place, plan.snapshot, plan.input, plan.reference, service)
            service.steps = workflow
            await service.open()
            ticking = asyncio.create_task(tick(workflow))
            chaos = None if plan.chaos is None else Chaos(plan.chaos)
            server = EndingServer(create_app(Served(service, workflow, chaos, plan.heartbeat_s)), service)
            broken = ends_with_bugs(server)
            ready(server, service.problems)
            try:
                await server.serve([listening])
            finally:
                ticking.cancel()
                workflow.close()
                await service.stop()
            if broken:
                raise broken[0]
    finally:
        service.close()


def ends_with_bugs(server: uvicorn.Server) -> list[BaseException]:
    """Let a mistake of ours in a task end the server, rather than leave a conversation that hangs."""
    broken: list[BaseException] = []

    def note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if problem is not None and not isinstance(problem, OSError):
            broken.append(problem)
            server.should_exit = True

    asyncio.get_running_loop().set_exception_handler(note)
    return broken


class EndingServer(uvicorn.Server):
    """A server whose streams end with it, so that nobody waits for them."""

    def __init__(self, app: Starlette, service: Service) -> None:
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=LONGEST_END_S,
            lifespan="off",
        )
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the connections."""
        self._service.end_streams()
        await super().shutdown(sockets)
