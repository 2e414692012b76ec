"""Marks on pictures: what changed between two snapshots, and what was taken of one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.compiler.drawn import keys_of, keys_of_svg, read_svg
from tests.compiler.snapshots import agent, compute, const, edge, mount, release_notes, snapshot
from tests.conftest import Golden
from windtunnel.compiler.drawing import draw
from windtunnel.compiler.drawing.marking import taken_of_report, with_changes, with_taken
from windtunnel.compiler.drawing.picture import Expand, Picture
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.snapshot import Snapshot

BASE: dict[str, Any] = {"a": agent("Do it."), "b": compute(), "in/c": agent("Tell it.")}
EDGES: list[Any] = [
    edge("start", "a"),
    edge("a", "b", (3, "exit done")),
    edge("b", "in"),
    edge("in.done", "exit done"),
    edge("start", "in/c", scope="in"),
    edge("in/c", "exit done", scope="in"),
]
MOUNTS: dict[str, Any] = {"in": mount("inner", "in/c", ["done"])}


def made(nodes: dict[str, Any] = BASE, edges: list[Any] = EDGES, **more: Any) -> Snapshot:
    """The base, or a change of it."""
    data = snapshot(nodes, edges, mounts=MOUNTS).model_dump(by_alias=True, exclude_none=True)
    return Snapshot.model_validate(data | more)


def changed(now: Snapshot, expand: Expand = 1, before: Snapshot | None = None) -> Picture:
    """The picture of a change."""
    old = made() if before is None else before
    return with_changes(picture_of(now, expand), picture_of(old, expand), now, old)


def statuses(picture: Picture) -> dict[str, str]:
    """What is marked, by id or key."""
    found: dict[str, str] = {
        box.id: box.status for sheet in picture.sheets for box in sheet.boxes if box.status
    }
    for sheet in picture.sheets:
        found |= {
            " ".join((*arrow.keys, arrow.target)): arrow.status for arrow in sheet.arrows if arrow.status
        }
    return found


def test_nothing_changed() -> None:
    assert statuses(changed(made())) == {}
    assert changed(made()).notes[-1] == "compared with revision 1: the same"


@pytest.mark.parametrize(
    ("node", "status"),
    [
        (agent("Do it well."), "text"),
        (agent("Do it.", label=const("working")), "text"),
        (agent("Do it.", timeoutMs=1_000), "runs"),
        (agent("Do it.", tools="none"), "runs"),
        (compute(), "runs"),
    ],
)
def test_the_class_of_a_changed_node(node: dict[str, Any], status: str) -> None:
    assert statuses(changed(made(BASE | {"a": node}))) == {"a": status}


def test_what_callers_see() -> None:
    number = {"kind": "record", "fields": {"x": {"type": {"kind": "int"}}}}
    assert statuses(changed(made(input=number))) == {"start": "callers"}
    assert statuses(changed(made(maxSteps=7))) == {"start": "runs"}
    assert statuses(changed(made(title=const("new")))) == {"start": "text"}
    assert statuses(changed(made(exits={"done": {"kind": "int"}}))) == {"exit/done": "callers"}


def test_a_folded_include_shows_the_weightiest_change_inside() -> None:
    now = made(BASE | {"in/c": agent("Tell it all.")})
    assert statuses(changed(now)) == {"in": "text"}
    assert statuses(changed(now, "all")) == {"in/c": "text"}


def test_what_was_added_and_removed_is_drawn_together() -> None:
    nodes = {"a": BASE["a"], "d": compute(), "in/c": BASE["in/c"]}
    edges = [edge("start", "a"), edge("a", "d"), edge("d", "in"), *EDGES[3:]]
    picture = changed(made(nodes, edges))
    assert statuses(picture) == {
        "b": "removed",
        "d": "added",
        "a d": "runs",
        "a b": "removed",
        "a exit/done": "removed",
        "d in": "added",
        "b in": "removed",
    }
    assert picture.notes[-1] == (
        "compared with revision 1: 2 added, 4 removed, 1 changed: matters to unfinished runs"
    )


def test_an_include_that_is_new() -> None:
    before = snapshot({"a": BASE["a"]}, [edge("start", "a"), edge("a", "exit done")])
    now = made()
    marked = statuses(changed(now, "all", before))
    assert marked["in"] == marked["in/c"] == marked["in/exit/done"] == "added"


@pytest.mark.parametrize("ending", ["svg", "png", "dot", "mmd", "json", "txt", "html"])
def test_changes_can_be_drawn_in_each_format(ending: str) -> None:
    now = made(BASE | {"a": agent("Do it well.")}, EDGES[:1] + EDGES[3:])
    drawn = draw(now, ending, expand="all", against=made())
    plain = draw(now, ending, expand="all")
    assert drawn != plain


def test_a_change_as_text(golden: Golden) -> None:
    now = made(
        BASE | {"a": agent("Do it well."), "d": compute()},
        [*EDGES[:2], edge("b", "d"), edge("d", "in"), *EDGES[3:]],
    )
    drawn = draw(now, "txt", against=made())
    assert isinstance(drawn, str)
    golden("compiler/drawings/changes.txt", drawn)


def test_a_change_is_written_beside_what_has_it() -> None:
    """Not by colour alone."""
    drawn = draw(made(BASE | {"a": agent("Do it well.")}), "svg", against=made())
    assert isinstance(drawn, str)
    box = next(group for group in read_svg(drawn) if group.id == "a" and group.css == "box agent")
    assert "changed: text only" in box.lines


def test_what_was_taken() -> None:
    picture = with_taken(picture_of(made(), "all"), ["start", "a then"])
    arrows = {(*arrow.keys, arrow.flow): arrow.status for sheet in picture.sheets for arrow in sheet.arrows}
    assert arrows["start", "ok"] == "taken"
    assert arrows["a", "ok"] == "missed"
    assert arrows["a", "limit"] == "taken"
    boxes = {box.id: box.status for sheet in picture.sheets for box in sheet.boxes}
    assert boxes == {
        "start": "taken",
        "a": "taken",
        "exit/done": "taken",
        "b": "missed",
        "in": "missed",
        "in/start": "missed",
        "in/c": "missed",
        "in/exit/done": "missed",
    }
    assert picture.notes[-1] == "2 of 7 arrows taken"


def test_what_a_report_has_covered() -> None:
    report = {"coverage": {"edges": {"covered": 5, "total": 7, "missed": ["a then", "b"]}}}
    assert taken_of_report(made(), report) == {"start", "a", "in.done", "in/start", "in/c"}


def test_marks_do_not_change_what_is_drawn() -> None:
    now = release_notes()
    drawn = draw(now, "svg", expand="all", taken=["start", "log"])
    assert isinstance(drawn, str)
    assert keys_of_svg(drawn) == keys_of(now)
    legend = read_svg(drawn)[-1].lines
    assert legend[-2:] == ("taken", "not taken")
    assert json.loads(str(draw(now, "json", taken=[])))["notes"][-1] == "0 of 14 arrows taken"
