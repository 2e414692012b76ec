"""Claims: leases with fencing tokens. Who may write, and what an executor leaves to the session of the run.

A claim that was taken over never comes back; whoever held it learns of that by the first write that is
refused, and stops without another word.
"""

from __future__ import annotations

from typing import Final

from windtunnel.simulator.events import CURRENT, Commit, Event
from windtunnel.simulator.run import words
from windtunnel.simulator.run.program import Agent, Program
from windtunnel.simulator.run.transition import PARK, READY, VISIBLE, Engine, Result, failure

WATCHING: Final = Engine("watching")
"""An engine whose run somebody else works on."""

PARKED: Final = Engine("parked")
"""An engine that left its run to the session that the run belongs to."""


def writes(program: Program, *, held: bool) -> bool:
    """Whether a write counts: only with the token of the claim that holds."""
    return held or "W11" in program.switches


def leaves(program: Program, agent: Agent, executor: str) -> bool:
    """Whether the executor must not ask for the answer of a step: nobody would see it."""
    hidden = executor != VISIBLE and "W07" not in program.switches
    return hidden and agent.completion == "assistant"


def leave(agent: Agent, executor: str) -> Result:
    """Park the run before the step, for the session that it belongs to; without one the step fails."""
    if executor != PARK:
        return READY, failure(agent.id, "failed", words.NO_ORIGIN)
    asked = Event("agent", "agent_session_required", agent.id, CURRENT)
    return PARKED, (Commit((asked, Event("run", "run_parked"))),)
