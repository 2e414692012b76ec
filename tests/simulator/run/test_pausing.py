"""A pause: asked for at any time, it holds when the step in flight has ended, until the person lets it go."""

from __future__ import annotations

import pytest

from tests.simulator.driving import Wanted, crash_after, drive, labelled, move
from tests.simulator.flows import ANSWER, ASK, DECIDE, PAY, builtin, flow, steps, types
from windtunnel.simulator import HostingRefused, Run, explore
from windtunnel.simulator.events import Pause, Release
from windtunnel.simulator.hosting import ALSO, hosting
from windtunnel.simulator.invariants import PAUSE
from windtunnel.simulator.run.engine import engine
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.state import Position
from windtunnel.simulator.run.state import Run as State
from windtunnel.simulator.run.transition import Engine, View
from windtunnel.simulator.search.exploration import Setup

pauses = move("pause", engine="pending")
goes_on = labelled("lets the run go on")


def paused(text: str, *wanted: Wanted) -> Run:
    """A run in which the person may pause."""
    snapshot = flow(text)
    return drive(snapshot, *wanted, setup=Setup(snapshot, visit_cap=1_000, hosting=hosting(also=("pause",))))


def boundaries(run: Run) -> list[str]:
    """The events of the run and its nodes that a pause is about."""
    told = ("pause_requested", "node_finished", "run_paused", "run_resumed", "node_started", "run_cancelled")
    return [type_ for type_ in types(run) if type_ in told]


def test_r23_a_pause_lets_the_step_finish_and_holds_before_the_next() -> None:
    """The node in flight ends, the run is paused beside running, and goes on where it would have gone."""
    run = paused(DECIDE, pauses, goes_on)
    assert boundaries(run) == [
        "node_started",
        "pause_requested",
        "node_finished",
        "run_paused",
        "run_resumed",
        "node_started",
        "node_finished",
    ]
    assert (run.status, steps(run)) == ("completed", ["pick", "kept"])


def test_r23_a_paused_run_can_be_cancelled() -> None:
    """Without ever going on."""
    run = paused(DECIDE, pauses, move("cancel", engine="held"))
    assert run.status == "cancelled"
    assert "run_resumed" not in types(run)
    assert steps(run) == ["pick"]


@pytest.mark.parametrize("crash", ["node_finished", "run_paused"])
def test_a_pause_survives_a_crash(crash: str) -> None:
    """W24: asked for or holding, it is in the store."""
    run = paused(DECIDE, pauses, crash_after(crash), goes_on)
    assert run.status == "completed"
    resumed = types(run).index("run_paused")
    assert "run_resumed" in types(run)[resumed:]


def test_a_pause_that_lands_during_the_resume_holds() -> None:
    """W24: asked for between the restart and the step that goes on."""
    run = paused(DECIDE, crash_after("node_started", "pick"), move("pause", engine="recover"), goes_on)
    assert boundaries(run).count("run_paused") == 1
    assert run.status == "completed"


def test_a_pause_before_the_start_lets_nothing_start() -> None:
    """The run starts, and holds before its first node; it begins when the person lets it, crash or not."""
    run = paused(DECIDE, move("pause", engine="down"), crash_after("run_paused"), goes_on)
    assert boundaries(run)[:4] == ["pause_requested", "run_paused", "run_resumed", "node_started"]
    assert (run.status, steps(run)) == ("completed", ["pick", "kept"])


def test_an_escape_takes_the_place_of_a_pause() -> None:
    """What holds at once need not hold again when the step has ended."""
    run = paused(DECIDE, pauses, move("escape"), goes_on)
    assert types(run).count("run_paused") == 1
    assert run.status == "completed"


def test_a_pause_can_be_taken_back() -> None:
    """Before the step has ended nothing needs to go on."""
    program = Program(flow(DECIDE))
    local, run = Engine("pending"), State(Position("running", node="pick", phase="started", pausing=True))
    after, actions = engine(program, local, View(run.position, run), Release())
    assert after == local
    assert [event.type for action in actions for event in getattr(action, "events", ())] == [
        "pause_withdrawn"
    ]


@pytest.mark.parametrize("status", ["completed", "failed", "timed_out", "cancelled", "waiting"])
def test_nobody_pauses_a_run_that_does_not_run(status: str) -> None:
    """Nor one that is to pause, or does, already."""
    program = Program(flow(DECIDE))
    for position in (Position(status), Position("running", paused=True), Position("running", pausing=True)):
        assert engine(program, Engine("pending"), View(position, State(position)), Pause()) == (
            Engine("pending"),
            (),
        )


@pytest.mark.parametrize("text", [ANSWER, DECIDE, PAY, ASK])
def test_the_sound_engine_holds_every_pause(text: str) -> None:
    """Any two faults, pauses among them."""
    found = explore(flow(text), also=("pause",))
    assert found.violations == ()
    assert found.complete
    assert found.tested.get(PAUSE, 0) > 0
    assert found.to_json()["hosting"] == {"also": ["pause"]}


def test_what_is_not_asked_for_does_not_happen() -> None:
    """A search without pauses is no larger for them."""
    usual, more = explore(flow(DECIDE), faults=1), explore(flow(DECIDE), faults=1, also=("pause",))
    assert usual.states < more.states
    assert "hosting" not in usual.to_json()
    assert explore(builtin("plain-summary"), faults=1).states == 377


def test_only_what_there_is_can_be_asked_for() -> None:
    """By name, and every name says what it is."""
    with pytest.raises(HostingRefused, match=r"Nothing is called weather; there are .*pause"):
        explore(flow(DECIDE), also=("weather",))
    with pytest.raises(HostingRefused, match="There is no orbital host"):
        explore(flow(DECIDE), host="orbital")
    assert all(ALSO.values())
