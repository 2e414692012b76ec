"""Quiet visits become one line; whatever went wrong stays whole."""

from __future__ import annotations

from windtunnel.compiler import compile_file
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import explore, replay, simulate
from windtunnel.simulator.report.folding import VISIT_DONE, folded


def autoplan() -> Snapshot:
    """The shipped workflow."""
    snapshot = compile_file("builtin:autoplan").snapshot
    assert snapshot is not None
    return snapshot


def test_a_quiet_run_is_one_event_a_visit() -> None:
    """Every visit folds, the run's own events stay, and nothing of the trace is invented."""
    events = simulate(autoplan()).events
    short = folded(events, keep_last=False)
    visits = [event["nodeId"] for event in events if event["type"] == "node_started"]
    assert [event["nodeId"] for event in short if event["type"] == VISIT_DONE] == visits
    assert [e for e in short if e["scope"] == "run"] == [e for e in events if e["scope"] == "run"]
    assert len(short) < len(events) / 3


def test_the_last_visit_and_every_deviation_stay_whole() -> None:
    """A counterexample of a long flow fits a screen and still shows each crash and what came after it."""
    token = explore(autoplan(), faults=1, fault="W01", reference="builtin:autoplan").violations[0].token
    events = replay(token, lambda _: autoplan()).events
    short = folded(events, keep_last=True)
    assert [e for e in short if e["type"] == "crashed"] == [e for e in events if e["type"] == "crashed"]
    last = max(at for at, event in enumerate(events) if event["type"] == "node_started")
    assert short[-(len(events) - last) :] == list(events[last:])
    assert len(short) <= 50
