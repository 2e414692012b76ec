"""A small load: processes that die at random lose nothing and do nothing twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import load
from tests.benchmarks.load import hammer
from windtunnel.simulator.durable.sessionfile import SessionFile, session_path
from windtunnel.simulator.store.sqlite import open_store


def test_random_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """Every run is completed, each node, visible answer and effect once, whoever died on the way."""
    found = hammer(tmp_path, runs=60, processes=3, runs_a_kill=4)
    assert found.wrong == ()
    assert found.kills > 10


def test_what_is_lost_or_doubled_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line less, an answer more, a run less."""
    assert hammer(tmp_path, runs=2, processes=1, runs_a_kill=0).wrong == ()
    with open_store(tmp_path / "load.db") as store:
        assert load._verdict(store, tmp_path / "load.db", 3)[1] == ("2 runs of 3",)
        monkeypatch.setattr(load, "NODES", 4)
        assert len(load._verdict(store, tmp_path / "load.db", 2)[1]) == 2
        monkeypatch.undo()
        log = session_path(tmp_path / "load.db", "run-2")
        SessionFile(log).append([entry_behind(SessionFile(log).entries)])
        (said,) = load._verdict(store, tmp_path / "load.db", 2)[1]
        assert said == "run-2: 2 visible answers, 1 effects"


def entry_behind(entries: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """One more visible answer."""
    last = entries[-1]["id"]
    return {
        "id": f"entry-{len(entries) + 1}",
        "kind": "assistant",
        "parentId": last,
        "stop": "stop",
        "text": "Again.",
    }
