"""What a parent counts of an include: its entries, in the parent's own invocation."""

from __future__ import annotations

from typing import Any

from tests.simulator.flows import flow
from windtunnel.simulator import explore, simulate

AGAIN = """language 1

workflow child {
  revision 1
  exits { done: { n: int } }

  compute n = { n: visits(n) }

  edges {
    start -> n -> exit done
  }
}

workflow parent {
  revision 1
  exits { out: { entered: int, inside: int } }

  include work = child {}
  compute entered = { n: visits(work) }
  compute result = { entered: visits(work), inside: work.done.n }

  edges {
    start -> work
    work.done -> entered
    entered -> match .n {
      3 -> result
      else -> work limit 5 then -> result
    }
    result -> exit out
  }
}
"""


def test_visits_of_an_include_are_its_entries() -> None:
    """The parent sees three entries; the child starts each of them empty."""
    ended = simulate(flow(AGAIN))
    assert (ended.status, ended.output) == ("completed", {"entered": 3, "inside": 1})


def test_exploration_counts_them_too() -> None:
    """The route that the count opens is taken in explored states as well."""
    found = explore(flow(AGAIN), faults=1)
    assert (found.complete, found.violations) == (True, ())
    report: Any = found.to_json()
    assert report["coverage"]["exits"]["missed"] == []
