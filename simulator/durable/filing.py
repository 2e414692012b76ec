"""Bytes that are whole in a file before anybody builds on them, and words for when they cannot be."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700

Write: TypeAlias = Callable[[int, bytes], int]
"""Hands bytes to a file and says how many it took."""

_ROOM: Final = "make room, then go on: what was written before is kept"
_MENDS: Final = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EACCES: "make it and its folder writable for you",
    errno.EPERM: "make it and its folder writable for you",
    errno.EROFS: "copy it, and what lies beside it, to a place where you may write",
    errno.ENOTDIR: "its folder is a file; move that away",
    errno.EEXIST: "its folder is a file; move that away",
    errno.EISDIR: "move the folder of that name away",
}


def hand_over(handle: int, data: bytes, write: Write) -> None:
    """All of the bytes, synced. Raises OSError."""
    taken = 0
    while taken < len(data):
        taken += write(handle, data[taken:])
    os.fsync(handle)


def make_folder(folder: Path) -> None:
    """Make a private folder, and its name last. Raises OSError."""
    if not folder.is_dir():
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder last; some systems cannot, and need not. Raises OSError."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unusable(path: Path, problem: Exception) -> str:
    """Why a file cannot be used, and what mends it, in words for a person."""
    why = getattr(problem, "strerror", None) or str(problem)
    mend = _MENDS.get(getattr(problem, "errno", None) or 0)
    return f"cannot use {path}: {why.lower()}{f'; {mend}' if mend else ''}"
