"""Scenarios on other hosts than the usual one, with a person who pauses, and with a presentation."""

from __future__ import annotations

import pytest

from tests.simulator.scenario.acting import TALK, act
from windtunnel.simulator.scenario.verdict import Verdict

LINES = """provider {
  greet says "Hello Ada."
  sort submits { pile: "a" }
}
"""


def told(verdict: Verdict, type_: str) -> list[str]:
    """The processes of the events of a type."""
    return [event["process"] for event in verdict.events if event["type"] == type_]


def passes(body: str, flow: str = TALK) -> Verdict:
    """A scenario that holds."""
    verdict = act(body, flow)
    assert [each.message for each in verdict.broken] == []
    return verdict


def test_a_worker_leaves_the_visible_answer_to_the_session() -> None:
    """And the session goes on to the end."""
    expected = 'expect run.exit == "done"\nexpect visible(greet) == 1'
    verdict = passes("host detached with origin\n" + LINES + expected)
    assert told(verdict, "run_parked") == ["worker"]
    assert told(verdict, "run_completed") == ["host"]


@pytest.mark.parametrize("event", ["run_parked", "agent_session_required of greet"])
def test_a_crash_of_the_worker_changes_nothing(event: str) -> None:
    """It falls where its event does."""
    body = f"host detached with origin\n{LINES}faults {{\ncrash host after {event}\n}}\n"
    assert len(told(passes(body + "expect visible(greet) == 1"), "crashed")) == 1


def test_a_crash_of_the_session_that_took_the_run_up_resumes_it() -> None:
    """In the same attempt, with one sentence more."""
    body = 'host detached with origin\nprovider {\n  greet says "Hello" then says "Hello Ada."\n'
    body += '  sort submits { pile: "a" }\n}\nfaults {\ncrash host after message_start of greet\n}\n'
    verdict = passes(body + "expect visible(greet) == 1")
    assert [entry.get("prompt") for entry in verdict.session if entry["kind"] == "step"][:2] == [
        "step",
        "resume",
    ]


def test_without_an_origin_the_answer_fails() -> None:
    """With the fixed sentence."""
    verdict = passes('host detached without origin\nexpect run.status == "failed"')
    assert "Assistant completion requires an origin session." in str(verdict.events[-1]["payload"])


def test_a_direct_client_completes_such_a_step() -> None:
    """It sees its own session."""
    passes("host direct\n" + LINES + 'expect run.exit == "done"')


def test_a_person_pauses_and_resumes() -> None:
    """The step in flight ends, and nothing starts until the person comes back."""
    body = LINES + "person {\npauses after agent_prompt_sent of greet\nresumes at 5s\n}\n"
    verdict = passes(body + 'expect run.exit == "done"\nexpect clock >= 5s')
    types = [event["type"] for event in verdict.events]
    assert types.index("node_finished") < types.index("run_paused") < types.index("run_resumed")


def test_a_run_that_is_paused_before_it_starts_starts_nothing() -> None:
    """Where nobody lets it go on."""
    passes('person {\npauses at 0s\n}\nexpect run.status == "paused"\nexpect visits(greet) == 0')


PICK = """language 1
workflow pick {
  input { most: int(1..9) = 9 }
  presentation "Say what was picked: ${choose.n}"
  agent choose "choosing" { prompt "Pick a number up to ${input.most}." expectedOutput { n: int(0..9) } }
  compute kept = { n: choose.n }
  edges { start -> choose -> kept -> exit done }
}
"""


@pytest.mark.parametrize("host", ["interactive", "detached with origin"])
def test_a_presentation_is_the_last_turn(host: str) -> None:
    """Seen by the person, and no answer of any node."""
    body = f"host {host}\nprovider {{\n  choose submits {{ n: 7 }}\n}}\nexpect visible(choose) == 0"
    verdict = passes(body, PICK)
    assert verdict.session[-2]["prompt"] == "presentation"
    assert verdict.session[-2]["text"] == "Say what was picked: 7"
