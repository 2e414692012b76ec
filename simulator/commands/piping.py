"""A program of yours as the model: one line of JSON in, one line out.

A program that cannot answer, for whatever reason, is a provider that failed, with a message that says why;
it is stopped then, and started anew for the next request.
"""

from __future__ import annotations

import queue
import subprocess
import threading
from contextlib import suppress
from typing import IO, Final

import click

from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.commands.console import reason, say
from windtunnel.simulator.providers.behaviour import Behaviour, Kind, Menu, Request, Stop, Turn
from windtunnel.simulator.providers.generated import GeneratedProvider
from windtunnel.simulator.providers.speech import NotUnderstood, answer, request_line

MAX_LINE: Final = 1_000_000
"""Bytes of an answer, with its newline."""

PATIENCE_S: Final = 60.0
"""How long a program may take for one answer, unless somebody says otherwise."""

GOODBYE_S: Final = 1.0
"""How long a program may take to end when nothing more is asked."""


class Failed(Exception):
    """The program did not answer; the message says why."""


class ProgramProvider:
    """A provider that asks a program. What effects do is made up: a program stands in for the model alone.

    Use it in a `with` block: at its end the program is stopped. Raises click's UsageError when the program
    cannot be started.
    """

    def __init__(self, snapshot: Snapshot, words: list[str], patience_s: float = PATIENCE_S) -> None:
        self.words = words
        self.patience_s = patience_s
        self.made = GeneratedProvider(snapshot)
        self.failures: list[str] = []
        self._program: _Program | None = None

    def __enter__(self) -> ProgramProvider:
        try:
            self._program = _Program(self.words)
        except (OSError, ValueError) as problem:
            why = reason(problem) if isinstance(problem, OSError) else str(problem)
            raise click.UsageError(f"cannot start {self.words[0]}: {why}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._program is not None:
            self._program.stop()
            self._program = None

    def menu(self, request: Request) -> Menu:
        """The one thing that the program says; an error of the provider where it says nothing of use."""
        if request.kind is Kind.EFFECT:
            return self.made.menu(request)
        try:
            return Menu((self._ask(request),))
        except (Failed, NotUnderstood) as problem:
            said = f"the program {self.words[0]} {problem}"
            if isinstance(problem, NotUnderstood):
                said = f"the answer of the program {self.words[0]} is not understood: {problem}"
            say(f"! {request.node}: {said}")
            self.failures.append(said)
            self._stop()
            return Menu((Behaviour("fails", (Turn((), Stop.ERROR, error=said),)),))

    def _ask(self, request: Request) -> Behaviour:
        if self._program is None:
            try:
                self._program = _Program(self.words)
            except OSError as problem:
                raise Failed(f"cannot be started again: {reason(problem)}") from None
        return answer(self._program.ask(request_line(request), self.patience_s))


class _Program:
    """One process and the thread that reads what it says."""

    def __init__(self, words: list[str]) -> None:
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None, "the process was given a pipe"
        assert self.process.stdout is not None, "the process was given a pipe"
        self.asked: IO[bytes] = self.process.stdin
        self.lines: queue.Queue[bytes] = queue.Queue(maxsize=2)
        threading.Thread(target=_listen, args=(self.process.stdout, self.lines), daemon=True).start()

    def ask(self, line: str, patience_s: float) -> str:
        """The answer, without its newline. Raises Failed."""
        try:
            self.asked.write(line.encode("utf-8", "backslashreplace") + b"\n")
            self.asked.flush()
        except (OSError, ValueError):
            raise Failed(self._gone()) from None
        try:
            said = self.lines.get(timeout=patience_s)
        except queue.Empty:
            raise Failed(f"gave no answer within {patience_s:g} s") from None
        if not said:
            raise Failed(self._gone())
        if len(said) > MAX_LINE:
            raise Failed(f"gave an answer of more than {MAX_LINE:,} bytes")
        try:
            return said.decode("utf-8")
        except UnicodeDecodeError:
            raise NotUnderstood("it is not UTF-8") from None

    def _gone(self) -> str:
        try:
            code = self.process.wait(GOODBYE_S)
        except subprocess.TimeoutExpired:
            return "closed its output without an answer"
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        return f"ended {how} without an answer"

    def stop(self) -> None:
        """End the process: first it is told that nothing more comes."""
        with suppress(OSError):
            self.asked.close()
        try:
            self.process.wait(GOODBYE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _listen(said: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Hand on line by line; an empty one says that it is over, one that is too long ends it, too."""
    with said:
        while True:
            line = said.readline(MAX_LINE + 1)
            try:
                lines.put(line, timeout=PATIENCE_S)
            except queue.Full:
                return
            if not line or len(line) > MAX_LINE:
                return
