"""The session log as a file of lines: appended in one write, synced before anything is built on it.

Only whoever holds the run's claim opens it, and every change is made while the claim is guarded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from windtunnel.simulator.durable.session import read, text_of
from windtunnel.simulator.store.interface import StoreRefused

MAX_BYTES: Final = 256 * 1024 * 1024
"""The largest log that is read."""

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700

Write = Callable[[int, bytes], int]
"""Hands bytes to a file and says how many it took."""


def session_path(store: Path, run: str) -> Path:
    """Where the session log of a run lies: in a folder beside its store."""
    return store.with_name(f"{store.name}.sessions") / f"{run}.jsonl"


def ledger_path(store: Path, run: str) -> Path:
    """Where the simulated world outside remembers the effects of a run."""
    return store.with_name(f"{store.name}.sessions") / f"{run}.outside.jsonl"


class SessionFile:
    """The log of one run; the file begins with its first entry. Raises StoreRefused if it cannot be used."""

    def __init__(self, path: Path, write: Write = os.write) -> None:
        self.path = path
        self._write = write
        try:
            data = path.read_bytes() if path.exists() else b""
        except OSError as problem:
            raise self._refused(problem) from None
        if len(data) > MAX_BYTES:
            raise StoreRefused(f"{path} has more than {MAX_BYTES:,} bytes")
        self.entries, self._end = read(data, str(path))
        self.torn = self._end < len(data)

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Entries, handed over in one write and synced."""
        assert not self.torn, "an entry behind a torn line would be glued to it"
        data = "".join(map(text_of, entries)).encode()
        try:
            new = not self.path.exists()
            if new:
                _make_folder(self.path.parent)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            try:
                taken = self._write(handle, data)
                while taken < len(data):
                    taken += self._write(handle, data[taken:])
                os.fsync(handle)
            finally:
                os.close(handle)
            if new:
                _sync_folder(self.path.parent)
        except OSError as problem:
            raise self._refused(problem) from None

    def repair(self) -> None:
        """Cut a torn last line off."""
        try:
            handle = os.open(self.path, os.O_WRONLY)
            try:
                os.ftruncate(handle, self._end)
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as problem:
            raise self._refused(problem) from None
        self.torn = False

    def _refused(self, problem: OSError) -> StoreRefused:
        return StoreRefused(f"cannot use {self.path}: {(problem.strerror or str(problem)).lower()}")


class LedgerFile:
    """What the world outside remembers, as lines of a file; half a line at its end was never applied."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes() if path.exists() else b""
        self._whole = data[: data.rfind(b"\n") + 1]
        self.done: tuple[Mapping[str, Any], ...] = tuple(map(json.loads, self._whole.splitlines()))

    def apply(self, entry: Mapping[str, Any]) -> None:
        """One more, synced before anybody hears of it."""
        _make_folder(self.path.parent)
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE)
        try:
            os.ftruncate(handle, len(self._whole))
            os.lseek(handle, 0, os.SEEK_END)
            self._whole += text_of(entry).encode()
            os.write(handle, text_of(entry).encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        self.done = (*self.done, dict(entry))


def _make_folder(folder: Path) -> None:
    """Make the folder, and its name last."""
    if not folder.is_dir():
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder last; some systems cannot, and need not."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
