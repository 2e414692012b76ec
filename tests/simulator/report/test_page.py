"""The page of a run: the same bytes everywhere, whole, and deaf to what stands in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.simulator.report.subjects import builtin, example, long_run, twice_answered
from windtunnel.compiler import stage_file
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.scenario import Where, under
from windtunnel.simulator import simulate
from windtunnel.simulator.report.page.document import MAX_PAYLOAD, Subject, html_report, of_run, of_verdict
from windtunnel.simulator.report.page.places import NO_TEXTS, Texts, texts_of
from windtunnel.simulator.scenario.running import run_scenario
from windtunnel.simulator.scenario.verdict import Broken, Cause

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = '</script><img src=x onerror="window.hacked=1"><!--<script>window.hacked=2</script>'
FLOW = f"""language 1
# {HOSTILE}
workflow strange {{
  input {{ topic: text(1..500) }}
  agent tell {json.dumps(HOSTILE)} {{
    prompt "Say: ${{input.topic}}"
    expectedOutput assistant
  }}
  edges {{ start -> tell -> exit done }}
}}
"""


def data_of(page: bytes) -> dict[str, Any]:
    """What the script of a page reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode())
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    return read


def hostile() -> Subject:
    compiled = compile_workflow(MemoryReader({"strange.flow": FLOW}), "strange.flow")
    assert compiled.snapshot is not None, compiled.diagnostics
    run = simulate(compiled.snapshot, {"topic": HOSTILE})
    texts = texts_of(compiled.checked, compiled.snapshot)
    return of_run(run, compiled.snapshot, texts, again=HOSTILE, notes=(HOSTILE,))


def test_the_same_run_gives_the_same_bytes() -> None:
    """Also in another process with another hash seed."""
    program = (
        "import hashlib; from tests.simulator.report.subjects import twice_answered\n"
        "from windtunnel.simulator.report.page.document import html_report\n"
        "print(hashlib.sha256(html_report(twice_answered())).hexdigest())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},  # noqa: TID251
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_the_page_asks_for_nothing() -> None:
    """No address, no other file; a policy forbids the rest."""
    page = html_report(twice_answered()).decode()
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="', page.replace("http://www.w3.org/2000/svg", ""))
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_what_stands_in_a_run_stays_text(page: Page) -> None:
    """Markup in the source, a label, the input and the answer is shown and never obeyed."""
    made = html_report(hostile())
    assert data_of(made)["notes"] == [HOSTILE]
    assert b"<img src=x" not in made
    page.set_content(made.decode())
    for key in "12345":
        page.keyboard.press(key)
    page.keyboard.press("Home")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert HOSTILE in page.locator("#text").inner_text()


def test_half_a_pair_of_surrogates_is_written() -> None:
    """JSON may hold what UTF-8 cannot; the page shows it by its number."""
    snapshot, texts = example("hello")
    run = simulate(snapshot)
    events = [{**event, "payload": {"delta": "\\ud800"}} for event in run.events]
    subject = of_run(run, snapshot, texts)._replace(events=events)
    assert "\\ud800" in html_report(subject).decode()


def test_a_long_value_is_cut_and_a_run_without_text_is_shown() -> None:
    """A payload is bounded; without the source there are no links."""
    snapshot, _ = example("hello")
    run = simulate(snapshot)
    events = [
        *run.events[:-1],
        {**run.events[-1], "payload": {"a": "x" * MAX_PAYLOAD, "b": "y" * (MAX_PAYLOAD + 1)}},
    ]
    last = data_of(html_report(of_run(run, snapshot, NO_TEXTS)._replace(events=events)))
    payload = last["rows"][-1]["j"]
    assert payload["a"] == "x" * MAX_PAYLOAD
    assert payload["b"] == "y" * MAX_PAYLOAD + "…"
    assert last["places"] == {}


def test_a_long_list_is_cut_too() -> None:
    """Of any value only so much of its JSON is held."""
    snapshot, _ = example("hello")
    run = simulate(snapshot)
    fits, cut = "x" * (MAX_PAYLOAD - 4), "x" * (MAX_PAYLOAD - 3)
    events = [*run.events[:-1], {**run.events[-1], "payload": {"a": [fits], "b": [cut]}}]
    payload = data_of(html_report(of_run(run, snapshot)._replace(events=events)))["rows"][-1]["j"]
    assert payload["a"] == [fits]
    assert payload["b"] == f'["{cut}"…'


def test_a_scenario_that_did_not_run_has_a_page(page: Page) -> None:
    """Why it did not stands there; there is nothing to move through."""
    file = "examples/hello.scenarios.flow"
    scenario, snapshot = stage_file(file).scenarios[0]
    verdict = run_scenario(under(replace(scenario, input={"name": 1}), file), snapshot)
    assert verdict.film is None
    opened(page, of_verdict(verdict, snapshot))
    assert "the input does not fit" in page.locator("#about p.break").inner_text()
    for key in (*"12345npf", "End", "ArrowLeft", "PageDown"):
        page.keyboard.press(key)
    assert page.locator("#moment").inner_text() == "nothing was run"
    assert page.locator(".row").count() == 1


# --- as a person meets it -----------------------------------------------------------------------------------


def opened(page: Page, subject: Subject) -> Page:
    page.set_content(html_report(subject).decode())
    return page


def position(page: Page) -> int:
    return int(page.locator("#slider").input_value())


def test_a_counterexample_opens_at_its_break(page: Page) -> None:
    """The break is marked; both answers stand in the conversation; the crash is on the host's lane."""
    opened(page, twice_answered())
    assert "one-visible-response" in page.locator("#ended").inner_text()
    assert page.locator(".row.break").count() == 1
    assert page.locator(".row.dies svg .dies").count() > 0
    page.keyboard.press("4")
    assert page.locator("#chat .assistant").all_inner_texts() == ["An answer from greet."] * 2
    page.keyboard.press("p")
    assert page.locator(".row.now").get_attribute("class").split()[-2:] == ["dies", "now"]  # type: ignore[union-attr]
    assert page.locator("#chat .assistant").count() == 0
    page.keyboard.press("n")
    assert page.locator("#chat .assistant").count() == 2


def test_what_was_expected_is_a_link_to_its_line(page: Page) -> None:
    """The place of a broken expectation opens the file of the scenario there."""
    file = "examples/hello.scenarios.flow"
    staged = stage_file(file)
    text = staged.checked.modules.order[-1].source.text
    scenario, snapshot = staged.scenarios[0]
    verdict = run_scenario(under(scenario, file), snapshot, provider=None)
    line = text[: text.index("expect run.exit")].count("\n") + 1
    broken = Broken(Cause.EXPECTATION, "expect run.exit", "does not hold", Where(file, line, 3), 5)
    subject = of_verdict(replace(verdict, broken=(broken,)), snapshot, Texts({file: text}, {}))
    opened(page, subject)
    page.locator("#about .break button", has_text=f"{file}:{line}").click()
    assert "expect run.exit" in page.locator("#source .line.now").inner_text()


def test_the_slider_moves_every_pane(page: Page) -> None:
    """State, graph and conversation show the moment of the slider; what is later is pale."""
    opened(page, twice_answered())
    slider = page.locator("#slider")
    last = position(page)
    slider.evaluate("each => { each.value = 2; each.dispatchEvent(new Event('input')); }")
    assert page.locator("#moment").inner_text().startswith(f"row 3 of {last + 1}")
    assert page.locator(".row.later").count() > 0
    assert page.locator("#graph g.box.now").get_attribute("data-id") == "greet"
    assert "started" in page.locator("#state .durable").inner_text()
    page.keyboard.press("Home")
    assert page.locator("#graph g.box.now").get_attribute("data-id") == "start"
    assert page.locator("#graph g.arrow.passed").count() == 0
    page.keyboard.press("End")
    assert page.locator("#graph g.arrow.passed").count() > 0
    page.keyboard.press("ArrowLeft")
    assert position(page) == last - 1


def test_an_event_leads_to_its_line(page: Page) -> None:
    """The name of a node in a row, and the place beside an event, open the source there."""
    opened(page, twice_answered())
    page.locator(".row button.link", has_text="greet").first.click()
    assert "agent greet" in page.locator("#source .line.now").inner_text()
    page.keyboard.press("2")
    page.locator("#event dd button", has_text="hello.flow:").click()
    assert "agent greet" in page.locator("#source .line.now").inner_text()


def test_search_help_and_theme_by_keyboard(page: Page) -> None:
    """`/` finds rows, Enter goes through them, `?` tells the keys, `d` turns the theme."""
    opened(page, long_run(40))
    page.keyboard.press("Home")
    page.keyboard.press("/")
    page.keyboard.type("submission judge")
    assert page.locator("#hits").inner_text().endswith(" found")
    page.keyboard.press("Enter")
    first = position(page)
    page.keyboard.press("Enter")
    assert position(page) > first > 0
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("d")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_two_thousand_lines_are_folded_and_drawn_in_part(page: Page) -> None:
    """Few rows stand in the document, quiet visits are one row each, and unfolding shows every line."""
    subject = long_run(83)
    assert len(subject.events) >= 2_000
    opened(page, subject)
    assert page.locator(".row").count() < 80
    whole = page.locator("#canvas").evaluate("each => each.offsetHeight")
    page.keyboard.press("f")
    assert page.locator("#canvas").evaluate("each => each.offsetHeight") > 8 * whole
    assert page.locator(".row").count() < 80
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    assert page.locator(".row.now").is_visible()
    page.keyboard.press("f")
    page.locator(".row.visit").first.click()
    assert page.locator(".row", has_text="node started").count() >= 1
    page.evaluate("document.getElementById('rows').scrollTop = 1e6")
    page.locator(".row", has_text="run completed").first.wait_for()


@pytest.mark.parametrize("size", [(1280, 800), (700, 900)])
def test_nothing_overlaps(page: Page, size: tuple[int, int]) -> None:
    """The parts of the page stand beside or below each other, on a small screen too."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    snapshot, texts = builtin("autoplan")
    opened(page, of_run(simulate(snapshot, seed=4), snapshot, texts))
    parts = ("header", "#bar", "#diagram", "#upper", "#lower")
    boxes = [page.locator(part).bounding_box() for part in parts]
    for at, one in enumerate(boxes):
        assert one is not None
        assert one["x"] + one["width"] <= size[0] + 1
        for other in boxes[at + 1 :]:
            assert other is not None
            apart_x = one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
            apart_y = (
                one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1
            )
            assert apart_x or apart_y, parts[at]


def test_without_scripts_the_story_is_read(chromium: Any) -> None:
    """A reader who forbids scripts sees the story as text."""
    context = chromium.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.set_content(html_report(twice_answered()).decode())
    assert "crashed" in plain.locator("noscript").inner_text()
    context.close()
