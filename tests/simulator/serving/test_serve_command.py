"""`windtunnel serve` from the command line."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.simulator.serving.servers import aside, process
from windtunnel.simulator import cli
from windtunnel.simulator.serving.running import listen


def serve(*arguments: str) -> int:
    """Run the command in this process."""
    return aside(lambda: cli.run(("serve", *arguments)))


def test_without_its_packages_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not a traceback, but the command to type."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert serve("builtin:plain-summary") == 2
    assert "pip install 'windtunnel[serve]'" in capsys.readouterr().err


def test_what_cannot_be_served_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A flow that is not there, a port that is taken, a log that is a folder."""
    assert serve("builtin:nothing") == 1
    listening = listen(0)
    with listening:
        assert serve("builtin:plain-summary", "--port", str(listening.getsockname()[1])) == 2
        assert "try --port 0" in capsys.readouterr().err
    assert serve("builtin:plain-summary", "--port", "0", "--session", str(tmp_path)) == 2
    assert "is a directory" in capsys.readouterr().err
    assert serve("builtin:plain-summary", "--port", "70000") == 2


def test_it_says_where_it_is_and_ends_when_asked(tmp_path: Path) -> None:
    """The address on standard output; an interrupt ends it without a traceback, and damage is told."""
    log = tmp_path / "chat.jsonl"
    log.write_text("no entry\n", encoding="utf-8")
    with process(log, 0) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.ask("GET", "/").status == 200
        server.process.send_signal(signal.SIGINT)
        code, said = server.end()
        assert code == 130
        assert f"{log}:1: " in said
        assert "Traceback" not in said
