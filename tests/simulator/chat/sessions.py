"""Drives one host without network: its disk works at once unless a test takes it over."""

from __future__ import annotations

from dataclasses import dataclass, field

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.chunks import kind_of
from windtunnel.simulator.chat.entries import Body, Entry
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.host import (
    Host,
    Out,
    Push,
    Reply,
    Told,
    Write,
    hear,
    open_host,
    serve,
    written,
)
from windtunnel.simulator.chat.logfile import read_lines
from windtunnel.simulator.chat.parts import Item, Row
from windtunnel.simulator.chat.pen import DEFAULTS
from windtunnel.simulator.chat.requests import (
    Answer,
    CommandName,
    GetSnapshot,
    OpenStream,
    PostCommand,
    PostMessage,
    StreamEvent,
    StreamMessage,
)
from windtunnel.simulator.chat.rows import Snapshot, fold_log, seen, snapshot_of
from windtunnel.simulator.chat.turns import (
    Content,
    Effect,
    Heard,
    ModelDelta,
    ModelDone,
    ModelFailed,
    RunTool,
    Settings,
    ToolDone,
)
from windtunnel.simulator.chat.window import Cursor


@dataclass
class Session:
    """A host and all that came out of it. With `slow_disk` a test says itself when an append is done."""

    settings: Settings = DEFAULTS
    faults: Faults = SOUND
    slow_disk: bool = False
    lines: list[str] = field(default_factory=list)
    tail: str = ""
    answers: list[Answer] = field(default_factory=list)
    pushed: list[tuple[str, StreamMessage]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    writing: tuple[str, ...] | None = None
    requests: int = 0
    replay_limit: int = 1_000
    host: Host = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Open the session from its log, as after a restart; what was being appended is lost."""
        self.writing = None
        image = read_lines(tuple(self.lines), self.tail)
        self.tail = ""
        self.host, outs = open_host("s", image, self.settings, self.faults, self.replay_limit)
        self.take(outs)

    def take(self, outs: tuple[Out, ...]) -> None:
        """Do what the host wants."""
        for out in outs:
            if isinstance(out, Write):
                self.writing = out.lines
                if not self.slow_disk:
                    self.disk()
            elif isinstance(out, Reply):
                self.answers.append(out.answer)
            elif isinstance(out, Push):
                self.pushed.append((out.conn, out.message))
            elif isinstance(out, Told):
                self.told.append(out.event.type)
            else:
                self.effects.append(out)

    def disk(self) -> None:
        """The append is done."""
        assert self.writing is not None
        self.lines += self.writing
        self.writing = None
        self.host, outs = written(self.host)
        self.take(outs)

    def hear(self, heard: Heard) -> None:
        """Something happens to the loop."""
        self.host, outs = hear(self.host, heard)
        self.take(outs)

    def request(self) -> str:
        """A name for a request."""
        self.requests += 1
        return f"r{self.requests}"

    def post(
        self, text: str, number: int = 1, nonce: str | None = None, client: str = "c", kind: str = "followup"
    ) -> Answer:
        """Post a message; its answer, if the disk is not slow."""
        name = self.request()
        item = Item(text, nonce or f"{client}{number}", client, number, kind)
        self.host, outs = serve(self.host, PostMessage(name, "s", item))
        self.take(outs)
        return self.answer(name)

    def answer(self, name: str) -> Answer:
        """The answer to a request; a placeholder while there is none."""
        found = [answer for answer in self.answers if answer.request == name]
        return found[-1] if found else Answer(name, 0, "none")

    def command(self, what: CommandName, *nonces: str, receipt: str | None = None) -> Answer:
        """Give a command; its answer."""
        name = self.request()
        command = PostCommand(name, "s", what, receipt or f"k{self.requests}", nonces)
        self.host, outs = serve(self.host, command)
        self.take(outs)
        return self.answer(name)

    def snapshot(self) -> Snapshot:
        """The history as the endpoint gives it."""
        name = self.request()
        self.host, outs = serve(self.host, GetSnapshot(name, "s"))
        self.take(outs)
        snapshot = self.answer(name).snapshot
        assert snapshot is not None
        return snapshot

    def follow(self, seq: int = 0, epoch: int = 1, conn: str = "x") -> None:
        """Follow the stream after a position."""
        self.host, outs = serve(self.host, OpenStream(conn, "s", Cursor(epoch, seq)))
        self.take(outs)

    def events(self, conn: str = "x") -> list[wire.Event]:
        """What a connection was sent."""
        return [
            message.event
            for name, message in self.pushed
            if name == conn and isinstance(message, StreamEvent)
        ]

    def kinds(self, conn: str = "x") -> list[str]:
        """The types of what a connection was sent."""
        return [kind_of(event.body) for event in self.events(conn)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The log."""
        return read_lines(tuple(self.lines), self.tail).entries

    def bodies(self, kind: type[Body]) -> list[Body]:
        """The bodies of one kind in the log."""
        return [entry.body for entry in self.entries if isinstance(entry.body, kind)]

    def rows(self) -> tuple[Row, ...]:
        """The rows of the log, read cold; the snapshot must have the same when no message is open."""
        cold = seen(snapshot_of(fold_log(self.entries)))
        if self.host.opened is None and not self.host.jobs:
            assert seen(self.snapshot()) == cold
        return cold.rows

    def texts(self) -> list[str]:
        """The texts of the rows."""
        return [row.text for row in self.rows()]

    # The model and the tools.

    @property
    def call(self) -> int:
        """The number of the call that is waited for."""
        return self.host.loop.call

    def say(self, *pieces: str, stop: str = "stop") -> None:
        """The model says a whole message."""
        call = self.call
        self.stream(*pieces)
        self.hear(ModelDone(call, (Content("text", "".join(pieces)),), stop))

    def stream(self, *pieces: str) -> None:
        """The model says some words."""
        for piece in pieces:
            self.hear(ModelDelta(self.call, 0, "text", piece))

    def use(self, *names: str) -> None:
        """The model calls tools."""
        contents = tuple(Content("tool", "{}", f"call-{name}", name) for name in names)
        self.hear(ModelDone(self.call, contents, "toolUse"))

    def fail(self, retryable: bool = False, error: str = "overloaded") -> None:
        """The model's call breaks off."""
        self.hear(ModelFailed(self.call, error, retryable))

    def running(self) -> list[RunTool]:
        """The tools that run."""
        return list(self.host.loop.running)

    def done(self, name: str, output: str = '"ok"', is_error: bool = False) -> None:
        """A tool ends."""
        for run in self.running():
            if run.call == f"call-{name}":
                self.hear(ToolDone(run.message, run.call, output, is_error))
