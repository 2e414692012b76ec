"""Built-ins and ports under any single crash: every schedule is tried, every crash fires, nothing breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.compiler import compile_file
from windtunnel.compiler.reader import BUILTIN, builtin_names
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl import Source, parse
from windtunnel.simulator import explore
from windtunnel.simulator.search import exploration
from windtunnel.simulator.search.exploration import Exploration

PORTS = Path(__file__).parent.parent.parent / "examples" / "ports"
ALL = [
    *((BUILTIN + name, name) for name in builtin_names()),
    *(
        (path.name, workflow.name.text)
        for path in sorted(PORTS.glob("*.flow"))
        for workflow in parse(Source(path.name, path.read_text(encoding="utf-8"))).file.workflows
    ),
]
LARGE = {
    "autoimplement": "four loops of 3 to 20 rounds, each with the state of the others",
    "monitor": "a thousand looks, and autoimplement inside",
    "explore-plan-implement": "four loops of 10 and 15 rounds",
    "review-comments": "seven loops of 10 rounds",
    "worktree": "seven loops of 20 rounds",
}
"""What has more states than a search visits in minutes, and why."""

STATES = 1_000
"""Of those, so many are looked at here."""

STEPS = 100
"""Steps of the walks at random beyond."""


def crashed(file: str, workflow: str, states: int | None) -> tuple[Snapshot, Exploration]:
    """The workflow, and its search with one crash as the only fault."""
    path = file if file.startswith(BUILTIN) else str(PORTS / file)
    snapshot = compile_file(path, workflow=workflow).snapshot
    assert snapshot is not None
    return snapshot, explore(snapshot, faults=1, crashes=1, duplicates=0, provider_faults=0, states=states)


@pytest.mark.parametrize(("file", "workflow"), [each for each in ALL if each[1] not in LARGE])
def test_no_single_crash_breaks_it(file: str, workflow: str) -> None:
    """The search is complete: every crash point of every path fired."""
    _, found = crashed(file, workflow, None)
    assert found.violations == ()
    assert found.complete
    points = found.crash_points
    assert points.covered == points.total > 0


@pytest.mark.parametrize(("file", "workflow"), [each for each in ALL if each[1] in LARGE])
def test_no_crash_that_is_tried_breaks_a_large_one(
    file: str, workflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search says that it did not try everything, and walks on at random for a while."""
    monkeypatch.setattr(exploration, "MAX_RANDOM_STEPS", STEPS)
    _, found = crashed(file, workflow, STATES)
    assert found.violations == ()
    assert not found.complete


def test_what_is_called_large_is_there() -> None:
    assert {*LARGE} <= {workflow for _, workflow in ALL}
