"""Kinds of host: a worker where nobody looks on, with and without the session that its run belongs to."""

from __future__ import annotations

import pytest

from tests.simulator.driving import Wanted, behaves, crash_after, drive, labelled, move
from tests.simulator.flows import ANSWER, ASK, DECIDE, LOOP, PAY, builtin, events, flow, steps, types
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import HostingRefused, Run, crashpoints, explore, replay, simulate
from windtunnel.simulator.hosting import Hosting, hosting
from windtunnel.simulator.invariants import FENCE
from windtunnel.simulator.run import words
from windtunnel.simulator.search.exploration import Setup

WITH_ORIGIN = hosting("detached")
WITHOUT = hosting("detached", origin=False)
DIRECT = hosting("direct")
SECOND = hosting(second_host=True)


def run(snapshot: Snapshot, around: Hosting, *wanted: Wanted) -> Run:
    """One run with these hosts."""
    return drive(snapshot, *wanted, setup=Setup(snapshot, visit_cap=1_000, hosting=around))


def of(done: Run, process: str) -> list[str]:
    """The types of what a process did."""
    return [event["type"] for event in done.events if event["process"] == process]


# --- a worker -----------------------------------------------------------------------------------------------


def test_r40j_a_worker_parks_before_a_visible_answer_and_the_session_gives_it_once() -> None:
    """S11, L3: no prompt where nobody looks on; the origin session claims the run and answers once."""
    done = run(flow(ANSWER), WITH_ORIGIN)
    assert done.status == "completed"
    names = [event["type"] for event in done.events]
    parked, asked = names.index("run_parked"), names.index("agent_prompt_sent")
    assert parked < names.index("run_resumed") < asked
    assert done.events[parked]["process"] == "worker"
    assert events(done, "agent_session_required")[0]["nodeId"] == "say"
    assert {event["process"] for event in done.events[asked:]} <= {"host", "provider"}
    assert [entry["kind"] for entry in done.session] == ["session", "step", "assistant"]
    assert len(events(done, "node_started")) == 2
    assert events(done, "run_resumed")[0]["payload"]["resumedAttemptId"] == "attempt-1"


def test_a_worker_does_what_needs_no_session_and_its_session_stays_unseen() -> None:
    """Submissions, values and effects are done without anybody who looks on."""
    done = run(flow(DECIDE), WITH_ORIGIN)
    assert done.status == "completed"
    assert done.session == ()
    assert {e["process"] for e in events(done, "node_finished")} == {"worker"}
    assert not events(done, "run_parked")


def test_a_worker_goes_on_until_a_step_needs_the_session() -> None:
    """The plan is made by the worker, what is shown by the session; nothing is done twice."""
    text = LOOP.replace("start -> say -> judge", "start -> judge0 -> say -> judge").replace(
        "  agent judge ", '  agent judge0 { prompt "?" expectedOutput { n: int } }\n  agent judge '
    )
    done = run(flow(text), WITH_ORIGIN, behaves('submits verdict "good"', "judge"))
    assert done.status == "completed"
    assert steps(done) == ["judge0", "say", "judge", "kept"]
    finished = {e["nodeId"]: e["process"] for e in events(done, "node_finished")}
    assert finished == {"judge0": "worker", "say": "host", "judge": "host", "kept": "host"}


@pytest.mark.parametrize("crash", ["run_started", "run_parked", "run_resumed", "agent_prompt_sent"])
def test_a_crash_anywhere_on_the_way_leaves_one_answer(crash: str) -> None:
    """R26: of the worker before it parked, and of the session after it took the run up."""
    done = run(flow(ANSWER), WITH_ORIGIN, crash_after(crash))
    assert done.status == "completed"
    assert len([entry for entry in done.session if entry.get("stop") == "stop"]) == 1
    assert len([entry for entry in done.session if entry.get("prompt") == "step"]) == 1
    assert (
        len({event["attemptId"] for event in events(done, "node_started") if event["nodeId"] == "say"}) == 1
    )


def test_without_an_origin_the_step_fails_before_anything_is_asked() -> None:
    """S12, R40j: with the fixed sentence, and by the route for its failure where there is one."""
    done = run(flow(ANSWER), WITHOUT)
    assert done.status == "failed"
    error = events(done, "node_failed")[0]["payload"]["error"]
    assert error == words.NO_ORIGIN == "Assistant completion requires an origin session."
    assert events(done, "run_failed")[0]["payload"]["error"] == error
    assert "agent_prompt_sent" not in types(done)
    assert done.session == ()
    routed = ANSWER.replace("exits { done: { text: text } }", "exits { done: { text: text }, gone: int }")
    routed = routed.replace("compute kept", "compute lost = 1\n  compute kept").replace(
        "-> exit done }", "-> exit done\n say on failed -> lost -> exit gone }"
    )
    assert run(flow(routed), WITHOUT).exit == "gone"


def test_nothing_is_turned_into_a_notification() -> None:
    """Neither what is parked nor what fails."""
    for around in (WITH_ORIGIN, WITHOUT):
        assert not events(run(flow(ANSWER), around), "notification_queued")


def test_a_notification_of_a_worker_is_shown_in_the_origin_session_or_stays_listed() -> None:
    """Once, and to nobody else."""
    done = run(flow(PAY), WITH_ORIGIN)
    assert [entry["kind"] for entry in done.session if entry["kind"] == "notice"] == ["notice"]
    shown = events(done, "notification_delivered")
    assert [event["process"] for event in shown] == ["host"]
    listed = run(flow(PAY), WITHOUT)
    assert listed.status == "completed"
    assert events(listed, "notification_queued")
    assert not events(listed, "notification_delivered")


def test_a_person_talks_to_the_session_while_a_worker_works() -> None:
    """Their turn is no turn of the run."""
    done = run(flow(DECIDE), WITH_ORIGIN, labelled("the person sends a message"))
    assert done.status == "completed"
    assert [entry["kind"] for entry in done.session] == ["session", "user", "assistant"]
    assert of(done, "person") == ["said"]


def test_a_person_cancels_what_a_worker_does() -> None:
    """And the worker's turn ends."""
    done = run(flow(DECIDE), WITH_ORIGIN, move("cancel", engine="pending"))
    assert done.status == "cancelled"
    assert events(done, "run_cancelled")[0]["process"] == "worker"


def test_a_decision_is_answered_while_a_worker_waits() -> None:
    """By a person, through the store."""
    assert run(flow(ASK), WITH_ORIGIN).status == "completed"


@pytest.mark.parametrize("text", [ANSWER, DECIDE, PAY, ASK])
@pytest.mark.parametrize("around", [WITH_ORIGIN, WITHOUT, DIRECT], ids=lambda one: f"{one.host} {one.origin}")
def test_every_host_is_sound(text: str, around: Hosting) -> None:
    """Any fault, crashes of worker and session among them."""
    found = explore(flow(text), faults=1, host=around.host, origin=around.origin)
    assert found.violations == ()
    assert found.complete


def test_the_worker_and_the_session_are_sound_with_two_faults() -> None:
    """L3: every run that is parked is taken up."""
    assert explore(flow(ANSWER), host="detached").violations == ()


def test_every_crash_point_of_a_worker_recovers() -> None:
    """Of both processes."""
    found = crashpoints(flow(ANSWER), host="detached")
    assert found.fired == found.recovered == found.total > 0


# --- a direct client ----------------------------------------------------------------------------------------


def test_a_direct_client_sees_answers_and_nobody_talks_to_it() -> None:
    """It hears `message_end` and `agent_settled` itself, so it can complete such a step."""
    done = run(flow(ANSWER), DIRECT)
    assert done.status == "completed"
    assert not events(done, "run_parked")
    usual, direct = explore(flow(ANSWER), faults=1), explore(flow(ANSWER), faults=1, host="direct")
    assert direct.states < usual.states


# --- a claim that is lost -----------------------------------------------------------------------------------

lost = move("zombie")


@pytest.mark.parametrize("phase", ["ready", "sending", "pending", "recover"])
def test_r33_a_host_that_lost_its_claim_stops_without_a_trace(phase: str) -> None:
    """S27: whatever it was about to do; the next host does it, once."""
    before = (crash_after("node_started", "say"),) if phase == "recover" else ()
    done = run(flow(ANSWER), SECOND, *before, move("zombie", engine=phase))
    assert done.status == "completed"
    assert events(done, "lease_lost")
    assert of(done, "zombie") == []
    assert len([entry for entry in done.session if entry.get("stop") == "stop"]) == 1
    assert [e["process"] for e in events(done, "write_refused")] in ([], ["world"])


def test_an_effect_that_a_lost_host_called_happens_once() -> None:
    """Its call is still under way when the next host calls with the same key."""
    done = run(flow(PAY), SECOND, move("zombie", engine="calling"))
    assert done.status == "completed"
    assert len(events(done, "effect_applied")) == 1
    assert len(events(done, "effect_started")) == 2


@pytest.mark.parametrize("text", [ANSWER, DECIDE, PAY, ASK])
def test_two_hosts_are_sound(text: str) -> None:
    """S26, S28: any two faults, a lost claim among them."""
    found = explore(flow(text), second_host=True)
    assert found.violations == ()
    assert found.complete
    assert found.tested[FENCE] > 0


def test_a_lost_worker_is_sound_too() -> None:
    """A worker that wakes up when another one, or the session, has the run."""
    assert explore(flow(ANSWER), faults=1, host="detached", second_host=True).violations == ()
    assert explore(flow(DECIDE), faults=1, host="detached", origin=False, second_host=True).violations == ()


# --- asking for it ------------------------------------------------------------------------------------------


def test_hosts_are_asked_for_by_name() -> None:
    """And refused by name."""
    assert simulate(flow(ANSWER), host="detached").status == "completed"
    assert simulate(flow(ANSWER), host="detached", origin=False).status == "failed"
    with pytest.raises(HostingRefused, match="Only a detached host can be without an origin session"):
        simulate(flow(ANSWER), origin=False)


def test_a_token_brings_its_hosts() -> None:
    """What was found with two hosts is shown with two hosts."""
    found = explore(fault="W11")
    token = found.violations[0].token
    assert replay(token, lambda name: pytest.fail(name)).violations[0].invariant == FENCE
    assert found.to_json()["hosting"] == {"secondHost": True}


def test_the_usual_world_does_not_grow() -> None:
    """Who asks for nothing pays for nothing."""
    assert explore(builtin("plain-summary")).states == 2_797
