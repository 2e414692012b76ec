"""The page of a picture as a person meets it: in a browser, at 10, 150 and 2,000 nodes."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.compiler.browsing import chosen, is_seen, measured, opened, view
from tests.compiler.snapshots import agent, const, edge, mount, release_notes, snapshot
from windtunnel.compiler import compile_file
from windtunnel.compiler.drawing import draw

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@cache
def small() -> str:
    """The page of a workflow with ten boxes, with findings."""
    remarks = {"draft": [("warning WT0601", "this is wrong\nx.flow:7")], "": [("hint WT0999", "so is this")]}
    return str(draw(release_notes(), "html", remarks=remarks))


@cache
def monitor() -> str:
    """The page of the largest workflow that is shipped."""
    compiled = compile_file("builtin:monitor").snapshot
    assert compiled is not None
    return str(draw(compiled, "html"))


@cache
def flat() -> str:
    """The page of 2,000 nodes one after the other, with a loop here and there."""
    names = [f"n{number}" for number in range(2_000)]
    edges = [edge("start", names[0]), edge(names[-1], "exit done")]
    edges += [edge(a, b) for a, b in pairwise(names)]
    edges += [edge(names[at], names[at - 3], (3, "exit done"), on="failed") for at in range(50, 2_000, 50)]
    return str(draw(snapshot({name: agent() for name in names}, edges), "html"))


@cache
def parted() -> str:
    """The page of 2,000 nodes in twenty includes."""
    scopes = [f"part{number}" for number in range(20)]
    nodes: dict[str, Any] = {}
    edges = [edge("start", scopes[0]), edge(f"{scopes[-1]}.done", "exit done")]
    edges += [edge(f"{a}.done", b) for a, b in pairwise(scopes)]
    for scope in scopes:
        names = [f"{scope}/n{number}" for number in range(100)]
        nodes |= {name: agent() for name in names}
        edges += [edge("start", names[0], scope=scope), edge(names[-1], "exit done", scope=scope)]
        edges += [edge(a, b, scope=scope) for a, b in pairwise(names)]
    mounts = {scope: mount("part", f"{scope}/n0", ["done"]) for scope in scopes}
    return str(draw(snapshot(nodes, edges, mounts=mounts), "html"))


def crumbs(page: Page) -> str:
    return page.inner_text("#crumbs").replace("\n", " ")


# --- what is drawn -----------------------------------------------------------------------------------------


def test_ten_nodes(page: Page, tmp_path: Path) -> None:
    """Everything is seen at once, unfolded too, and nothing is asked of a network."""
    asked = opened(page, small(), tmp_path)
    assert measured(page) == {"boxes": 10, "clusters": 0, "faults": []}
    assert is_seen(page, "start")
    assert is_seen(page, "exit/dropped")
    shown, folded = measured(page), page.screenshot(path=tmp_path / "folded.png")
    page.click("#unfold")
    assert measured(page) == {"boxes": 12, "clusters": 1, "faults": []}
    assert page.screenshot(path=tmp_path / "unfolded.png") != folded
    assert page.inner_text("#unfold") == "Fold"
    page.keyboard.press("u")
    assert measured(page) == shown
    assert asked == [(tmp_path / "picture.html").as_uri()]


def test_a_hundred_and_fifty_nodes_folded_and_unfolded(page: Page, tmp_path: Path) -> None:
    """Folded, the whole is seen; unfolded, every node of every include lies in its own."""
    asked = opened(page, monitor(), tmp_path)
    folded = measured(page)
    assert folded["faults"] == []
    assert is_seen(page, "start")
    assert is_seen(page, "exit/stopped")
    assert view(page)[2] > 0.45
    page.screenshot(path=tmp_path / "folded.png")
    page.keyboard.press("u")
    unfolded = measured(page)
    assert unfolded["faults"] == []
    assert unfolded["clusters"] == len(compile_file("builtin:monitor").snapshot.composition.mounts)  # type: ignore[union-attr]
    assert unfolded["boxes"] > 140
    assert is_seen(page, "start"), "a long picture is read from its beginning"
    page.screenshot(path=tmp_path / "unfolded.png")
    outside = page.evaluate(
        """() => [...document.querySelectorAll("#stage g.box")].filter(group => {
          const scope = group.dataset.id.replace(/(\\/exit)?\\/[^/]*$/, "");
          const home = scope !== group.dataset.id
            && document.querySelector(`#stage g.cluster[data-id="${CSS.escape(scope)}"]`);
          if (!home) return false;
          const a = group.getBBox(), b = home.getBBox();
          return a.x < b.x || a.x + a.width > b.x + b.width || a.y < b.y || a.y > b.y + b.height;
        }).map(group => group.dataset.id)"""
    )
    assert outside == []
    assert len(asked) == 1


@pytest.mark.parametrize("is_flat", [True, False])
def test_two_thousand_nodes(is_flat: bool, page: Page, tmp_path: Path) -> None:
    """Boxes and arrows still meet far down, and a node is found by its name."""
    asked = opened(page, flat() if is_flat else parted(), tmp_path)
    drawn = measured(page)
    assert drawn["faults"] == []
    assert drawn["boxes"] == (2_002 if is_flat else 22)
    assert is_seen(page, "start")
    page.screenshot(path=tmp_path / "top.png")
    page.keyboard.press("/")
    page.keyboard.type("n1999" if is_flat else "part19 n99")
    page.keyboard.press("Enter")
    wanted = "n1999" if is_flat else "part19/n99"
    assert chosen(page) == [wanted]
    assert is_seen(page, wanted)
    assert measured(page)["faults"] == []
    page.screenshot(path=tmp_path / "found.png")
    assert len(asked) == 1


def test_a_page_is_readable_without_scripts(chromium: Browser, tmp_path: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    opened(page, small(), tmp_path)
    assert page.locator("#stage g.box").count() == 10
    assert page.locator("#stage text", has_text="Draft release").count() == 0
    assert page.locator("#stage text", has_text="reading the history").is_visible()
    assert page.locator("#legend svg").is_visible()
    context.close()


def test_labels_are_text_and_nothing_else(page: Page, tmp_path: Path) -> None:
    """S09: whatever stands in a label, it is shown and does nothing."""
    label = '<img src=x onerror="thrown()">\'"`{}${1}</text></svg><script>thrown()</script> שלום 😀'
    made = snapshot(
        {"a": agent(label=const(label)), "b": agent(label=const("word " * 2_000))},
        [edge("start", "a"), edge("a", "b"), edge("b", "exit done")],
    )
    asked = opened(page, str(draw(made, "html")), tmp_path)
    page.click("#stage g[data-id=a]")
    assert label in page.inner_text("#about")
    page.click("#stage g[data-id=b]")
    assert "word word" in page.inner_text("#about")
    assert page.locator("img, main script").count() == 0
    assert measured(page)["boxes"] == 4
    assert len(asked) == 1


# --- moving ------------------------------------------------------------------------------------------------


def until(page: Page, condition: str) -> None:
    """Wait for what is drawn a frame later, asked from here: the page may not evaluate text itself."""
    for _ in range(250):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never came: {condition}")


def test_the_picture_is_dragged_and_wheeled(page: Page, tmp_path: Path) -> None:
    opened(page, small(), tmp_path)
    x, y, k = view(page)
    page.mouse.move(200, 400)
    page.mouse.down()
    page.mouse.move(260, 430, steps=4)
    page.mouse.up()
    assert view(page) == pytest.approx((x + 60, y + 30, k), abs=6)
    assert chosen(page) == [], "a drag is no click"
    x, y, k = view(page)
    page.mouse.wheel(0, 120)
    until(page, f"Math.abs(new DOMMatrix(document.querySelector('#stage svg').style.transform).f - {y}) > 1")
    assert view(page) == pytest.approx((x, y - 120, k), abs=0.01)


def test_zooming_keeps_what_is_under_the_pointer(page: Page, tmp_path: Path) -> None:
    opened(page, small(), tmp_path)
    before = page.locator("#stage g[data-id=draft]").bounding_box()
    assert before is not None
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    _, _, k = view(page)
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    until(page, f"new DOMMatrix(document.querySelector('#stage svg').style.transform).a > {k} + 0.1")
    after = page.locator("#stage g[data-id=draft]").bounding_box()
    assert after is not None
    assert after["width"] > before["width"] * 1.3
    assert after["x"] + after["width"] / 2 == pytest.approx(x, abs=2)
    assert after["y"] + after["height"] / 2 == pytest.approx(y, abs=2)
    page.click("#fit")
    assert view(page)[2] == pytest.approx(k, rel=1e-3)


def test_keys_zoom_and_move(page: Page, tmp_path: Path) -> None:
    opened(page, small(), tmp_path)
    x, y, k = view(page)
    page.keyboard.press("+")
    assert view(page)[2] == pytest.approx(k * 1.25, rel=1e-3)
    page.keyboard.press("-")
    page.keyboard.press("1")
    assert view(page)[2] == pytest.approx(1, rel=1e-3)
    page.keyboard.press("0")
    assert view(page) == pytest.approx((x, y, k), abs=0.01)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert view(page) == pytest.approx((x - 80, y - 80, k), abs=0.01)
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")


def test_the_keyboard_alone_walks_through_includes(page: Page, tmp_path: Path) -> None:
    """Tab to a box, Enter it, Backspace out of it."""
    opened(page, small(), tmp_path)
    page.focus("#stage")
    for _ in range(20):
        page.keyboard.press("Tab")
        if chosen(page) == ["tell"]:
            break
    assert chosen(page) == ["tell"]
    assert page.inner_text("#about h2") == "tell"
    page.keyboard.press("Enter")
    assert crumbs(page) == "release-notes › tell"
    assert page.locator("#stage g.box").count() == 3
    page.keyboard.press("Backspace")
    assert crumbs(page) == ""
    assert chosen(page) == ["tell"]
    page.keyboard.press("Escape")
    assert chosen(page) == []


# --- includes, search, panel -------------------------------------------------------------------------------


def test_breadcrumbs_lead_back(page: Page, tmp_path: Path) -> None:
    opened(page, monitor(), tmp_path)
    page.dblclick("#stage g[data-id=planChange]")
    page.dblclick("#stage g[data-id='planChange/design']")
    page.dblclick("#stage g[data-id='planChange/design/summary']")
    assert crumbs(page) == "monitor › planChange › design › summary"
    assert measured(page)["faults"] == []
    page.reload()
    assert crumbs(page) == "monitor › planChange › design › summary", "the address says where one is"
    page.click("#crumbs button:has-text('design')")
    assert crumbs(page) == "monitor › planChange › design"
    page.keyboard.press("u")
    assert measured(page) == measured(page) | {"clusters": 2, "faults": []}
    page.click("#crumbs button:has-text('monitor')")
    assert crumbs(page) == ""


def test_it_starts_unfolded_where_that_was_asked_for(page: Page, tmp_path: Path) -> None:
    opened(page, str(draw(release_notes(), "html", expand="all")), tmp_path)
    assert measured(page)["clusters"] == 1
    assert page.inner_text("#unfold") == "Fold"


def test_search_finds_what_is_folded_away(page: Page, tmp_path: Path) -> None:
    opened(page, monitor(), tmp_path)
    page.fill("#search", "verifyDocumentation")
    assert "documentation" in page.inner_text("#hits li:first-child small")
    page.click("#hits li:first-child")
    (found,) = chosen(page)
    assert found.endswith("/verifyDocumentation")
    assert crumbs(page).startswith("monitor › ")
    page.fill("#search", "nothing has such a name")
    assert page.inner_text("#hits") == "nothing found"


def test_the_panel_tells_everything_about_a_node(page: Page, tmp_path: Path) -> None:
    """Prompt, types, limits, findings and facts."""
    opened(page, small(), tmp_path)
    whole = page.inner_text("#about")
    for said in ("so is this", "at most", "TURNS OF THE MODEL", "ENDS THE RUN WHERE IT FAILS", "sha256:"):
        assert said in whole
    page.click("#stage g[data-id=draft]")
    told = page.inner_text("#about")
    for said in ("WARNING WT0601", "this is wrong", "Draft release notes.", "OUTPUT", "WITHOUT A ROUTE"):
        assert said in told
    assert "≤ 4, then dropped" in told
    page.click("#stage g[data-id=approve]")
    assert "Publish the notes?" in page.inner_text("#about")
    page.click("#stage g[data-id=release]")
    assert "only after approve (publish)" in page.inner_text("#about")
    page.click("#about li button:has-text('approve')")
    assert chosen(page) == ["approve"]
    near = page.eval_on_selector_all("#stage g.arrow.near", "found => found.length")
    assert near == 6


# --- light, dark, paper, small windows ----------------------------------------------------------------------


def paper(page: Page) -> str:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


def test_light_and_dark(page: Page, tmp_path: Path) -> None:
    """The reader's setting is followed; a key turns it."""
    page.emulate_media(color_scheme="light")
    opened(page, small(), tmp_path)
    light = page.screenshot(path=tmp_path / "light.png")
    assert paper(page) == "rgb(255, 255, 255)"
    page.keyboard.press("d")
    assert paper(page) == "rgb(18, 22, 28)"
    assert page.screenshot(path=tmp_path / "dark.png") != light
    page.reload()
    page.emulate_media(color_scheme="dark")
    assert paper(page) == "rgb(18, 22, 28)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints_the_drawing_and_what_is_chosen_on_white_paper(
    scheme: str, page: Page, tmp_path: Path
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened(page, small(), tmp_path)
    page.keyboard.press("+")
    page.click("#stage g[data-id=draft]")
    page.emulate_media(media="print", color_scheme=scheme)  # type: ignore[arg-type]
    assert paper(page) == "rgb(255, 255, 255)"
    assert not page.is_visible("#tools")
    assert page.is_visible("h1")
    assert "Draft release notes." in page.inner_text("#panel")
    assert page.evaluate("getComputedStyle(document.querySelector('#stage g.arrow')).opacity") == "1"
    wide, left = page.evaluate(
        "() => { const at = document.querySelector('#stage svg').getBoundingClientRect();"
        " return [at.width, at.left]; }"
    )
    assert left >= 0
    assert wide <= 1280
    printed = page.pdf(path=tmp_path / "picture.pdf")
    assert printed.startswith(b"%PDF")
    assert 1 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 4


def test_a_long_drawing_begins_on_the_first_page(page: Page, tmp_path: Path) -> None:
    """The title does not push it to the next one."""
    opened(page, monitor(), tmp_path)
    page.keyboard.press("u")
    page.emulate_media(media="print")
    top = page.evaluate("document.querySelector('#stage svg').getBoundingClientRect().top")
    assert top == 0
    high = page.evaluate("document.querySelector('#stage svg').getBoundingClientRect().height")
    assert high > 2_000, "it goes on over several pages instead of being made small"


def test_a_narrow_window_puts_the_panel_below(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 480, "height": 800})
    opened(page, small(), tmp_path)
    stage, panel = (page.locator(name).bounding_box() for name in ("#stage", "#panel"))
    assert stage is not None
    assert panel is not None
    assert panel["y"] >= stage["y"] + stage["height"] - 1
    assert stage["height"] > 250
    assert is_seen(page, "start")
    assert page.evaluate("document.documentElement.scrollWidth") <= 480
    page.screenshot(path=tmp_path / "narrow.png")
