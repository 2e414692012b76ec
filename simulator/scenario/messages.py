"""Acts of a script as messages of the model.

`then` begins a new message. Within a turn a message also ends with its tool calls: what is said after a call
is said once its result is there. So `calls read({…}), says "Done."` are two messages, and
`says "Wait.", calls read({…})` is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.scenario import Act
from windtunnel.simulator.providers.behaviour import Act as Part
from windtunnel.simulator.providers.behaviour import Call, Stop, Text, Thinking, Turn, submission

FAILED: Final = "the provider failed"
CALLS: Final = ("calls", "submits")
"""Acts that call a tool; a message ends with them."""


def messages(turns: Sequence[Sequence[Act]]) -> tuple[Turn, ...]:
    """The messages of a line, in order."""
    return tuple(message(part) for turn in turns for part in _split(turn))


def _split(turn: Sequence[Act]) -> list[list[Act]]:
    """The acts of a turn, message by message."""
    parts: list[list[Act]] = [[]]
    for act in turn:
        called = bool(parts[-1]) and parts[-1][-1].verb in CALLS
        if called and act.verb not in CALLS:
            parts.append([])
        parts[-1].append(act)
    return parts


def message(acts: Sequence[Act]) -> Turn:
    """One message of the model."""
    parts: list[Part] = []
    stop, error, retryable, stalls = Stop.STOP, None, False, False
    for act in acts:
        match act.verb:
            case "says":
                parts.append(Text(str(act.value)))
            case "thinks":
                parts.append(Thinking(str(act.value)))
            case "calls":
                parts.append(Call(act.tool or "", canonical({} if act.value is None else act.value)))
                stop = Stop.TOOL_USE
            case "submits":
                parts.append(submission(act.value))
                stop = Stop.TOOL_USE
            case "fails" | "retries":
                stop, retryable = Stop.ERROR, act.verb == "retries"
                error = FAILED if act.value is None else str(act.value)
            case "stops" if error is None:
                stop = Stop(str(act.value))
            case "stalls":
                stalls = True
    return Turn(tuple(parts), stop, error, retryable, stalls)
