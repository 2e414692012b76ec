"""The tables of the database, step by step: a file of an older version is brought up by the steps it lacks.

`trace` is the truth; `runs.status` and below, `receipts`, `decisions` and `outbox` follow from it and are
written in the same transaction. `content` holds every large text once, under its SHA-256.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x57_54_4E_4C
"""`WTNL`: written into the file, so that no other program's database is taken for a store."""

_RUNS: Final = """
CREATE TABLE content (
    sha256 TEXT PRIMARY KEY,
    text   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    sha256   TEXT PRIMARY KEY REFERENCES content (sha256),
    digest   TEXT NOT NULL,
    workflow TEXT NOT NULL,
    revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    number     INTEGER PRIMARY KEY,
    run        TEXT NOT NULL UNIQUE,
    snapshot   TEXT NOT NULL REFERENCES snapshots (sha256),
    input      TEXT NOT NULL REFERENCES content (sha256),
    reference  TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    status     TEXT NOT NULL,
    paused     INTEGER NOT NULL,
    parked     INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL
) STRICT;

CREATE TABLE trace (
    run     TEXT NOT NULL REFERENCES runs (run),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    process TEXT NOT NULL,
    scope   TEXT NOT NULL,
    type    TEXT NOT NULL,
    node    TEXT,
    attempt TEXT,
    payload TEXT NOT NULL,
    kinds   TEXT NOT NULL,
    causes  TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    run     TEXT NOT NULL REFERENCES runs (run),
    attempt TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    node    TEXT NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (run, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    run        TEXT PRIMARY KEY REFERENCES runs (run),
    owner      TEXT NOT NULL,
    token      INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

_PEOPLE: Final = """
ALTER TABLE runs ADD COLUMN untold INTEGER NOT NULL DEFAULT 0;

ALTER TABLE runs ADD COLUMN current TEXT;

ALTER TABLE trace ADD COLUMN name TEXT NOT NULL DEFAULT '';

CREATE TABLE continuations (
    name   TEXT PRIMARY KEY,
    run    TEXT NOT NULL REFERENCES runs (run),
    parent TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
    run     TEXT NOT NULL REFERENCES runs (run),
    attempt TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    node    TEXT NOT NULL,
    state   TEXT NOT NULL,
    request TEXT NOT NULL,
    outcome TEXT,
    PRIMARY KEY (run, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
    run       TEXT NOT NULL REFERENCES runs (run),
    node      TEXT NOT NULL,
    number    INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    payload   TEXT NOT NULL,
    delivered INTEGER NOT NULL,
    PRIMARY KEY (run, node, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE asked (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    run   TEXT NOT NULL REFERENCES runs (run),
    what  TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX asked_of_run ON asked (run);
"""

_SUMS: Final = """
ALTER TABLE trace ADD COLUMN sum TEXT NOT NULL DEFAULT '';
"""
"""Lines of an older file have none, and are read as they are."""

STEPS: Final = (_RUNS, _PEOPLE, _SUMS)
"""Step N makes version N of version N - 1; a step that was published never changes."""

VERSION: Final = len(STEPS)


def statements(step: str) -> tuple[str, ...]:
    """The single statements of a step, so that all of them run in one transaction."""
    return tuple(part.strip() for part in step.split(";\n") if part.strip())
