"""The HTML page: whole, alone, and true to the picture."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise

import pytest

from tests.compiler.drawn import Page, keys_of, keys_of_svg
from tests.compiler.snapshots import action, agent, const, edge, mount, release_notes, snapshot
from windtunnel.compiler import compile_file
from windtunnel.compiler.drawing import draw, page, remarks
from windtunnel.compiler.drawing.data import picture_data
from windtunnel.compiler.drawing.remarks import fact_remarks, with_remarks
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.snapshot import Snapshot


@cache
def plan_change() -> Snapshot:
    """A workflow with includes in includes."""
    compiled = compile_file("builtin:plan-change").snapshot
    assert compiled is not None
    return compiled


@cache
def source() -> str:
    """Its page."""
    drawn = draw(plan_change(), "html")
    assert isinstance(drawn, str)
    return drawn


def drawings(text: str) -> list[str]:
    """Every SVG of a page; the legend is the second."""
    return [f"<svg{part.split('</svg>')[0]}</svg>" for part in text.split("<svg")[1:]]


def test_the_embedded_picture_is_the_picture() -> None:
    drawn = picture_of(plan_change(), "all", apart=True)
    expected = picture_data(with_remarks(drawn, {}, fact_remarks(plan_change())))
    assert json.loads(Page(source()).scripts["picture"]) == json.loads(json.dumps(expected))


def test_every_include_is_drawn_folded_and_those_with_includes_unfolded() -> None:
    read = Page(source())
    drawn = json.loads(read.scripts["drawn"])
    mounts = plan_change().composition.mounts
    assert set(drawn) == {"", *mounts}
    assert all("folded" in modes for modes in drawn.values())
    parents = {"", *(path.rpartition("/")[0] for path in mounts)}
    assert {scope for scope, modes in drawn.items() if "open" in modes} == parents
    numbers = sorted(number for modes in drawn.values() for number in modes.values())
    assert numbers == list(range(len(numbers)))
    for scope, modes in drawn.items():
        for number in modes.values():
            assert number == 0 or read.templates[f"scene-{number}"] == scope


def test_the_drawings_have_the_arrows_of_their_workflows() -> None:
    first, _legend, *others = drawings(source())
    assert keys_of_svg(first) == keys_of(plan_change(), {""})
    drawn = json.loads(Page(source()).scripts["drawn"])
    assert keys_of_svg(others[drawn[""]["open"] - 1]) == keys_of(plan_change())
    for scope, modes in drawn.items():
        if scope:
            assert keys_of_svg(others[modes["folded"] - 1]) == keys_of(plan_change(), {scope})


def test_the_page_loads_nothing() -> None:
    read = Page(source())
    assert read.loads == []
    assert "default-src 'none'" in source()
    assert "@import" not in source()
    assert "url(" not in source()
    addresses = [part.split('"')[0] for part in source().split("http")[1:]]
    assert set(addresses) == {"://www.w3.org/2000/svg", "-equiv="}


def test_the_page_has_what_its_script_asks_for() -> None:
    read = Page(source())
    script = read.scripts[""]
    asked = {part.split('"')[0] for part in script.split('element("')[1:]}
    assert asked <= read.ids
    assert {"search", "unfold", "fit", "crumbs", "panel", "keys"} <= read.ids


def test_nothing_in_a_label_ends_a_script() -> None:
    label = "</script><script>alert(1)</script><!-- ]]> {{SCRIPT}}"
    made = snapshot({"a": agent(label=const(label))}, [edge("start", "a"), edge("a", "exit done")])
    drawn = draw(made, "html")
    assert isinstance(drawn, str)
    read = Page(drawn)
    assert set(read.scripts) == {"picture", "drawn", ""}
    assert json.loads(read.scripts["picture"])["sheets"][0]["boxes"][1]["caption"] == label
    assert "alert(1)" not in read.scripts[""]


def test_both_themes_and_paper_are_in_the_page() -> None:
    assert "prefers-color-scheme:dark" in source()
    assert "@media print" in source()
    assert '<html lang="en">' in source()
    assert '<html lang="en" data-theme="dark">' in str(draw(release_notes(), "html", theme="dark"))


def many(count: int) -> Snapshot:
    """So many includes of one node."""
    nodes = {f"m{number}/a": agent() for number in range(count)}
    edges = [edge("start", "m0"), edge(f"m{count - 1}.done", "exit done")]
    edges += [edge(f"m{number}.done", f"m{number + 1}") for number in range(count - 1)]
    for number in range(count):
        scope = f"m{number}"
        edges += [edge("start", f"{scope}/a", scope=scope), edge(f"{scope}/a", "exit done", scope=scope)]
    mounts = {f"m{number}": mount("child", f"m{number}/a", ["done"]) for number in range(count)}
    return snapshot(nodes, edges, mounts=mounts)


def test_a_page_draws_as_many_boxes_as_its_limit_and_names_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The root has five boxes, each include three."""
    for limit, drawn in ((11, {"", "m0", "m1"}), (10, {"", "m0"}), (1, {""})):
        monkeypatch.setattr(page, "MAX_PAGE_BOXES", limit)
        read = Page(str(draw(many(3), "html")))
        assert set(json.loads(read.scripts["drawn"])) == drawn
        assert len(json.loads(read.scripts["picture"])["sheets"]) == 4


def test_an_unfolded_drawing_has_as_many_boxes_as_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, is_open in ((14, True), (13, False)):
        monkeypatch.setattr(page, "MAX_OPEN_BOXES", limit)
        drawn = json.loads(Page(str(draw(many(3), "html"))).scripts["drawn"])
        assert ("open" in drawn[""]) is is_open


def test_facts_are_told_at_the_boxes_that_they_are_about() -> None:
    found = fact_remarks(release_notes())
    assert dict(found[""])["Visible answers"] == "0 to 1"
    assert ("Guard", "only after approve (publish)") in found["release"]
    assert ("Without a route", "failed or timed out: the whole run ends") in found["draft"]
    alone = snapshot({"a": action("x", label=const("x"))}, [edge("start", "a"), edge("a", "exit done")])
    assert ("Guard", "no decision guards it") in fact_remarks(alone)["a"]


def test_what_ends_a_run_is_listed_up_to_a_limit() -> None:
    for count, last in (
        (remarks.MAX_LISTED, f"n{remarks.MAX_LISTED - 1}"),
        (remarks.MAX_LISTED + 1, "and 1 more"),
    ):
        names = [f"n{number:02}" for number in range(count)]
        edges = [edge("start", names[0]), edge(names[-1], "exit done")]
        edges += [edge(a, b) for a, b in pairwise(names)]
        listed = dict(fact_remarks(snapshot({name: agent() for name in names}, edges))[""])
        assert listed["Ends the run where it fails"].splitlines()[-1] == last


def test_remarks_stand_before_and_after_what_the_snapshot_says() -> None:
    drawn = picture_of(release_notes())
    told = with_remarks(drawn, {"log": [("First", "a")], "": [("First", "b")]}, {"log": [("Last", "c")]})
    (log,) = (box for box in told.sheets[0].boxes if box.id == "log")
    (before,) = (box for box in drawn.sheets[0].boxes if box.id == "log")
    assert log.details == (("First", "a"), *before.details, ("Last", "c"))
    assert told.details == (("First", "b"), *drawn.details)
