"""Servers for tests: in a thread, with a model that says what a test lets it; or as a process to kill."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import uvicorn

from windtunnel.compiler import compile_file
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.chat.chunks import decode_chunk
from windtunnel.simulator.chat.logfile import LogProblem, read_log
from windtunnel.simulator.chat.rows import Snapshot as Cut
from windtunnel.simulator.chat.rows import fold_log, snapshot_from, snapshot_of
from windtunnel.simulator.chat.wire import AgentEnd, Event
from windtunnel.simulator.providers.generated import run_inputs
from windtunnel.simulator.serving.running import Plan, address, listen, serve

T = TypeVar("T")
FLOW = "builtin:plain-summary"
LONGEST_S = 30
"""How long a test waits for what must come."""

MOST_HEARTBEATS = 8
"""How often a stream says that nothing is new before a test gives up."""


@lru_cache(maxsize=8)
def snapshot_named(flow: str) -> Snapshot:
    """A compiled workflow."""
    snapshot = compile_file(flow).snapshot
    assert snapshot is not None
    return snapshot


def aside(work: Callable[[], T]) -> T:
    """What something gives that runs an event loop of its own; the browser's runs in the test's thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(LONGEST_S)


class Gate:
    """What the model waits for before each piece: nothing, or until a test lets some pass."""

    def __init__(self, *, shut: bool = False) -> None:
        self._shut = shut
        self._passes = 0
        self._changed = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[asyncio.Future[None]] = []

    async def __call__(self) -> None:
        """Wait for a pass."""
        self._loop = asyncio.get_running_loop()
        if self._shut and self._passes == 0:
            waits = self._loop.create_future()
            self._waiting.append(waits)
            await waits
        elif self._shut:
            self._passes -= 1

    def _run(self, act: Callable[[], None]) -> None:
        if self._loop is None:
            act()
        else:
            self._loop.call_soon_threadsafe(act)

    def let(self, pieces: int) -> None:
        """Let so many pieces pass."""

        def act() -> None:
            for _ in range(pieces):
                if self._waiting:
                    self._next()
                else:
                    self._passes += 1

        self._run(act)

    def open(self) -> None:
        """Let everything pass from now on."""

        def act() -> None:
            self._shut = False
            while self._waiting:
                self._next()

        self._run(act)

    def shut(self) -> None:
        """Let nothing pass from now on."""

        def act() -> None:
            self._shut = True

        self._run(act)

    def _next(self) -> None:
        waits = self._waiting.pop(0)
        if not waits.done():
            waits.set_result(None)


class Said(NamedTuple):
    """An answer."""

    status: int
    data: Any


class Client:
    """Speaks HTTP to a server, without a browser."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.port = int(url.rstrip("/").rpartition(":")[2])

    def ask(self, method: str, path: str, data: Any = None, headers: dict[str, str] | None = None) -> Said:
        """One request and its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST_S)
        try:
            body = data if isinstance(data, bytes | None) else json.dumps(data)
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        is_json = response.headers.get_content_type() == "application/json"
        return Said(response.status, json.loads(text) if is_json else text.decode())

    def post(
        self, text: str, number: int, *, nonce: str = "", client: str = "c", kind: str = "followup"
    ) -> Said:
        """A message of the person."""
        data = {
            "text": text,
            "clientSeq": number,
            "clientNonce": nonce or f"{client}{number}",
            "clientId": client,
            "kind": kind,
        }
        return self.ask("POST", "/api/sessions/main/followup", data)

    def command(self, what: str, *nonces: str, receipt: str = "k1") -> Said:
        """A wish of the person."""
        data = {"what": what, "receipt": receipt, "nonces": list(nonces)}
        return self.ask("POST", "/api/sessions/main/command", data)

    def run(self, what: str) -> Said:
        """A wish about the workflow."""
        return self.ask("POST", "/api/run", {"what": what})

    def snapshot(self) -> Cut:
        """The history as the endpoint gives it."""
        said = self.ask("GET", "/api/sessions/main/snapshot")
        assert said.status == 200
        return snapshot_from(said.data["snapshot"])

    def frames(
        self, after: str = "1.0", headers: dict[str, str] | None = None
    ) -> Generator[tuple[str, dict[str, Any]], None, None]:
        """The frames of a stream as they come: the id, and the chunk."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST_S)
        connection.request("GET", f"/api/sessions/main/stream?after={after}", headers=headers or {})
        response = connection.getresponse()
        name, quiet = "", 0
        try:
            while line := response.readline():
                quiet = quiet + 1 if b"data-pi-heartbeat" in line else 0 if line.strip() else quiet
                assert quiet < MOST_HEARTBEATS, "nothing more comes down the stream"
                if line.startswith(b"id: "):
                    name = line[4:].decode().strip()
                elif line.startswith(b"data: "):
                    yield name, json.loads(line[6:])
                    name = ""
        finally:
            connection.close()

    def events(self, until: Callable[[Event], bool], after: str = "1.0") -> list[Event]:
        """The events of a stream up to one that a test waits for."""
        found: list[Event] = []
        for _, chunk in self.frames(after):
            event = event_in(chunk)
            if event is not None:
                found.append(event)
                if until(event):
                    return found
        raise AssertionError("the stream ended")

    def talk(self, text: str, number: int, **more: str) -> Event:
        """A message, and the answer to it: the event with which its run ended."""
        frames = self.frames(f"{self.snapshot().epoch}.{self.snapshot().seq}")
        next(frames)
        assert self.post(text, number, **more).status == 202
        for _, chunk in frames:
            event = event_in(chunk)
            if event is not None and isinstance(event.body, AgentEnd):
                frames.close()
                return event
        raise AssertionError("the stream ended")


def event_in(chunk: dict[str, Any]) -> Event | None:
    """The event that a chunk carries."""
    if "type" not in chunk.get("data", {}):
        return None
    return decode_chunk("data: " + json.dumps(chunk) + "\n\n")


class Running(Client):
    """A server in a thread."""

    def __init__(self, url: str, log: Path, gate: Gate, thread: threading.Thread) -> None:
        super().__init__(url)
        self.log, self.gate, self.thread = log, gate, thread

    def wait(self) -> None:
        """Wait until it ends by itself."""
        self.thread.join(LONGEST_S)
        assert not self.thread.is_alive()

    def cold(self) -> Cut:
        """The history as someone reads it who opens the log."""
        return snapshot_of(fold_log(read_log(self.log.read_text(encoding="utf-8")).entries))


@contextmanager
def running(
    log: Path, *, shut: bool = False, flow: str = FLOW, port: int = 0, **more: Any
) -> Iterator[Running]:
    """A server in a thread of this process, stopped at the end."""
    snapshot = snapshot_named(flow)
    gate = Gate(shut=shut)
    plan = Plan(snapshot, run_inputs(snapshot)[0], flow, log, gate, **more)
    listening = listen(port)
    url = address(listening)
    servers: list[uvicorn.Server] = []
    trouble: list[BaseException] = []
    up = threading.Event()

    def ready(server: uvicorn.Server, problems: tuple[LogProblem, ...]) -> None:
        servers.append(server)
        up.set()

    def work() -> None:
        try:
            asyncio.run(serve(plan, listening, ready))
        except BaseException as problem:
            trouble.append(problem)
        finally:
            listening.close()
            up.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert up.wait(LONGEST_S)
        if trouble:
            raise trouble[0]
        yield Running(url, log, gate, thread)
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(LONGEST_S)
        assert not thread.is_alive()
    if trouble:
        raise trouble[0]


class Process(Client):
    """A server that is a process of its own."""

    def __init__(self, log: Path, pace: int, *more: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "windtunnel.simulator.cli", "serve", FLOW, "--port", str(port)]
        command += ["--session", str(log), "--pace", str(pace), *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.end()[1])
        super().__init__(line.strip())

    def kill(self) -> None:
        """End it as a loss of power does."""
        self.process.kill()
        self.end()

    def end(self) -> tuple[int, str]:
        """Wait for its end: its exit code, and what it said."""
        _, said = self.process.communicate(timeout=LONGEST_S)
        return self.process.returncode, said


@contextmanager
def process(log: Path, pace: int, *more: str, port: int = 0) -> Iterator[Process]:
    """A server process that is gone at the end."""
    server = Process(log, pace, *more, port=port)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()
