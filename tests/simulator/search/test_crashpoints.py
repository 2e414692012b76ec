"""Crash points: counted by the rule, each fired, restarted and run to an end, labelled."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.flows import ANSWER, DECIDE, LOOP, builtin, flow
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import crashpoints, handlers
from windtunnel.simulator.budget import budget
from windtunnel.simulator.events import DURABLE, Append, Emit
from windtunnel.simulator.report.summary import crash_points
from windtunnel.simulator.search import crashpoints as places
from windtunnel.simulator.search.crashpoints import LABELS, crash_free_paths
from windtunnel.simulator.search.exploration import Setup


def by_the_rule(snapshot: Snapshot) -> int:
    """Writes × 2, emitted events − 1, and appends of several entries, over the crash-free paths."""
    ready = Setup(snapshot).world
    total = 0
    for path in crash_free_paths(ready, ready.start(budget(0))):
        actions = [a for step in path for a in ready.outcomes[step.option.outcome].actions]
        writes = sum(isinstance(action, DURABLE) for action in actions)
        emitted = sum(isinstance(action, Emit) for action in actions)
        several = sum(isinstance(action, Append) and len(action.rows) > 1 for action in actions)
        total += 2 * writes + emitted - 1 + several
    return total


@pytest.mark.parametrize("name", ["answer", "decide", "loop", "autoplan"])
def test_every_point_is_fired_and_survived(name: str) -> None:
    """B279–B286, B291: fired == recovered == total."""
    snapshot = (
        builtin(name) if name == "autoplan" else flow({"answer": ANSWER, "decide": DECIDE}.get(name, LOOP))
    )
    found = crashpoints(snapshot)
    assert found.fired == found.recovered == found.total == by_the_rule(snapshot)
    assert found.violations == ()


@pytest.mark.parametrize("node", ["summary/summarize", "obstacle/summarize"])
def test_the_labels_appear_on_each_assistant_node(node: str) -> None:
    """From before the prompt is delivered to the reload of the session."""
    labels = [label for name, label, _ in crashpoints(builtin("autoplan")).labels if name == node]
    first, last = LABELS.index("before prompt delivery"), LABELS.index("session reload")
    assert sorted(labels) == sorted(LABELS[first : last + 1])
    assert len(labels) == 8


def test_a_repeated_visit_is_labelled() -> None:
    """Where a loop leads back, the second visit's points say so."""
    labels = {(node, label) for node, label, _ in crashpoints(flow(LOOP)).labels}
    assert ("say", "repeated loop visit") in labels
    assert ("kept", "repeated loop visit") not in labels


def test_the_paths_take_every_arrow() -> None:
    """As few paths as needed: two for autoplan."""
    assert crashpoints(builtin("autoplan")).paths == 2


def test_other_inputs_take_what_the_first_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every arrow that good behaviour can take, whatever is given; or it is said that some were left."""
    large = builtin("autodoc")
    alone = crashpoints(large, input=Setup(large).inputs[0])
    found = crashpoints(large)
    assert found.complete
    assert found.total > alone.total
    assert found.fired == found.recovered == found.total
    monkeypatch.setattr(places, "MAX_QUIET_STATES", 10)
    short = crashpoints(large)
    assert not short.complete
    assert "was not tried" in crash_points(short.to_json())
    assert "was not tried" not in crash_points(found.to_json())


def test_a_point_that_is_not_survived_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the invariant, a token, and fewer recovered than fired."""

    def waits(program: Any, local: Any, view: Any) -> Any:
        return local._replace(phase="pending"), ()

    monkeypatch.setattr(handlers, "recover", waits)
    found = crashpoints(flow(ANSWER))
    assert found.recovered < found.fired == found.total
    assert {violation.invariant for violation in found.violations} == {"no-run-is-stuck"}
    assert all(violation.token.startswith("wt1.") for violation in found.violations)


def test_the_report_as_json() -> None:
    """Totals, labels by node, and every point with its place."""
    report = crashpoints(flow(ANSWER)).to_json()
    assert (report["total"], report["fired"], report["recovered"], report["paths"]) == (27, 27, 27, 1)
    points = report["points"]
    assert isinstance(points, list)
    assert len(points) == 27
    assert points[0] == {"node": "", "place": "after session_loaded", "labels": [], "recovered": True}
