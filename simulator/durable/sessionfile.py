"""The session log as a file of lines: appended in one write, synced before anything is built on it.

Only whoever holds the run's claim opens it, and every change is made while the claim is guarded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from windtunnel.compiler.canonical import CanonicalError, parse_json
from windtunnel.simulator.durable.filing import (
    PRIVATE_FILE,
    Write,
    hand_over,
    make_folder,
    sync_folder,
    unusable,
)
from windtunnel.simulator.durable.session import read, text_of, whole
from windtunnel.simulator.store.interface import StoreRefused
from windtunnel.simulator.store.values import ROOM
from windtunnel.simulator.store.words import damaged

MAX_BYTES: Final = 256 * 1024 * 1024
"""The largest log that is read."""


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
        data = _read(path)
        self.entries, self._end = read(data, str(path))
        self.torn = self._end < len(data)

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Entries, handed over in one write and synced."""
        assert not self.torn, "an entry behind a torn line would be glued to it"
        data = "".join(map(text_of, entries)).encode()
        try:
            new = not self.path.exists()
            if new:
                make_folder(self.path.parent)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            try:
                hand_over(handle, data, self._write)
            finally:
                os.close(handle)
            if new:
                sync_folder(self.path.parent)
        except OSError as problem:
            raise _refused(self.path, problem) from None

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
            raise _refused(self.path, problem) from None
        self.torn = False


class LedgerFile:
    """What the world outside remembers, as lines of a file; half a line at its end was never applied.

    Raises StoreRefused if the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        data = _read(path)
        self._whole = data[: whole(data)]
        lines = self._whole.split(b"\n")[:-1]
        self.done: tuple[Mapping[str, Any], ...] = tuple(
            _application(path, number, line) for number, line in enumerate(lines, start=1)
        )

    def apply(self, entry: Mapping[str, Any]) -> None:
        """One more, synced before anybody hears of it."""
        data = text_of(entry).encode()
        try:
            make_folder(self.path.parent)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE)
            try:
                os.ftruncate(handle, len(self._whole))
                os.lseek(handle, 0, os.SEEK_END)
                hand_over(handle, data, os.write)
            finally:
                os.close(handle)
            if not self._whole:
                sync_folder(self.path.parent)
        except OSError as problem:
            raise _refused(self.path, problem) from None
        self._whole += data
        self.done = (*self.done, dict(entry))


def _application(path: Path, number: int, line: bytes) -> Mapping[str, Any]:
    """What one line says was applied."""
    try:
        value = parse_json(line, ROOM)
    except CanonicalError:
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or "output" not in value:
        raise StoreRefused(damaged(str(path), f"line {number} is no effect that was applied"))
    return value


def _read(path: Path) -> bytes:
    """The bytes of a file, none where it is not there."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_BYTES else b""
    except FileNotFoundError:
        return b""
    except OSError as problem:
        raise _refused(path, problem) from None
    if size > MAX_BYTES:
        raise StoreRefused(
            f"cannot use {path}: it has {size:,} bytes; the most that is read is {MAX_BYTES:,}"
        )
    return data


def _refused(path: Path, problem: OSError) -> StoreRefused:
    return StoreRefused(unusable(path, problem))
