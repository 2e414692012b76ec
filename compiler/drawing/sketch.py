"""A snapshot to a picture: the workflows that are shown, boxes in reading order, arrows by what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from windtunnel.compiler.drawing.picture import Arrow, Box, Expand, Picture, Port, Sheet
from windtunnel.compiler.drawing.reading import read
from windtunnel.compiler.drawing.style import Flow
from windtunnel.compiler.drawing.wording import (
    Place,
    arm_label,
    caption,
    details,
    facts,
    marker,
    mount_details,
    subject_text,
    workflow_details,
)
from windtunnel.compiler.printing import local_name
from windtunnel.compiler.snapshot import (
    ArmModel,
    DecisionNode,
    EdgeModel,
    MountModel,
    Snapshot,
    TargetModel,
)
from windtunnel.compiler.typetext import words

CROWD_OF_FAILURES = 4
CROWD_IN = 6
CROWD_OUT = 9
"""From so many arrows at one box on they are written into their sources instead of drawn."""

OUTCOME_WORDS = {"ok": "", "failed": "failed", "timed_out": "timed out"}


class Parts(NamedTuple):
    """A snapshot sorted by the mount path of the workflow that each part belongs to."""

    snapshot: Snapshot
    nodes: dict[str, list[str]]
    mounts: dict[str, list[str]]
    edges: dict[str, list[EdgeModel]]


def parts_of(snapshot: Snapshot) -> Parts:
    """Sort the nodes, mounts and edges of a snapshot by workflow."""
    parts = Parts(snapshot, {}, {}, {})
    for identifier in sorted(snapshot.nodes):
        parts.nodes.setdefault(identifier.rpartition("/")[0], []).append(identifier)
    for path in sorted(snapshot.composition.mounts):
        parts.mounts.setdefault(path.rpartition("/")[0], []).append(path)
    for edge in snapshot.edges:
        parts.edges.setdefault(edge.scope, []).append(edge)
    return parts


def picture_of(snapshot: Snapshot, expand: Expand = 1, *, apart: bool = False) -> Picture:
    """The picture with `expand` levels of workflows shown: 1 folds every include, `"all"` opens every one.

    With `apart` every sheet is for a drawing of its own, in which all includes are folded.
    """
    parts = parts_of(snapshot)
    mounts = snapshot.composition.mounts
    shown = ["", *(path for path in sorted(mounts) if expand == "all" or path.count("/") + 2 <= expand)]
    visible = frozenset(shown)
    sheets = tuple(sheet_of(parts, scope, frozenset() if apart else visible) for scope in shown)
    place = Place("", mounts)
    folded = sum(len(found) for scope, found in sorted(parts.nodes.items()) if scope not in visible)
    return Picture(
        title=f"{snapshot.workflow}, revision {snapshot.revision}",
        notes=tuple(_notes(snapshot, folded)),
        sheets=sheets,
        folded=folded,
        details=workflow_details(snapshot, place),
    )


def _notes(snapshot: Snapshot, folded: int) -> Iterator[str]:
    if folded:
        yield f"{folded} more node{'s' if folded > 1 else ''} inside folded includes"
    if snapshot.presentation is not None:
        yield "ends with one more visible answer"


def sheet_of(parts: Parts, scope: str, visible: frozenset[str]) -> Sheet:
    """The sheet of the workflow at a mount path; the includes whose paths are `visible` are open."""
    snapshot = parts.snapshot
    mount = snapshot.composition.mounts.get(scope)
    place = Place(scope, snapshot.composition.mounts)
    edges = parts.edges.get(scope, [])
    shared = _shared_counters(edges)
    arrows = _merged(arrow for edge in edges for arrow in _arrows(edge, place, shared))
    names, arrows = read(arrows, _join(scope, "start"))
    order = {name: index for index, name in enumerate(names)}
    arrows = _uncrowded(arrows, order, visible)
    matches = {_source(edge): edge for edge in edges if edge.subject is not None and edge.on == "ok"}
    boxes = [_start_box(snapshot, scope, mount, place)]
    boxes += [_node_box(snapshot, identifier, place) for identifier in parts.nodes.get(scope, [])]
    boxes += [_mount_box(parts, path, place) for path in parts.mounts.get(scope, [])]
    exits = snapshot.exits if mount is None else mount.exits
    boxes += [
        Box(_join(scope, f"exit/{name}"), "exit", name, details=(("Output", words(type_)),))
        for name, type_ in sorted(exits.items())
    ]
    boxes = [_with_match(box, matches.get(box.id), place) for box in boxes]
    written = _by_end((arrow for arrow in arrows if arrow.written), "target")
    leaving = _by_end(arrows, "source")
    boxes = [_with_crowd(box, written.get(box.id, ()), place) for box in boxes]
    boxes = [_with_ports(box, leaving.get(box.id, ()), order) for box in boxes]
    boxes.sort(key=lambda box: (order.get(box.id, len(order)), box.id))
    name, revision = (
        (snapshot.workflow, snapshot.revision) if mount is None else (mount.workflow, mount.revision)
    )
    rank = {box.id: index for index, box in enumerate(boxes)}
    arrows.sort(key=lambda arrow: (rank[arrow.source], arrow.port or "", arrow.flow, arrow.keys))
    return Sheet(scope, name, revision, tuple(boxes), tuple(arrows))


def _join(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


# --- boxes -----------------------------------------------------------------------------------------------


def _start_box(snapshot: Snapshot, scope: str, mount: MountModel | None, place: Place) -> Box:
    if mount is None:
        told = workflow_details(snapshot, place)
    else:
        told = (("Input", words(mount.input_type)),)
    return Box(_join(scope, "start"), "start", "start", details=told)


def _node_box(snapshot: Snapshot, identifier: str, place: Place) -> Box:
    node = snapshot.nodes[identifier]
    ports: tuple[Port, ...] = ()
    if isinstance(node, DecisionNode):
        ports = tuple(
            Port(choice, "" if model.label is None else place.template(model.label))
            for choice, model in sorted(node.choices.items())
        )
    return Box(
        id=identifier,
        kind=node.node_type,
        name=local_name(identifier, place.scope),
        caption=caption(node, place),
        marker=marker(node, place),
        facts=facts(node, place),
        ports=ports,
        details=details(node, place),
    )


def _mount_box(parts: Parts, path: str, place: Place) -> Box:
    mount = parts.snapshot.composition.mounts[path]
    inside = len(parts.nodes.get(path, []))
    deeper = len(parts.mounts.get(path, []))
    more = f" and {deeper} include{'s' if deeper > 1 else ''}" if deeper else ""
    return Box(
        id=path,
        kind="include",
        name=local_name(path, place.scope),
        caption="" if mount.label is None else place.template(mount.label),
        facts=(f"{mount.workflow}: {inside} node{'' if inside == 1 else 's'}{more}",),
        ports=tuple(Port(name, "") for name in sorted(mount.exits)),
        details=mount_details(mount, place),
        opens=path,
    )


def _with_match(box: Box, edge: EdgeModel | None, place: Place) -> Box:
    """The box with a fact that says what its arrows depend on."""
    if edge is None or edge.subject is None:
        return box
    looked_at = "" if box.ports else f"by {subject_text(edge.subject, edge.source, place)}"
    return replace(box, facts=(*box.facts, looked_at)) if looked_at else box


def _by_end(arrows: Iterable[Arrow], end: Literal["source", "target"]) -> dict[str, list[Arrow]]:
    """The arrows by the box they begin or end at."""
    found: dict[str, list[Arrow]] = {}
    for arrow in arrows:
        found.setdefault(arrow.source if end == "source" else arrow.target, []).append(arrow)
    return found


def _with_ports(box: Box, arrows: Sequence[Arrow], order: Mapping[str, int]) -> Box:
    """The box with its ports in the order of the places they lead to, what leads back last."""
    if len(box.ports) < 2:
        return box
    leads = {
        arrow.port: (arrow.flow == "loop", order[arrow.target]) for arrow in arrows if arrow.flow != "limit"
    }
    unknown = (True, len(order))
    ports = sorted(box.ports, key=lambda port: (leads.get(port.name, unknown), port.name))
    return replace(box, ports=tuple(ports))


def _with_crowd(box: Box, arrows: Sequence[Arrow], place: Place) -> Box:
    """The box with a fact that says where the arrows that lead here and are not drawn come from."""
    failed = [arrow for arrow in arrows if arrow.flow == "failure"]
    names = sorted({local_name(arrow.source, place.scope) for arrow in arrows if arrow.flow != "failure"})
    facts = box.facts
    if failed:
        outcomes = sorted({arrow.label[0] for arrow in failed})
        facts = (*facts, f"where {len(failed)} nodes {' or '.join(outcomes)}")
    if names:
        facts = (*facts, f"also from {', '.join(names) if len(names) <= 2 else f'{len(names)} others'}")
    return replace(box, facts=facts)


# --- arrows ----------------------------------------------------------------------------------------------


def _source(edge: EdgeModel) -> str:
    return _join(edge.scope, "start") if edge.source == "start" else edge.source


def _target(target: TargetModel, scope: str) -> str:
    if target.exit is not None:
        return _join(scope, f"exit/{target.exit}")
    assert target.node is not None, "a target names a node or an exit"
    return target.node


def _counter(arm: ArmModel) -> str | None:
    return None if arm.limit is None else arm.limit.counter or arm.key


def _shared_counters(edges: Sequence[EdgeModel]) -> frozenset[str]:
    """The counters of limits that arrows from several nodes count together."""
    sources: dict[str, set[str]] = {}
    for edge in edges:
        for counter in (_counter(arm) for arm in edge.arms):
            if counter is not None:
                sources.setdefault(counter, set()).add(edge.source)
    return frozenset(counter for counter, found in sources.items() if len(found) > 1)


def _arrows(edge: EdgeModel, place: Place, shared: frozenset[str]) -> Iterator[Arrow]:
    flow: Flow = "ok" if edge.on == "ok" else "failure"
    for arm in edge.arms:
        outcome, cases = OUTCOME_WORDS[edge.on], arm_label(arm, edge.subject is not None)
        if edge.subject is not None and (edge.way or outcome):
            cases = f"{place.expression(edge.subject)}: {cases}"
        label = tuple(line for line in (outcome, cases) if line)
        if arm.limit is not None:
            yield from _limited(edge, arm, flow, label, place, _counter(arm) in shared)
        else:
            yield Arrow((arm.key,), _source(edge), edge.way, _target(arm.to, edge.scope), flow, label)


def _limited(
    edge: EdgeModel, arm: ArmModel, flow: Flow, label: tuple[str, ...], place: Place, together: bool
) -> Iterator[Arrow]:
    """The arrow that counts, and the one that is taken when it has counted enough."""
    assert arm.limit is not None, "only an arm with a limit comes here"
    times = place.whole(arm.limit.count) + (" together" if together else "")
    then = arm.limit.then
    shown = f"exit {then.exit}" if then.exit is not None else local_name(then.node or "", edge.scope)
    source, key = _source(edge), (arm.key,)
    counted = (*label, f"≤ {times}, then {shown}")
    yield Arrow(key, source, edge.way, _target(arm.to, edge.scope), flow, counted)
    yield Arrow(key, source, edge.way, _target(then, edge.scope), "limit", (*label, f"after {times}"))


def _merged(arrows: Iterable[Arrow]) -> list[Arrow]:
    """A failure and a timeout that go the same way become one arrow."""
    found: dict[tuple[object, ...], Arrow] = {}
    outcomes = ("failed", "timed out")
    for arrow in arrows:
        mergeable = any(line in outcomes for line in arrow.label)
        rest = tuple(line for line in arrow.label if line not in outcomes)
        place = (
            (arrow.source, arrow.port, arrow.target, arrow.flow, rest)
            if mergeable
            else (arrow.keys, arrow.flow)
        )
        seen = found.get(place)
        if seen is None:
            found[place] = arrow
            continue
        both = tuple("failed or timed out" if line in outcomes else line for line in arrow.label)
        found[place] = replace(seen, keys=tuple(sorted({*seen.keys, *arrow.keys})), label=both)
    return list(found.values())


def _uncrowded(arrows: Sequence[Arrow], order: Mapping[str, int], visible: frozenset[str]) -> list[Arrow]:
    """The arrows with those marked as written that would make a hairball.

    Failure routes are written where CROWD_OF_FAILURES of them go to one place. Of all arrows that enter a
    box which CROWD_IN enter, or leave one which CROWD_OUT leave, only those are drawn that are needed to
    reach each box once: the one from the nearest box before it. What leaves an open include is always drawn.
    """
    failures: dict[str, int] = {}
    entering: dict[str, list[Arrow]] = {}
    leaving: dict[str, int] = {}
    for arrow in arrows:
        failures[arrow.target] = failures.get(arrow.target, 0) + (arrow.flow == "failure")
        entering.setdefault(arrow.target, []).append(arrow)
        leaving[arrow.source] = leaving.get(arrow.source, 0) + 1
    kept = {id(min(found, key=lambda arrow: _distance(arrow, order))) for found in entering.values()}

    def crowded(arrow: Arrow) -> bool:
        if arrow.source in visible:
            return False
        if arrow.flow == "failure" and failures[arrow.target] >= CROWD_OF_FAILURES:
            return True
        many = len(entering[arrow.target]) >= CROWD_IN or leaving[arrow.source] >= CROWD_OUT
        return many and id(arrow) not in kept

    return [replace(arrow, written=True) if crowded(arrow) else arrow for arrow in arrows]


def _distance(arrow: Arrow, order: Mapping[str, int]) -> tuple[bool, bool, int, tuple[str, ...]]:
    """How good an arrow is for finding its target: the usual way, forward, from near by."""
    steps = order[arrow.target] - order[arrow.source]
    return arrow.flow in ("failure", "limit"), steps <= 0, abs(steps), arrow.keys
