"""The model of the store and SQLite say the same to every transaction of a whole explored graph."""

from __future__ import annotations

import pytest

from tests.simulator.durable.test_host import ASK, PAY
from tests.simulator.flows import ANSWER, DECIDE, flow
from windtunnel.simulator.durable import mirroring
from windtunnel.simulator.durable.lines import state_of
from windtunnel.simulator.durable.mirroring import mirror, restored
from windtunnel.simulator.search.exploration import Setup, explore
from windtunnel.simulator.store.memory import MemoryStore
from windtunnel.simulator.store.records import Receipt
from windtunnel.simulator.store.sqlite import memory_store


@pytest.mark.parametrize(("text", "faults"), [(ANSWER, 2), (DECIDE, 1), (ASK, 1), (PAY, 1)])
def test_both_stores_agree_over_the_graph(text: str, faults: int) -> None:
    """Each different transaction is made on both, behind a fenced writer; the fold is the search's state."""
    found = mirror(Setup(flow(text)), faults=faults)
    assert found.difference is None
    assert found.states == explore(Setup(flow(text)), faults=faults).states
    assert found.transactions > 30


def test_a_graph_that_is_too_large_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit it is whole, one past it the report says that it is not."""
    whole = mirror(Setup(flow(DECIDE)), faults=0)
    for limit, complete in ((whole.transactions, True), (whole.transactions - 1, False)):
        monkeypatch.setattr(mirroring, "MAX_TRANSACTIONS", limit)
        found = mirror(Setup(flow(DECIDE)), faults=0)
        assert (found.complete, found.transactions, found.difference) == (complete, limit, None)


def test_a_store_that_says_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is."""
    monkeypatch.setattr(MemoryStore, "receipts", lambda self, run: (Receipt(run, "a", "b", "c"),))
    assert "the model says" in str(mirror(Setup(flow(ANSWER)), faults=0).difference)


def test_a_trace_that_folds_to_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state comes from what SQLite gives back."""
    folded = "windtunnel.simulator.durable.mirroring.state_of"
    monkeypatch.setattr(folded, lambda program, input, lines: state_of(program, "7", lines))
    assert "the search has" in str(mirror(Setup(flow(ANSWER)), faults=0).difference)


def test_an_image_is_the_whole_store() -> None:
    """What is written after it was taken is not in it."""
    from tests.simulator.store.test_contract import STARTED, begun

    with memory_store() as store:
        claim = begun(store)
        image = store.connection.serialize()
        store.commit(claim, (STARTED,))
        with restored(image) as before:
            assert before.trace(claim.run) == ()
            assert before.commit(claim, (STARTED,)).last_seq == 1


def test_a_copy_of_the_model_stands_alone() -> None:
    """So does a copy of the model."""
    from tests.simulator.store.test_contract import STARTED, begun, line

    store = MemoryStore()
    claim = begun(store)
    payload = (("index", 1),)
    copy = store.copy()
    store.commit(claim, (STARTED, line(2, "notification_queued", "a", "attempt-1", payload, "notification")))
    store.ask(claim.run, "cancel", 0)
    assert (copy.trace(claim.run), copy.notices(claim.run), copy.asked(claim.run)) == ((), (), ())
    assert copy.run(claim.run).status == "queued"
