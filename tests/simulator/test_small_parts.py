"""Choices, clock, budget, pool: the small parts that everything stands on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.simulator.budget import KINDS, UNCAPPED, Budget, budget, spend
from windtunnel.simulator.choices import Asked, ChoiceError, Recorded, Seeded
from windtunnel.simulator.clock import TICK_MS, Clock
from windtunnel.simulator.pool import Pool

kinds = st.sampled_from(KINDS)


def test_a_recorded_list_goes_on_with_zeros() -> None:
    """0 is always the quiet one."""
    choices = Recorded((2, 1))
    assert [choices.choose(3, "a") for _ in range(4)] == [2, 1, 0, 0]
    assert choices.used_up


def test_an_answer_that_is_not_offered_is_refused() -> None:
    """The message says which answer, and to what."""
    with pytest.raises(ChoiceError, match=r"choice 1 is 3, but only 3 are offered \(a door\)"):
        Recorded((3,)).choose(3, "a door")
    with pytest.raises(ChoiceError, match="-1 was answered"):
        Asked(lambda n, label: -1).choose(2, "x")
    assert Asked(lambda n, label: n - 1).choose(4, "x") == 3


def test_a_seed_gives_the_same_numbers_on_every_machine() -> None:
    """Written down once; another arithmetic would change them."""
    seeded = Seeded(7)
    assert [seeded.choose(1000, "") for _ in range(40)] == WRITTEN_DOWN


WRITTEN_DOWN = [
    *(804, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 991, 0, 0, 549, 0),
    *(160, 0, 0, 335, 0, 0, 0, 0, 0, 0, 0, 0, 0, 731, 0, 0, 0, 0, 0, 0),
]


@given(st.integers(0, 2**64), st.integers(1, 50))
def test_a_seed_answers_what_is_offered(seed: int, n: int) -> None:
    """Always in range, mostly quiet, not always."""
    seeded = Seeded(seed)
    answers = [seeded.choose(n, "") for _ in range(200)]
    assert all(0 <= answer < n for answer in answers)
    assert answers.count(0) > 100


@given(st.integers(0, 5), st.dictionaries(kinds, st.integers(0, 6)), st.lists(kinds, max_size=8))
def test_a_budget_is_a_total_and_caps(total: int, caps: dict[str, int | None], wanted: list[str]) -> None:
    """What can be afforded is what the total and each cap allow, whatever the order."""
    left = budget(total, caps)
    spent: list[str] = []
    for kind in wanted:
        after = spend(left, kind)
        cap = caps.get(kind)
        affordable = len(spent) < total and (cap is None or spent.count(kind) < cap)
        assert (after is not None) == affordable
        if after is not None:
            spent.append(kind)
            left = after
    assert left.total == total - len(spent)


def test_a_cap_that_never_binds_is_no_cap() -> None:
    """Equal futures are equal budgets."""
    assert budget(2, {"crash": 2}) == budget(2) == Budget(2, (UNCAPPED,) * len(KINDS))
    once = spend(budget(2, {"crash": 1}), "escape")
    assert once == budget(1)


def test_the_clock_jumps_only_to_a_timer() -> None:
    """A tick for a transition; a held timer runs on with what was left."""
    clock = Clock()
    clock.jump()
    assert clock.now_ms == 0
    clock.arm(100)
    for _ in range(30):
        clock.tick()
    clock.disarm(held=True)
    for _ in range(500):
        clock.tick()
    clock.arm(100)
    assert clock.deadline_ms == 530 * TICK_MS + 70
    clock.jump()
    assert clock.now_ms == 600
    clock.disarm()
    clock.arm(100)
    assert clock.deadline_ms == 700


def test_a_pool_numbers_equal_values_once() -> None:
    """In the order they are first met."""
    pool: Pool[tuple[int, ...]] = Pool()
    assert [pool.id(value) for value in ((1,), (2,), (1,))] == [0, 1, 0]
    assert pool.values == [(1,), (2,)]
    assert len(pool) == 2
