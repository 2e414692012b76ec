"""A snapshot made ready to run: expressions compiled, edges indexed, and what each position can still read.

A program is built once and never changes; handlers are functions of it and of frozen tuples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from windtunnel.compiler.acceptance import Acceptor, acceptor
from windtunnel.compiler.evaluator import Compiled, compile_expression
from windtunnel.compiler.snapshot import ArmModel, MountModel, Snapshot, TargetModel
from windtunnel.simulator.run.liveness import Liveness
from windtunnel.simulator.run.nodes import (
    Agent,
    Compute,
    Decision,
    Effect,
    Node,
    Notify,
    node_of,
    number,
)

__all__ = [
    "Agent",
    "Arm",
    "Compute",
    "Decision",
    "Edge",
    "Effect",
    "Mount",
    "Node",
    "NotSimulated",
    "Notify",
    "Program",
    "scope_of",
]


class NotSimulated(ValueError):
    """The workflow has something that this simulator does not run; the message names it."""


MANY_VISITS: Final = 1_000
"""Where the counts of visits that decide something saturate."""

NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of an edge; `limit` reads the environment and holds for `counter`."""

    key: str
    counter: str
    cases: tuple[str | int | float | bool | None, ...] | None
    to: TargetModel
    limit: Compiled | None
    then: TargetModel | None


@dataclass(frozen=True, slots=True)
class Edge:
    """What follows one end of one node, written in `scope`."""

    scope: str
    subject: Compiled | None
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Mount:
    """One include; `scope` is the mount path of the workflow that includes it."""

    path: str
    scope: str
    workflow: str
    input: Compiled
    accepts: Acceptor
    max_steps: Compiled
    start_at: str


class Program:
    """The snapshot, compiled.

    `switches` are the seeded faults that are on; only engine and recovery look at them. `visit_cap` saturates
    the counts of visits; with `last_turn` a run that ended badly gives the conversation one turn more.
    Whoever runs it says whether it `presents` a run that has ended or waits, and is refused else.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        switches: frozenset[str] = frozenset(),
        visit_cap: int = 2,
        presents: bool = False,
        last_turn: bool = False,
    ) -> None:
        if snapshot.presentation is not None and not presents:
            raise NotSimulated(f"not simulated here yet: the presentation at the end of {snapshot.workflow}")
        self.last_turn = last_turn
        self.snapshot = snapshot
        self.switches = switches
        self.visit_cap = visit_cap
        self.lets = {name: compile_expression(value) for name, value in sorted(snapshot.lets.items())}
        self.nodes = {name: node_of(name, node, snapshot) for name, node in sorted(snapshot.nodes.items())}
        mounts = snapshot.composition.mounts
        self.mounts = {path: _mount(path, mount, snapshot) for path, mount in sorted(mounts.items())}
        shown = snapshot.presentation
        self.presentation = None if shown is None else compile_expression(shown)
        self.title = None if snapshot.title is None else compile_expression(snapshot.title)
        self.accepts = acceptor(snapshot.input, snapshot.types)
        self.max_steps = number(snapshot.max_steps)
        self._edges: dict[tuple[str, str, str | None, str], Edge] = {
            (edge.scope, edge.source, edge.way, edge.on): Edge(
                edge.scope,
                None if edge.subject is None else compile_expression(edge.subject),
                tuple(_arm(arm) for arm in edge.arms),
            )
            for edge in snapshot.edges
        }
        self.counters = {
            arm.key: _counter(arm) for edge in snapshot.edges for arm in edge.arms if arm.limit is not None
        }
        self.counter_scopes = {_counter(arm): edge.scope for edge in snapshot.edges for arm in edge.arms}
        liveness = Liveness(snapshot)
        self.live = liveness.live
        self.revisited = liveness.revisited
        self._counted = liveness.counted
        self.ways = frozenset(
            id for id, node in self.nodes.items() if isinstance(node, Decision) and node.choices
        )
        self.ahead = _effects_ahead(self.nodes, liveness.follows)
        self.counts_attempts = any(read.kind == "result" for live in self.live.values() for read in live)

    def most_visits(self, node: str) -> int:
        """Where the count of visits saturates: late where it decides something, else early."""
        return max(self.visit_cap, MANY_VISITS) if node in self._counted else self.visit_cap

    def edge(self, scope: str, source: str, way: str | None = None, on: str = "ok") -> Edge | None:
        """What follows one end of a node, a mount's exit, or the start of a scope."""
        return self._edges.get((scope, source, way, on))


def scope_of(id: str) -> str:
    """The scope of a qualified id: `repair/check` lies in `repair`, `check` in the root (`""`)."""
    return id.rpartition("/")[0]


def _mount(path: str, mount: MountModel, snapshot: Snapshot) -> Mount:
    return Mount(
        path,
        scope_of(path),
        mount.workflow,
        compile_expression(mount.input),
        acceptor(mount.input_type, snapshot.types),
        number(mount.max_steps),
        mount.start_at,
    )


def _counter(arm: ArmModel) -> str:
    """What counts the arrow: arrows that were written as one share a count."""
    shared = None if arm.limit is None else arm.limit.counter
    return arm.key if shared is None else shared


def _arm(arm: ArmModel) -> Arm:
    limit = arm.limit
    return Arm(
        arm.key,
        _counter(arm),
        arm.cases,
        arm.to,
        None if limit is None else number(limit.count),
        None if limit is None else limit.then,
    )


def _effects_ahead(
    nodes: Mapping[str, Node], follows: Mapping[str, frozenset[str]]
) -> Mapping[str, frozenset[str]]:
    """For each node the names of the effects with a key that it, or a node after it, may still call."""
    calls = {id: node.call for id, node in nodes.items() if isinstance(node, Effect) and node.key is not None}
    return {
        id: frozenset(calls[after] for after in (id, *follows[id]) if after in calls) if calls else NONE
        for id in nodes
    }
