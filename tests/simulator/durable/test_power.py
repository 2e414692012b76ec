"""The power is lost: what was synced stays; what was not is lost, torn, or there without its beginning.

A run is made on real files, and after each write that was acknowledged all files are copied. What lies
between two copies was not synced yet: an image is the older copy with any part of that. Each image must open,
hold all that was acknowledged and nothing that was never written, and the run must go on to its end.
"""

from __future__ import annotations

import itertools
import os
import random  # noqa: TID251
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.simulator.durable.hosts import made_ready
from tests.simulator.durable.test_host import ASK, PAY
from tests.simulator.durable.test_torture import FAST
from tests.simulator.flows import ANSWER, flow
from windtunnel.simulator.durable.host import LEASE_MS, Host
from windtunnel.simulator.durable.session import refuse_shorter
from windtunnel.simulator.durable.sessionfile import LedgerFile, SessionFile, ledger_path, session_path
from windtunnel.simulator.events import Action
from windtunnel.simulator.providers.people import GeneratedPeople
from windtunnel.simulator.store.interface import StoreRefused
from windtunnel.simulator.store.records import Claim
from windtunnel.simulator.store.sqlite import SqliteStore, open_store

SECTOR = 64
"""Bytes that arrive on the disk together; less than any disk has, so that even a short line is torn."""

RUN = "run-1"
FLOWS = {"answer": flow(ANSWER), "ask": flow(ASK), "pay": flow(PAY)}
DATABASE, LOG = "run.db", "run.db.sessions/run-1.jsonl"
OUTSIDE, WAL = "run.db.sessions/run-1.outside.jsonl", "run.db-wal"

Files = dict[str, bytes]


class Window(NamedTuple):
    """The files after an acknowledged write, and how many lines the store had then."""

    files: Files
    lines: int


def copied(folder: Path) -> Files:
    """Every file that survives; shared memory does not."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def host_of(name: str, store: SqliteStore, path: Path, now_ms: int) -> Host:
    """A host of the run in these files."""
    program, provider, _ = made_ready(FLOWS[name].digest, FLOWS[name])
    claim = store.claim(RUN, f"host at {now_ms}", now_ms, LEASE_MS)
    assert isinstance(claim, Claim)
    session = SessionFile(session_path(path, RUN))
    refuse_shorter(session, RUN, store.trace(RUN))
    people = GeneratedPeople(FLOWS[name])
    ledger = LedgerFile(ledger_path(path, RUN))
    return Host(program, provider, store, session, ledger, claim, people=people, wall=lambda: now_ms)


def recorded(name: str, folder: Path) -> list[Window]:
    """The files of a run after each of its writes; now and then its log is moved into the database."""
    windows: list[Window] = []
    folder.mkdir(parents=True)
    with open_store(folder / DATABASE, create=True) as store:
        store.create(made_ready(FLOWS[name].digest, FLOWS[name])[2])
        store.connection.execute("PRAGMA wal_autocheckpoint = 24")
        host = host_of(name, store, folder / DATABASE, 0)

        def look(number: int, done: int, action: Action | None) -> None:
            files = copied(folder)
            if not windows or windows[-1].files != files:
                windows.append(Window(files, store.run(RUN).last_seq))

        host.probe = look
        assert host.work().status == "completed"
    return windows


def part(old: bytes, new: bytes, arrived: list[int], *, zeros: bool = False) -> bytes:
    """The old bytes with the changed sectors of the new that arrived; with `zeros` the file has grown."""
    found = bytearray(old)
    if zeros:
        found.extend(bytes(max(0, len(new) - len(old))))
    for sector in arrived:
        begin, piece = sector * SECTOR, new[sector * SECTOR : (sector + 1) * SECTOR]
        found.extend(bytes(max(0, begin - len(found))))
        found[begin : begin + len(piece)] = piece
    return bytes(found)


def changed(old: bytes, new: bytes) -> list[int]:
    """The sectors that differ."""
    count = -(-len(new) // SECTOR)
    places = (slice(at * SECTOR, (at + 1) * SECTOR) for at in range(count))
    return [at for at, place in enumerate(places) if old[place] != new[place]]


def arrivals(sectors: list[int], seed: int) -> Iterator[list[int]]:
    """Some ways in which sectors arrive: none, the first ones, the last one, any of them."""
    drawn = random.Random(seed)
    yield []
    for _ in range(3):
        yield sectors[: drawn.randrange(len(sectors))]
    yield sectors[-1:]
    yield [sector for sector in sectors if drawn.randrange(2)]


def images(before: Window, after: Window, seed: int) -> Iterator[Files]:
    """What the power may leave between two windows: one file is written at a time, and synced before the
    next; the database changes only when its log was synced.
    """
    files = dict(before.files)
    for name in (OUTSIDE, LOG, WAL, DATABASE):
        old, new = files.get(name, b""), after.files.get(name, b"")
        sectors = changed(old, new)
        if sectors:
            appended = name in (LOG, OUTSIDE)
            for arrived in arrivals(sectors, seed):
                yield files | {name: part(old, new, arrived)}
                if appended:
                    yield files | {name: part(old, new, arrived, zeros=True)}
            if appended:
                for cut in range(len(old), len(new), 7):
                    yield files | {name: new[:cut]}
        if name in after.files:
            files[name] = new
    yield files


def laid(files: Files, folder: Path) -> Path:
    """The image as files."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder / DATABASE


@pytest.mark.parametrize("name", FLOWS)
def test_nothing_acknowledged_is_lost_with_the_power(name: str, tmp_path: Path) -> None:
    """W16, C-law 4: every line and entry that was acknowledged is there, the next one whole or not at all."""
    place = FAST / f"windtunnel-power-{os.getpid()}" if FAST else tmp_path
    try:
        windows = recorded(name, place / "run")
        finished = lines_of(windows[-1], place / "end")
        count = 0
        for at, (before, after) in enumerate(itertools.pairwise(windows)):
            for files in images(before, after, at):
                count += 1
                survived(name, laid(files, place / "image"), before, after, finished, goes_on=count % 9 == 0)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    assert count > 100


def lines_of(window: Window, folder: Path) -> list[object]:
    """The lines of a run."""
    with open_store(laid(window.files, folder)) as store:
        return list(store.trace(RUN))


def survived(
    name: str, path: Path, before: Window, after: Window, finished: list[object], *, goes_on: bool
) -> None:
    """Open, compare, and go on to the end if that is asked for."""
    with open_store(path) as store:
        lines = list(store.trace(RUN))
        assert before.lines <= len(lines) <= after.lines
        assert lines == finished[: len(lines)]
        entries = SessionFile(session_path(path, RUN)).entries
        counts = [window.files.get(LOG, b"").count(b"\n") for window in (before, after)]
        assert counts[0] <= len(entries) <= counts[1]
        assert len(LedgerFile(ledger_path(path, RUN)).done) >= before.files.get(OUTSIDE, b"").count(b"\n")
        if goes_on and (store.run(RUN).status != "completed" or store.run(RUN).untold):
            host_of(name, store, path, LEASE_MS).work()
            nodes = [line.event.node for line in store.trace(RUN) if line.event.type == "node_finished"]
            assert len(nodes) == len(set(nodes))
            assert store.run(RUN).status == "completed"
            assert all(notice.delivered for notice in store.notices(RUN))


# --- it can fail --------------------------------------------------------------------------------------------


def test_a_lost_entry_is_noticed(tmp_path: Path) -> None:
    """Where the log lost what was acknowledged, the run is refused and not told otherwise."""
    windows = recorded("answer", tmp_path / "run")
    for kept in range(len(windows[-1].files[LOG].splitlines())):
        lines = windows[-1].files[LOG].splitlines(keepends=True)
        path = laid(windows[-1].files | {LOG: b"".join(lines[:kept])}, tmp_path / "image")
        with open_store(path) as store, pytest.raises(StoreRefused, match="the session log lacks the"):
            refuse_shorter(SessionFile(session_path(path, RUN)), RUN, store.trace(RUN))


def test_every_append_is_synced_before_it_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file after its bytes, the folder after a new name; nothing is written behind the last sync."""
    done: list[str] = []
    kinds = {0o100000: "file", 0o040000: "folder"}

    def sync(handle: int) -> None:
        done.append(kinds[os.fstat(handle).st_mode & 0o170000])

    def write(handle: int, data: bytes) -> int:
        done.append("write")
        return os.write(handle, data)

    monkeypatch.setattr(os, "fsync", sync)
    log = SessionFile(tmp_path / "new" / "run-1.jsonl", write)
    log.append([{"id": "entry-1", "kind": "session"}])
    log.append([{"id": "entry-2", "kind": "user", "parentId": "entry-1"}])
    assert done == ["folder", "write", "file", "folder", "write", "file"]


@pytest.mark.parametrize("damage", range(24))
def test_a_database_that_is_cut_or_mangled_is_refused_or_whole(damage: int, tmp_path: Path) -> None:
    """Whatever was synced and then changed: what is read is what was written, or nothing is read."""
    windows = recorded("answer", tmp_path / "run")
    finished = lines_of(windows[-1], tmp_path / "end")
    data = bytearray(windows[-1].files[DATABASE])
    drawn = random.Random(damage)
    at = drawn.randrange(len(data))
    if damage % 3 == 0:
        del data[at:]
    elif damage % 3 == 1:
        data[at : at + 40] = bytes(40)
    else:
        data[at] ^= 1 << drawn.randrange(8)
    path = laid(windows[-1].files | {DATABASE: bytes(data)}, tmp_path / "image")
    read: list[object] | str
    try:
        with open_store(path) as store:
            read = list(store.trace(RUN))
    except StoreRefused as problem:
        read = str(problem)
    assert read == finished or str(path) in read
