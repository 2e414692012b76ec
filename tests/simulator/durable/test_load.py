"""A small load: processes that die at random lose nothing and do nothing twice."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.load import hammer


def test_random_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """Every run is completed, each node once, each visible answer once, whoever died on the way."""
    load = hammer(tmp_path, runs=30, processes=3, kills_a_second=20)
    assert load.wrong == ()
    assert load.kills > 0
