"""The machine of the conversation: it passes on the sound system, and finds bugs that are put back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.stateful import run_state_machine_as_test

from windtunnel.simulator.chat.network import Act
from windtunnel.simulator.machines import MAX_DEVIATIONS, conversation_machine, conversations

QUICK = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def test_the_sound_conversation_holds() -> None:
    """B246: live == snapshot == cold, whatever is sent, said, lost and repeated."""
    run_state_machine_as_test(conversation_machine(), settings=QUICK)


@pytest.mark.parametrize("fault", ["C01", "C10", "C32", "C33"])
def test_a_bug_that_is_put_back_is_found(fault: str) -> None:
    """In few runs; the failure says which property broke and after which move."""
    searching = settings(QUICK, max_examples=80, phases=(Phase.generate,), report_multiple_bugs=False)
    with pytest.raises(AssertionError, match=r"(after \w+|at the end).*: .+"):
        run_state_machine_as_test(conversation_machine(frozenset({fault})), settings=searching)


def test_a_failure_shrinks_to_one_prompt() -> None:
    """What is left needs one tab, the model's usual answer, and nothing that goes wrong."""
    shrinking = settings(
        QUICK, max_examples=30, phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False
    )
    with pytest.raises(AssertionError) as told:
        run_state_machine_as_test(conversation_machine(frozenset({"C10"})), settings=shrinking)
    said = "\n".join(told.value.__notes__)
    assert "setting=Setting(\n    _acts([]),\n    (),\n    frozenset()," in said
    assert "choice=" not in said.replace("choice=0)", "")


def test_settings_shrink_to_one_prompt() -> None:
    """The simplest conversation is one prompt in one tab, and nothing goes wrong."""
    only = settings(database=None, max_examples=300)
    least = find(conversations(), lambda setting: True, settings=only)
    assert (least.acts, least.scripts, least.kinds, least.tabs) == (
        (Act("prompt", "first"),),
        (),
        frozenset(),
        1,
    )
    crashing = find(conversations(), lambda setting: "crash" in setting.kinds, settings=only)
    assert crashing.kinds == frozenset({"crash"})
    assert len(crashing.acts) == 1


def test_deviations_are_bounded() -> None:
    """After so many nothing more goes wrong in a run."""
    machine = conversation_machine()()
    assert machine.left == MAX_DEVIATIONS
    assert machine.world is None
    machine.teardown()
