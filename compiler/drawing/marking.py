"""Pictures with marks: what changed between two snapshots, or what was taken of one.

A change is one of three classes, each for another reader: text (what is said to models and people), callers
(what goes in and comes out), runs (where an unfinished run can go and what it does there).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from windtunnel.compiler.drawing.picture import Arrow, Box, Picture, Sheet
from windtunnel.compiler.drawing.style import STATUS_WORDS, Status
from windtunnel.compiler.snapshot import MountModel, Snapshot

TEXT_FIELDS: Final = frozenset({"label", "prompt", "examples", "message", "title", "show"})
"""The fields of a node that only say something to a model or a person."""

CALLER_FIELDS: Final = frozenset({"input_type", "exits", "contract", "input"})
_WEIGHT: Final[dict[Status, int]] = {"": 0, "text": 1, "callers": 2, "runs": 3}


# --- what was taken ----------------------------------------------------------------------------------------


def with_taken(picture: Picture, taken: Collection[str]) -> Picture:
    """The picture with every arrow marked as taken or missed, and with it every box that one enters.

    `taken` holds the keys of arms; what follows a used-up limit has the key of its arm and ` then`. An
    include that is folded shows only whether it was entered.
    """
    keys = frozenset(taken)
    sheets = tuple(_taken_sheet(sheet, keys) for sheet in picture.sheets)
    arrows = [arrow for sheet in sheets for arrow in sheet.arrows]
    count = sum(arrow.status == "taken" for arrow in arrows)
    return replace(picture, sheets=sheets, notes=(*picture.notes, f"{count} of {len(arrows)} arrows taken"))


class Course(NamedTuple):
    """How far a run came: keys as `with_taken` takes them, and the last visit of the nodes that matter.

    `states` are `"current"` for where the run is and `"failed"` for nodes whose last visit ended badly;
    `visits` how often each node was begun; `told` says how the run stands.
    """

    taken: frozenset[str]
    states: Mapping[str, Status]
    visits: Mapping[str, int]
    told: str


def with_course(picture: Picture, course: Course) -> Picture:
    """The picture with the path that a run took, where it is, and where it ended badly.

    A folded include takes in what is inside.
    """
    shown = {sheet.scope for sheet in picture.sheets}
    marked = with_taken(replace(picture, notes=(*picture.notes, course.told)), course.taken)
    sheets = tuple(
        replace(sheet, boxes=tuple(_visited(box, course, shown) for box in sheet.boxes))
        for sheet in marked.sheets
    )
    return replace(marked, sheets=sheets)


def _visited(box: Box, course: Course, shown: Collection[str]) -> Box:
    state = course.states.get(box.id, "")
    if box.opens is not None and box.opens not in shown:
        inside = {found for name, found in course.states.items() if name.startswith(f"{box.opens}/")}
        state = next((found for found in ("current", "failed") if found in inside), state)
    times = course.visits.get(box.id, 0)
    facts = (*box.facts, f"visited {times} times") if times > 1 else box.facts
    return replace(box, status=state or box.status, facts=facts)


def taken_of_report(snapshot: Snapshot, report: Mapping[str, Any]) -> frozenset[str]:
    """The keys that a report of an exploration has covered: all that it does not list as missed."""
    missed = frozenset(report["coverage"]["edges"]["missed"])
    arms = [arm for edge in snapshot.edges for arm in edge.arms]
    keys = {arm.key for arm in arms} | {f"{arm.key} then" for arm in arms if arm.limit is not None}
    return frozenset(keys - missed)


def _taken_sheet(sheet: Sheet, taken: frozenset[str]) -> Sheet:
    arrows = tuple(
        replace(
            arrow,
            status="taken"
            if any((f"{key} then" if arrow.flow == "limit" else key) in taken for key in arrow.keys)
            else "missed",
        )
        for arrow in sheet.arrows
    )
    reached = {arrow.target for arrow in arrows if arrow.status == "taken"}
    reached |= {arrow.source for arrow in arrows if arrow.status == "taken"}
    boxes = tuple(replace(box, status="taken" if box.id in reached else "missed") for box in sheet.boxes)
    return replace(sheet, boxes=boxes, arrows=arrows)


# --- what changed ------------------------------------------------------------------------------------------


def with_changes(
    new: Picture, old: Picture, now: Snapshot, before: Snapshot, *, apart: bool = False
) -> Picture:
    """The new picture with what was added and changed marked, and what was removed drawn among it.

    `new` and `old` are pictures of `now` and `before` with the same includes open; or, with `apart`, both
    have every sheet for a drawing of its own.
    """
    statuses = dict(node_changes(now, before))
    shown = set() if apart else {sheet.scope for sheet in new.sheets}
    former = {sheet.scope: sheet for sheet in old.sheets}
    sheets = tuple(_changed_sheet(sheet, former.get(sheet.scope), statuses, shown) for sheet in new.sheets)
    counts: dict[Status, int] = {}
    for sheet in sheets:
        marked = [box.status for box in sheet.boxes] + [arrow.status for arrow in sheet.arrows]
        for status in marked:
            counts[status] = counts.get(status, 0) + 1
    told = ", ".join(
        f"{counts[status]} {words}" for status, words in STATUS_WORDS.items() if counts.get(status) and status
    )
    note = f"compared with revision {before.revision}: {told or 'the same'}"
    return replace(new, sheets=sheets, notes=(*new.notes, note))


def node_changes(now: Snapshot, before: Snapshot) -> Iterator[tuple[str, Status]]:
    """The class of change of each node, mount and start that both snapshots have, by the id of its box."""
    for name in sorted(now.nodes.keys() & before.nodes.keys()):
        yield name, _class(_changed(now.nodes[name], before.nodes[name], frozenset({"digests"})))
    mounts, former = now.composition.mounts, before.composition.mounts
    for path in sorted(mounts.keys() & former.keys()):
        ignored = frozenset({"digests", "workflow", "revision", "start_at"})
        changed = _changed(mounts[path], former[path], ignored)
        yield path, _class(changed)
        yield f"{path}/start", "callers" if "input_type" in changed else ""
        yield from _exit_changes(path, mounts[path], former[path])
    whole = _changed(
        now, before, frozenset(Snapshot.model_fields) - {"input", "max_steps", "title", "presentation"}
    )
    yield (
        "start",
        "callers" if "input" in whole else "runs" if "max_steps" in whole else "text" if whole else "",
    )
    for name in sorted(now.exits.keys() & before.exits.keys()):
        yield f"exit/{name}", "" if now.exits[name] == before.exits[name] else "callers"


def _exit_changes(path: str, mount: MountModel, former: MountModel) -> Iterator[tuple[str, Status]]:
    for name in sorted(mount.exits.keys() & former.exits.keys()):
        yield f"{path}/exit/{name}", "" if mount.exits[name] == former.exits[name] else "callers"


def _changed(now: BaseModel, before: BaseModel, ignored: frozenset[str]) -> frozenset[str]:
    """The names of the fields that differ."""
    if type(now) is not type(before):
        return frozenset({"node_type"})
    fields = frozenset(type(now).model_fields) - ignored
    return frozenset(name for name in fields if getattr(now, name) != getattr(before, name))


def _class(changed: frozenset[str]) -> Status:
    if not changed:
        return ""
    if changed <= TEXT_FIELDS:
        return "text"
    return "callers" if changed <= TEXT_FIELDS | CALLER_FIELDS else "runs"


def _changed_sheet(
    sheet: Sheet, former: Sheet | None, statuses: Mapping[str, Status], shown: Collection[str]
) -> Sheet:
    if former is None:
        boxes = tuple(replace(box, status="added") for box in sheet.boxes)
        return replace(
            sheet, boxes=boxes, arrows=tuple(replace(arrow, status="added") for arrow in sheet.arrows)
        )
    known = {box.id for box in former.boxes}
    here = {box.id for box in sheet.boxes}
    boxes = tuple(
        replace(box, status=_status(box, statuses, shown) if box.id in known else "added")
        for box in sheet.boxes
    )
    gone = tuple(replace(box, status="removed", opens=None) for box in former.boxes if box.id not in here)
    return replace(sheet, boxes=(*boxes, *gone), arrows=_changed_arrows(sheet.arrows, former.arrows))


def _status(box: Box, statuses: Mapping[str, Status], shown: Collection[str]) -> Status:
    """The class of a box; a folded include takes in the weightiest change inside."""
    own = statuses.get(box.id, "")
    if box.opens is None or box.opens in shown:
        return own
    inside = (status for name, status in statuses.items() if name.startswith(f"{box.opens}/"))
    return max((own, *inside), key=lambda status: _WEIGHT[status])


def _changed_arrows(arrows: Sequence[Arrow], former: Sequence[Arrow]) -> tuple[Arrow, ...]:
    def name(arrow: Arrow) -> tuple[tuple[str, ...], bool]:
        return arrow.keys, arrow.flow == "limit"

    def meaning(arrow: Arrow) -> tuple[str, tuple[str, ...]]:
        return arrow.target, arrow.label

    before = {name(arrow): arrow for arrow in former}
    now = {name(arrow) for arrow in arrows}
    marked: list[Arrow] = []
    for arrow in arrows:
        other = before.get(name(arrow))
        if other is None:
            marked.append(replace(arrow, status="added"))
            continue
        same = meaning(other) == meaning(arrow)
        marked.append(arrow if same else replace(arrow, status="runs"))
        if other.target != arrow.target:
            marked.append(replace(other, status="removed"))
    marked += [replace(arrow, status="removed") for arrow in former if name(arrow) not in now]
    return tuple(marked)
