"""What a transition of the engine starts from and ends in."""

from __future__ import annotations

from typing import Final, NamedTuple

from windtunnel.compiler.evaluator import Compiled, EvaluationError
from windtunnel.simulator.chat.log import Answer, Branch
from windtunnel.simulator.events import CURRENT, ELAPSED, Action, Commit, Disarm, Event, Payload
from windtunnel.simulator.run.state import Position, Run, Scope

VISIBLE: Final = "visible"
PARK: Final = "park"
UNSUPPORTED: Final = "unsupported"
"""What an executor does with a step that is answered in a session: show it, leave it to that, refuse."""


class Engine(NamedTuple):
    """Volatile state. `phase` is one of

    `down`, `recover` (booted, the session not yet read), `ready` (goes on by itself), `sending` (a prompt is
    with the loop), `pending` (it was delivered), `accepted` (a submission was), `ending` (a node failed, its
    turn is being aborted), `held` (paused), `watching` (somebody else works on the run), `parked` (the run
    was left to its session), `checking` (a submission), `refused` (the definition is another one), `over`.
    `cold` says that the step in flight was interrupted by a crash, `edited` that the host is about to load
    another definition than that of the run, `telling` that a turn after the end waits to be delivered.
    """

    phase: str = "down"
    ordinal: int = 0
    nudges: int = 0
    answer: Answer | None = None
    cold: bool = False
    edited: bool = False
    telling: bool = False


class View(NamedTuple):
    """What one message lets the engine read: the position, the expressions' values, and for recovery the
    branch.

    `executor` says what becomes of a step that is answered in a session; `mine` that nobody else works on
    the run, `edited` that the definition at hand is not that of the run.
    """

    position: Position
    run: Run
    branch: Branch | None = None
    executor: str = VISIBLE
    mine: bool = True
    edited: bool = False


Result = tuple[Engine, tuple[Action, ...]]
OVER_STATE = Engine("over")
READY = Engine("ready")
HELD = Engine("held")


def node_failed(node: str, outcome: str, error: str) -> Event:
    """The event of a node that did not finish."""
    payload: Payload = (("durationMs", ELAPSED), ("error", error), ("outcome", outcome))
    return Event("node", "node_failed", node, CURRENT, payload)


def failure(node: str, outcome: str, error: str) -> tuple[Action, ...]:
    """The end of a node that did not finish, and of its timer."""
    return Commit((node_failed(node, outcome, error),)), Disarm()


def timeout_of(node: str, timeout: Compiled | None, scope: Scope) -> int | None:
    """The wall-clock limit of an attempt. Raises EvaluationError when it is no positive whole number."""
    if timeout is None:
        return None
    value = timeout(scope)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise EvaluationError(f"the timeout of {node} is not a positive duration")
    return value
