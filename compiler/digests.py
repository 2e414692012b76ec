"""The three digests of a snapshot, of each node and of each mount.

`shape` is what runs and where it can go: ids, kinds, edges, cases, limits, exits, declared types, the
contract. `behaviour` is shape and everything that changes what a run does: prompts, expressions, expected
output, timeouts, commands. `presentation` is what a person sees beside it: labels and the run's title.
Revisions, examples, budgets and sources are in none of them. A mount takes in all that stands below it,
under names relative to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, JsonValue

from windtunnel.compiler.canonical import MAX_STORED_DEPTH, digest
from windtunnel.compiler.snapshot import (
    Composition,
    DecisionNode,
    Digests,
    EdgeModel,
    MountModel,
    Snapshot,
    SnapshotNode,
    TargetModel,
)

NOT_BEHAVIOUR = frozenset({"label", "digests", "examples"})


def with_digests(snapshot: Snapshot) -> Snapshot:
    """The same snapshot with all digests computed anew."""
    nodes = {name: _with(node, _node_digests(node)) for name, node in snapshot.nodes.items()}
    mounts: dict[str, MountModel] = {}
    parts = _Parts(snapshot, nodes, mounts)
    # Deeper mounts first: each takes in the ones below it.
    for path in sorted(snapshot.composition.mounts, key=lambda path: (-path.count("/"), path)):
        mount = snapshot.composition.mounts[path]
        mounts[path] = _with(mount, _mount_digests(path, mount, parts))
    whole = _root_digests(snapshot, parts)
    ordered = {path: mounts[path] for path in sorted(mounts)}
    return snapshot.model_copy(
        update={
            "nodes": nodes,
            "composition": Composition(mounts=ordered),
            "digests": whole,
            "digest": whole.behaviour,
        }
    )


def _node_digests(node: SnapshotNode) -> Digests:
    shape: dict[str, JsonValue] = {"kind": node.node_type}
    if isinstance(node, DecisionNode):
        shape["choices"] = [*sorted(node.choices)]
        shape["default"] = None if node.after is None else node.after.choose
    behaviour = {**shape, "node": _json(node, NOT_BEHAVIOUR)}
    return _digests(shape, behaviour, {"label": node.label})


class _Parts:
    """What stands in each workflow, by its path; `mounts` is filled while digests are made."""

    def __init__(
        self, snapshot: Snapshot, nodes: dict[str, SnapshotNode], mounts: dict[str, MountModel]
    ) -> None:
        self.nodes, self.mounts = nodes, mounts
        self.names: dict[str, list[str]] = {}
        self.edges: dict[str, list[EdgeModel]] = {}
        self.lets: dict[str, dict[str, Any]] = {}
        for name in (*nodes, *snapshot.composition.mounts):
            if name:
                self.names.setdefault(_parent(name), []).append(name)
        for edge in snapshot.edges:
            self.edges.setdefault(edge.scope, []).append(edge)
        for name, value in snapshot.lets.items():
            self.lets.setdefault(_parent(name), {})[name] = value


def _mount_digests(path: str, mount: MountModel, parts: _Parts) -> Digests:
    shape, behaviour, presentation = _inside(path, parts)
    interface = _json(mount, frozenset({"label", "digests", "revision", "input", "maxSteps", "startAt"}))
    shape["interface"] = interface
    behaviour["interface"] = interface
    behaviour["input"] = mount.input
    behaviour["maxSteps"] = mount.max_steps
    presentation["label"] = mount.label
    return _digests(shape, behaviour, presentation)


def _root_digests(snapshot: Snapshot, parts: _Parts) -> Digests:
    shape, behaviour, presentation = _inside("", parts)
    interface: JsonValue = {
        "contract": snapshot.contract,
        "input": _json(snapshot.input),
        "exits": {name: _json(type_) for name, type_ in snapshot.exits.items()},
        "types": {name: _json(type_) for name, type_ in snapshot.types.items()},
    }
    shape["interface"] = interface
    behaviour["interface"] = interface
    behaviour["workflow"] = snapshot.workflow
    behaviour["maxSteps"] = snapshot.max_steps
    behaviour["presentation"] = snapshot.presentation
    presentation["title"] = snapshot.title
    return _digests(shape, behaviour, presentation)


Part = dict[str, Any]


def _inside(path: str, parts: _Parts) -> tuple[Part, Part, Part]:
    """What stands in one workflow, under names relative to it: nodes, mounts, edges and lets."""
    found: list[tuple[str, Digests]] = []
    for name in parts.names.get(path, ()):
        item = parts.nodes[name] if name in parts.nodes else parts.mounts[name]
        assert item.digests is not None, "what stands below has its digests first"
        found.append((_relative(name, path), item.digests))
    edges = parts.edges.get(path, [])
    lets = {_relative(name, path): value for name, value in parts.lets.get(path, {}).items()}
    shape: Part = {
        "nodes": {name: item.shape for name, item in found},
        "edges": [_edge_shape(edge, path) for edge in edges],
    }
    behaviour: Part = {
        "nodes": {name: item.behaviour for name, item in found},
        "edges": [{"shape": _edge_shape(edge, path), "subject": edge.subject} for edge in edges],
        "lets": lets,
    }
    presentation: Part = {"nodes": {name: item.presentation for name, item in found}}
    return shape, behaviour, presentation


def _edge_shape(edge: EdgeModel, path: str) -> JsonValue:
    arms: list[JsonValue] = []
    for arm in edge.arms:
        limit: JsonValue = None
        if arm.limit is not None:
            counter = _relative(arm.limit.counter or arm.key, path)
            limit = {"count": arm.limit.count, "then": _json_target(arm.limit.then, path), "counter": counter}
        cases: JsonValue = None if arm.cases is None else list(arm.cases)
        key = _relative(arm.key, path)
        arms.append({"key": key, "cases": cases, "to": _json_target(arm.to, path), "limit": limit})
    return {
        "from": _relative(edge.source, path),
        "way": edge.way,
        "on": edge.on,
        "match": edge.subject is not None,
        "arms": arms,
    }


def _json_target(target: TargetModel, path: str) -> JsonValue:
    return {"node": None if target.node is None else _relative(target.node, path), "exit": target.exit}


def _digests(shape: JsonValue, behaviour: JsonValue, presentation: JsonValue) -> Digests:
    made = digest(shape, MAX_STORED_DEPTH)
    return Digests(
        shape=made,
        behaviour=digest({"shape": made, "behaviour": behaviour}, MAX_STORED_DEPTH),
        presentation=digest(presentation, MAX_STORED_DEPTH),
    )


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def _relative(name: str, path: str) -> str:
    return name.removeprefix(f"{path}/") if path else name


def _json(model: BaseModel, without: Iterable[str] = ()) -> JsonValue:
    value: dict[str, JsonValue] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {key: item for key, item in value.items() if key not in frozenset(without)}


def _with(model: Any, digests: Digests) -> Any:
    return model.model_copy(update={"digests": digests})
