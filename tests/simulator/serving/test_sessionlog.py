"""The log as a file: torn ends, damage, a disk that is full, and who holds it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.simulator.serving.servers import process, running
from windtunnel.simulator.chat.entries import Entry, SessionOpened
from windtunnel.simulator.chat.logfile import line_of
from windtunnel.simulator.durable.filing import Write
from windtunnel.simulator.serving import sessionlog
from windtunnel.simulator.serving.sessionlog import LogRefused, SessionLog

LINE = line_of(Entry("e1", SessionOpened("main"), seq=1))


def test_a_torn_end_is_cut_off_and_one_without_newline_is_kept(tmp_path: Path) -> None:
    """F17: only what was finished is built on."""
    path = tmp_path / "chat.jsonl"
    path.write_text(f"{LINE}\n{LINE[:20]}")
    log = SessionLog(path)
    assert log.read().torn == LINE[:20]
    log.append([LINE])
    log.close()
    assert path.read_text() == f"{LINE}\n{LINE}\n"
    path.write_text(LINE)
    log = SessionLog(path)
    assert len(log.read().entries) == 1
    log.close()
    assert path.read_text() == f"{LINE}\n"


def test_bytes_that_are_no_text_are_a_damaged_line(tmp_path: Path) -> None:
    """Reported by number and skipped; the lines around it count."""
    path = tmp_path / "chat.jsonl"
    path.write_bytes(f"{LINE}\n".encode() + b"\xff\xfe\n" + f"{LINE}\n".encode())
    log = SessionLog(path)
    image = log.read()
    log.close()
    assert len(image.entries) == 2
    assert [problem.line for problem in image.problems] == [2]


def test_a_log_at_its_limit_is_read_and_one_past_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MAX_BYTES."""
    path = tmp_path / "chat.jsonl"
    path.write_text(f"{LINE}\n")
    log = SessionLog(path)
    monkeypatch.setattr(sessionlog, "MAX_BYTES", len(LINE) + 1)
    assert len(log.read().entries) == 1
    monkeypatch.setattr(sessionlog, "MAX_BYTES", len(LINE))
    with pytest.raises(LogRefused, match="has more than"):
        log.read()
    log.close()


def test_short_writes_are_finished(tmp_path: Path) -> None:
    """A file that takes three bytes at a time gets them all."""
    log = SessionLog(tmp_path / "chat.jsonl", write=lambda handle, data: os.write(handle, data[:3]))
    log.append([LINE, LINE])
    assert len(log.read().entries) == 2
    log.close()


def test_a_full_disk_delivers_nothing_and_the_session_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V32, C16, F19, F22: who waits is told, readers are cut off; with room again a post is accepted."""
    full = False

    def hand_over(handle: int, data: bytes, write: Write) -> None:
        if full:
            write(handle, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        write(handle, data)

    monkeypatch.setattr(sessionlog, "hand_over", hand_over)
    with running(tmp_path / "chat.jsonl") as server:
        server.snapshot()
        frames = server.frames("1.1")
        next(frames)
        full = True
        said = server.post("hello", 1)
        assert (said.status, said.data["code"]) == (503, "append_failed")
        assert "no space left" in [chunk for _, chunk in frames][-1]["errorText"]
        full = False
        assert server.post("hello", 1).data["code"] == "accepted"
        assert [row.text for row in server.snapshot().rows if row.role == "user"] == ["hello"]
        assert server.snapshot().epoch == 2


def test_one_process_holds_a_log_and_the_next_takes_over_when_it_is_dead(tmp_path: Path) -> None:
    """F9, C23: while the first lives the second is refused, with its name; a killed one holds nothing."""
    path = tmp_path / "chat.jsonl"
    with process(path, 0) as first:
        with pytest.raises(LogRefused, match=f"served by another process .process {first.process.pid}"):
            SessionLog(path)
        assert first.post("hello", 1).status == 202
        first.kill()
    with running(path) as second:
        assert second.post("hello", 1).data["code"] == "duplicate"


def test_a_place_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A folder is no log."""
    with pytest.raises(LogRefused, match=r"cannot use .*: is a directory"):
        SessionLog(tmp_path)
