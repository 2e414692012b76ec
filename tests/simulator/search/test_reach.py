"""How far a search goes: every input that may take another route, and a stated end where it stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.flows import LOOP, builtin, events, flow
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.simulator import explore, replay
from windtunnel.simulator.report.summary import verdict
from windtunnel.simulator.search import exploration
from windtunnel.simulator.search.exploration import Setup

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.flow") if not path.name.endswith(".scenarios.flow"))

COUNTS = """language 1
workflow counts {
  revision 1
  exits { done: { results: [text] } }
  agent worker {
    prompt "Visit ${visits(worker)}"
    expectedOutput { results: [text(1..20); 1..3] }
    validate { require len(output.results) == visits(worker) else "hand in ${visits(worker)} results" }
    example { results: [...(worker?.results ?? []), "done"] }
  }
  let more = visits(worker) < 3
  compute joined = { results: worker.results }
  edges {
    start -> worker
    worker -> match more {
      true -> worker
      false -> joined
    }
    joined -> exit done
  }
}
"""
"""What a node gave before, and how often it ran, decide what it must give."""

MODES = """language 1
workflow modes {
  revision 1
  input { mode: "fast" | "slow" | "off" = "fast", note?: text(1..20) }
  exits { done: { mode: text } }
  compute first = { mode: input.mode }
  compute other = { mode: input.mode }
  edges {
    start -> match input.mode {
      "fast" | "slow" -> first
      "off" -> other
    }
    first -> exit done
    other -> exit done
  }
}
"""
"""The input alone decides the route."""


@pytest.mark.parametrize("name", NAMES)
def test_an_example_holds_under_any_one_fault(name: str) -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.flow")}
    compiled = compile_workflow(MemoryReader(files), name)
    assert compiled.snapshot is not None
    found = explore(compiled.snapshot, faults=1)
    assert found.violations == ()
    assert found.complete
    assert found.gaps == {}


@pytest.mark.parametrize("name", ["plan-approval", "autodoc", "sanity-check"])
def test_a_built_in_is_taken_everywhere_under_any_one_fault(name: str) -> None:
    found = explore(builtin(name), faults=1)
    assert found.violations == ()
    assert found.complete
    assert found.edges.missed == found.exits.missed == found.crash_points.missed == ()


def test_counts_that_decide_something_are_counted_to_the_end() -> None:
    """Visits that only a prompt names are told apart as first and later ones; these are not."""
    found = explore(flow(COUNTS), faults=1)
    assert found.gaps == {}
    assert found.complete
    assert found.exits.missed == found.edges.missed == ()


def test_every_input_that_may_take_another_route_is_tried() -> None:
    found = explore(flow(MODES), faults=1)
    assert found.edges.missed == ()
    assert len(Setup(flow(MODES)).inputs) == 3


def test_a_token_holds_the_input_that_it_was_found_with() -> None:
    """The second input breaks something: its own token shows it again."""
    text = MODES.replace(
        "compute other = { mode: input.mode }",
        'action other { call "x" returns { mode: text } idempotencyKey "k" timeout 1m }',
    )
    text = text.replace("first -> exit done", "first -> exit done\n    other on failed | timed_out -> first")
    found = explore(flow(text), faults=1, fault="W23")
    (broken,) = found.violations
    run = replay(broken.token, lambda name: flow(text))
    assert run.violations[0].invariant == broken.invariant
    assert [event["payload"]["input"]["mode"] for event in events(run, "run_started")] == ["off"]


def test_a_search_that_stops_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never silent: not complete, the bound in the report and in words."""
    monkeypatch.setattr(exploration, "MAX_RANDOM_STEPS", 1_000)
    found = explore(flow(LOOP), faults=2, states=100)
    assert not found.complete
    assert found.violations == ()
    assert found.bounds["states"] == 100
    assert "The search stopped after 100 states." in verdict(found.to_json())
    assert "states" not in explore(flow(LOOP), faults=1).bounds
