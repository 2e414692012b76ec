"""One session, its readers, its model and its disk: what the pure server asks for, done for real.

Everything happens on one event loop but appends, which one thread makes in order. A model call, a tool and a
wait before a retry are tasks; the host decides what becomes of what they say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeAlias

from windtunnel.simulator.chat.entries import Entry
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.host import SUBSCRIBER_LIMIT, Host, Push, Reply, Told, Write, heartbeat
from windtunnel.simulator.chat.logfile import LogProblem, entry_of
from windtunnel.simulator.chat.pen import DEFAULTS
from windtunnel.simulator.chat.requests import (
    Answer,
    CloseStream,
    GetSnapshot,
    OpenStream,
    RawChunk,
    Request,
    StreamClosed,
    StreamMessage,
)
from windtunnel.simulator.chat.rows import branch_rows
from windtunnel.simulator.chat.server import (
    Done,
    ReadLog,
    Server,
    append_done,
    append_failed,
    ask,
    happened,
    log_read,
    session_of,
    taken,
)
from windtunnel.simulator.chat.turns import (
    AbortModel,
    AbortTool,
    CallModel,
    CallSummary,
    CompactDone,
    Heard,
    LoopEvent,
    RetryDue,
    RunTool,
    Settings,
    StartRetryTimer,
    StopRetryTimer,
)
from windtunnel.simulator.chat.window import REPLAY_LIMIT, Cursor
from windtunnel.simulator.serving.sessionlog import LogRefused, SessionLog
from windtunnel.simulator.serving.speaking import Words, asked_last, reply, tool_result

SUMMARY: Final = "What was said before, in short."
"""What the simulated model makes of a conversation that is compacted."""

MAX_READERS: Final = 64
"""Streams that are open at once."""

Pause: TypeAlias = Callable[[], Awaitable[object]]
"""Waited for before each piece that the model or a tool says."""


class Steps(Protocol):
    """A workflow in the session: what its model says, and what it hears of the conversation."""

    def words(self, sent: int) -> Words | None:
        """What the model says to the prompt that is out, after `sent` messages; None if none is out."""
        ...

    def tool(self, run: RunTool) -> bool:
        """Take a call of the workflow tool; False for any other, and when nothing is awaited."""
        ...

    def news(self, entries: tuple[Entry, ...], told: tuple[LoopEvent, ...]) -> None:
        """Entries that became durable, and what the agent loop told with them."""
        ...

    def reopened(self) -> None:
        """The session was read from its log; whatever was under way is over."""
        ...


class TooManyReaders(Exception):
    """MAX_READERS streams are open."""


class Reader:
    """A stream that is open: what is to be sent down it, oldest first. The host bounds how much that is."""

    def __init__(self, conn: str) -> None:
        self.conn = conn
        self._messages: asyncio.Queue[StreamMessage] = asyncio.Queue()

    def put(self, message: StreamMessage) -> None:
        """One more."""
        self._messages.put_nowait(message)

    async def next(self, seconds: float) -> StreamMessage | None:
        """The next message, None if there is none for so long."""
        try:
            return await asyncio.wait_for(self._messages.get(), seconds)
        except TimeoutError:
            return None


def told_when_broken(task: asyncio.Task[None]) -> None:
    """A task that ends by a mistake of ours says so at once."""
    if not task.cancelled() and task.exception() is not None:
        told = {"message": "a task of the session broke", "exception": task.exception()}
        task.get_loop().call_exception_handler(told)


class Service:
    """The session in a log. `open` it first; `stop` and then `close` it last."""

    def __init__(
        self,
        log: SessionLog,
        session: str,
        pause: Pause,
        *,
        settings: Settings = DEFAULTS,
        replay_limit: int = REPLAY_LIMIT,
        backlog_limit: int = SUBSCRIBER_LIMIT,
    ) -> None:
        self.log, self.session, self.pause = log, session, pause
        self.server = Server((), settings, replay_limit, backlog_limit)
        self.entries: list[Entry] = []
        self.problems: tuple[LogProblem, ...] = ()
        self.steps: Steps | None = None
        self._disk = ThreadPoolExecutor(1, "session-log")
        self._waiting: dict[str, asyncio.Future[Answer]] = {}
        self._readers: dict[str, Reader] = {}
        self._tasks: dict[Any, asyncio.Task[None]] = {}
        self._names = 0

    # --- who asks -------------------------------------------------------------------------------------------

    def name(self) -> str:
        """A name for a request or a connection, that this process gives once."""
        self._names += 1
        return f"q{self._names}"

    async def open(self) -> None:
        """Open the session from its log, and write down what that closes. Raises LogRefused."""
        await self.request(GetSnapshot(self.name(), self.session))
        while self.host is not None and self.host.jobs:
            await self._tasks["log"]

    async def request(self, request: Request) -> Answer:
        """Ask the host; the answer comes when what it says is durable. Raises LogRefused."""
        assert not isinstance(request, OpenStream | CloseStream), "a stream is not answered"
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[request.request] = waiting
        try:
            self._perform(ask(self.server, request))
            return await waiting
        finally:
            del self._waiting[request.request]

    def follow(self, cursor: Cursor) -> Reader:
        """Open a stream after a position. Raises TooManyReaders."""
        if len(self._readers) >= MAX_READERS:
            raise TooManyReaders
        reader = Reader(self.name())
        self._readers[reader.conn] = reader
        self._perform(ask(self.server, OpenStream(reader.conn, self.session, cursor)))
        return reader

    def leave(self, reader: Reader) -> None:
        """A stream is closed."""
        if self._readers.pop(reader.conn, None) is not None:
            self._perform(ask(self.server, CloseStream(reader.conn, self.session)))

    def sent(self, reader: Reader) -> None:
        """A message went down a stream."""
        self.server = taken(self.server, self.session, reader.conn)

    def heartbeat(self) -> StreamMessage:
        """Where the stream is; a session that is not open has none."""
        host = self.host
        return StreamClosed("closed") if host is None else heartbeat(host)

    def tell_readers(self, chunk: RawChunk) -> None:
        """Something beside the projection, down every stream."""
        for reader in self._readers.values():
            reader.put(chunk)

    @property
    def host(self) -> Host | None:
        """The host of the session, while it is open."""
        held = session_of(self.server, self.session)
        return held if isinstance(held, Host) else None

    def hear(self, heard: Heard) -> None:
        """Something happened to the loop."""
        self._perform(happened(self.server, self.session, heard))

    def end_streams(self) -> None:
        """Tell every reader that nothing more comes."""
        for reader in self._readers.values():
            reader.put(StreamClosed("server_stopped"))

    async def stop(self) -> None:
        """End what the model and its tools do; what was handed to the disk is written."""
        self.end_streams()
        tasks = [task for key, task in self._tasks.items() if key != "log" and not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self) -> None:
        """Let go of the log."""
        self._disk.shutdown()
        self.log.close()

    # --- what the host wants --------------------------------------------------------------------------------

    def _perform(self, done: Done) -> None:
        self.server, outs = done
        told: list[LoopEvent] = []
        for _, out in outs:
            match out:
                case ReadLog():
                    self._begin("log", self._read())
                case Write(lines):
                    self._begin("log", self._append(lines))
                case Reply(answer):
                    waiting = self._waiting.get(answer.request)
                    if waiting is not None and not waiting.done():
                        waiting.set_result(answer)
                case Push(conn, message):
                    if conn in self._readers:
                        self._readers[conn].put(message)
                case Told(event):
                    told.append(event)
                case CallModel(call):
                    self._begin(("model", call), self._speak(call))
                case CallSummary(call):
                    self._begin(("model", call), self._summarise(call))
                case RunTool():
                    self._begin(("tool", out.message, out.call), self._use(out))
                case StartRetryTimer(attempt, delay):
                    self._begin("retry", self._wait(attempt, delay))
                case AbortModel(call):
                    self._end(("model", call))
                case AbortTool(message, call_id):
                    self._end(("tool", message, call_id))
                case StopRetryTimer():
                    self._end("retry")
        if told:
            self._news((), tuple(told))

    def _news(self, entries: tuple[Entry, ...], told: tuple[LoopEvent, ...]) -> None:
        if self.steps is not None:
            asyncio.get_running_loop().call_soon(self.steps.news, entries, told)

    def _begin(self, key: Any, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(told_when_broken)
        self._tasks[key] = task

    def _end(self, key: Any) -> None:
        task = self._tasks.pop(key, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _read(self) -> None:
        try:
            image = await asyncio.get_running_loop().run_in_executor(self._disk, self.log.read)
        except LogRefused as problem:
            self.server = replace(self.server, sessions=())
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(problem)
            return
        self.problems = image.problems
        self.entries = list(image.entries)
        self._perform(log_read(self.server, self.session, image))
        if self.steps is not None:
            asyncio.get_running_loop().call_soon(self.steps.reopened)

    async def _append(self, lines: tuple[str, ...]) -> None:
        """Append, sync, and only then let anyone see it."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._disk, self.log.append, lines)
        except LogRefused as problem:
            for task in [task for key, task in self._tasks.items() if key != "log"]:
                task.cancel()
            self._perform(append_failed(self.server, self.session, str(problem)))
            return
        made = tuple(map(entry_of, lines))
        self.entries += made
        self._news(made, ())
        self._perform(append_done(self.server, self.session))

    # --- the model, its tools and the clock -----------------------------------------------------------------

    def _words(self) -> Words:
        host = self.host
        assert host is not None, "only an open session calls its model"
        asked, sent = asked_last(branch_rows(host.transcript))
        if asked is not None and asked.step is not None and self.steps is not None:
            words = self.steps.words(sent)
            if words is not None:
                return words
        return reply("" if asked is None else asked.text, sent)

    async def _speak(self, call: int) -> None:
        for word in self._words():
            await self.pause()
            self.hear(replace(word, call=call))

    async def _summarise(self, call: int) -> None:
        await self.pause()
        self.hear(CompactDone(call, SUMMARY))

    async def _use(self, run: RunTool) -> None:
        await self.pause()
        if self.steps is None or not self.steps.tool(run):
            self.hear(tool_result(run))

    async def _wait(self, attempt: int, delay_ms: int) -> None:
        await asyncio.sleep(delay_ms / 1_000)
        self.hear(RetryDue(attempt))
