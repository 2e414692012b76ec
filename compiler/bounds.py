"""The most that one run can take of something, as a formula over the limits that bound it.

Each workflow is summed up once for each mount: the longest path of its graph, where a cycle weighs its own
longest path once more for every repetition that its limits, or matches that count visits, allow. A mount
weighs what its child takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import networkx as nx
from pydantic import JsonValue

from windtunnel.compiler.canonical import CanonicalError
from windtunnel.compiler.evaluator import compile_expression
from windtunnel.compiler.places import targets
from windtunnel.compiler.printing import expression_text, local_name
from windtunnel.compiler.reading import reads
from windtunnel.compiler.rounds import Counted, counted
from windtunnel.compiler.snapshot import (
    ArmModel,
    ComputeNode,
    EdgeModel,
    Expression,
    FieldModel,
    IntType,
    LiteralValueType,
    RecordTypeModel,
    Snapshot,
    TypeModel,
    UnionTypeModel,
)
from windtunnel.compiler.values import EvaluationError

Weigh = Callable[[str], int]
"""What passing a node takes, by its qualified id."""

Cap = Callable[[str], int | None]
"""The most that one invocation can take whatever its graph says, by mount path; None where unknown."""

MAX_TERMS: Final = 40
"""Parts of a sum that a formula names; the rest is counted."""

MAX_COMPUTED: Final = 8
"""Computed nodes, each read by the one before it, that are followed for the usual value of a number."""

_START: Final = "start"


@dataclass(frozen=True, slots=True)
class Bound:
    """The most of one workflow: `formula` in its own names, `value` with the usual values of the limits.

    Where nothing bounds it `formula` is None and `reason` names the cycle. `capped` tells that `value` is the
    cap, since the formula gives more or there is none.
    """

    formula: str | None
    value: int | None
    reason: str = ""
    capped: bool = False


def bounds(snapshot: Snapshot, weigh: Weigh, cap: Cap) -> dict[str, Bound]:
    """The bound of each mounted workflow by mount path, the root under the empty path."""
    known = _Known(snapshot)
    found: dict[str, Bound] = {}
    paths = sorted(snapshot.composition.mounts, key=lambda path: (-path.count("/"), path))
    edges: dict[str, list[EdgeModel]] = {}
    for edge in snapshot.edges:
        edges.setdefault(edge.scope, []).append(edge)
    for path in [*paths, ""]:
        own = _Scope(path, edges.get(path, []), snapshot, weigh, found, known).bound()
        most = cap(path)
        if most is not None and (own.value is None or own.value > most):
            own = replace(own, value=most, capped=True)
        found[path] = own
    return found


class _Scope:
    """One mounted workflow: its vertices are the local ids of nodes and mounts."""

    def __init__(
        self,
        path: str,
        edges: list[EdgeModel],
        snapshot: Snapshot,
        weigh: Weigh,
        inner: Mapping[str, Bound],
        known: _Known,
    ) -> None:
        self._path = path
        self._edges = edges
        self._leaving: dict[str, list[EdgeModel]] = {}
        for edge in edges:
            self._leaving.setdefault(edge.source, []).append(edge)
        self._snapshot = snapshot
        self._weigh = weigh
        self._inner = inner
        self._known = known

    def bound(self) -> Bound:
        """The longest path, component by component."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_node(_START)
        for edge in self._edges:
            for target in targets(edge):
                if target.node is not None:
                    graph.add_edge(edge.source, target.node)
        reached = {_START, *nx.descendants(graph, _START)}
        graph.remove_nodes_from([name for name in graph if name not in reached])
        condensed = nx.condensation(graph)
        parts: dict[int, Bound] = {}
        for part in nx.topological_sort(condensed):
            parts[part] = own = self._component(graph, frozenset(condensed.nodes[part]["members"]))
            if own.value is None:
                return replace(own, formula=None)
        return _longest(condensed, parts)

    def _component(self, graph: nx.DiGraph[str], members: frozenset[str]) -> Bound:
        first = min(members)
        if len(members) == 1 and not graph.has_edge(first, first):
            return self._vertex(first)
        weights = {name: self._vertex(name) for name in sorted(members)}
        if unbounded := next((w for w in weights.values() if w.value is None), None):
            return replace(unbounded, formula=None)
        if not any(weight.value for weight in weights.values()):
            return Bound("0", 0)
        return self._cycle(members, weights)

    def _cycle(self, members: frozenset[str], weights: Mapping[str, Bound]) -> Bound:
        """A cycle: its limits allow so many repetitions of its longest path."""
        rest: nx.DiGraph[str] = nx.DiGraph()
        rest.add_nodes_from(sorted(members))
        limits: dict[str, ArmModel] = {}
        for edge in (edge for name in sorted(members) for edge in self._leaving.get(name, ())):
            for arm in edge.arms:
                to = arm.to.node if arm.to.node in members else None
                if arm.limit is None:
                    rest.add_edges_from([] if to is None else [(edge.source, to)])
                    continue
                if to is not None:
                    limits.setdefault(arm.limit.counter or arm.key, arm)
                if arm.limit.then.node in members:
                    rest.add_edge(edge.source, arm.limit.then.node)
        counts = [] if nx.is_directed_acyclic_graph(rest) else self._counted(rest, members)
        if not nx.is_directed_acyclic_graph(rest):
            arrows: list[str] = [arrow[0] for arrow in nx.find_cycle(rest, sorted(members))]
            names = " → ".join(local_name(name, self._path) for name in [*arrows, arrows[0]])
            return Bound(None, None, f"no limit on {names}")
        times = [self._limit(arm) for arm in limits.values()]
        terms = [Bound("1", 1), *times] if len(counts) == 0 or counts[0].more else times
        terms += [self._count(count.most) for count in counts]
        if unknown := next((each for each in terms if each.value is None), None):
            return Bound(None, None, f"nothing bounds {unknown.formula}")
        once = _longest(rest, weights)
        repetitions = sum(each.value or 0 for each in terms)
        formula = " + ".join(each.formula or "" for each in terms)
        formula = f"({formula})" if len(terms) > 1 else formula
        inside = f"({once.formula})" if " + " in (once.formula or "") else once.formula
        return Bound(f"{formula} × {inside}", repetitions * (once.value or 0))

    def _counted(self, rest: nx.DiGraph[str], members: frozenset[str]) -> list[Counted]:
        """Take the arrows out of a graph that a count of visits ends; the counts that did it, in order."""
        found: list[Counted] = []
        for name in sorted(members):
            for edge in self._leaving.get(name, ()):
                staying = [arm.to.node for arm in edge.arms if arm.limit is None and arm.to.node in members]
                others = [each for each in self._leaving[name] if each is not edge]
                elsewhere = {t.node for each in others for t in targets(each)}
                if not staying or elsewhere & set(staying):
                    continue
                bounded = (c for c in counted(self._snapshot, edge, members) if self._grows(c, name, members))
                if count := next(bounded, None):
                    found.append(count)
                    rest.remove_edges_from((name, to) for to in staying)
        return found

    def _grows(self, count: Counted, source: str, members: frozenset[str]) -> bool:
        """Whether every way back to a vertex of a cycle passes a visit that is counted."""
        if count.node not in members:
            return False
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_node(source)
        for name in members:
            for edge in self._leaving.get(name, ()):
                if name == count.node and count.outcome in (None, edge.on):
                    continue
                graph.add_edges_from((name, to.node) for to in targets(edge) if to.node in members)
        return not any(source in nx.descendants(graph, after) | {after} for after in graph.successors(source))

    def _count(self, most: Expression) -> Bound:
        text = expression_text(most, self._path, self._snapshot.composition.mounts.keys())
        return Bound(text, self._known.number(most))

    def _vertex(self, name: str) -> Bound:
        if name == _START:
            return Bound("0", 0)
        local = local_name(name, self._path)
        inner = self._inner.get(name)
        if inner is not None:
            return Bound(local, inner.value, inner.reason and f"{inner.reason} in {local}")
        weight = self._weigh(name)
        return Bound(local if weight == 1 else f"{weight} {local}", weight)

    def _limit(self, arm: ArmModel) -> Bound:
        assert arm.limit is not None, "only an arm with a limit is counted"
        count = arm.limit.count
        if isinstance(count, int):
            return Bound(str(count), count)
        text = expression_text(count, self._path, self._snapshot.composition.mounts.keys())
        return Bound(text, self._known.number(count))


def _longest(graph: nx.DiGraph[Any], weights: Mapping[Any, Bound]) -> Bound:
    """The dearest path through a graph without cycles, every vertex as heavy as its bound."""
    best: dict[Any, tuple[int, Any]] = {}
    for vertex in nx.lexicographical_topological_sort(graph):
        before = max(sorted(graph.predecessors(vertex)), key=lambda each: best[each][0], default=None)
        best[vertex] = (weights[vertex].value or 0) + (0 if before is None else best[before][0]), before
    last = max(best, key=lambda each: best[each][0])
    value = best[last][0]
    terms: list[str] = []
    while last is not None:
        if weights[last].value:
            terms.append(weights[last].formula or "")
        last = best[last][1]
    terms.reverse()
    if len(terms) > MAX_TERMS:
        terms = [*terms[:MAX_TERMS], f"{len(terms) - MAX_TERMS:_} more"]
    return Bound(" + ".join(terms) or "0", value)


# --- the usual value of a number ----------------------------------------------------------------------------


def usual_number(snapshot: Snapshot, value: int | Expression) -> int | None:
    """A number of a snapshot with the defaults of its inputs, else the largest that its type allows."""
    return value if isinstance(value, int) else _Known(snapshot).number(value)


class _Known:
    """What is known before a run: the defaults of inputs, and what mounts are given of them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._sure: dict[tuple[str, int], bool] = {}
        self._inputs: dict[str, JsonValue] = {"": _defaults(snapshot.input)}
        for path, mount in sorted(snapshot.composition.mounts.items()):
            given = dict(_object(_defaults(mount.input_type)))
            parts: list[Any] = mount.input[1:] if mount.input[0] == "record" else []
            for part in parts:
                if part[0] != "spread" and (value := self._value(part[2])) is not None:
                    given[part[1]] = value
            if mount.input[0] == "const":
                given |= _object(mount.input[1])
            self._inputs[path] = given

    def number(self, expression: Expression) -> int | None:
        """The whole number that an expression usually gives."""
        value = self._value(expression) if self._is_sure(expression) else None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        names: list[str] = []
        read: Any = expression
        while read[0] == "field":
            names.insert(0, read[2])
            read = read[1]
        if read[0] != "input":
            return None
        mounts = self._snapshot.composition.mounts
        path = read[1]
        return _largest(mounts[path].input_type if path else self._snapshot.input, names)

    def _is_sure(self, expression: Expression, depth: int = 0) -> bool:
        """Whether an expression depends on inputs alone, also through `let`s and computed nodes."""
        return all(
            read.kind == "input" or (read.kind == "node" and self._is_computed(read.name, depth))
            for read in reads(expression, self._snapshot.lets)
        )

    def _is_computed(self, name: str, depth: int) -> bool:
        known = self._sure.get((name, depth))
        if known is None:
            node = self._snapshot.nodes.get(name)
            computed = isinstance(node, ComputeNode) and depth < MAX_COMPUTED
            known = computed and isinstance(node, ComputeNode) and self._is_sure(node.value, depth + 1)
            self._sure[name, depth] = known
        return known

    def _value(self, expression: Expression) -> JsonValue:
        try:
            return compile_expression(expression)(self)
        except (EvaluationError, CanonicalError):
            return None

    def input(self, mount: str) -> JsonValue:
        """The known part of an input."""
        return self._inputs.get(mount)

    def let(self, name: str) -> JsonValue:
        """The value of a `let`, as far as it is known."""
        return self._value(self._snapshot.lets[name])

    def node(self, node: str) -> JsonValue:
        """What is computed of inputs; nothing else has run."""
        found = self._snapshot.nodes.get(node)
        computed = isinstance(found, ComputeNode) and self._is_sure(found.value)
        return self._value(found.value) if isinstance(found, ComputeNode) and computed else None

    def exit(self, mount: str, name: str) -> JsonValue:
        """Nothing was left."""
        return None

    def choice(self, node: str, choice: str) -> JsonValue:
        """Nothing was chosen."""
        return None

    def way(self, node: str) -> JsonValue:
        """No way was taken."""
        return None

    def result(self, node: str) -> JsonValue:
        """Nothing has ended."""
        return None

    def visits(self, node: str, outcome: str | None) -> JsonValue:
        """Nothing was visited."""
        return 0

    def latest(self, nodes: tuple[str, ...]) -> JsonValue:
        """Nothing has ended."""
        return None


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _defaults(type_: RecordTypeModel) -> JsonValue:
    """What an input is when nothing is given; records inside are filled too."""
    return {name: _default(field) for name, field in type_.fields.items()}


def _default(field: FieldModel) -> JsonValue:
    if field.has_default and not isinstance(field.default, dict):
        return field.default
    members = field.type.members if isinstance(field.type, UnionTypeModel) else (field.type,)
    record = next((member for member in members if isinstance(member, RecordTypeModel)), None)
    if record is None or not field.has_default:
        return None
    return {**_object(_defaults(record)), **_object(field.default)}


def _largest(type_: TypeModel, names: list[str]) -> int | None:
    if isinstance(type_, UnionTypeModel):
        found = [_largest(member, names) for member in type_.members]
        return None if None in found else max(value for value in found if value is not None)
    if names and isinstance(type_, RecordTypeModel):
        field = type_.fields.get(names[0])
        return None if field is None else _largest(field.type, names[1:])
    if isinstance(type_, IntType) and not names:
        return type_.max
    if isinstance(type_, LiteralValueType) and isinstance(type_.value, int):
        return type_.value
    return None
