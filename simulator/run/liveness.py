"""What can still be read at each point of a workflow: everything else a run may forget.

Places are the nodes (while in flight), `node:out` (ended, not yet routed), `mount:enter`, `mount:start`,
`mount.exit`, and `:start`. The classic equations, backwards: what is live at a place is what it reads, and
what is live at its successors without what it sets anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import networkx as nx

from windtunnel.compiler.evaluator import Read, reads
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    AssistantMessage,
    CheckpointNode,
    ComputeNode,
    DecisionNode,
    EdgeModel,
    Expression,
    LetStep,
    NotifyNode,
    ShellNode,
    Snapshot,
    SnapshotNode,
    TargetModel,
)

START: Final = "start"
Live = frozenset[Read]
NOTHING: Final[Live] = frozenset()


class Liveness:
    """`live[place]` for every place, the nodes that can come again in one run, and those that may follow
    each.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        graph = _graph(snapshot)
        self.live: Mapping[str, Live] = _solve(snapshot, graph)
        self.revisited = _revisited(snapshot, graph)
        self.follows = _follows(snapshot, graph)
        self.counted = _counted(snapshot)


def out(node: str) -> str:
    """The place of a node that has ended and is not routed yet."""
    return f"{node}:out"


def asking(node: AgentNode) -> list[Expression]:
    """What an agent's prompt and time limit are made of."""
    found = [node.prompt]
    if isinstance(node.timeout_ms, list):
        found.append(node.timeout_ms)
    return found


def checking(node: AgentNode) -> list[Expression]:
    """What judging an answer reads; examples too, since a provider draws from them."""
    found = list(node.examples)
    output = node.expected_output
    if isinstance(output, AssistantMessage) and isinstance(output.max_chars, list):
        found.append(output.max_chars)
    for step in node.validate_steps:
        if isinstance(step, LetStep):
            found.append(step.value)
        else:
            found += [part for part in (step.require, step.when, step.message) if part is not None]
    return found


def expressions_of(node: SnapshotNode) -> list[Expression | None]:
    """Every expression that running the node evaluates."""
    match node:
        case AgentNode():
            return [*asking(node), *checking(node)]
        case ComputeNode():
            return [node.value]
        case ActionNode():
            return [node.argument, node.idempotency_key, _if_list(node.timeout_ms)]
        case ShellNode():
            given = [node.run, node.cwd, node.env, node.stdin]
            return [*given, node.idempotency_key, _if_list(node.timeout_ms)]
        case NotifyNode():
            return [node.message]
        case CheckpointNode():
            return [node.show]
        case DecisionNode():
            return _asked(node)


def _asked(node: DecisionNode) -> list[Expression | None]:
    """What a request is made of."""
    found = [node.audience, node.title, node.subject, node.show, node.expires_ms]
    for choice in node.choices.values():
        found += [choice.label, choice.prompt]
    if node.after is not None:
        found += [node.after.delay_ms, node.after.when]
    return found


def _if_list(value: int | str | Expression) -> Expression | None:
    return value if isinstance(value, list) else None


def scopes(id: str) -> list[str]:
    """The mounts around a node, innermost first, then the root (`""`)."""
    found = []
    while id:
        id = id.rpartition("/")[0]
        found.append(id)
    return found


# --- the graph of places ------------------------------------------------------------------------------------


def targets(edge: EdgeModel) -> list[TargetModel]:
    """Everywhere an edge can lead."""
    after = [arm.limit.then for arm in edge.arms if arm.limit is not None]
    return [*(arm.to for arm in edge.arms), *after]


def _place(edge: EdgeModel, snapshot: Snapshot) -> str:
    """The place an edge leaves; the choices of a decision leave the same one."""
    if edge.source == START:
        return f"{edge.scope}:start"
    node = edge.way is None or edge.source in snapshot.nodes
    return out(edge.source) if node else f"{edge.source}.{edge.way}"


def _arrival(scope: str, target: TargetModel, snapshot: Snapshot) -> str | None:
    """The place a target leads to; None is the end of the run."""
    if target.exit is not None:
        return f"{scope}.{target.exit}" if scope else None
    assert target.node is not None, "a target is a node or an exit"
    return f"{target.node}:enter" if target.node in snapshot.composition.mounts else target.node


def _graph(snapshot: Snapshot) -> dict[str, set[str]]:
    """Place → places that may follow it, through mounts."""
    graph: dict[str, set[str]] = {node: {out(node)} for node in snapshot.nodes}
    for edge in snapshot.edges:
        arrivals = (_arrival(edge.scope, target, snapshot) for target in targets(edge))
        graph.setdefault(_place(edge, snapshot), set()).update(a for a in arrivals if a is not None)
    for path, mount in snapshot.composition.mounts.items():
        arrival = _arrival(path, TargetModel(node=mount.start_at), snapshot)
        graph[f"{path}:enter"] = {f"{path}:start", *([] if arrival is None else [arrival])}
    return graph


def _revisited(snapshot: Snapshot, graph: Mapping[str, set[str]]) -> frozenset[str]:
    """The nodes on a circle of places."""
    whole = nx.DiGraph((place, after) for place, follows in graph.items() for after in follows)
    circles = (part for part in nx.strongly_connected_components(whole) if len(part) > 1)
    return frozenset(place for part in circles for place in part if place in snapshot.nodes)


def _follows(snapshot: Snapshot, graph: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    """For each node the nodes that may run after it, itself among them where it can come again."""
    whole = nx.DiGraph((place, after) for place, follows in graph.items() for after in follows)
    parts = nx.condensation(whole)
    reached: dict[int, frozenset[str]] = {}
    for part in reversed(list(nx.topological_sort(parts))):
        members = parts.nodes[part]["members"]
        own = frozenset(place for place in members if place in snapshot.nodes)
        behind = (reached[after] for after in parts.successors(part))
        reached[part] = own.union(*behind)
    place_of = parts.graph["mapping"]
    return {node: reached[place_of[node]] for node in snapshot.nodes}


def _counted(snapshot: Snapshot) -> frozenset[str]:
    """The nodes whose visits decide something; a prompt or a message that names them decides nothing."""
    found: list[object] = [snapshot.max_steps]
    for node in snapshot.nodes.values():
        if isinstance(node, AgentNode):
            found += [*checking(node), node.timeout_ms]
        elif not isinstance(node, NotifyNode):
            found += expressions_of(node)
    for mount in snapshot.composition.mounts.values():
        found += [mount.input, mount.max_steps]
    for edge in snapshot.edges:
        found += [edge.subject, *(arm.limit.count for arm in edge.arms if arm.limit is not None)]
    made = (reads(one, snapshot.lets) for one in found if isinstance(one, list))
    return frozenset(read.name for some in made for read in some if read.kind == "visits")


# --- the equations ------------------------------------------------------------------------------------------


def _uses(snapshot: Snapshot) -> dict[str, set[Read]]:
    """Place → what is read there; edges read where they leave, mounts where they are entered."""
    found: dict[str, set[Read]] = {}

    def note(place: str, expressions: Iterable[object]) -> None:
        for expression in expressions:
            if isinstance(expression, list):
                found.setdefault(place, set()).update(reads(expression, snapshot.lets))

    mounts = snapshot.composition.mounts
    limits: dict[str, object] = {path: mount.max_steps for path, mount in mounts.items()}
    limits[""] = snapshot.max_steps
    for name, node in snapshot.nodes.items():
        # A limit of steps is looked up before the node starts, so for its predecessors too.
        note(name, (limits[scope] for scope in scopes(name)))
        note(name, expressions_of(node))
        if isinstance(node, DecisionNode | CheckpointNode):
            note(name, (snapshot.presentation,))
    for path, mount in mounts.items():
        note(f"{path}:enter", (mount.input,))
    for edge in snapshot.edges:
        place = _place(edge, snapshot)
        if not edge.scope and any(target.exit is not None for target in targets(edge)):
            note(place, (snapshot.presentation,))
        note(place, (edge.subject, *(arm.limit.count for arm in edge.arms if arm.limit is not None)))
        if edge.way is not None and edge.source in snapshot.nodes:
            found.setdefault(place, set()).add(Read("way", edge.source))
        if any(target.exit is not None for target in targets(edge)):
            # What leaves by an exit is the output of the node, or the mount, it leaves from.
            mounted = edge.way is not None and edge.source not in snapshot.nodes
            output = Read("exit", edge.source, edge.way) if mounted else Read("node", edge.source)
            found.setdefault(place, set()).add(output)
    return found


def _sets_anew(snapshot: Snapshot, place: str, read: Read) -> bool:
    """Whether what was read under that name before is gone once the place is passed."""
    if place.endswith(":enter"):
        mount = place.removesuffix(":enter")
        if read.kind in ("input", "exit", "way") and read.name == mount:
            return True
        return read.name.startswith(f"{mount}/")
    return place in snapshot.nodes and read.kind in _OWN and read.name == place


_OWN: Final = ("node", "result", "way", "choice")
"""What a node that ends says anew of itself."""


def _solve(snapshot: Snapshot, graph: Mapping[str, set[str]]) -> dict[str, Live]:
    uses = _uses(snapshot)
    places = sorted({*graph, *uses, *(after for follows in graph.values() for after in follows)})
    before: dict[str, list[str]] = {place: [] for place in places}
    for place in sorted(graph):
        for after in sorted(graph[place]):
            before[after].append(place)
    live = {place: frozenset(uses.get(place, ())) for place in places}
    waiting = list(places)
    queued = set(places)
    while waiting:
        place = waiting.pop()
        queued.discard(place)
        behind = NOTHING.union(*(live[after] for after in sorted(graph.get(place, ()))))
        kept = frozenset(read for read in behind if not _sets_anew(snapshot, place, read))
        now = live[place] | kept
        if now != live[place]:
            live[place] = now
            for earlier in before[place]:
                if earlier not in queued:
                    queued.add(earlier)
                    waiting.append(earlier)
    return live
