"""What every store does: one suite, run over the model, SQLite in memory and SQLite in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from windtunnel.simulator.events import Event, Json, Payload, Record
from windtunnel.simulator.store.interface import (
    ClaimLost,
    Gap,
    NoSuchRun,
    RunIsOver,
    Store,
    StoreRefused,
)
from windtunnel.simulator.store.memory import MemoryStore
from windtunnel.simulator.store.records import FINAL, Asked, Claim, Decision, Held, Line, NewRun, Notice
from windtunnel.simulator.store.sqlite import memory_store, open_store

LEASE = 100


@pytest.fixture(params=["model", "sqlite in memory", "sqlite in a file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Each kind of store, empty."""
    if request.param == "model":
        yield MemoryStore()
        return
    in_memory = request.param == "sqlite in memory"
    with memory_store() if in_memory else open_store(tmp_path / "run.db", create=True) as opened:
        yield opened


def new(snapshot: str = "{}", input: str = '{"a":1}') -> NewRun:
    """A run to begin."""
    return NewRun("flow", 3, "sha256:d", snapshot, input, "flow.flow", 1_000)


def begun(store: Store, owner: str = "me") -> Claim:
    """A new run, claimed."""
    claim = store.claim(store.create(new()).run, owner, 0, LEASE)
    assert isinstance(claim, Claim)
    return claim


def line(
    seq: int,
    type_: str,
    node: str | None = None,
    attempt: str | None = None,
    payload: Payload = (),
    scope: str = "run",
) -> Line:
    """One line."""
    return Line(
        seq, seq * 10, "host", Event(scope, type_, node, attempt, payload), (seq - 1,) if seq > 1 else ()
    )


STARTED = line(1, "run_started")


def test_a_run_is_queued_under_the_next_name(store: Store) -> None:
    """A run can be named before anything of it happened."""
    first, second = store.create(new()), store.create(new('{"other":1}', "null"))
    assert (first.run, second.run) == ("run-1", "run-2")
    assert store.runs() == (first, second)
    assert store.run("run-1") == first
    assert (first.status, first.last_seq, first.input, first.created_ms) == ("queued", 0, '{"a":1}', 1_000)
    assert (first.workflow, first.revision, first.digest) == ("flow", 3, "sha256:d")
    assert store.content(second.snapshot) == '{"other":1}'
    assert store.trace("run-1") == ()


def test_what_is_not_there_is_refused(store: Store) -> None:
    """In words, whatever is asked for."""
    for ask in (store.run, store.trace, store.receipts, store.decisions, store.notices):
        with pytest.raises(NoSuchRun, match="no run run-7"):
            ask("run-7")
    with pytest.raises(NoSuchRun):
        store.claim("run-7", "me", 0, LEASE)
    with pytest.raises(NoSuchRun):
        store.ask("run-7", "cancel", 0)
    assert store.asked("run-7") == ()
    with pytest.raises(StoreRefused, match="missing"):
        store.content("0" * 64)


def test_lines_come_back_as_they_were_written(store: Store) -> None:
    """Values keep their kinds; payloads are sorted, as JSON objects are."""
    claim = begun(store)
    payload: Payload = (
        ("text", "1"),
        ("json", Json("1")),
        ("large", Json('"' + "x" * 5_000 + '"')),
        ("long", "y" * 5_000),
        ("none", None),
        ("flag", True),
        ("list", ("a", 2, Json("[]"))),
        ("record", Record((("z", Json("{}")), ("b", "c")))),
    )
    store.commit(claim, (STARTED, line(2, "node_started", "say", "attempt-1", payload, "node")))
    first, second = store.trace(claim.run)
    assert first == STARTED
    assert (second.seq, second.at, second.process, second.causes) == (2, 20, "host", (1,))
    assert (second.event.node, second.event.attempt, second.event.scope) == ("say", "attempt-1", "node")
    assert dict(second.event.payload) == dict(payload) | {"record": Record((("b", "c"), ("z", Json("{}"))))}
    assert [key for key, _ in second.event.payload] == sorted(key for key, _ in payload)


def test_the_status_follows_the_lines(store: Store) -> None:
    """Running, paused, running again, parked, then over for good."""
    claim = begun(store)
    steps = [
        ("run_started", "running", False, False),
        ("run_paused", "running", True, False),
        ("run_resumed", "running", False, False),
        ("run_parked", "running", False, True),
        ("run_resumed", "running", False, False),
        ("run_completed", "completed", False, False),
    ]
    for seq, (type_, status, paused, parked) in enumerate(steps, start=1):
        record = store.commit(claim, (line(seq, type_),))
        assert record == store.run(claim.run)
        assert (record.status, record.paused, record.parked, record.last_seq) == (status, paused, parked, seq)


@pytest.mark.parametrize("status", sorted(FINAL))
def test_a_terminal_status_is_final(store: Store, status: str) -> None:
    """A42: a writer with an older view cannot move a run that ended, nor claim it, nor leave word."""
    claim = begun(store)
    store.commit(claim, (STARTED, line(2, f"run_{status}")))
    with pytest.raises(RunIsOver, match=status):
        store.commit(claim, (line(3, "run_failed"),))
    with pytest.raises(RunIsOver, match="final"):
        store.claim(claim.run, "you", 10**6, LEASE)
    with pytest.raises(RunIsOver):
        store.ask(claim.run, "cancel", 0)
    assert store.run(claim.run).status == status
    assert len(store.trace(claim.run)) == 2


@pytest.mark.parametrize("numbers", [(1,), (3,), (2, 2), (2, 4), (3, 2)])
def test_a_gap_or_a_repeated_number_writes_nothing(store: Store, numbers: tuple[int, ...]) -> None:
    """W16: lines are numbered from 1 without a gap, or the whole transaction is refused."""
    claim = begun(store)
    store.commit(claim, (STARTED,))
    with pytest.raises(Gap, match="ends at line 1"):
        store.commit(claim, tuple(line(number, "run_paused") for number in numbers))
    assert [entry.seq for entry in store.trace(claim.run)] == [1]
    assert not store.run(claim.run).paused


# --- claims -------------------------------------------------------------------------------------------------


def test_one_owner_at_a_time(store: Store) -> None:
    """A claim holds until its lease is over, to the millisecond; the next one has a higher token."""
    first = begun(store, "one")
    assert first == Claim(first.run, "one", 1, LEASE)
    assert store.claim(first.run, "two", LEASE - 1, LEASE) == Held(first.run, "one", LEASE)
    assert store.claimed(first.run) == Held(first.run, "one", LEASE)
    second = store.claim(first.run, "two", LEASE, LEASE)
    assert second == Claim(first.run, "two", 2, 2 * LEASE)


def test_a_dead_owner_holds_nothing(store: Store) -> None:
    """Who is known to be gone need not be waited for."""
    first = begun(store, "one")
    assert isinstance(store.claim(first.run, "two", 1, LEASE, lambda owner: owner != "one"), Held)
    taken = store.claim(first.run, "two", 1, LEASE, lambda owner: owner == "one")
    assert taken == Claim(first.run, "two", 2, 1 + LEASE)


def test_a_writer_that_lost_its_claim_writes_nothing(store: Store) -> None:
    """W11, R33: whatever it tries; the new owner goes on where the old one stopped."""
    old = begun(store, "one")
    store.commit(old, (STARTED,))
    fresh = store.claim(old.run, "two", LEASE, LEASE)
    assert isinstance(fresh, Claim)
    asked = Asked(1, old.run, "cancel", 0)
    with pytest.raises(ClaimLost, match="one has lost its claim of run-1"):
        store.commit(old, (line(2, "run_failed"),))
    with pytest.raises(ClaimLost):
        store.renew(old, 0, LEASE)
    with pytest.raises(ClaimLost):
        store.settle(old, asked)
    ran = []
    with pytest.raises(ClaimLost), store.guard(old):
        ran.append("inside")
    assert ran == []
    assert store.trace(old.run) == (STARTED,)
    store.release(old)
    assert store.claimed(old.run) == Held(old.run, "two", 2 * LEASE)
    assert store.commit(fresh, (line(2, "run_resumed"),)).last_seq == 2


def test_a_claim_can_be_renewed_and_given_back(store: Store) -> None:
    """A token is used once, also after the claim was given back."""
    claim = begun(store)
    later = store.renew(claim, 50, LEASE)
    assert later == claim._replace(expires_ms=150)
    assert isinstance(store.claim(claim.run, "you", 149, LEASE), Held)
    store.release(later)
    assert store.claimed(claim.run) is None
    assert store.claim(claim.run, "you", 0, LEASE) == Claim(claim.run, "you", 2, LEASE)


def test_an_owner_may_claim_again(store: Store) -> None:
    """Its older claim is worth nothing then."""
    first = begun(store)
    second = store.claim(first.run, "me", 1, LEASE)
    assert isinstance(second, Claim)
    with pytest.raises(ClaimLost):
        store.commit(first, (STARTED,))
    with store.guard(second):
        assert store.claimed(first.run) == Held(first.run, "me", 1 + LEASE)


# --- what follows from the lines ----------------------------------------------------------------------------


def test_receipts_are_kept(store: Store) -> None:
    """Inside the transaction that finishes the node."""
    claim = begun(store)
    receipt = Record((("sha256", "abc"), ("text", "Hello."), ("cut", True)))
    done: Payload = (("outcome", "ok"), ("receipt", receipt))
    store.commit(claim, (STARTED, line(2, "node_finished", "say", "attempt-1", done, "node")))
    (found,) = store.receipts(claim.run)
    assert (found.node, found.attempt) == ("say", "attempt-1")
    assert found.record == '{"cut":true,"sha256":"abc","text":"Hello."}'


def test_a_decision_is_open_until_the_first_answer(store: Store) -> None:
    """One winner: what comes later changes nothing."""
    claim = begun(store)
    for seq, (type_, choice) in enumerate(
        [("requested", ""), ("answered", "yes"), ("defaulted", "no"), ("cancelled", "")], start=1
    ):
        payload: Payload = (("choice", choice),)
        store.commit(claim, (line(seq, f"decision_{type_}", "ask", "attempt-1", payload, "decision"),))
        (found,) = store.decisions(claim.run)
        state, outcome = ("open", None) if seq == 1 else ("answered", '{"choice":"yes"}')
        assert found == Decision(claim.run, "attempt-1", "ask", state, '{"choice":""}', outcome)


def test_a_notification_is_queued_once_and_delivered(store: Store) -> None:
    """W22: the key is (run, node, number); a second line of the same key adds nothing."""
    claim = begun(store)

    def notice(seq: int, what: str, index: int) -> Line:
        payload: Payload = (("index", index), ("text", f"{what} {index}"))
        return line(seq, f"notification_{what}", "tell", "attempt-1", payload, "notification")

    store.commit(claim, (notice(1, "queued", 1), notice(2, "queued", 2), notice(3, "queued", 1)))
    store.commit(claim, (notice(4, "delivered", 1),))
    assert store.notices(claim.run) == (
        Notice(claim.run, "tell", 1, '{"index":1,"text":"queued 1"}', True),
        Notice(claim.run, "tell", 2, '{"index":2,"text":"queued 2"}', False),
    )


def test_a_waiting_run_goes_on_under_another_id(store: Store) -> None:
    """W15: in the same trace; commands take either id, and no run is continued twice."""
    claim = begun(store)
    other = store.create(new())
    store.commit(claim, (STARTED, line(2, "run_waiting")))
    waiting = store.run(claim.run)
    assert (waiting.status, waiting.current) == ("waiting", "run-1")
    later = store.claim(claim.run, "you", LEASE, LEASE)
    assert isinstance(later, Claim)
    went_on = line(3, "run_started", payload=(("continuedFrom", "run-1"),))._replace(name="run-1.2")
    next_node = line(4, "node_started", "a", "attempt-2")._replace(name="run-1.2")
    record = store.commit(later, (went_on, next_node))
    assert (record.run, record.current, record.status) == ("run-1", "run-1.2", "running")
    assert store.run("run-1.2") == store.run("run-1") == record
    assert [entry.name for entry in store.trace("run-1.2")] == ["", "", "run-1.2", "run-1.2"]
    assert store.claim("run-1.2", "you", LEASE, LEASE) == Claim("run-1", "you", 3, 2 * LEASE)
    assert store.run(other.run).current == "run-2"
    assert len(store.runs()) == 2


def test_a_run_that_ended_may_still_tell(store: Store) -> None:
    """Notifications outlive their run: it can be claimed for them, and nothing else is added."""
    claim = begun(store)

    def told(seq: int, what: str, index: int) -> Line:
        return line(seq, f"notification_{what}", "tell", "attempt-1", (("index", index),), "notification")

    queued = (told(2, "queued", 1), told(3, "queued", 2))
    record = store.commit(claim, (STARTED, *queued, line(4, "run_completed")))
    assert (record.status, record.untold) == ("completed", 2)
    later = store.claim(claim.run, "you", LEASE, LEASE)
    assert isinstance(later, Claim)
    for lines in ((line(5, "run_failed"),), (told(5, "delivered", 1), line(6, "run_resumed"))):
        with pytest.raises(RunIsOver):
            store.commit(later, lines)
    assert store.commit(later, (told(5, "delivered", 1),)).untold == 1
    assert store.commit(later, (told(6, "delivered", 2),)).untold == 0
    with pytest.raises(RunIsOver):
        store.claim(claim.run, "you", LEASE, LEASE)


def test_word_from_outside_waits_until_it_is_settled(store: Store) -> None:
    """In the order in which it came, for one run alone."""
    claim, other = begun(store), begun(store)
    store.ask(claim.run, "cancel", 5)
    store.ask(claim.run, "release", 6)
    first, second = store.asked(claim.run)
    assert (first.what, first.at_ms, second.what) == ("cancel", 5, "release")
    assert store.asked(other.run) == ()
    store.settle(claim, first)
    assert store.asked(claim.run) == (second,)


def test_runs_do_not_touch_each_other(store: Store) -> None:
    """A claim is for one run, and so are its lines."""
    one, two = begun(store), begun(store)
    store.commit(one, (STARTED, line(2, "run_completed")))
    assert store.run(two.run).status == "queued"
    assert store.trace(two.run) == ()
    store.commit(two, (STARTED,))
    assert store.run(two.run).status == "running"
    with pytest.raises(ClaimLost):
        store.commit(one._replace(run=two.run, token=two.token + 1), (line(2, "run_failed"),))
