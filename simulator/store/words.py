"""What a database engine refuses, in words for a person: the thing, the place, and how to mend it."""

from __future__ import annotations

import sqlite3
from typing import Final

BUSY_MS: Final = 20_000
"""How long a writer waits for another before it gives up."""


def refusal(problem: sqlite3.Error, name: str) -> str:
    """Why the file `name` cannot be used, from what the engine says."""
    code = getattr(problem, "sqlite_errorname", "")
    for kind, words in _KINDS.items():
        if code.startswith(kind):
            return words.format(name=name, seconds=BUSY_MS // 1_000)
    if code and isinstance(problem, sqlite3.OperationalError):
        return f"cannot use {name}: {problem}"
    return damaged(name, str(problem))


def damaged(name: str, what: str) -> str:
    """A file whose content is not what was written into it."""
    return f"{name} is damaged: {' '.join(what.split())}; go back to a copy of it and of its sessions"


_KINDS: Final = {
    "SQLITE_BUSY": "{name} is in use: another process wrote for {seconds} s; try again when it is done",
    "SQLITE_NOTADB": "{name} is not a store of windtunnel; name another file",
    "SQLITE_FULL": "cannot write to {name}: the disk is full; make room, then go on: "
    "what was committed is kept",
    "SQLITE_READONLY": "cannot write to {name}: it, its folder, or {name}-wal or {name}-shm beside it is "
    "read-only for you; make them writable, or copy the store to a place that is",
    "SQLITE_CANTOPEN": "cannot open {name}: you may not read it, or not make {name}-wal and {name}-shm "
    "beside it; look at their modes and at that of the folder",
    "SQLITE_IOERR": "cannot use {name}: the disk reports an error; see that it is there and healthy, "
    "then go on: what was committed is kept",
}


def newer(name: str, version: int, ours: int) -> str:
    """A file of a later program."""
    return (
        f"{name} was written by a newer windtunnel (version {version} of the store); this one reads up to "
        f"version {ours}: use that windtunnel, or begin another store"
    )


def no_run(run: str, name: str) -> str:
    """A run that the store does not hold."""
    return f"there is no run {run} in {name}; `windtunnel runs {name}` lists those that are there"
