"""The log of one session as a file of lines: appended in one write, synced before anything is shown.

One process holds a log: it locks a file beside it for as long as it lives, and the system lets go of the lock
when it dies, however it dies. So a second process is refused while the first is alive, and takes over after.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from windtunnel.simulator.chat.logfile import LogImage, read_lines
from windtunnel.simulator.durable.filing import (
    PRIVATE_FILE,
    Write,
    hand_over,
    make_folder,
    sync_folder,
    unusable,
)
from windtunnel.simulator.durable.sessionfile import MAX_BYTES

NOT_UTF8: Final = "\ufffd"
"""Stands for a line whose bytes are no text, so that it is reported as damaged."""

MAX_HOLDER: Final = 200
"""Bytes of what a holder says about itself."""


class LogRefused(Exception):
    """The log cannot be used; the message says why, in words for a person."""


def lock_path(path: Path) -> Path:
    """The file whose lock says that the log is held; it tells who holds it."""
    return path.with_name(path.name + ".lock")


class SessionLog:
    """A log that this process holds until `close`. Raises LogRefused.

    `write` hands bytes to the file and says how many it took.
    """

    def __init__(self, path: Path, holder: str = "", write: Write = os.write) -> None:
        self.path = path
        self._write = write
        try:
            make_folder(path.parent)
            self._lock = os.open(lock_path(path), os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        except (OSError, ValueError) as problem:
            raise self._refused(problem) from None
        if not try_lock(self._lock):
            held_by = os.read(self._lock, MAX_HOLDER).decode("utf-8", "replace").strip()
            os.close(self._lock)
            raise LogRefused(f"{path} is served by another process{f' ({held_by})' if held_by else ''}")
        try:
            self._say_holder(holder)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            sync_folder(path.parent)
        except OSError as problem:
            os.close(self._lock)
            raise self._refused(problem) from None

    def _say_holder(self, holder: str) -> None:
        os.ftruncate(self._lock, 0)
        os.write(self._lock, holder.encode()[:MAX_HOLDER])

    def read(self) -> LogImage:
        """What the log holds; a torn end is cut off before anybody builds on it. Raises LogRefused."""
        try:
            size = os.fstat(self._file).st_size
            if size > MAX_BYTES:
                raise LogRefused(f"{self.path} has more than {MAX_BYTES:,} bytes")
            data = self.path.read_bytes()
            image = image_of(data)
            if image.torn:
                os.ftruncate(self._file, data.rfind(b"\n") + 1)
            elif image.unended:
                hand_over(self._file, b"\n", self._write)
            os.fsync(self._file)
        except OSError as problem:
            raise self._refused(problem) from None
        return image

    def append(self, lines: Sequence[str]) -> None:
        """Lines, handed over in one write and synced. Raises LogRefused."""
        try:
            hand_over(self._file, "".join(line + "\n" for line in lines).encode(), self._write)
        except OSError as problem:
            raise self._refused(problem) from None

    def close(self) -> None:
        """Let go of the log."""
        os.close(self._file)
        os.close(self._lock)

    def _refused(self, problem: Exception) -> LogRefused:
        return LogRefused(unusable(self.path, problem))


def image_of(data: bytes) -> LogImage:
    """What the bytes of a log hold; a line that is no UTF-8 is damaged."""
    *lines, tail = (text_of(line) for line in data.split(b"\n"))
    return read_lines(tuple(lines), tail)


def text_of(line: bytes) -> str:
    """A line as text."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return NOT_UTF8


def try_lock(handle: int) -> bool:
    """Lock a file for as long as this process has it open; False if another process has done so."""
    try:
        import fcntl
    except ImportError:  # Windows.
        return lock_on_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def lock_on_windows(handle: int) -> bool:
    """The same where there is no `flock`: one byte far behind what the file tells."""
    import importlib

    locking = importlib.import_module("msvcrt")
    os.lseek(handle, 1 << 30, os.SEEK_SET)
    try:
        locking.locking(handle, locking.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
    return True
