"""A store on a database file: WAL, every commit synced, one transaction for each transition.

The only file of the store that touches the outside. A store object belongs to one process and one thread; it
must not be carried over a fork. Several processes may open the same file: writers take turns, and wait for
each other up to BUSY_MS.
"""

from __future__ import annotations

import os
import sqlite3
import time  # noqa: TID251
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from windtunnel.simulator.events import Event
from windtunnel.simulator.store.interface import (
    MAX_LINES,
    ClaimLost,
    Dead,
    NoSuchRun,
    StoreRefused,
    nobody_is_dead,
)
from windtunnel.simulator.store.memory import is_held, lost, refuse_ended, refuse_gap
from windtunnel.simulator.store.projections import Changes, changes
from windtunnel.simulator.store.records import (
    Asked,
    Claim,
    Decision,
    Held,
    Line,
    NewRun,
    Notice,
    Receipt,
    RunRecord,
)
from windtunnel.simulator.store.schema import APPLICATION_ID, STEPS, VERSION, statements
from windtunnel.simulator.store.values import checksum, pack, sha256, sorted_event, unpack
from windtunnel.simulator.store.words import BUSY_MS, damaged, newer, no_run, refusal

JOURNAL_NAP_MS: Final = 20
"""Between two tries to switch the journal."""

PRIVATE: Final = 0o600
"""Mode of the file: runs may hold anything that their inputs hold."""

MEMORY: Final = ":memory:"


def open_store(path: Path, *, create: bool = False) -> SqliteStore:
    """Open a store, or begin one. Raises StoreRefused for a file that is none, newer, damaged or in use."""
    try:
        if create:
            _touch(path)
        elif not path.is_file():
            raise StoreRefused(f"there is no store {path}")
        return SqliteStore(_connect(path), str(path), create=create)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise StoreRefused(f"cannot open {path}: {why.lower()}") from None
    except sqlite3.Error as problem:
        raise StoreRefused(refusal(problem, str(path))) from None


def memory_store(image: bytes | None = None) -> SqliteStore:
    """A store in the memory of this process, on the same engine; empty, or as it was in an image."""
    connection = sqlite3.connect(MEMORY, isolation_level=None)
    if image is not None:
        connection.deserialize(image)
    return SqliteStore(connection, MEMORY, create=True)


def _touch(path: Path) -> None:
    """Begin the file with its mode, before anything is in it; the files beside it get the same mode."""
    if path.is_dir():
        raise StoreRefused(f"cannot open {path}: it is a folder; name a file in it")
    if not path.parent.is_dir():
        raise StoreRefused(f"cannot open {path}: no such file or directory; make {path.parent} first")
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE))
    elif not path.stat().st_size:
        path.chmod(PRIVATE)  # Somebody made an empty file; what comes into it is as private as in ours.


def _connect(path: Path) -> sqlite3.Connection:
    name = path.absolute().as_uri() + "?mode=rw"
    return sqlite3.connect(name, uri=True, isolation_level=None, timeout=BUSY_MS / 1_000)


class SqliteStore:
    """The interface of a store on one connection. Close it, or use it in a `with`."""

    def __init__(self, connection: sqlite3.Connection, name: str, *, create: bool) -> None:
        self.connection = connection
        self.name = name
        self._known: RunRecord | None = None
        try:
            with self._refusing():
                self._prepare(create)
        except StoreRefused:
            connection.close()
            raise

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    # --- opening --------------------------------------------------------------------------------------------

    def _prepare(self, create: bool) -> None:
        """Settings of the connection, then the file's own: whose it is, how old, whether it is whole."""
        run = self.connection.execute
        run("PRAGMA foreign_keys = ON")
        run("PRAGMA trusted_schema = OFF")
        self._identify(create)
        run("PRAGMA synchronous = FULL")
        self._migrate()
        (verdict,) = run("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise StoreRefused(damaged(self.name, str(verdict)))
        if self.name != MEMORY and self._journal() != "wal":
            raise StoreRefused(f"cannot use {self.name}: its file system has no write-ahead log")

    def _journal(self) -> str:
        """Switch to the write-ahead log; for a moment of that nobody else may use the file."""
        for _ in range(BUSY_MS // JOURNAL_NAP_MS):
            try:
                (mode,) = self.connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as problem:
                if not problem.sqlite_errorname.startswith("SQLITE_BUSY"):
                    raise
                time.sleep(JOURNAL_NAP_MS / 1_000)
            else:
                return str(mode)
        raise StoreRefused(f"{self.name} is in use: another process kept it for {BUSY_MS // 1_000} s")

    def _identify(self, create: bool) -> None:
        """Refuse a file of another program or of a newer version, before anything is written to it."""
        self.connection.execute("BEGIN")  # One look: another process may be making the tables right now.
        (tables,) = self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (application,) = self.connection.execute("PRAGMA application_id").fetchone()
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        self.connection.execute("COMMIT")
        if application != APPLICATION_ID and (application or version or tables):
            raise StoreRefused(f"{self.name} is a database of another program")
        if not version and not create:
            raise StoreRefused(f"{self.name} is not a store of windtunnel: it is empty")
        if version > VERSION:
            raise StoreRefused(newer(self.name, version, VERSION))

    def _migrate(self) -> None:
        """Bring an older file up; of several processes that try, one does it."""
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        with self._transaction():
            (version,) = self.connection.execute("PRAGMA user_version").fetchone()
            for step in STEPS[version:]:
                for statement in statements(step):
                    self.connection.execute(statement)
            self.connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self.connection.execute(f"PRAGMA user_version = {VERSION}")

    # --- transactions ---------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All that is written inside, or nothing; the lock is taken at the beginning, so no write is late."""
        with self._refusing():
            self.connection.execute("BEGIN IMMEDIATE")
        try:
            with self._refusing():
                yield
                self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """What the database engine refuses, in words for a person."""
        try:
            yield
        except sqlite3.Error as problem:
            raise StoreRefused(refusal(problem, self.name)) from None

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._refusing():
            return self.connection.execute(query, values).fetchall()

    def _keep(self, text: str) -> str:
        """The address of a text, which is stored if it is new."""
        address = sha256(text)
        self.connection.execute("INSERT OR IGNORE INTO content VALUES (?, ?)", (address, text))
        return address

    # --- runs -----------------------------------------------------------------------------------------------

    def create(self, new: NewRun) -> RunRecord:
        """Add a run, queued."""
        with self._transaction():
            address = self._keep(new.snapshot)
            self.connection.execute(
                "INSERT OR IGNORE INTO snapshots VALUES (?, ?, ?, ?)",
                (address, new.digest, new.workflow, new.revision),
            )
            ((number,),) = self._rows("SELECT coalesce(max(number), 0) + 1 FROM runs")
            name = f"run-{number}"
            self.connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, 'queued', 0, 0, 0, 0, ?)",
                (number, name, address, self._keep(new.input), new.reference, new.created_ms, name),
            )
            return self.run(name)

    def runs(self) -> tuple[RunRecord, ...]:
        """Every run, oldest first."""
        return tuple(map(_run, self._rows(f"{_RUN} ORDER BY number")))

    def run(self, run: str) -> RunRecord:
        """One run. What never changes of the last one is remembered: its input may be large."""
        known = self._known
        if known is not None and known.run == run:
            query = "SELECT status, paused, parked, last_seq, untold, current FROM runs WHERE run = ?"
            return _moved(known, self._rows(query, run)[0])
        found = self._rows(f"{_RUN} WHERE run = ?", run)
        if not found:
            first = self._rows("SELECT run FROM continuations WHERE name = ?", run)
            if not first:
                raise NoSuchRun(no_run(run, self.name))
            return self.run(first[0][0])
        self._known = _run(found[0])
        return self._known

    def content(self, address: str) -> str:
        """The text with this SHA-256."""
        found = self._rows("SELECT text FROM content WHERE sha256 = ?", address)
        if not found or sha256(found[0][0]) != address:
            raise StoreRefused(damaged(self.name, f"the text {address} is missing or changed"))
        text: str = found[0][0]
        return text

    def trace(self, run: str) -> tuple[Line, ...]:
        """The run's lines."""
        known = self.run(run)
        rows = self._rows(
            "SELECT run, seq, at, process, scope, type, node, attempt, payload, kinds, causes, name, sum "
            "FROM trace WHERE run = ? ORDER BY seq",
            known.run,
        )
        if [row[1] for row in rows] != list(range(1, known.last_seq + 1)):
            raise StoreRefused(damaged(self.name, f"lines of {run} are missing"))
        return tuple(self._line(row) for row in rows)

    def _line(self, row: Any) -> Line:
        *written, kept = row
        if kept and kept != checksum(written):
            raise StoreRefused(damaged(self.name, f"line {row[1]} of {row[0]} was changed"))
        _, seq, at, process, scope, kind, node, attempt, payload, kinds, causes, name = written
        event = Event(scope, kind, node, attempt, unpack(payload, kinds, self.content))
        return Line(seq, at, process, event, tuple(map(int, causes.split())), name)

    def receipts(self, run: str) -> tuple[Receipt, ...]:
        """The run's receipts."""
        query = "SELECT run, attempt, node, record FROM receipts WHERE run = ? ORDER BY seq"
        return tuple(Receipt(*row) for row in self._rows(query, self.run(run).run))

    def decisions(self, run: str) -> tuple[Decision, ...]:
        """The run's requests for decisions."""
        query = "SELECT run, attempt, node, state, request, outcome FROM decisions WHERE run = ? ORDER BY seq"
        return tuple(Decision(*row) for row in self._rows(query, self.run(run).run))

    def notices(self, run: str) -> tuple[Notice, ...]:
        """The run's notifications."""
        query = "SELECT run, node, number, payload, delivered FROM outbox WHERE run = ? ORDER BY seq"
        rows = self._rows(query, self.run(run).run)
        return tuple(Notice(run, node, number, said, bool(done)) for run, node, number, said, done in rows)

    # --- claims ---------------------------------------------------------------------------------------------

    def claim(
        self, run: str, owner: str, now_ms: int, lease_ms: int, dead: Dead = nobody_is_dead
    ) -> Claim | Held:
        """Claim a run."""
        with self._transaction():
            record = self.run(run)
            refuse_ended(record, record.untold > 0)
            last = self._last_claim(record.run)
            if last is not None and is_held(last, owner, now_ms, dead):
                return Held(record.run, last.owner, last.expires_ms)
            token = 1 if last is None else last.token + 1
            found = Claim(record.run, owner, token, now_ms + lease_ms)
            self.connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", found)
            return found

    def claimed(self, run: str) -> Held | None:
        """Who claimed the run last."""
        last = self._last_claim(self.run(run).run)
        return None if last is None or not last.owner else Held(run, last.owner, last.expires_ms)

    def renew(self, claim: Claim, now_ms: int, lease_ms: int) -> Claim:
        """The same claim for longer."""
        with self._transaction():
            self._prove(claim)
            self.connection.execute(
                "UPDATE claims SET expires_ms = ? WHERE run = ?", (now_ms + lease_ms, claim.run)
            )
        return claim._replace(expires_ms=now_ms + lease_ms)

    def release(self, claim: Claim) -> None:
        """Give the claim back; its token stays used."""
        with self._transaction():
            self.connection.execute(
                "UPDATE claims SET owner = '', expires_ms = 0 WHERE run = ? AND token = ?",
                (claim.run, claim.token),
            )

    @contextmanager
    def guard(self, claim: Claim) -> Iterator[None]:
        """A transaction that writes nothing: it holds the lock that claiming needs."""
        with self._transaction():
            self._prove(claim)
            yield

    def _last_claim(self, run: str) -> Claim | None:
        found = self._rows("SELECT run, owner, token, expires_ms FROM claims WHERE run = ?", run)
        return Claim(*found[0]) if found else None

    def _prove(self, claim: Claim) -> None:
        last = self._last_claim(claim.run)
        if last is None or last.token != claim.token or last.owner != claim.owner:
            raise ClaimLost(lost(claim))

    # --- writing --------------------------------------------------------------------------------------------

    def commit(self, claim: Claim, lines: tuple[Line, ...]) -> RunRecord:
        """Add lines, with everything that follows from them."""
        assert 0 < len(lines) <= MAX_LINES, "a transaction has lines, and not too many"
        with self._transaction():
            self._prove(claim)
            run = self.run(claim.run)
            refuse_ended(run, all(line.event.type == "notification_delivered" for line in lines))
            refuse_gap(run, lines)
            after = changes(run, lines)
            for line in lines:
                self._add(run.run, line)
            self._project(after, lines[-1].seq)
            return after.run

    def _add(self, run: str, line: Line) -> None:
        event = sorted_event(line.event)
        packed = pack(event.payload)
        for text in packed.contents.values():
            self._keep(text)
        row = (run, line.seq, line.at, line.process, event.scope, event.type, event.node, event.attempt)
        texts = (packed.payload, packed.kinds, " ".join(map(str, line.causes)), line.name)
        self.connection.execute(_INSERT_LINE, (*row, *texts, checksum((*row, *texts))))

    def _project(self, after: Changes, seq: int) -> None:
        """The tables that follow from the trace."""
        run, execute = after.run, self.connection.execute
        execute(
            "UPDATE runs SET status = ?, paused = ?, parked = ?, last_seq = ?, untold = ?, current = ? "
            "WHERE run = ?",
            (run.status, run.paused, run.parked, run.last_seq, run.untold, run.current, run.run),
        )
        for name, parent in after.continued:
            execute("INSERT INTO continuations VALUES (?, ?, ?)", (name, run.run, parent))
        for receipt in after.receipts:
            row = (receipt.run, receipt.attempt, seq, receipt.node, receipt.record)
            execute("INSERT INTO receipts VALUES (?, ?, ?, ?, ?)", row)
        for decision in after.decisions:
            key = (decision.run, decision.attempt)
            execute(
                "INSERT OR IGNORE INTO decisions VALUES (?, ?, ?, ?, 'open', ?, NULL)",
                (*key, seq, decision.node, decision.request),
            )
            if decision.state != "open":
                execute(
                    "UPDATE decisions SET state = ?, outcome = ? WHERE run = ? AND attempt = ? "
                    "AND state = 'open'",
                    (decision.state, decision.outcome, *key),
                )
        for notice in after.notices:
            key_of_notice = (notice.run, notice.node, notice.number)
            row_of_notice = (*key_of_notice, seq, notice.payload, notice.delivered)
            execute("INSERT OR IGNORE INTO outbox VALUES (?, ?, ?, ?, ?, ?)", row_of_notice)
            if notice.delivered:
                execute(
                    "UPDATE outbox SET delivered = 1 WHERE run = ? AND node = ? AND number = ?", key_of_notice
                )

    # --- word from outside ----------------------------------------------------------------------------------

    def ask(self, run: str, what: str, now_ms: int) -> None:
        """Leave word for whoever holds the run."""
        with self._transaction():
            record = self.run(run)
            refuse_ended(record)
            self.connection.execute(
                "INSERT INTO asked (run, what, at_ms) VALUES (?, ?, ?)", (record.run, what, now_ms)
            )

    def asked(self, run: str) -> tuple[Asked, ...]:
        """What was asked and not settled yet."""
        query = "SELECT id, run, what, at_ms FROM asked WHERE run = ? ORDER BY id"
        return tuple(Asked(*row) for row in self._rows(query, run))

    def settle(self, claim: Claim, asked: Asked) -> None:
        """What was asked is done."""
        with self._transaction():
            self._prove(claim)
            self.connection.execute("DELETE FROM asked WHERE id = ?", (asked.id,))


_INSERT_LINE: Final = (
    "INSERT INTO trace "
    "(run, seq, at, process, scope, type, node, attempt, payload, kinds, causes, name, sum) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

_RUN: Final = (
    "SELECT run, workflow, revision, digest, snapshot, text, reference, created_ms, status, paused, parked, "
    "last_seq, untold, current FROM runs JOIN snapshots ON snapshots.sha256 = snapshot "
    "JOIN content ON content.sha256 = input"
)


def _run(row: Any) -> RunRecord:
    run, workflow, revision, digest, snapshot, given, reference, created, *moving = row
    record = RunRecord(run, workflow, revision, digest, snapshot, given, reference, created)
    return _moved(record, moving)


def _moved(run: RunRecord, moving: Any) -> RunRecord:
    """The run with everything of it that changes."""
    status, paused, parked, last_seq, untold, current = moving
    return replace(
        run,
        status=status,
        paused=bool(paused),
        parked=bool(parked),
        last_seq=last_seq,
        untold=untold,
        current=current or run.run,
    )
