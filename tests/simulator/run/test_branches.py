"""A session with branches: what stands on a branch that was left counts for nothing."""

from __future__ import annotations

import pytest

from tests.simulator.driving import Wanted, crash_after, crash_after_row, drive, labelled, move
from tests.simulator.flows import ANSWER, DECIDE, events, flow, says, script
from windtunnel.simulator import Run, crashpoints, explore
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.events import Row
from windtunnel.simulator.hosting import hosting
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.search.exploration import Setup

leaves = move("branch", engine="recover")


def run(text: str, *wanted: Wanted, provider: Provider | None = None) -> Run:
    """A run whose person may go to another branch."""
    snapshot = flow(text)
    setup = Setup(snapshot, provider=provider, visit_cap=1_000, hosting=hosting(also=("branch",)))
    return drive(snapshot, *wanted, setup=setup)


def kinds(done: Run) -> list[str]:
    """The kinds of the entries, prompts by what they are."""
    return [entry.get("prompt", entry["kind"]) for entry in done.session]


def test_r40h_an_answer_of_a_branch_that_was_left_is_not_adopted() -> None:
    """S15, S18, W03: the prompt is sent once more, on the branch that the session is on."""
    done = run(ANSWER, crash_after_row("assistant"), leaves, provider=script(say=[says("one"), says("two")]))
    assert kinds(done) == ["session", "step", "assistant", "leaf", "step", "assistant"]
    assert done.output == {"text": "two"}
    first, second = (entry for entry in done.session if entry["kind"] == "step")
    assert first["parentId"] == second["parentId"] == "entry-1"
    assert first["attemptId"] == second["attemptId"]
    receipt = events(done, "node_finished")[0]["payload"]["receipt"]
    assert receipt["entryId"] == done.session[-1]["id"]
    assert receipt["range"] == [second["id"], done.session[-1]["id"]]


def test_a_person_who_comes_back_finds_the_answer() -> None:
    """S15: it stands on the branch that the session is on, and is of the attempt."""
    done = run(ANSWER, crash_after_row("assistant"), leaves, leaves, provider=script(say=[says("once")]))
    assert kinds(done) == ["session", "step", "assistant", "leaf", "leaf"]
    assert done.output == {"text": "once"}
    assert events(done, "node_finished")[0]["payload"]["receipt"]["entryId"] == "entry-3"


@pytest.mark.parametrize("text", [ANSWER, DECIDE])
def test_a_step_that_is_held_is_asked_on_the_new_branch(text: str) -> None:
    """After an escape; a submission is asked for again, not gone on with."""
    done = run(text, move("escape", engine="pending"), move("branch", engine="held"), labelled("go on"))
    assert done.status == "completed"
    assert [kind for kind in kinds(done) if kind in ("step", "resume")] == ["step", "step"]


def test_a_prompt_of_a_branch_that_was_left_is_sent_again() -> None:
    """S18, S19: once on each branch."""
    done = run(ANSWER, crash_after("agent_prompt_sent"), leaves)
    assert kinds(done) == ["session", "step", "leaf", "step", "assistant"]
    assert done.status == "completed"


def test_a_new_attempt_forgets_the_branch_that_was_left() -> None:
    """And there is no way back to an answer of an older attempt."""
    log = logs.append(logs.NEW, Row("step", node="a", attempt="current"))
    log = logs.append(logs.append(log, Row("assistant", "x", stop="stop")), Row("leaf"))
    assert logs.branch(log, "a") == logs.Branch(False, None, None, logs.Answer("x", "stop"))
    aged = logs.age(log, frozenset({"a"}))
    assert logs.branch(aged, "a") == logs.Branch(False, None, None)


@pytest.mark.parametrize("text", [ANSWER, DECIDE])
def test_branches_are_sound(text: str) -> None:
    """Any two faults, a change of branch among them."""
    found = explore(flow(text), also=("branch",))
    assert found.violations == ()
    assert found.complete


def test_stale_branches_and_lost_claims_are_crash_points_where_they_exist() -> None:
    """Each is fired, and each run comes to its end."""
    usual = crashpoints(flow(ANSWER))
    more = crashpoints(flow(ANSWER), second_host=True, also=("branch",))
    assert {label for _, label, _ in usual.labels}.isdisjoint({"claim loss", "stale branch response"})
    assert {"claim loss", "stale branch response"} <= {label for _, label, _ in more.labels}
    assert more.fired == more.recovered == more.total > usual.total
