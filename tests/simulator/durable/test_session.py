"""The session log of a run: as bytes, as a file, and as handlers see it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.durable import sessionfile
from windtunnel.simulator.durable.session import belongs, fold, read, text_of
from windtunnel.simulator.durable.sessionfile import SessionFile, session_path
from windtunnel.simulator.events import CURRENT, Row
from windtunnel.simulator.store.interface import StoreRefused
from windtunnel.simulator.trace import Writer

ENTRIES: list[dict[str, Any]] = [
    {"id": "entry-1", "kind": "session"},
    {
        "id": "entry-2",
        "kind": "step",
        "parentId": "entry-1",
        "text": "Line\u2028separated, “ünï”",
        "runId": "run-1",
        "nodeId": "say",
        "attemptId": "attempt-1",
        "completion": "assistant",
        "prompt": "step",
    },
    {"id": "entry-3", "kind": "assistant", "parentId": "entry-2", "text": "Hello.", "stop": "stop"},
]
WHOLE = "".join(map(text_of, ENTRIES)).encode()


def test_a_log_is_read_as_it_was_written() -> None:
    """C39: lines end at a newline and nowhere else."""
    assert read(WHOLE, "log") == (tuple(ENTRIES), len(WHOLE))
    assert read(b"", "log") == ((), 0)


def test_a_torn_end_is_found_at_every_byte() -> None:
    """W16: what stands behind the last newline was never acknowledged, not even if it could be read."""
    ends = [0]
    for entry in ENTRIES:
        ends.append(ends[-1] + len(text_of(entry).encode()))
    for cut in range(len(WHOLE)):
        entries, end = read(WHOLE[:cut], "log")
        assert end == max(place for place in ends if place <= cut)
        assert entries == tuple(ENTRIES[: ends.index(end)])


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: [lines[0], b"{", lines[2]],
        lambda lines: [lines[0], lines[2]],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: [lines[0], lines[0], lines[1]],
        lambda lines: [lines[0], lines[1] + lines[2]],
        lambda lines: [lines[0], b"\xff\xfe", lines[2]],
        lambda lines: [lines[0], b"[]", lines[2]],
        lambda lines: [lines[0], lines[1].replace(b'"step"', b'"stomp"', 1), lines[2]],
        lambda lines: [lines[0], b"", lines[1]],
    ],
)
def test_a_line_that_does_not_belong_there_is_refused(damage: Any) -> None:
    """Damaged, missing, swapped, doubled or glued: the number of the line is named."""
    data = b"\n".join([*damage(WHOLE.split(b"\n")[:-1]), b""])
    with pytest.raises(StoreRefused, match=r"log is damaged: line [12] is not the entry"):
        read(data, "log")


def test_a_file_grows_privately(tmp_path: Path) -> None:
    """The file begins with its first entry; folder and file are for their owner alone."""
    path = session_path(tmp_path / "run.db", "run-1")
    log = SessionFile(path)
    assert (log.entries, log.torn, path.exists()) == ((), False, False)
    log.append(ENTRIES[:2])
    log.append(ENTRIES[2:])
    assert path.read_bytes() == WHOLE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert SessionFile(path).entries == tuple(ENTRIES)


def test_a_torn_file_is_cut_and_goes_on(tmp_path: Path) -> None:
    """Nothing is glued to half an entry."""
    path = session_path(tmp_path / "run.db", "run-1")
    SessionFile(path).append(ENTRIES[:2])
    with path.open("ab") as file:
        file.write(text_of(ENTRIES[2]).encode()[:-1])
    log = SessionFile(path)
    assert log.torn
    with pytest.raises(AssertionError, match="glued"):
        log.append(ENTRIES[2:])
    log.repair()
    log.append(ENTRIES[2:])
    assert path.read_bytes() == WHOLE


def test_a_write_that_takes_a_part_is_finished(tmp_path: Path) -> None:
    """A system may take fewer bytes than it was given."""
    path = session_path(tmp_path / "run.db", "run-1")
    SessionFile(path, lambda handle, data: os.write(handle, data[:7])).append(ENTRIES)
    assert path.read_bytes() == WHOLE


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """In words, and the torn end is found by whoever comes next."""

    def full(handle: int, data: bytes) -> int:
        os.write(handle, data[:40])
        raise OSError(28, "No space left on device")

    path = session_path(tmp_path / "run.db", "run-1")
    with pytest.raises(StoreRefused, match="no space left on device"):
        SessionFile(path, full).append(ENTRIES)
    assert SessionFile(path).torn


def test_a_log_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit it is read, one byte past it is not."""
    path = tmp_path / "run-1.jsonl"
    path.write_bytes(WHOLE)
    monkeypatch.setattr(sessionfile, "MAX_BYTES", len(WHOLE))
    assert SessionFile(path).entries == tuple(ENTRIES)
    monkeypatch.setattr(sessionfile, "MAX_BYTES", len(WHOLE) - 1)
    with pytest.raises(
        StoreRefused, match=f"it has {len(WHOLE)} bytes; the most that is read is {len(WHOLE) - 1}"
    ):
        SessionFile(path)


def test_a_log_belongs_to_its_run() -> None:
    """Its prompts are of this run and of attempts that were started, in their order."""
    second = ENTRIES[1] | {"id": "entry-4", "attemptId": "attempt-2"}
    assert belongs(ENTRIES, {"run-1"}, ["attempt-1"])
    assert belongs([*ENTRIES, second], {"run-1"}, ["attempt-1", "attempt-2"])
    assert not belongs([second, *ENTRIES], {"run-1"}, ["attempt-1", "attempt-2"])
    assert not belongs(ENTRIES, {"run-2"}, ["attempt-1"])
    assert not belongs(ENTRIES, {"run-1"}, [])


def test_the_fold_of_a_file_is_the_fold_of_its_rows() -> None:
    """Every kind of row, two attempts, a queue, an open call, an answer of an older visit."""
    step = Row("step", "Say.", "say", CURRENT, "assistant", "step", 60)
    attempts: list[list[Row]] = [
        [
            Row("session"),
            step,
            Row("assistant", "", stop="toolUse", calls=("read", "read")),
            Row("tool", "ok"),
            Row("tool", "ok"),
            Row("queued", "Any news?"),
            Row("queued", "Hello?"),
            Row("assistant", "One.", stop="stop"),
            Row("user", consumes=True),
            Row("assistant", "Noted.", stop="stop"),
        ],
        [step, Row("assistant", "Two", stop="aborted"), Row("user", "Well?")],
        [step, Row("assistant", "", stop="toolUse", calls=("read", "workflow")), Row("tool", "ok")],
    ]
    writer, log, seen = Writer(), logs.NEW, 0
    for number, rows in enumerate(attempts, start=1):
        writer._begin_attempt("say")
        log = logs.age(log, frozenset({"say"}))
        for row in rows:
            writer.append([row])
            log = logs.append(log, row)
            seen += 1
            begun = [f"attempt-{at}" for at in range(1, number + 1)]
            assert fold(writer.entries, begun, frozenset({"say"}), torn=False) == log
            assert fold(writer.entries, begun, frozenset({"say"}), torn=True) == logs.tear(log)
    assert seen == 16
    assert dict(log.older)["say"].text == "One."
    assert (log.queue, log.open, log.prompted, log.answer) == (1, 1, True, None)
