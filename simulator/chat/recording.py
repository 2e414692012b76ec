"""What a model did in a session of an agent, as a script that plays it again: the provider `recorded`.

Each prompt of a workflow step in the session file begins a visit of its node, or goes on with one; what the
model then sent, until a person wrote, are the messages of the visit. Effects leave no message, so they are
made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.chat.entries import Entry, MessageEnded, RunClosed, UserMessage
from windtunnel.simulator.chat.importing import read_session
from windtunnel.simulator.chat.parts import Part, ReasoningPart, Step, TextPart, json_value
from windtunnel.simulator.providers.behaviour import (
    Act,
    Addressed,
    Call,
    Kind,
    Menu,
    Request,
    Stop,
    Text,
    Thinking,
    Turn,
    submission,
)
from windtunnel.simulator.providers.generated import GeneratedProvider
from windtunnel.simulator.providers.scripted import Line, ScriptedProvider

WORKFLOW_TOOL: Final = "workflow"
FAILED: Final = "the provider failed"


class NothingRecorded(ValueError):
    """The session file holds no step of the workflow; the message says what it holds."""


def recorded(text: str, snapshot: Snapshot) -> ScriptedProvider:
    """The provider that does at each node what the model did in the session file `text`.

    A visit that is not in the file is a gap, which the run reports. Raises NothingRecorded.
    """
    imported = read_session(text)
    visits = _visits(imported.path)
    lines = [each for each in visits if each.node in snapshot.nodes]
    if not lines:
        known = sorted({each.node for each in visits})
        said = f"; it has steps of {', '.join(known)}" if known else "; it has no steps of workflows at all"
        raise NothingRecorded(f"this session has no step of {snapshot.workflow}{said}")
    return ScriptedProvider(tuple(lines), _Effects(snapshot))


class _Effects:
    """Answers for effects alone."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.made = GeneratedProvider(snapshot)

    def menu(self, request: Request) -> Menu:
        """What an effect may do; a gap for a model."""
        if request.kind is Kind.EFFECT:
            return self.made.menu(request)
        return Menu((), gap=f"the session has no visit {request.visit} of {request.node}")


@dataclass(slots=True)
class _Visit:
    step: Step
    number: int
    turns: list[Turn] = field(default_factory=list)


def _visits(entries: tuple[Entry, ...]) -> list[Line]:
    found: dict[tuple[str, str], _Visit] = {}
    current: _Visit | None = None
    for entry in entries:
        match entry.body:
            case UserMessage(step=None):
                current = None
            case UserMessage(step=Step() as step):
                number = 1 + sum(visit.step.node == step.node for visit in found.values())
                current = found.setdefault((step.node, step.attempt), _Visit(step, number))
            case MessageEnded() as message if current is not None:
                _take(current, message)
            case RunClosed() as closed if current is not None:
                if closed.message is not None:
                    _take(current, closed.message)
                if closed.error and current.turns and current.turns[-1].stop is Stop.ERROR:
                    current.turns[-1] = replace(current.turns[-1], error=closed.error)
            case _:
                pass
    return [
        Line(visit.step.node, tuple(visit.turns), visit.number) for visit in found.values() if visit.turns
    ]


def _take(visit: _Visit, message: MessageEnded) -> None:
    if visit.turns and visit.turns[-1].stop is Stop.ERROR:
        # Another message without another prompt: the loop asked again.
        visit.turns[-1] = replace(visit.turns[-1], retryable=True)
    acts = tuple(_act(part, visit.step) for part in message.parts)
    stop = Stop(message.stop)
    if stop in (Stop.STOP, Stop.TOOL_USE):
        calls = any(not isinstance(act, Text | Thinking) for act in acts)
        stop = Stop.TOOL_USE if calls else Stop.STOP
    visit.turns.append(Turn(acts, stop, error=FAILED if stop is Stop.ERROR else None))


def _act(part: Part, step: Step) -> Act:
    if isinstance(part, TextPart):
        return Text(part.text)
    if isinstance(part, ReasoningPart):
        return Thinking(part.text)
    given: Any = json_value(part.input or "{}")
    if part.name == WORKFLOW_TOOL and isinstance(given, dict) and "output" in given:
        if given.get("step", step.node) != step.node:
            return submission(given["output"], Addressed.OTHER_STEP)
        stale = given.get("attempt", step.attempt) != step.attempt
        return submission(given["output"], Addressed.STALE_ATTEMPT if stale else Addressed.HERE)
    return Call(part.name, part.input or "{}")
