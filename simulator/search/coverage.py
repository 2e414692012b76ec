"""What a search took of a workflow: arrows, exits, outcomes of nodes, behaviours of the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    CheckpointNode,
    ComputeNode,
    DecisionNode,
    NotifyNode,
    ShellNode,
    Snapshot,
    SnapshotNode,
)
from windtunnel.simulator.events import Action, Commit, Event


class Share(NamedTuple):
    """How many of something were covered, and which were missed, sorted."""

    covered: int
    total: int
    missed: tuple[str, ...]

    def to_json(self) -> JsonValue:
        """`{covered, total, missed}`."""
        return {"covered": self.covered, "total": self.total, "missed": list(self.missed)}


def share(wanted: Iterable[str], seen: Iterable[str]) -> Share:
    """What of the wanted was seen."""
    all_, found = sorted(set(wanted)), set(seen)
    missed = tuple(name for name in all_ if name not in found)
    return Share(len(all_) - len(missed), len(all_), missed)


def edges_of(snapshot: Snapshot) -> list[str]:
    """Every arrow by its key; what follows a used-up limit is an arrow of its own."""
    found = []
    for edge in snapshot.edges:
        for arm in edge.arms:
            found.append(arm.key)
            if arm.limit is not None:
                found.append(f"{arm.key} then")
    return found


def exits_of(snapshot: Snapshot) -> list[str]:
    """Every exit of the workflow and of its mounts (`mount.exit`)."""
    mounted = [f"{path}.{exit}" for path, m in snapshot.composition.mounts.items() for exit in m.exits]
    return [*snapshot.exits, *mounted]


def outcomes_of(snapshot: Snapshot) -> list[str]:
    """Every way a node can end, as `node outcome`."""
    found = []
    for name, node in snapshot.nodes.items():
        found += [f"{name} {outcome}" for outcome in _outcomes(node)]
    return found


def _outcomes(node: SnapshotNode) -> tuple[str, ...]:
    match node:
        case ComputeNode() | NotifyNode():
            return ("ok",)
        case CheckpointNode():
            return ("ok", "cancelled")
        case DecisionNode():
            return ("ok", "cancelled") if node.expires_ms is None else ("ok", "cancelled", "timed_out")
        case AgentNode() | ActionNode() | ShellNode():
            timed = () if node.timeout_ms == "none" else ("timed_out",)
            return ("ok", "failed", "cancelled", *timed)


class Taken(NamedTuple):
    """What was seen of edges, exits and outcomes."""

    edges: frozenset[str]
    exits: frozenset[str]
    outcomes: frozenset[str]


def taken(outcomes: Iterable[tuple[Action, ...]]) -> Taken:
    """What the handler calls of a search did; each call was made in some reachable state."""
    edges, exits, ends = set[str](), set[str](), set[str]()
    for actions in outcomes:
        for action in actions:
            if isinstance(action, Commit):
                for event in action.events:
                    _note(event, edges, exits, ends)
    return Taken(frozenset(edges), frozenset(exits), frozenset(ends))


def _note(event: Event, edges: set[str], exits: set[str], ends: set[str]) -> None:
    via = event.get("via")
    if isinstance(via, str):
        edges.add(via)
    if event.type == "run_completed":
        exits.add(event.text("exit"))
    elif event.type == "include_exited":
        exits.add(f"{event.text('mountPath')}.{event.text('exit')}")
    elif event.type in ("node_finished", "node_failed"):
        ends.add(f"{event.node} {event.get('outcome')}")
