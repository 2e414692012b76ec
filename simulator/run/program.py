"""A snapshot made ready to run: expressions compiled, edges indexed, and what each position can still read.

A program is built once and never changes; handlers are functions of it and of frozen tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Acceptor, acceptor
from windtunnel.compiler.evaluator import (
    Compiled,
    Environment,
    Read,
    compile_expression,
    compile_validator,
    reads,
)
from windtunnel.compiler.snapshot import (
    AgentNode,
    ArmModel,
    AssistantMessage,
    ComputeNode,
    EdgeModel,
    Expression,
    MountModel,
    Snapshot,
    SnapshotNode,
    TargetModel,
)

DEFAULT_NUDGES: Final = 2
"""Reminders of a submit step before it fails."""

START: Final = "start"


class NotSimulated(ValueError):
    """The workflow has a node that this simulator does not run yet; the message names it."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent node. `type` is None for an assistant agent; `max_chars` and `timeout` read the
    environment.
    """

    id: str
    prompt: Compiled
    completion: str
    type: Acceptor | None
    max_chars: Compiled | None
    validator: Callable[[Environment, JsonValue], tuple[str, ...]] | None
    timeout: Compiled | None
    nudges: int
    reads: frozenset[Read]


@dataclass(frozen=True, slots=True)
class Compute:
    """A compute node."""

    id: str
    value: Compiled


Node = Agent | Compute


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
    the counts of visits. Raises NotSimulated for node kinds that cannot run yet.
    """

    def __init__(
        self, snapshot: Snapshot, *, switches: frozenset[str] = frozenset(), visit_cap: int = 2
    ) -> None:
        self.snapshot = snapshot
        self.switches = switches
        self.visit_cap = visit_cap
        self.lets = {name: compile_expression(value) for name, value in sorted(snapshot.lets.items())}
        self.nodes = {name: _node(name, node, snapshot) for name, node in sorted(snapshot.nodes.items())}
        mounts = snapshot.composition.mounts
        self.mounts = {path: _mount(path, mount, snapshot) for path, mount in sorted(mounts.items())}
        self.title = None if snapshot.title is None else compile_expression(snapshot.title)
        self.accepts = acceptor(snapshot.input, snapshot.types)
        self.max_steps = _number(snapshot.max_steps)
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
        self.live = _liveness(snapshot)
        self.revisited = frozenset(name for name in self.nodes if name in _reachable(snapshot)[name])

    def edge(self, scope: str, source: str, way: str | None = None, on: str = "ok") -> Edge | None:
        """What follows one end of a node, a mount's exit, or the start of a scope."""
        return self._edges.get((scope, source, way, on))

    def scopes(self, id: str) -> tuple[str, ...]:
        """The scopes around a node, innermost first, the root last."""
        found = []
        while id:
            id = scope_of(id)
            found.append(id)
        return tuple(found)


def scope_of(id: str) -> str:
    """The scope of a qualified id: `repair/check` lies in `repair`, `check` in the root (`""`)."""
    return id.rpartition("/")[0]


def _number(value: int | Expression) -> Compiled:
    return compile_expression(["const", value] if isinstance(value, int) else value)


def _node(name: str, node: SnapshotNode, snapshot: Snapshot) -> Node:
    if isinstance(node, ComputeNode):
        return Compute(name, compile_expression(node.value))
    if not isinstance(node, AgentNode):
        raise NotSimulated(f"not simulated yet: {node.node_type} node {name}")
    output = node.expected_output
    limit = None
    if isinstance(output, AssistantMessage) and output.max_chars is not None:
        limit = _number(output.max_chars)
    return Agent(
        name,
        compile_expression(node.prompt),
        "assistant" if isinstance(output, AssistantMessage) else "submit",
        None if isinstance(output, AssistantMessage) else acceptor(output.type, snapshot.types),
        limit,
        compile_validator(node.validate_steps) if node.validate_steps else None,
        None if node.timeout_ms == "none" else _number(node.timeout_ms),
        DEFAULT_NUDGES if node.nudges is None else node.nudges,
        frozenset[Read]().union(*(reads(e, snapshot.lets) for e in (*_asking(node), *_checking(node)))),
    )


def _asking(node: AgentNode) -> list[Expression]:
    found = [node.prompt]
    if isinstance(node.timeout_ms, list):
        found.append(node.timeout_ms)
    return found


def _checking(node: AgentNode) -> list[Expression]:
    """What judging an answer reads; examples stand here since a provider draws from them."""
    found = list(node.examples)
    output = node.expected_output
    if isinstance(output, AssistantMessage) and isinstance(output.max_chars, list):
        found.append(output.max_chars)
    for step in node.validate_steps:
        found += [
            part
            for part in (
                getattr(step, "value", None),
                getattr(step, "require", None),
                getattr(step, "when", None),
                getattr(step, "message", None),
            )
            if part is not None
        ]
    return found


def _mount(path: str, mount: MountModel, snapshot: Snapshot) -> Mount:
    return Mount(
        path,
        scope_of(path),
        mount.workflow,
        compile_expression(mount.input),
        acceptor(mount.input_type, snapshot.types),
        _number(mount.max_steps),
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
        None if limit is None else _number(limit.count),
        None if limit is None else limit.then,
    )


# --- what can still be read ---------------------------------------------------------------------------------


def _targets(edge: EdgeModel) -> list[TargetModel]:
    after = [arm.limit.then for arm in edge.arms if arm.limit is not None]
    return [*(arm.to for arm in edge.arms), *after]


def _place(edge: EdgeModel) -> str:
    """The place an edge leaves: a node, `mount.exit`, or the start of a scope."""
    if edge.source == START:
        return f"{edge.scope}:start"
    return edge.source if edge.way is None else f"{edge.source}.{edge.way}"


def _arrival(scope: str, target: TargetModel, snapshot: Snapshot) -> str | None:
    """The place a target leads to; None is the end of the run."""
    if target.exit is not None:
        return f"{scope}.{target.exit}" if scope else None
    assert target.node is not None, "a target is a node or an exit"
    return f"{target.node}:enter" if target.node in snapshot.composition.mounts else target.node


def _graph(snapshot: Snapshot) -> dict[str, set[str]]:
    """Place → places that may follow it, through mounts."""
    graph: dict[str, set[str]] = {}
    for edge in snapshot.edges:
        arrivals = (_arrival(edge.scope, target, snapshot) for target in _targets(edge))
        graph.setdefault(_place(edge), set()).update(a for a in arrivals if a is not None)
    for path, mount in snapshot.composition.mounts.items():
        first = TargetModel(node=mount.start_at)
        arrival = _arrival(path, first, snapshot)
        graph[f"{path}:enter"] = {f"{path}:start", *([] if arrival is None else [arrival])}
    return graph


def _uses(snapshot: Snapshot) -> dict[str, frozenset[Read]]:
    """Place → what is read there; edges read where they leave, mounts where they are entered."""
    found: dict[str, set[Read]] = {}

    def note(place: str, *expressions: object) -> None:
        for expression in expressions:
            if isinstance(expression, list):
                found.setdefault(place, set()).update(reads(expression, snapshot.lets))

    for name, node in snapshot.nodes.items():
        if isinstance(node, AgentNode):
            note(name, *_asking(node), *_checking(node))
        elif isinstance(node, ComputeNode):
            note(name, node.value)
    for path, mount in snapshot.composition.mounts.items():
        note(f"{path}:enter", mount.input, mount.max_steps)
    for edge in snapshot.edges:
        place = _place(edge)
        note(place, edge.subject, *(arm.limit.count for arm in edge.arms if arm.limit is not None))
        for target in _targets(edge):
            if target.exit is not None:  # What leaves by an exit is the output of the node it leaves from.
                output = Read("exit", edge.source, edge.way) if edge.way else Read("node", edge.source)
                found.setdefault(place, set()).add(output)
    return {place: frozenset(uses) for place, uses in found.items()}


def _reachable(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    """Place → every place that may come later."""
    graph = _graph(snapshot)
    found: dict[str, frozenset[str]] = {}
    for start in sorted({*graph, *snapshot.nodes}):
        seen: set[str] = set()
        stack = sorted(graph.get(start, ()))
        while stack:
            place = stack.pop()
            if place not in seen:
                seen.add(place)
                stack += sorted(graph.get(place, ()))
        found[start] = frozenset(seen)
    return found


def _liveness(snapshot: Snapshot) -> Mapping[str, frozenset[Read]]:
    """Node → what may still be read while the node is in flight or later."""
    uses, reachable = _uses(snapshot), _reachable(snapshot)
    return {
        name: frozenset[Read]().union(
            *(uses.get(place, frozenset()) for place in (name, *sorted(reachable[name])))
        )
        for name in snapshot.nodes
    }
