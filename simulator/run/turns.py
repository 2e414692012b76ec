"""The turn that a conversation is still given when a run has ended, or waits: at most one, once.

It is written down in the transaction that ends the run, asked for when the session is idle, and ticked off
when its prompt stands there. What makes it pointless takes it away: a person who cancels, a run that goes on.
"""

from __future__ import annotations

from typing import Final

from windtunnel.compiler.evaluator import EvaluationError
from windtunnel.simulator.events import (
    NO_ATTEMPT,
    Abort,
    Action,
    Commit,
    Event,
    Payload,
    Prompt,
    Question,
    StepRef,
    Tell,
)
from windtunnel.simulator.run import words
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.routing import Route
from windtunnel.simulator.run.state import Run, Scope
from windtunnel.simulator.run.transition import UNSUPPORTED, VISIBLE, Engine, Result, View

PRESENTATION: Final = "presentation"
FALLBACK: Final = "fallback"
COMPLETION: Final = "turn"


def at_the_end(program: Program, way: Route, executor: str) -> tuple[Event, ...]:
    """The events of a route, and before the run's end the turn that follows it."""
    *before, end = way.events
    status = way.run.position.status
    turn: tuple[Event, ...] = ()
    if executor == UNSUPPORTED:
        return way.events
    if status == "completed":
        turn = presentation(program, way.before)
    elif status in ("failed", "timed_out") and program.last_turn:
        error = end.text("error")
        turn = (_deferred(FALLBACK, words.fallback(program.snapshot.workflow, status, error)),)
    return (*before, *turn, end)


def while_waiting(program: Program, run: Run, executor: str) -> tuple[Event, ...]:
    """The turn that a person is given beside a question."""
    return presentation(program, run) if executor == VISIBLE else ()


def presentation(program: Program, run: Run) -> tuple[Event, ...]:
    """The author's presentation; one that cannot be made is left out."""
    if program.presentation is None:
        return ()
    try:
        return (_deferred(PRESENTATION, str(program.presentation(Scope(program, run)))),)
    except EvaluationError:
        return ()


def _deferred(kind: str, prompt: str) -> Event:
    return Event("run", "turn_deferred", payload=(("kind", kind), ("prompt", prompt)))


def give(local: Engine, view: View) -> Result:
    """Ask for the turn; one whose prompt stands in the session already is only ticked off."""
    owed = view.run.owed
    assert owed is not None, "a turn is due"
    if view.branch is not None and view.branch.turned:
        return local, (Commit((_given(owed.kind),)),)
    prompt = Prompt(StepRef(NO_ATTEMPT, 0, COMPLETION), Question("", 1, owed.kind, owed.text))
    return local._replace(telling=True), (Tell("loop", prompt),)


def delivered(local: Engine, prompt: Prompt) -> Result:
    """Its prompt stands in the session."""
    if not local.telling:
        return local, ()
    return local._replace(telling=False), (Commit((_given(prompt.question.kind),)),)


def _given(kind: str) -> Event:
    payload: Payload = (("kind", kind),)
    return Event("run", "turn_given", payload=payload)


def taken_back(program: Program) -> tuple[Action, ...]:
    """A run that goes on, or that a person cancels, needs no turn of its own."""
    return () if program.presentation is None else (Tell("loop", Abort(NO_ATTEMPT)),)
