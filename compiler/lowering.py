"""A checked program to its snapshot: every mounted workflow's nodes, edges and lets under qualified ids.

Lowering is total on checked programs; what it can still refuse is size. It keeps no order of declarations:
nodes are keyed, edges are sorted, and a `let` that nothing reads leaves no mark.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, acceptor
from windtunnel.compiler.digests import with_digests
from windtunnel.compiler.edgelowering import EdgeLowering, edge_order
from windtunnel.compiler.exprlowering import ExpressionLowering, lets_in
from windtunnel.compiler.folding import Lowered
from windtunnel.compiler.graph import Graph
from windtunnel.compiler.nodelowering import lower_node
from windtunnel.compiler.plan import Mounted, Plan, plan
from windtunnel.compiler.resolver import Program, WorkflowId
from windtunnel.compiler.settings import DEFAULT_MAX_STEPS
from windtunnel.compiler.snapshot import (
    Composition,
    Digests,
    EdgeModel,
    MountModel,
    RecordTypeModel,
    Snapshot,
    SnapshotNode,
    SourceModel,
)
from windtunnel.compiler.typelowering import TypeLowering
from windtunnel.compiler.types import Shape
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Diagnostic
from windtunnel.dsl.syntax import Expr, Include, Let


class Facts(Protocol):
    """What earlier passes found out about the workflows of a checked program."""

    def graph(self, workflow: WorkflowId) -> Graph:
        """The graph of its edges."""

    def exits(self, workflow: WorkflowId) -> Mapping[str, Shape]:
        """The shape of what each exit gives, declared or inferred."""

    def is_whole(self, workflow: WorkflowId, expr: Expr) -> bool:
        """Whether every value of the expression is a whole number or a duration, null aside."""


def lower(program: Program, root: WorkflowId, facts: Facts) -> Snapshot | tuple[Diagnostic, ...]:
    """The snapshot of a workflow and all it includes, or why it is too large."""
    planned = plan(program, root)
    if isinstance(planned, Diagnostic):
        return (planned,)
    lowering = _Lowering(planned, facts)
    for mounted in planned.mounts.values():
        lowering.workflow(mounted)
    if lowering.too_deep:
        return tuple(lowering.too_deep)
    return with_digests(lowering.snapshot())


@dataclass(frozen=True, slots=True)
class _Whole:
    facts: Facts
    workflow: WorkflowId

    def is_whole(self, expr: Expr) -> bool:
        return self.facts.is_whole(self.workflow, expr)


@dataclass(slots=True)
class _Lowering:
    """The snapshot in the making."""

    plan: Plan
    facts: Facts
    types: TypeLowering = field(default_factory=TypeLowering)
    expressions: dict[str, ExpressionLowering] = field(default_factory=dict)
    nodes: dict[str, SnapshotNode] = field(default_factory=dict)
    edges: list[EdgeModel] = field(default_factory=list)
    lets: dict[str, Lowered] = field(default_factory=dict)
    mounts: dict[str, MountModel] = field(default_factory=dict)
    start_at: dict[str, str] = field(default_factory=dict)
    too_deep: list[Diagnostic] = field(default_factory=list)

    def workflow(self, mounted: Mounted) -> None:
        """Lower one mounted workflow; its parent is done."""
        scope = mounted.scope
        given: Mapping[str, JsonValue] = {}
        mount_input: Lowered | None = None
        if mounted.parent is not None and mounted.include is not None:
            mount_input = self.expressions[mounted.parent].lower(mounted.include.input)
            given = _given(mount_input, self.types.record(scope.input), self.types)
        whole = _Whole(self.facts, scope.id)
        expressions = ExpressionLowering(self.plan.program, mounted, given, whole)
        self.expressions[mounted.path] = expressions
        for declaration in sorted(scope.nodes, key=lambda node: node.name):
            if not isinstance(declaration.tree, (Include, Let)):
                qualified = mounted.qualified(declaration.name)
                self.nodes[qualified] = lower_node(declaration.tree, scope, expressions, self.types)
        for declaration in scope.lets:
            assert isinstance(declaration.tree, Let), "a let is declared by a let"
            self.lets[mounted.qualified(declaration.name)] = expressions.lower_let(declaration.tree.value)
        edges = EdgeLowering(mounted, self.facts.graph(scope.id), expressions)
        self.edges += edges.edges()
        self.start_at[mounted.path] = edges.start_at()
        if mount_input is not None:
            self.mounts[mounted.path] = self._mount(mounted, mount_input, edges.start_at())
        self._report_depth(mounted, expressions)

    def _mount(self, mounted: Mounted, mount_input: Lowered, start_at: str) -> MountModel:
        assert mounted.parent is not None, "the root is no mount"
        assert mounted.include is not None, "the root is no mount"
        scope = mounted.scope
        label = mounted.include.label
        return MountModel(
            workflow=scope.workflow.name.text,
            revision=_constant(self._setting(mounted, "revision"), int) or 1,
            contract=_constant(self._setting(mounted, "contract"), str),
            label=None if label is None else self.expressions[mounted.parent].lower(label),
            input=mount_input,
            input_type=self.types.record(scope.input),
            max_steps=self._max_steps(mounted),
            start_at=start_at,
            exits=self._exits(mounted),
        )

    def _setting(self, mounted: Mounted, keyword: str) -> Lowered | None:
        setting = mounted.scope.setting(keyword)
        return None if setting is None else self.expressions[mounted.path].lower(setting.value)

    def _max_steps(self, mounted: Mounted) -> int | Lowered:
        setting = self._setting(mounted, "maxSteps")
        if setting is None:
            return DEFAULT_MAX_STEPS
        constant = _constant(setting, int)
        return setting if constant is None else constant

    def _exits(self, mounted: Mounted) -> dict[str, Any]:
        shapes = self.facts.exits(mounted.scope.id)
        return {name: self.types.type(shapes[name]) for name in sorted(shapes)}

    def _report_depth(self, mounted: Mounted, expressions: ExpressionLowering) -> None:
        for expr in expressions.too_deep:
            place = mounted.scope.file.findings.place(expr.span)
            message = "with its templates and constants written out, this expression nests too deep"
            self.too_deep.append(report("WT0013", message, place, help="name a part of it with `let`"))

    def snapshot(self) -> Snapshot:
        """The whole, still without digests."""
        root = self.plan.root
        empty = Digests(shape="", behaviour="", presentation="")
        title, presentation = self._setting(root, "title"), self._setting(root, "presentation")
        max_steps = self._max_steps(root)
        used = self._used_lets()
        return Snapshot(
            workflow=root.scope.workflow.name.text,
            revision=_constant(self._setting(root, "revision"), int) or 1,
            contract=_constant(self._setting(root, "contract"), str),
            digest="",
            digests=empty,
            title=title,
            presentation=presentation,
            input=self.types.record(root.scope.input),
            exits=self._exits(root),
            max_steps=max_steps,
            budget_turns=_constant(self._setting(root, "budget turns"), int),
            start_at=self.start_at[""],
            nodes={name: self.nodes[name] for name in sorted(self.nodes)},
            edges=tuple(sorted(self.edges, key=edge_order)),
            lets={name: self.lets[name] for name in sorted(used)},
            types={name: self.types.types[name] for name in sorted(self.types.types)},
            composition=Composition(mounts={path: self.mounts[path] for path in sorted(self.mounts)}),
            sources=self._sources(),
        )

    def _used_lets(self) -> set[str]:
        """The lets that something in the graph reads, directly or through another let."""
        used: set[str] = set()
        waiting = sorted(name for expressions in self.expressions.values() for name in expressions.lets)
        while waiting:
            name = waiting.pop()
            if name not in used:
                used.add(name)
                waiting += sorted(lets_in(self.lets[name]))
        return used

    def _sources(self) -> dict[str, SourceModel]:
        folder = posixpath.dirname(self.plan.program.modules.root)
        sources: dict[str, SourceModel] = {}
        for module in self.plan.program.modules.order:
            mounts = sorted(m.path for m in self.plan.mounts.values() if m.scope.id.module == module.name)
            is_path = ":" not in module.name
            name = posixpath.relpath(module.name, folder or ".") if is_path else module.name
            digest = hashlib.sha256(module.source.text.encode()).hexdigest()
            sources[name] = SourceModel(sha256=digest, mounts=tuple(mounts))
        return {name: sources[name] for name in sorted(sources)}


def _given(lowered: Lowered, input_type: RecordTypeModel, types: TypeLowering) -> dict[str, JsonValue]:
    """The fields of a mount's input that are known before the run, as the child reads them."""
    known: dict[str, JsonValue] = {}
    unknown: set[str] = set()
    if lowered[0] == "const":
        known = dict(lowered[1])
    else:
        assert lowered[0] == "record", "a mount's input is written as a record"
        for part in lowered[1:]:
            if part[0] == "spread":
                known, unknown = {}, set(input_type.fields)
            elif part[0] == "field" and part[2][0] == "const":
                known[part[1]] = part[2][1]
                unknown.discard(part[1])
            else:
                known.pop(part[1], None)
                unknown.add(part[1])
    given: dict[str, JsonValue] = {}
    for name, declared in input_type.fields.items():
        if name in unknown:
            continue
        value = known.get(name)
        if value is None and not declared.has_default:
            given[name] = None
            continue
        verdict = acceptor(declared.type, types.types).accept(declared.default if value is None else value)
        if isinstance(verdict, Accepted):
            given[name] = verdict.value
    return given


_Scalar = TypeVar("_Scalar", int, str)


def _constant(lowered: Lowered | None, kind: type[_Scalar]) -> _Scalar | None:
    if lowered is None or lowered[0] != "const" or not isinstance(lowered[1], kind):
        return None
    return lowered[1]
