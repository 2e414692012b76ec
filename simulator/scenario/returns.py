"""Turns of a script for an effect: what it returns, that it fails, or that nothing ever comes back.

`returns … , stalls` is applied and never replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.scenario import Act
from windtunnel.compiler.snapshot import ActionNode, ShellNode, Snapshot
from windtunnel.simulator.providers.behaviour import Act as Part
from windtunnel.simulator.providers.behaviour import Fails, Returns, Turn

FAILED: Final = "the call failed"
PROCESS: Final[Mapping[str, JsonValue]] = {"exitCode": 0, "stdout": "", "stderr": "", "durationMs": 0}
"""How a command ends when nothing else is said of it."""


def is_effect(snapshot: Snapshot, node: str) -> bool:
    """Whether a node acts on the outside."""
    return isinstance(snapshot.nodes.get(node), ActionNode | ShellNode)


def returns(snapshot: Snapshot, node: str, turns: Sequence[Sequence[Act]]) -> tuple[Turn, ...]:
    """One turn for each call of an effect."""
    return tuple(_turn(snapshot, node, turn) for turn in turns)


def _turn(snapshot: Snapshot, node: str, acts: Sequence[Act]) -> Turn:
    parts: list[Part] = []
    for act in acts:
        if act.verb == "returns":
            parts.append(Returns(canonical(_returned(snapshot, node, act.value))))
        elif act.verb == "fails":
            parts.append(Fails(FAILED if act.value is None else str(act.value)))
    return Turn(tuple(parts), stalls=any(act.verb == "stalls" for act in acts))


def _returned(snapshot: Snapshot, node: str, value: JsonValue) -> JsonValue:
    """The value as the outside gives it: of a command, how its process ends."""
    declared = snapshot.nodes[node]
    if not isinstance(declared, ShellNode):
        return value
    typed = declared.returns
    if typed is not None and isinstance(accept(typed, value, snapshot.types), Accepted):
        return {**PROCESS, "stdout": canonical(value)}
    return {**PROCESS, **(value if isinstance(value, dict) else {})}
