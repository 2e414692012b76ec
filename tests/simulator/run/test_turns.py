"""The turn after the end: a presentation, or a word about what went wrong; at most one, once."""

from __future__ import annotations

import pytest

from tests.simulator.driving import Wanted, crash_after, crash_after_row, drive, labelled, move
from tests.simulator.flows import ANSWER, ASK, DECIDE, events, flow, script, types
from windtunnel.simulator import Run, explore
from windtunnel.simulator.hosting import USUAL, Hosting, hosting
from windtunnel.simulator.invariants import TURN
from windtunnel.simulator.providers.behaviour import SILENCE, Provider
from windtunnel.simulator.search.exploration import Setup

SHOWN = DECIDE.replace("  revision 1\n", '  revision 1\n  presentation "Say what was picked, briefly."\n', 1)
ASKED = ASK.replace("  revision 1\n", '  revision 1\n  presentation "Say what is asked, briefly."\n', 1)
TITLED = ASK.replace("  revision 1\n", '  revision 1\n  title "A release"\n', 1)
LAST = hosting(also=("last-turn",))


def run(text: str, *wanted: Wanted, provider: Provider | None = None, around: Hosting = USUAL) -> Run:
    """One run."""
    snapshot = flow(text)
    return drive(snapshot, *wanted, setup=Setup(snapshot, provider=provider, visit_cap=1_000, hosting=around))


def turns(done: Run) -> list[str]:
    """What was asked for after the end, as the session has it."""
    return [entry["prompt"] for entry in done.session if entry["kind"] == "turn"]


def test_a_completed_run_is_presented_in_one_visible_turn() -> None:
    """It starts nothing, and its answer is no output of the run."""
    done = run(SHOWN)
    assert (done.status, done.exit) == ("completed", "done")
    assert turns(done) == ["presentation"]
    assert [entry["kind"] for entry in done.session][-2:] == ["turn", "assistant"]
    given = events(done, "turn_given")
    assert [event["payload"] for event in given] == [{"kind": "presentation"}]
    assert given[0]["seq"] > events(done, "run_completed")[0]["seq"]


def test_a_run_that_waits_is_presented_and_goes_on_when_it_is_answered() -> None:
    """Once where it waits, and once where it ends."""
    done = run(ASKED, move("", engine="waiting", loop="idle"), labelled("the person answers"))
    assert done.status == "completed"
    assert turns(done) == ["presentation", "presentation"]
    assert [event["payload"]["kind"] for event in events(done, "turn_given")] == ["presentation"] * 2


@pytest.mark.parametrize("crash", ["run_completed", "turn_given"])
def test_a_crash_does_not_repeat_it(crash: str) -> None:
    """S32: whether it was asked for stands in the session."""
    assert turns(run(SHOWN, crash_after(crash))) == ["presentation"]


def test_a_crash_right_after_its_prompt_does_not_repeat_it() -> None:
    """The store does not know of it yet; the session does."""
    done = run(SHOWN, crash_after_row("turn"))
    assert turns(done) == ["presentation"]
    assert len(events(done, "turn_given")) == 1


def test_a_run_that_a_person_cancels_is_not_presented() -> None:
    """Nor told of in any other way."""
    for around in (USUAL, LAST):
        done = run(SHOWN, move("cancel", engine="pending"), around=around)
        assert (done.status, turns(done)) == ("cancelled", [])


def test_a_run_that_fails_is_told_of_once_where_that_is_asked_for() -> None:
    """With the facts, and nothing else."""
    failing = SHOWN.replace("    pick on failed -> lost -> exit gone\n", "")
    failing = failing.replace(", gone: { why: text }", "").replace('  compute lost = { why: "" }\n', "")
    silent = script(pick=[SILENCE] * 3)
    assert turns(run(failing, provider=silent)) == []
    done = run(failing, provider=silent, around=LAST)
    assert (done.status, turns(done)) == ("failed", ["fallback"])
    told = next(entry["text"] for entry in done.session if entry["kind"] == "turn")
    assert told.startswith(
        "The workflow decide ended as failed: The model settled 3 times without submitting"
    )
    crashed = run(failing, crash_after_row("turn"), provider=silent, around=LAST)
    assert turns(crashed) == ["fallback"]


def test_it_is_shown_in_the_session_that_a_detached_run_belongs_to() -> None:
    """By the host, after the worker is done; without an origin there is nobody to show it to."""
    done = run(SHOWN, around=hosting("detached"))
    assert turns(done) == ["presentation"]
    assert events(done, "turn_given")[0]["process"] == "host"
    alone = run(SHOWN, around=hosting("detached", origin=False))
    assert (alone.status, turns(alone), events(alone, "turn_deferred")) == ("completed", [], [])


def test_a_title_is_made_once() -> None:
    """When the run starts; the run that goes on where it waited has the same."""
    done = run(TITLED)
    titles = [event["payload"].get("title") for event in events(done, "run_started")]
    assert titles == ["A release", None]


@pytest.mark.parametrize("text", [SHOWN, ASKED])
@pytest.mark.parametrize("around", [USUAL, hosting("detached"), LAST], ids=["usual", "detached", "last"])
def test_the_turn_after_the_end_is_sound(text: str, around: Hosting) -> None:
    """One fault of any kind."""
    found = explore(flow(text), faults=1, host=around.host, also=around.also)
    assert found.violations == ()
    assert found.complete
    assert found.tested[TURN] > 0


def test_two_faults_do_not_double_it() -> None:
    """Two crashes, a second host, another branch."""
    assert explore(flow(SHOWN)).violations == ()
    assert explore(flow(SHOWN), faults=1, second_host=True, also=("branch", "pause")).violations == ()


def test_who_presents_nothing_pays_nothing() -> None:
    """A workflow without a presentation has not one state more."""
    assert "turn_deferred" not in types(run(ANSWER))
