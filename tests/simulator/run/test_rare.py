"""What may happen where it is asked for: checks that hang, late timers, edited definitions, and more."""

from __future__ import annotations

import pytest

from tests.simulator.driving import Wanted, behaves, crash_after, drive, labelled, move
from tests.simulator.flows import ANSWER, DECIDE, events, flow, steps, types
from windtunnel.simulator import Run, explore
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.events import Row
from windtunnel.simulator.hosting import ALSO, hosting
from windtunnel.simulator.run import words
from windtunnel.simulator.search.exploration import Setup

AGAIN = """language 1
workflow again {
  revision 1
  exits { done: { verdict: text } }
  agent decide { prompt "Visit ${visits(decide)}." expectedOutput { verdict: "good" | "again" } }
  compute kept = { verdict: decide.verdict }
  edges {
    start -> decide -> match .verdict {
      "good" -> kept
      "again" -> decide limit 1 then -> kept
    }
    kept -> exit done
  }
}
"""


def run(text: str, also: str, *wanted: Wanted) -> Run:
    """A run in which that may happen."""
    snapshot = flow(text)
    return drive(snapshot, *wanted, setup=Setup(snapshot, visit_cap=1_000, hosting=hosting(also=(also,))))


def said(done: Run, type_: str) -> list[str]:
    """The texts of the events of a type."""
    return [event["payload"].get("text", "") for event in done.events if event["type"] == type_]


def test_a_check_that_hangs_ends_with_the_time_of_its_step() -> None:
    """W09, L8: the call is closed, the turn is aborted, and the run goes the way of a timeout."""
    done = run(DECIDE.replace("on failed", "on failed | timed_out"), "hang", labelled("hangs"))
    assert (done.status, done.exit) == ("completed", "gone")
    assert events(done, "node_failed")[0]["payload"]["outcome"] == "timed_out"
    assert [entry["text"] for entry in done.session if entry["kind"] == "tool"] == [
        "The call was not finished."
    ]


def test_a_check_that_hangs_can_be_escaped_and_cancelled() -> None:
    """A person need not wait for the clock."""
    held = run(DECIDE, "hang", labelled("hangs"), move("escape", engine="checking"), labelled("go on"))
    assert held.status == "completed"
    cancelled = run(DECIDE, "hang", labelled("hangs"), move("cancel", engine="checking"))
    assert cancelled.status == "cancelled"


def test_a_late_word_of_a_timer_ends_nothing_else() -> None:
    """W33: it names the attempt that it was started for."""
    late = labelled("the word of it comes late")
    done = run(AGAIN, "late-timer", late, behaves('submits verdict "again"', "decide"))
    assert done.status == "completed"
    assert "node_failed" not in types(done)
    assert steps(done) == ["decide", "decide", "kept"] or steps(done) == ["decide", "kept"]


def test_a_call_in_a_turn_of_the_person_is_answered_while_a_prompt_waits() -> None:
    """W30: refused at once; the prompt is delivered when that turn has settled."""
    wanted = (labelled("the person sends a message"), labelled("calls the workflow tool"))
    done = run(DECIDE, "chat-tool", *wanted)
    assert done.status == "completed"
    refused = [event for event in done.events if event["type"] == "submission_refused"]
    assert refused[0]["payload"]["reason"] == words.NOTHING_AWAITED
    assert refused[0]["seq"] < events(done, "agent_prompt_sent")[0]["seq"]


def test_a_model_that_submits_again_and_again_is_not_asked_for_ever() -> None:
    """W32: the first submission counts, the others are refused, and after two the turn ends."""
    done = run(DECIDE, "twice", behaves("submits twice"))
    assert done.status == "completed"
    assert len([event for event in done.events if event["type"] == "submission_refused"]) == 3
    assert len(said(done, "turn_end")) == 2


def test_a_run_waits_for_its_own_definition() -> None:
    """W17, S24, R31: nothing is done by another one, and it goes on when its own is there again."""
    done = run(ANSWER, "edit", crash_after("agent_prompt_sent"), move("edit"), labelled("put back"))
    assert done.status == "completed"
    refused = events(done, "resume_refused")
    assert [event["payload"]["reason"] for event in refused] == [words.EDITED]
    after = [event["type"] for event in done.events if event["seq"] > refused[0]["seq"]]
    assert after.index("released") < after.index("run_resumed")


def test_a_run_on_an_edited_definition_can_be_cancelled() -> None:
    """That needs no definition."""
    done = run(ANSWER, "edit", crash_after("agent_prompt_sent"), move("edit"), move("cancel"))
    assert done.status == "cancelled"


def test_half_a_line_is_cut_off_and_not_glued_to_the_next_entry() -> None:
    """W16, S23, R28: what stands behind it is read whole."""
    torn = logs.tear(logs.append(logs.NEW, Row("session")))
    row = Row("step", node="a", attempt="current")
    assert logs.append(logs.repair(torn), row).prompted
    spoilt = logs.append(logs.glue(torn), row)
    assert not spoilt.prompted
    assert logs.append(spoilt, row).prompted


@pytest.mark.parametrize("name", ALSO)
@pytest.mark.parametrize("text", [ANSWER, DECIDE])
def test_whatever_may_happen_the_engine_is_sound(name: str, text: str) -> None:
    """One fault of any kind, of those among them."""
    found = explore(flow(text), faults=1, also=(name,))
    assert found.violations == ()
    assert found.complete


def test_all_of_it_together_is_sound() -> None:
    """A worker for a session, a second one, and everything that may happen around them."""
    found = explore(flow(ANSWER), faults=1, host="detached", second_host=True, also=tuple(ALSO))
    assert found.violations == ()
    assert found.complete
