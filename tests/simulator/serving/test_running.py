"""The server process: where it listens, how it ends, and that a mistake of ours does not make it hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.serving.servers import running
from windtunnel.simulator.serving import running as serving
from windtunnel.simulator.serving import service


def test_it_listens_on_this_machine_only() -> None:
    """Loopback, whatever port."""
    with serving.listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        assert serving.address(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}/"


def test_a_mistake_of_ours_ends_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that breaks is told, and not left hanging."""

    def broken(text: str, sent: int) -> None:
        raise ValueError("a planted mistake")

    monkeypatch.setattr(service, "reply", broken)

    def provoke() -> None:
        with running(tmp_path / "chat.jsonl") as server:
            server.post("hello", 1)
            server.wait()

    with pytest.raises(ValueError, match="a planted mistake"):
        provoke()


def test_streams_end_with_the_server(tmp_path: Path) -> None:
    """A reader is told, and nobody waits for it."""
    with running(tmp_path / "chat.jsonl") as server:
        frames = server.frames()
        next(frames)
    assert [chunk for _, chunk in frames][-1] == {"type": "error", "errorText": "server_stopped"}
