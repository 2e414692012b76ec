"""What goes wrong at night: a full disk, a file that nobody may write, a file that is gone, two terminals.

Each message names the thing, the place and how to mend it; what was acknowledged before is still there.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.durable.test_host import PAY
from tests.simulator.store.test_sqlite import in_child
from tests.simulator.test_cli_store import ASKS, FLOW, Run, flow_file, killed_after, queued, windtunnel
from windtunnel.simulator import cli
from windtunnel.simulator.commands.console import CLEAN, STOPPED, USAGE
from windtunnel.simulator.durable import sessionfile, wall
from windtunnel.simulator.durable.host import LEASE_MS
from windtunnel.simulator.durable.session import missing
from windtunnel.simulator.events import Event, Record
from windtunnel.simulator.store import sqlite
from windtunnel.simulator.store.records import Claim, Line
from windtunnel.simulator.store.schema import VERSION
from windtunnel.simulator.store.sqlite import SqliteStore
from windtunnel.simulator.store.words import refusal

__all__ = ["flow_file", "windtunnel"]

LOG = Path("run.db.sessions/run-1.jsonl")


def trace(windtunnel: Run, run: str = "run-1") -> list[dict[str, Any]]:
    """The lines that the store holds."""
    told: dict[str, Any] = json.loads(windtunnel("runs", "run.db", run, "--json")[1])
    found: list[dict[str, Any]] = told["trace"]
    return found


def limited(monkeypatch: pytest.MonkeyPatch, pragma: str) -> None:
    """Every connection from now on has this limit."""
    connect = sqlite._connect

    def connected(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(pragma)
        return connection

    monkeypatch.setattr(sqlite, "_connect", connected)


@pytest.mark.parametrize("more", range(1, 4))
def test_a_disk_that_fills_up(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    """Whatever the page that does not fit: what is in the store stays, and the run goes on later."""
    queued(windtunnel, flow_file)
    with sqlite.open_store(Path("run.db")) as store:
        (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    with monkeypatch.context() as patched:
        limited(patched, f"PRAGMA max_page_count = {pages + more}")
        for _ in range(4 * more):
            code, _, err = windtunnel("run", flow_file, "--store", "run.db")
            if code != CLEAN:
                break
        assert code == USAGE
        assert "cannot write to run.db: the disk is full; make room, then go on" in err
        assert "Usage" not in err
    for record in json.loads(windtunnel("runs", "run.db", "--json")[1]):
        before = trace(windtunnel, record["run"])
        if record["status"] != "completed":
            assert windtunnel("resume", "run.db", record["run"])[0] == CLEAN
        assert trace(windtunnel, record["run"])[: len(before)] == before


def test_a_full_disk_below_the_session_log(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a line stays behind; it is cut off and the prompt is sent once."""
    queued(windtunnel, flow_file)

    def full(handle: int, data: bytes) -> int:
        os.write(handle, data[:9])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(sessionfile.SessionFile.__init__, "__defaults__", (full,))
        code, _, err = windtunnel("resume", "run.db", "run-1")
    assert code == USAGE
    assert f"cannot use {LOG}: no space left on device; make room, then go on" in err
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN
    sent = [line["payload"]["kind"] for line in trace(windtunnel) if line["type"] == "agent_prompt_sent"]
    assert sent == ["step", "step"]


def test_a_store_that_nobody_may_write(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files beside it are named too: they may be what is read-only."""
    queued(windtunnel, flow_file)
    limited(monkeypatch, "PRAGMA query_only = ON")
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert code == USAGE
    assert "cannot write to run.db: it, its folder, or run.db-wal or run.db-shm beside it is read-only" in err
    assert "make them writable, or copy the store" in err


@pytest.mark.parametrize(
    ("folder", "file", "said"),
    [
        (0o555, 0o600, "cannot write to run.db: it, its folder, or run.db-wal or run.db-shm beside it is"),
        (0o755, 0o400, "cannot write to run.db: it, its folder, or run.db-wal or run.db-shm beside it is"),
        (0o755, 0o000, "cannot open run.db: you may not read it, or not make run.db-wal and run.db-shm"),
    ],
)
def test_a_place_without_permission(
    capfd: pytest.CaptureFixture[str], folder: int, file: int, said: str
) -> None:
    """As somebody who is not the superuser; once that is mended, what is in the file goes on."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o777)

    def as_nobody() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setegid(65_534)
            os.seteuid(65_534)
        os.chdir(place)
        Path("small.flow").write_text(FLOW, encoding="utf-8")
        queue = ("run", "small.flow", "--store", "run.db", "--queue")
        assert cli.run(queue) == CLEAN
        Path("run.db").chmod(file)
        os.seteuid(os.getuid())
        place.chmod(folder)
        if os.geteuid() == 0:
            os.seteuid(65_534)
        assert cli.run(queue) == USAGE
        os.seteuid(os.getuid())
        place.chmod(0o777)
        Path("run.db").chmod(0o600)
        assert cli.run(("resume", "run.db", "run-1")) == CLEAN

    try:
        assert in_child(as_nobody) == 0
        assert said in capfd.readouterr().err
    finally:
        shutil.rmtree(place)


def test_what_the_engine_says_gets_a_place_and_a_mend() -> None:
    """Also what happens too seldom to be made to happen."""

    def said(kind: type[sqlite3.Error], code: str, words: str = "words") -> str:
        problem = kind(words)
        if code:
            problem.sqlite_errorname = code
        return refusal(problem, "run.db")

    assert "run.db: the disk reports an error" in said(sqlite3.OperationalError, "SQLITE_IOERR_FSYNC")
    assert "look at their modes" in said(sqlite3.OperationalError, "SQLITE_CANTOPEN")
    assert "run.db is in use" in said(sqlite3.OperationalError, "SQLITE_BUSY_SNAPSHOT")
    assert said(sqlite3.OperationalError, "SQLITE_ERROR") == "cannot use run.db: words"
    damaged = "run.db is damaged: words; go back to a copy of it"
    assert said(sqlite3.DatabaseError, "SQLITE_CORRUPT").startswith(damaged)
    assert said(sqlite3.OperationalError, "").startswith(damaged)


def test_a_deleted_write_ahead_log(windtunnel: Run, flow_file: str) -> None:
    """The store is older than the session then: nothing is done twice in silence, and it can be mended."""
    queued(windtunnel, flow_file)
    killed_after("node_finished", "resume", "run.db", "run-1")
    Path("run.db-wal").unlink()
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert code == USAGE
    assert f"cannot use {LOG}: the session log holds prompts of run-1 that the store does not know of" in err
    assert "put the store back as it was, with its -wal file, or move the log away and resume" in err
    assert trace(windtunnel) == []
    LOG.rename("old.jsonl")
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN


def test_a_deleted_session_log(windtunnel: Run, flow_file: str) -> None:
    """What the store knows to be in it is missed; the run can still be cancelled."""
    queued(windtunnel, flow_file)
    killed_after("node_finished", "resume", "run.db", "run-1")
    whole = LOG.read_bytes()
    lines = whole.splitlines(keepends=True)
    for kept, lacks in ((0, "the prompt of attempt-1"), (2, "the answer entry-3 of attempt-1")):
        LOG.write_bytes(b"".join(lines[:kept]))
        code, _, err = windtunnel("resume", "run.db", "run-1")
        assert code == USAGE
        assert f"cannot use {LOG}: the session log lacks {lacks}, of which the store knows" in err
    LOG.write_bytes(whole.replace(b"An answer", b"No answer"))
    assert "lacks the answer entry-3" in windtunnel("resume", "run.db", "run-1")[2]
    LOG.write_bytes(whole)
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN


@pytest.mark.parametrize("damage", [b"", b"{}\n"])
def test_a_run_whose_log_is_gone_is_cancelled(windtunnel: Run, flow_file: str, damage: bytes) -> None:
    """It need not stay for ever as one that nobody works on."""
    killed_after("node_finished", "run", flow_file, "--store", "run.db")
    LOG.write_bytes(damage)
    assert windtunnel("cancel", "run.db", "run-1") == (CLEAN, "", "✓ run-1 is cancelled\n")
    assert LOG.read_bytes() == damage


def test_a_delivered_notification_is_missed() -> None:
    """It is acknowledged like everything else."""
    told = Line(1, 0, "host", Event("notification", "notification_delivered", "tell", "attempt-1"))
    receipt = Record((("entryId", "entry-1"), ("sha256", "0")))
    done = Line(2, 0, "host", Event("node", "node_finished", "say", "attempt-1", (("receipt", receipt),)))
    assert missing([{"kind": "notice", "id": "entry-1"}], [told]) is None
    assert missing([], [told]) == "a notification that was delivered"
    assert missing([], [done]) == "the answer entry-1 of attempt-1"


@pytest.mark.parametrize("damage", ["nonsense\n", "{}\n", "[1]\n", "\n", '{"name": 1, "output": "1"}\n'])
def test_a_damaged_memory_of_the_world_outside(windtunnel: Run, flow_file: str, damage: str) -> None:
    """Its place and line are named; half a line at its end was never applied."""
    Path("pay.flow").write_text(PAY, encoding="utf-8")
    killed_after("effect_started", "run", "pay.flow", "--store", "run.db")
    outside = Path("run.db.sessions/run-1.outside.jsonl")
    outside.parent.mkdir()
    outside.write_text(damage, encoding="utf-8")
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert code == USAGE
    assert f"{outside} is damaged: line 1 is no effect that was applied; go back to a copy" in err
    outside.write_text('{"name":', encoding="utf-8")
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN


def test_folders_where_files_belong(windtunnel: Run, flow_file: str) -> None:
    """And the other way round."""
    queued(windtunnel, flow_file)
    LOG.parent.write_text("", encoding="utf-8")
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert (code, "its folder is a file; move that away" in err) == (USAGE, True)
    LOG.parent.unlink()
    LOG.mkdir(parents=True)
    code, _, err = windtunnel("resume", "run.db", "run-1")
    assert (code, "move the folder of that name away" in err) == (USAGE, True)
    LOG.rmdir()
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN


def test_a_run_is_named_in_full(windtunnel: Run, flow_file: str) -> None:
    """No part of a name stands for a run: `run-1` is never taken for `run-10`."""
    queued(windtunnel, flow_file)
    for run in ("run-9", "run-", "run-1.2", "1", "RUN-1", "", "run-1' OR 1"):
        for command in ("runs", "resume", "cancel", "answer"):
            code, out, err = windtunnel(command, "run.db", run)
            assert (code, out) == (USAGE, "")
            assert f"there is no run {run} in run.db; `windtunnel runs run.db` lists those that are" in err


@pytest.mark.parametrize("type_", ["run_started", "node_finished"])
def test_what_can_be_done_next_is_said(windtunnel: Run, flow_file: str, type_: str) -> None:
    """With a command that can be copied, for as long as there is something to do."""
    queued(windtunnel, flow_file)
    step = "go on with `windtunnel resume run.db run-1`\n"
    assert windtunnel("runs", "run.db", "run-1")[::2] == (CLEAN, step)
    killed_after(type_, "resume", "run.db", "run-1")
    assert windtunnel("runs", "run.db", "run-1")[::2] == (CLEAN, step)
    with sqlite.open_store(Path("run.db")) as store:
        assert isinstance(store.claim("run-1", wall.owner(), wall.now_ms(), 10**6, wall.is_dead), Claim)
    assert windtunnel("runs", "run.db", "run-1")[::2] == (CLEAN, "")
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN
    assert windtunnel("runs", "run.db", "run-1")[::2] == (CLEAN, "")
    Path("asks.flow").write_text(ASKS, encoding="utf-8")
    assert windtunnel("run", "asks.flow", "--store", "run.db")[2].endswith(
        "answer it with `windtunnel answer run.db run-2 CHOICE`\n"
    )


def test_a_changed_record_beside_the_trace(windtunnel: Run, flow_file: str) -> None:
    """It follows from the trace, and is not read over either."""
    windtunnel("run", flow_file, "--store", "run.db")
    connection = sqlite3.connect("run.db")
    connection.execute("UPDATE receipts SET record = '{'")
    connection.commit()
    connection.close()
    code, _, err = windtunnel("runs", "run.db", "run-1")
    assert (code, "a record beside the trace was changed; go back" in err) == (USAGE, True)


@pytest.mark.parametrize("command", ["resume", "cancel"])
def test_a_clock_that_was_put_back(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A lease that has an hour to go, and that nobody renews, is waited for no longer than any other."""
    queued(windtunnel, flow_file)
    with sqlite.open_store(Path("run.db")) as store:
        store.claim("run-1", "7@elsewhere", wall.now_ms() + 3_600_000, LEASE_MS)
    naps: list[int] = []
    monkeypatch.setattr(wall, "nap", lambda: naps.append(1))
    assert windtunnel(command, "run.db", "run-1")[0] == CLEAN
    assert len(naps) == LEASE_MS // wall.SLICE_MS
    with sqlite.open_store(Path("run.db")) as store:
        held = store.claimed("run-1")
        assert held is None or held.expires_ms <= wall.now_ms() + LEASE_MS


def test_a_store_of_a_newer_program(windtunnel: Run, flow_file: str) -> None:
    """Every command says so, and what to do."""
    queued(windtunnel, flow_file)
    connection = sqlite3.connect("run.db")
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    for arguments in (
        ("runs", "run.db"),
        ("resume", "run.db", "run-1"),
        ("run", flow_file, "--store", "run.db"),
    ):
        code, _, err = windtunnel(*arguments)
        assert code == USAGE
        assert "use that windtunnel, or begin another store" in err


def test_a_run_that_is_broken_off_by_its_person(
    windtunnel: Run, flow_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C keeps what is done, and says how to go on."""
    commit = SqliteStore.commit

    def stopped(self: SqliteStore, claim: Claim, lines: tuple[Line, ...]) -> Any:
        if lines[0].seq > 3:
            raise KeyboardInterrupt
        return commit(self, claim, lines)

    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "commit", stopped)
        code, _, err = windtunnel("run", flow_file, "--store", "run.db")
    assert code == STOPPED
    assert "run-1 is kept; go on with `windtunnel resume run.db run-1`" in err
    assert FLOW in Path(flow_file).read_text(encoding="utf-8")
    assert windtunnel("resume", "run.db", "run-1")[0] == CLEAN
