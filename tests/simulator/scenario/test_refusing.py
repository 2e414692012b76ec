"""What is not simulated is refused by name and place, before anything runs."""

from __future__ import annotations

import pytest

from tests.simulator.scenario.acting import TALK, act, line_in
from windtunnel.simulator.scenario.verdict import Cause, Status


@pytest.mark.parametrize(
    ("body", "what", "line"),
    [
        ("person {\nreloads at 3s\n}", "a person who reloads", 2),
        ("person {\ncloses\n}", "a person who closes", 2),
        ("faults {\npower-loss host after run_started\n}", "`power-loss host`", 2),
        ("faults {\npause host after run_started\n}", "`pause host`", 2),
        ("faults {\ndisconnect client at 3s for 10s\n}", "`disconnect client`", 2),
        ("faults {\ndrop message_end\n}", "`drop message_end`", 2),
        ("faults {\ndelay agent_settled for 2s\n}", "`delay agent_settled`", 2),
        ("faults {\nreorder\n}", "`reorder`", 2),
        ("faults {\nduplicate followup_accepted\n}", "`duplicate followup_accepted`", 2),
        ("faults {\nduplicate message_end at 3s\n}", "a moment for `duplicate message_end`", 2),
        ("expect client.connected", "`client`, the browser of a person", 1),
        ("expect len(transcript.client) == 0", "`transcript.client`, what the browser shows", 1),
    ],
)
def test_what_is_not_simulated_is_named(body: str, what: str, line: int) -> None:
    verdict = act(body)
    assert verdict.status is Status.REFUSED
    assert verdict.events == ()
    (broken,) = verdict.broken
    assert broken.cause is Cause.NOT_SIMULATED
    assert broken.message == f"not simulated yet: {what}"
    assert broken.where.line == line_in(body, TALK, line)


def test_everything_is_named_at_once() -> None:
    verdict = act("person {\nreloads\ncloses\n}\nfaults {\nreorder\n}")
    assert len(verdict.broken) == 3
