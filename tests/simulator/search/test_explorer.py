"""The search: complete within its budget, shortest first, honest about its limits."""

from __future__ import annotations

import pytest

from tests.simulator.flows import ANSWER, DECIDE, LOOP, flow
from windtunnel.simulator import Exploration, UnknownFault, explore
from windtunnel.simulator.budget import FIRST_KINDS, KINDS, budget
from windtunnel.simulator.providers.behaviour import Menu, Request
from windtunnel.simulator.search import exploration
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.search.explorer import Search, search
from windtunnel.simulator.search.token import decode

REPORT_KEYS = {
    *("schema", "workflow", "revision", "digest", "bounds", "complete", "schedules", "states"),
    *("transitions", "seconds", "violations", "coverage"),
}


def states(text: str, faults: int, **caps: int) -> int:
    """How many states a search meets, with caps for single kinds."""
    limits: dict[str, int | None] = dict(caps)
    found = exploration.explore(Setup(flow(text)), faults=faults, caps=limits)
    assert found.complete
    return found.states


def searched(text: str, faults: int, *, exact: bool = False, most: int = 10**9) -> Search:
    """A search of its own."""
    ready = Setup(flow(text)).world
    return search(ready, ready.start(budget(faults)), exact=exact, most=most)


def test_more_faults_reach_more_states() -> None:
    """None, one, any two."""
    assert 0 < states(ANSWER, 0) < states(ANSWER, 1) < states(ANSWER, 2)


def test_a_cap_takes_a_kind_away() -> None:
    """Caps hold for single kinds, the total for all."""
    all_ = states(DECIDE, 1)
    for kind in KINDS[:FIRST_KINDS]:
        assert states(DECIDE, 1, **{kind: 0}) < all_
        assert states(DECIDE, 1, **{kind: 1}) == all_
    assert explore(flow(DECIDE), faults=1, crashes=0).states == states(DECIDE, 1, crash=0)
    assert explore(flow(DECIDE), faults=1, duplicates=0).states == states(DECIDE, 1, duplicate=0)
    assert explore(flow(DECIDE), faults=1, provider_faults=0).states == states(DECIDE, 1, provider=0)


def test_fingerprints_and_whole_states_agree() -> None:
    """No two states fell together, and the bound says how unlikely that was."""
    quick, exact = searched(LOOP, 1), searched(LOOP, 1, exact=True)
    assert (quick.states, quick.transitions, quick.ends) == (exact.states, exact.transitions, exact.ends)
    assert 0 < quick.collision_bound < 1e-9
    assert exact.collision_bound == 0


def test_a_search_beyond_its_limit_says_so() -> None:
    """Nothing is silently partial."""
    whole = searched(ANSWER, 1)
    assert searched(ANSWER, 1, most=whole.states).complete
    assert not searched(ANSWER, 1, most=whole.states // 2).complete


def test_an_unfinished_search_goes_on_at_random() -> None:
    """What a search has no room for, random runs may still find, and the seed repeats them."""
    ready = Setup(flow(ANSWER), fault="W01")
    found = exploration.explore(ready, faults=2, most=10, seed=5)
    again = exploration.explore(Setup(flow(ANSWER), fault="W01"), faults=2, most=10, seed=5)
    assert not found.complete
    assert found.violations == again.violations
    assert found.violations[0].invariant == "one-visible-response"


def test_the_first_counterexample_is_a_shortest_one() -> None:
    """One fault where one is enough, although two are allowed."""
    found = explore(fault="W01", faults=2)
    assert decode(found.violations[0].token).budget.total == 1
    assert sum(choice > 0 for choice in decode(found.violations[0].token).choices) == 1
    without = explore(fault="W04", faults=2)
    assert not any(decode(without.violations[0].token).choices)


def test_the_report_has_its_keys() -> None:
    """As JSON, with what was covered and what was missed."""
    found: Exploration = explore(flow(ANSWER), faults=1)
    report = found.to_json()
    assert set(report) >= REPORT_KEYS
    assert report["seconds"] is None
    assert report["bounds"] == {"faults": 1}
    coverage = report["coverage"]
    assert isinstance(coverage, dict)
    assert coverage["crashPoints"] == {"covered": 27, "total": 27, "missed": []}
    assert set(coverage) == {"edges", "exits", "outcomes", "crashPoints", "providerBehaviours"}


def test_what_is_missed_is_named() -> None:
    """Without faults no crash point is covered, and no node fails."""
    found = explore(flow(ANSWER), faults=0)
    assert found.complete
    assert found.crash_points.covered == 0
    assert len(found.crash_points.missed) == found.crash_points.total
    assert "say failed" in found.outcomes.missed
    assert found.edges.missed == ()


class Helpless:
    """A provider for which nothing good can be made."""

    def menu(self, request: Request) -> Menu:
        """Nothing."""
        return Menu((), gap=f"no value for {request.node}")


def test_a_node_without_a_good_behaviour_is_named() -> None:
    """It is a gap of the exploration and no stuck run."""
    found = explore(flow(DECIDE), faults=1, provider=Helpless())
    assert found.gaps == {"pick": "no value for pick"}
    assert found.violations == ()
    assert "done" in found.exits.missed


def test_progress_is_told() -> None:
    """The number of faults, states, transitions and the frontier."""
    told: list[tuple[int, int, int, int]] = []
    explore(flow(ANSWER), faults=2, progress=lambda *numbers: told.append(numbers))
    assert {faults for faults, *_ in told} == {1, 2}
    assert all(states >= 1 for _, states, *_ in told)


def test_an_unknown_fault_is_refused() -> None:
    """With the list of those that are known; ids are taken in any case."""
    with pytest.raises(UnknownFault, match=r"W01, W02, .*W04, W05, .*W08, .*W12"):
        explore(fault="W00")
    with pytest.raises(UnknownFault, match="Name a workflow"):
        explore()
    assert explore(fault="w04").violations
