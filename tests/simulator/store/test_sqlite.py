"""The database file: private, whole, of this program and version, shared by processes that take turns."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulator.store.test_contract import LEASE, STARTED, begun, line, new
from windtunnel.simulator.events import Json, Record
from windtunnel.simulator.store import sqlite
from windtunnel.simulator.store.interface import ClaimLost, StoreRefused
from windtunnel.simulator.store.records import Claim
from windtunnel.simulator.store.schema import APPLICATION_ID, STEPS, VERSION, statements
from windtunnel.simulator.store.sqlite import SqliteStore, open_store


def in_child(work: Callable[[], object]) -> int:
    """What a forked process left with; negative for the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(99)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def raw(path: Path, *commands: str) -> None:
    """Change a file behind the store's back."""
    connection = sqlite3.connect(path)
    for command in commands:
        connection.execute(command)
    connection.commit()
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one run that was started."""
    found = tmp_path / "run.db"
    with open_store(found, create=True) as store:
        store.commit(begun(store), (STARTED,))
    return found


def test_the_file_is_private_and_marked(path: Path) -> None:
    """Mode 0600, also of the files beside it; the settings that make a commit last."""
    with open_store(path) as store:
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        asked = ("application_id", "user_version", "journal_mode", "synchronous", "foreign_keys")
        found = [store.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked]
    assert modes == {"run.db": 0o600, "run.db-wal": 0o600, "run.db-shm": 0o600}
    assert found == [APPLICATION_ID, VERSION, "wal", 2, 1]


def test_an_empty_file_becomes_private(tmp_path: Path) -> None:
    """Before anything stands in it; also through a link."""
    (tmp_path / "run.db").touch(mode=0o644)
    (tmp_path / "link.db").symlink_to("run.db")
    with open_store(tmp_path / "link.db", create=True):
        assert stat.S_IMODE((tmp_path / "run.db").stat().st_mode) == 0o600


def test_a_file_that_was_there_keeps_its_runs(path: Path) -> None:
    """Opening to create does not begin anew."""
    with open_store(path, create=True) as store:
        assert [record.run for record in store.runs()] == ["run-1"]
        assert store.trace("run-1") == (STARTED,)


def test_large_texts_are_stored_once(path: Path) -> None:
    """Snapshot, input and outputs by content, in however many runs they occur."""
    with open_store(path) as store:
        for _ in range(3):
            claim = begun(store)
            large = (("output", Json('"' + "x" * 10_000 + '"')),)
            store.commit(claim, (STARTED, line(2, "node_started", "a", "attempt-1", large, "node")))
        count = store.connection.execute("SELECT count(*), max(length(text)) FROM content").fetchone()
    assert count == (3, 10_002)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello, this is no database, but long enough to look like something\n" * 9, "is not a store"),
        (b"", "is not a store of windtunnel: it is empty"),
    ],
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes, said: str) -> None:
    """Whatever it is."""
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    with pytest.raises(StoreRefused, match=said):
        open_store(file)
    assert file.read_bytes() == content


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """Also to create: nothing of ours is written into it."""
    file = tmp_path / "photos.db"
    raw(file, "CREATE TABLE photos (name)")
    before = file.read_bytes()
    for create in (False, True):
        with pytest.raises(StoreRefused, match="of another program"):
            open_store(file, create=create)
    assert file.read_bytes() == before


def test_a_newer_file_is_refused(path: Path) -> None:
    """Its version and ours are named."""
    raw(path, f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(
        StoreRefused, match=f"newer windtunnel .version {VERSION + 1} .* up to version {VERSION}"
    ):
        open_store(path)


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_older_file_is_brought_up(tmp_path: Path, version: int) -> None:
    """With everything in it, by the steps that it lacks."""
    file = tmp_path / "old.db"
    columns = "(number, run, snapshot, input, reference, created_ms, status, paused, parked, last_seq)"
    steps = [statement for step in STEPS[:version] for statement in statements(step)]
    raw(
        file,
        *steps,
        f"PRAGMA application_id = {APPLICATION_ID}",
        f"PRAGMA user_version = {version}",
        "INSERT INTO content VALUES ('a', '{}')",
        "INSERT INTO snapshots VALUES ('a', 'sha256:d', 'flow', 1)",
        f"INSERT INTO runs {columns} VALUES (1, 'run-1', 'a', 'a', 'flow.flow', 5, 'queued', 0, 0, 0)",
        f"INSERT INTO runs {columns} VALUES (2, 'run-2', 'a', 'a', 'flow.flow', 5, 'running', 0, 0, 1)",
        "INSERT INTO trace (run, seq, at, process, scope, type, payload, kinds, causes) "
        "VALUES ('run-2', 1, 10, 'host', 'run', 'run_started', '{}', '[]', '')",
    )
    with open_store(file) as store:
        record = store.run("run-1")
        assert (record.created_ms, record.current, record.untold) == (5, "run-1", 0)
        assert store.trace("run-2") == (STARTED,)
        assert not (*store.decisions("run-1"), *store.notices("run-1"), *store.asked("run-1"))
        claim = store.claim("run-1", "me", 0, LEASE)
        assert isinstance(claim, Claim)
        assert store.commit(claim, (STARTED,)).status == "running"


def test_no_run_is_continued_twice(path: Path) -> None:
    """W15: the database itself holds it."""
    with open_store(path) as store:
        insert = "INSERT INTO continuations VALUES (?, 'run-1', 'run-1')"
        store.connection.execute(insert, ("run-1.2",))
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            store.connection.execute(insert, ("run-1.3",))


def test_a_damaged_file_is_refused(path: Path) -> None:
    """Pages that do not fit together are found on opening."""
    data = bytearray(path.read_bytes())
    data[4_096 * 2 :] = b"\xa5" * (len(data) - 4_096 * 2)
    path.write_bytes(data)
    with pytest.raises(StoreRefused, match="is damaged"):
        open_store(path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM trace WHERE seq = 1", "lines of run-1 are missing"),
        ("UPDATE content SET text = text || ' '", "is missing or changed"),
        ("UPDATE trace SET type = 'run_failed'", "line 1 of run-1 was changed"),
        ("UPDATE trace SET payload = '{'", "line 1 of run-1 was changed"),
        ("UPDATE trace SET causes = 'x'", "line 1 of run-1 was changed"),
    ],
)
def test_a_changed_row_is_noticed(path: Path, damage: str, said: str) -> None:
    """W16: a gap in the trace, or a text that is not that of its address, is not read over."""
    raw(path, damage)

    def read(store: SqliteStore) -> None:
        store.trace("run-1")
        store.content(store.run("run-1").snapshot)

    with open_store(path) as store, pytest.raises(StoreRefused, match=said):
        read(store)


def test_places_that_cannot_be_used(tmp_path: Path) -> None:
    """Folders, missing files and missing folders, in words."""
    with pytest.raises(StoreRefused, match="it is a folder"):
        open_store(tmp_path, create=True)
    for create, said in ((False, "there is no store"), (True, "no such file or directory")):
        with pytest.raises(StoreRefused, match=said):
            open_store(tmp_path / "none" / "run.db", create=create)


def test_a_rule_of_the_tables_holds(path: Path) -> None:
    """Foreign keys are on: a line belongs to a run."""
    with open_store(path) as store, pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        store.connection.execute("INSERT INTO claims VALUES ('run-9', 'me', 1, 1)")


# --- several processes --------------------------------------------------------------------------------------


def kill_at(store: SqliteStore, word: str) -> None:
    """Die when a statement that begins so is about to run."""

    def watch(statement: str) -> None:
        if statement.startswith(word):
            os.kill(os.getpid(), signal.SIGKILL)

    store.connection.set_trace_callback(watch)


@pytest.mark.parametrize(
    "word", ["BEGIN", "INSERT INTO trace", "UPDATE runs", "INSERT INTO receipts", "COMMIT"]
)
def test_a_process_that_dies_inside_a_transaction_leaves_nothing_of_it(path: Path, word: str) -> None:
    """Wherever in it; the next one goes on as if it had not begun."""
    done = (("receipt", Record((("sha256", "abc"),))),)
    lines = (
        line(2, "node_started", "say", "attempt-1", (), "node"),
        line(3, "node_finished", "say", "attempt-1", done, "node"),
    )

    def die() -> None:
        store = open_store(path)
        claim = store.claim("run-1", "child", 10**6, LEASE)
        assert isinstance(claim, Claim)
        kill_at(store, word)
        store.commit(claim, lines)

    assert in_child(die) == -signal.SIGKILL
    with open_store(path) as store:
        assert store.trace("run-1") == (STARTED,)
        assert store.receipts("run-1") == ()
        claim = store.claim("run-1", "next", 10**7, LEASE)
        assert isinstance(claim, Claim)
        assert claim.token == 3
        assert store.commit(claim, lines).last_seq == 3


def test_several_processes_write_by_turns(path: Path) -> None:
    """Four processes, ten runs each: every run is there, under a name of its own."""

    def work() -> None:
        with open_store(path) as store:
            for _ in range(10):
                store.commit(begun(store, f"process {os.getpid()}"), (STARTED,))

    children = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                work()
                os._exit(0)
            finally:
                os._exit(99)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 4
    with open_store(path) as store:
        assert [record.run for record in store.runs()] == [f"run-{number}" for number in range(1, 42)]
        assert all(store.trace(record.run) == (STARTED,) for record in store.runs())


def test_several_processes_begin_one_store(tmp_path: Path) -> None:
    """Whoever is first makes the tables; nobody fails."""
    path = tmp_path / "run.db"
    children = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                with open_store(path, create=True) as store:
                    store.create(new())
                os._exit(0)
            finally:
                os._exit(99)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 4
    with open_store(path) as store:
        assert len(store.runs()) == 4


def test_a_zombie_writes_nothing(path: Path) -> None:
    """W11: on two connections, as in two processes: the token of the later claim fences the earlier one."""
    with open_store(path) as zombie, open_store(path) as fresh:
        old = zombie.claim("run-1", "zombie", 10**6, LEASE)
        taken = fresh.claim("run-1", "fresh", 10**6 + LEASE, LEASE)
        assert isinstance(old, Claim)
        assert isinstance(taken, Claim)
        with pytest.raises(ClaimLost):
            zombie.commit(old, (line(2, "run_failed"),))
        assert fresh.commit(taken, (line(2, "run_paused"),)).paused


def test_nobody_claims_what_is_guarded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one process writes its session, no other can take the run from it."""
    monkeypatch.setattr(sqlite, "BUSY_MS", 50)
    with open_store(path) as one, open_store(path) as other:
        claim = one.claim("run-1", "one", 10**6, LEASE)
        assert isinstance(claim, Claim)
        with one.guard(claim), pytest.raises(StoreRefused, match="in use"):
            other.claim("run-1", "other", 10**9, LEASE)
        assert isinstance(other.claim("run-1", "other", 10**9, LEASE), Claim)


def test_a_log_cut_anywhere_leaves_whole_transactions(tmp_path: Path) -> None:
    """A power loss can tear the write-ahead log at any byte: what is left is a beginning of the run."""
    path = tmp_path / "run.db"
    with open_store(path, create=True) as store:
        claim = begun(store)
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for seq in range(1, 9, 2):
            first = "run_started" if seq == 1 else "run_resumed"
            store.commit(claim, (line(seq, first), line(seq + 1, "run_paused")))
        log = Path(f"{path}-wal").read_bytes()
        base = path.read_bytes()
    seen = set()
    for number, cut in enumerate([*range(0, len(log), 1_511), len(log)]):
        copy = tmp_path / f"cut-{number}.db"
        copy.write_bytes(base)
        Path(f"{copy}-wal").write_bytes(log[:cut])
        with open_store(copy) as store:
            trace = store.trace("run-1")
            assert [entry.seq for entry in trace] == list(range(1, len(trace) + 1))
            assert len(trace) == store.run("run-1").last_seq
            seen.add(len(trace))
        shutil.rmtree(copy, ignore_errors=True)
    assert seen == {0, 2, 4, 6, 8}
