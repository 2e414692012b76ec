"""The front door of the drawings, and what holds in every format."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from functools import cache
from itertools import pairwise

import pytest

from tests.compiler.drawn import keys_of, keys_of_picture, keys_of_svg, read_mermaid, read_svg
from tests.compiler.snapshots import (
    action,
    agent,
    assistant,
    checkpoint,
    compute,
    edge,
    match,
    mount,
    notify,
    release_notes,
    snapshot,
)
from tests.conftest import Golden
from windtunnel.compiler import compile_file
from windtunnel.compiler.drawing import FORMATS, draw
from windtunnel.compiler.drawing.picture import DrawingError, Expand
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.snapshot import Snapshot


@cache
def built_in(name: str) -> Snapshot:
    """A shipped workflow."""
    compiled = compile_file(f"builtin:{name}").snapshot
    assert compiled is not None
    return compiled


def text(made: Snapshot, format: str, expand: Expand = 1, *, ascii: bool = False) -> str:
    """A drawing that is text."""
    drawn = draw(made, format, expand=expand, ascii=ascii)
    assert isinstance(drawn, str)
    return drawn


@pytest.mark.parametrize("ending", ["svg", "dot", "mmd", "json", "txt"])
def test_a_small_workflow_in_each_format(ending: str, golden: Golden) -> None:
    golden(f"compiler/drawings/release-notes.{ending}", text(release_notes(), ending))


@pytest.mark.parametrize("ending", ["svg", "dot", "mmd", "txt"])
def test_its_include_unfolded(ending: str, golden: Golden) -> None:
    golden(f"compiler/drawings/release-notes-open.{ending}", text(release_notes(), ending, "all"))


def test_in_plain_letters(golden: Golden) -> None:
    drawn = text(release_notes(), "txt", ascii=True)
    assert drawn.isascii()
    golden("compiler/drawings/release-notes.ascii.txt", drawn)


@pytest.mark.parametrize("name", ["autoplan", "plan-change", "sanity-check"])
def test_shipped_workflows_as_text(name: str, golden: Golden) -> None:
    golden(f"compiler/drawings/{name}.txt", text(built_in(name), "txt"))


@pytest.mark.parametrize("expand", [1, 2, "all"])
@pytest.mark.parametrize("name", ["release-notes", "monitor", "autoimplement"])
def test_the_drawn_edges_are_those_of_the_snapshot(name: str, expand: Expand) -> None:
    """Each arm is one arrow, and one more where its limit leads; nothing else is drawn."""
    made = release_notes() if name == "release-notes" else built_in(name)
    picture = picture_of(made, expand)
    shown = {sheet.scope for sheet in picture.sheets}
    assert keys_of_picture(picture) == keys_of(made, shown)
    assert keys_of_svg(text(made, "svg", expand)) == keys_of(made, shown)
    if expand == "all":
        assert keys_of_picture(picture) == keys_of(made)


@pytest.mark.parametrize("expand", [1, "all"])
def test_every_box_is_drawn_once_in_every_format(expand: Expand) -> None:
    made = built_in("plan-change")
    picture = picture_of(made, expand)
    boxes = [box.id for sheet in picture.sheets for box in sheet.boxes]
    drawn = [
        group.id
        for group in read_svg(text(made, "svg", expand))
        if group.css.split()[0] in ("box", "cluster")
    ]
    assert sorted(drawn) == sorted(boxes)
    named = [box.name for sheet in picture.sheets for box in sheet.boxes]
    labels = [label.split("\n")[0] for label in read_mermaid(text(made, "mmd", expand))]
    assert all(labels.count(name) >= named.count(name) for name in named)
    told = text(made, "txt", expand)
    assert all(name in told for name in named)
    assert {
        box["id"] for sheet in json.loads(text(made, "json", expand))["sheets"] for box in sheet["boxes"]
    } == set(boxes)


def test_expand_shows_so_many_levels() -> None:
    made = built_in("monitor")
    depth = max(path.count("/") for path in made.composition.mounts) + 2
    assert [sheet.scope for sheet in picture_of(made, 1).sheets] == [""]
    assert [sheet.scope for sheet in picture_of(made, 2).sheets] == ["", "implementation", "planChange"]
    assert picture_of(made, depth) == picture_of(made, "all")
    assert picture_of(made, depth - 1) != picture_of(made, "all")
    assert picture_of(made, "all").folded == 0
    assert picture_of(made, 1).folded == sum("/" in node for node in made.nodes)


def test_an_assistant_agent_is_an_agent_with_a_mark() -> None:
    """B131, B598: no kind, shape or colour of its own: without the mark the two drawings are the same."""
    plain = snapshot({"say": agent()}, [edge("start", "say"), edge("say", "exit done")])
    marked = snapshot({"say": assistant()}, [edge("start", "say"), edge("say", "exit done")])
    first, second = picture_of(plain).sheets[0], picture_of(marked).sheets[0]
    assert [box.kind for box in first.boxes] == [box.kind for box in second.boxes]
    assert second.boxes[1].marker == "assistant response"
    groups = [
        next(g for g in read_svg(text(made, "svg")) if g.id == "say" and "box" in g.css)
        for made in (plain, marked)
    ]
    assert groups[0].css == groups[1].css == "box agent"
    assert groups[1].lines == (*groups[0].lines, "assistant response")
    assert "classDef agent" in text(marked, "mmd")
    assert "assistant" not in text(plain, "txt")
    assert text(marked, "txt").count("◉ say  agent") == 1
    fill = text(plain, "dot").split('"say" [')[1].split("fillcolor=")[1].split()[0]
    assert fill == text(marked, "dot").split('"say" [')[1].split("fillcolor=")[1].split()[0]


def test_what_the_mark_says_about_the_limit() -> None:
    made = snapshot({"say": assistant(2_500)}, [edge("start", "say"), edge("say", "exit done")])
    assert picture_of(made).sheets[0].boxes[1].marker == "assistant response ≤ 2500"


def test_loops_limits_failures_and_decisions_are_told_apart() -> None:
    sheet = picture_of(release_notes()).sheets[0]
    told = {(arrow.source, arrow.port, arrow.target): (arrow.flow, arrow.label) for arrow in sheet.arrows}
    assert told["approve", "rewrite", "draft"] == ("loop", ("≤ 4, then dropped",))
    assert told["approve", "rewrite", "dropped"] == ("limit", ("after 4",))
    assert told["release", None, "release"] == ("failure", ("failed", "≤ 2, then dropped"))
    assert told["approve", None, "dropped"] == ("failure", ("timed out",))
    assert told["release", None, "tell"] == ("ok", ())
    approve = next(box for box in sheet.boxes if box.id == "approve")
    assert approve.facts == (
        "by maintainers",
        "after 10m: publish",
        '  if input.tag == "v1"',
        "expires after 2d",
    )
    assert {port.name for port in approve.ports} == {"publish", "rewrite", "drop"}


def test_each_flow_has_a_line_style_besides_its_colour() -> None:
    drawn = text(release_notes(), "svg")
    styles = {}
    for flow in ("ok", "loop", "failure", "limit"):
        path = drawn.split(f'class="arrow {flow}"')[1].split("<path ")[1].split("/>")[0]
        styles[flow] = (path.partition("stroke-dasharray=")[2], path.partition("stroke-width=")[2].split()[0])
    assert len(set(styles.values())) == 4


def test_a_failure_and_a_timeout_that_go_one_way_are_one_arrow() -> None:
    made = snapshot(
        {"look": agent(), "rest": compute()},
        [
            edge("start", "look"),
            edge("look", "exit done"),
            edge("look", "rest", (5, "exit done"), on="failed"),
            edge("look", "rest", (5, "exit done"), on="timed_out"),
            edge("rest", "look"),
        ],
    )
    arrows = {arrow.flow: arrow for arrow in picture_of(made).sheets[0].arrows if arrow.source == "look"}
    assert arrows["failure"].keys == ("look on failed", "look on timed_out")
    assert arrows["failure"].label == ("failed or timed out", "≤ 5, then exit done")
    assert arrows["limit"].label == ("failed or timed out", "after 5")


def test_a_limit_that_several_nodes_count_together_says_so() -> None:
    edges = [edge("start", "a"), edge("a", "b"), edge("b", "exit done"), edge("rest", "a")]
    first, second = (edge(name, "rest", (3, "exit done"), on="failed") for name in "ab")
    second["arms"][0]["limit"]["counter"] = "a on failed"
    made = snapshot({"a": agent(), "b": agent(), "rest": compute()}, [*edges, first, second])
    labels = {arrow.label for arrow in picture_of(made).sheets[0].arrows if arrow.flow == "failure"}
    assert labels == {("failed", "≤ 3 together, then exit done")}


def test_matches_say_what_they_look_at() -> None:
    made = snapshot(
        {"choose": agent(), "a": compute(), "b": compute()},
        [
            edge("start", "choose"),
            match("choose", ["field", ["node", "choose"], "status", False], {"ready": "a", "else": "b"}),
            edge("a", "exit done"),
            edge("b", "exit done"),
        ],
    )
    sheet = picture_of(made).sheets[0]
    assert "by .status" in next(box for box in sheet.boxes if box.id == "choose").facts
    assert {arrow.label for arrow in sheet.arrows if arrow.source == "choose"} == {('"ready"',), ("else",)}


def test_a_crowd_of_routes_is_written_into_the_boxes() -> None:
    """Nothing is left out: what is written still counts, and the target says where it comes from."""
    names = [f"step{number}" for number in range(6)]
    nodes = {name: agent() for name in names} | {"rescue": compute()}
    edges = [edge("start", "step0"), edge("step5", "exit done"), edge("rescue", "exit done")]
    edges += [edge(a, b) for a, b in pairwise(names)]
    edges += [edge(name, "rescue", on="failed") for name in names]
    made = snapshot(nodes, edges)
    sheet = picture_of(made).sheets[0]
    assert sum(arrow.written for arrow in sheet.arrows) == 6
    assert "where 6 nodes failed" in next(box for box in sheet.boxes if box.id == "rescue").facts
    groups = read_svg(text(made, "svg"))
    assert [group.lines for group in groups if "written" in group.css] == [("failed → rescue",)] * 6


def test_kinds_have_a_word_in_the_legend() -> None:
    made = snapshot(
        {"a": action("x"), "n": notify("hi"), "c": checkpoint("ok?")},
        [edge("start", "a"), edge("a", "n"), edge("n", "c"), edge("c", "exit done")],
    )
    legend = read_svg(text(made, "svg"))[-1]
    assert [line.split(":")[0] for line in legend.lines[1:5]] == ["action", "notify", "checkpoint", "exit"]


def test_unreached_exits_and_nodes_are_drawn_too() -> None:
    made = snapshot(
        {"a": compute(), "lost": compute()},
        [edge("start", "a"), edge("a", "exit done")],
        exits=("done", "never"),
    )
    drawn = {group.id for group in read_svg(text(made, "svg"))}
    assert {"lost", "exit/never"} <= drawn


def test_a_picture_has_the_same_bytes_in_every_process() -> None:
    """Two hash seeds, one picture: nothing depends on the order of sets or on ids of objects."""
    script = (
        "import hashlib\n"
        "from tests.compiler.snapshots import release_notes\n"
        "from windtunnel.compiler.drawing import FORMATS, draw\n"
        "for name in FORMATS:\n"
        "    made = draw(release_notes(), name, expand=2)\n"
        "    print(name, hashlib.sha256(made if isinstance(made, bytes) else made.encode()).hexdigest())\n"
    )
    answers = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}  # noqa: TID251
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        answers.append(done.stdout)
    assert answers[0] == answers[1]
    assert len(answers[0].splitlines()) == len(FORMATS)


def test_png_has_the_size_of_the_picture() -> None:
    drawn = draw(release_notes(), "png", theme="dark")
    assert isinstance(drawn, bytes)
    assert drawn.startswith(b"\x89PNG\r\n\x1a\n")
    wide, high = struct.unpack(">II", drawn[16:24])
    assert wide > 800
    assert high > 1_200


def test_dark_is_another_picture_of_the_same_things() -> None:
    light, dark = draw(release_notes(), "svg"), draw(release_notes(), "svg", theme="dark")
    assert isinstance(light, str)
    assert isinstance(dark, str)
    assert light != dark
    assert read_svg(light) == read_svg(dark)


@pytest.mark.parametrize(
    ("format", "hint"), [("pdf", "SVG"), ("bmp", "choose one of svg, png"), ("", "choose one of")]
)
def test_other_formats_are_refused_with_a_hint(format: str, hint: str) -> None:
    with pytest.raises(DrawingError, match=hint):
        draw(release_notes(), format)


def test_nested_includes_are_drawn_inside_each_other() -> None:
    made = snapshot(
        {"out/in/leaf": compute()},
        [
            edge("start", "out"),
            edge("out.done", "exit done"),
            edge("start", "out/in", scope="out"),
            edge("out/in.done", "exit done", scope="out"),
            edge("start", "out/in/leaf", scope="out/in"),
            edge("out/in/leaf", "exit done", scope="out/in"),
        ],
        mounts={"out": mount("outer", "out/in", ["done"]), "out/in": mount("inner", "out/in/leaf", ["done"])},
    )
    assert [group.id for group in read_svg(text(made, "svg", "all")) if group.css == "cluster"] == [
        "out",
        "out/in",
    ]
    assert keys_of_svg(text(made, "svg", "all")) == keys_of(made)
