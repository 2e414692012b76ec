"""The page in a real browser, against a real server: what a person sees, whatever happens to either."""

from __future__ import annotations

from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING

from tests.simulator.serving.servers import LONGEST_S, Client, process, running
from windtunnel.simulator.chat.parts import Row
from windtunnel.simulator.chat.rows import Snapshot, seen

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIVE = "#connection[data-state=live]"
IDLE = "body[data-activity=idle]"
BUSY = "body[data-activity=running]"


def visit(page: Page, server: Client) -> None:
    """Open the page and wait until it follows the stream."""
    page.set_default_timeout(LONGEST_S * 1_000)
    page.goto(server.url)
    page.wait_for_selector(LIVE)


def say(page: Page, text: str) -> None:
    """Write a message and send it with the keyboard."""
    page.fill("#message", text)
    page.press("#message", "Enter")


def shown(page: Page) -> list[tuple[str, str]]:
    """The rows on the screen: who, and the visible text."""
    found = []
    for row in page.locator("#transcript > article:visible").all():
        who = row.get_attribute("aria-label") or ""
        if row.get_attribute("data-status") == "waiting":
            who = "Waiting"
        found.append((who, "\n".join(row.locator(".parts > .text").all_text_contents())))
    return found


def has_value(page: Page, text: str) -> None:
    """Wait until a text stands where messages are written."""
    from playwright.sync_api import expect

    expect(page.locator("#message")).to_have_value(text, timeout=LONGEST_S * 1_000)


def hidden(row: Row) -> bool:
    """Whether a row has nothing to show."""
    return row.role == "assistant" and row.status == "done" and not row.parts


def answer(text: str) -> str:
    """What the simulated model says to a message without anything in it to do."""
    return f"You said: “{text}”. I am a simulated model, so this answer is made of your own words."


def reach(page: Page, server: Client) -> None:
    """Wait until the page has everything, and hold what it shows against the snapshot."""
    snapshot = server.snapshot()
    page.wait_for_selector(f'body[data-position="{snapshot.epoch}.{snapshot.seq}"]')
    names = {"user": "You", "assistant": "Agent"}
    rows = [(names[row.role], row.text) for row in snapshot.rows if row.step is None and not hidden(row)]
    spoken = [(who, text) for who, text in shown(page) if who in ("You", "Agent")]
    assert spoken == rows


def test_three_follow_ups_interleave_exactly(page: Page, tmp_path: Path) -> None:
    """A209, A226, S55, seed: three messages queued while the first is answered; each is a turn of its own."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        visit(page, server)
        say(page, "zero")
        page.wait_for_selector(BUSY)
        for text in ("one", "two", "three"):
            say(page, text)
        page.locator(".waiting .remove:visible").nth(2).wait_for()
        assert [row for row in shown(page) if row[0] == "Waiting"] == [
            ("Waiting", "one"),
            ("Waiting", "two"),
            ("Waiting", "three"),
        ]
        server.gate.open()
        page.locator(".row.assistant[data-status=done]").nth(3).wait_for()
        page.wait_for_selector(IDLE)
        texts = ("zero", "one", "two", "three")
        assert shown(page) == [pair for text in texts for pair in (("You", text), ("Agent", answer(text)))]
        reach(page, server)
        assert seen(server.snapshot()) == seen(server.cold())


def test_a_tool_lands_under_its_own_turn(page: Page, tmp_path: Path) -> None:
    """A192, A227, C03, F57: the tool of a follow-up stands in the follow-up's answer, not in the first."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        visit(page, server)
        say(page, "hello")
        page.wait_for_selector(BUSY)
        server.gate.let(3)
        say(page, "open package.json")
        page.wait_for_selector(".waiting .remove:visible")
        server.gate.open()
        page.get_by_text("package.json is open above.").wait_for()
        page.wait_for_selector(IDLE)
        answers = page.locator(".row.assistant:visible")
        assert answers.nth(0).locator(".tool").count() == 0
        assert answers.nth(1).locator(".tool").count() == 1
        tool = answers.nth(1).locator(".tool")
        assert tool.get_attribute("data-state") == "output-available"
        tool.locator("summary").click()
        assert '"a-project"' in (tool.locator(".output").text_content() or "")
        assert page.locator(".tool").count() == 1
        reach(page, server)


def test_a_reload_in_mid_answer_shows_the_text_whole(page: Page, tmp_path: Path) -> None:
    """A200, C32: not only what comes after it."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        visit(page, server)
        say(page, "hello there")
        page.wait_for_selector(BUSY)
        server.gate.let(18)
        page.get_by_text("You said: “hello").wait_for()
        page.reload()
        page.wait_for_selector(LIVE)
        page.wait_for_selector(BUSY)
        begun = page.locator(".row.assistant .text").text_content() or ""
        assert begun.startswith("You said: “hello")
        assert answer("hello there").startswith(begun)
        server.gate.open()
        page.wait_for_selector(IDLE)
        assert shown(page) == [("You", "hello there"), ("Agent", answer("hello there"))]
        reach(page, server)


def test_a_history_that_cannot_be_loaded_is_no_empty_chat(page: Page, tmp_path: Path) -> None:
    """C22: it says so and tries again; then everything is there."""
    with running(tmp_path / "chat.jsonl") as server:
        server.talk("hello", 1)
        page.set_default_timeout(LONGEST_S * 1_000)
        page.route("**/snapshot", lambda route: route.abort())
        page.goto(server.url)
        page.get_by_text("The history could not be loaded yet").wait_for()
        assert page.locator("#empty").is_hidden()
        page.unroute("**/snapshot")
        page.wait_for_selector(LIVE)
        reach(page, server)
        assert page.locator(".notice").count() == 0


def test_a_killed_server_loses_nothing(page: Page, tmp_path: Path) -> None:
    """F3, F41, A49, C41, L1: killed in mid-answer with messages waiting, and started again on the same
    port: what was accepted is there, the row that was open is closed under its id, and what waits is offered.
    """
    log = tmp_path / "chat.jsonl"
    with process(log, 0) as first:
        visit(page, first)
        say(page, "first")
        page.locator(".row.assistant[data-status=done]").wait_for()
        first.kill()
        page.wait_for_selector("#connection[data-state=offline]")
        say(page, "written while nobody was there")
        page.locator(".waiting", has_text="written while nobody was there").wait_for()
        assert shown(page)[-1] == ("Waiting", "written while nobody was there")
    with process(log, 100, port=first.port) as second:
        page.wait_for_selector(LIVE)
        page.wait_for_selector(BUSY)
        say(page, "and this waits")
        page.wait_for_selector(".waiting .remove:visible")
        page.locator(".row.assistant .text").nth(1).wait_for()
        second.kill()
    with process(log, 0, port=first.port) as third:
        page.wait_for_selector(".waiting .send:visible")
        assert shown(page)[-1] == ("Waiting", "and this waits")
        assert page.locator(".row.assistant[data-status=aborted]").count() == 1
        page.click(".waiting .send")
        page.get_by_text(answer("and this waits")).wait_for()
        page.wait_for_selector(IDLE)
        reach(page, third)
        rows = [row.text for row in third.snapshot().rows if row.role == "user"]
        assert rows == ["first", "written while nobody was there", "and this waits"]


def test_two_tabs_show_the_same(chromium: Browser, page: Page, tmp_path: Path) -> None:
    """F36, C23: both send under numbers of their own, both see both."""
    with running(tmp_path / "chat.jsonl") as server:
        other = page.context.new_page()
        visit(page, server)
        visit(other, server)
        say(page, "same")
        say(other, "same")
        for tab in (page, other):
            tab.locator(".row.assistant[data-status=done]").nth(1).wait_for()
            tab.wait_for_selector(IDLE)
            reach(tab, server)
        assert shown(page) == shown(other) == [("You", "same"), ("Agent", answer("same"))] * 2
        assert len(dict(server.snapshot().expected)) == 2


def test_a_bad_wire_ends_as_the_snapshot(page: Page, tmp_path: Path) -> None:
    """S43, S48, F37, F38, F42, L6: requests lost, done twice, not answered; frames lost, doubled, late;
    streams cut off: every message once, in order, and page == snapshot == log.
    """
    with running(tmp_path / "chat.jsonl", chaos=7, heartbeat_s=0.2) as server:
        page.set_default_timeout(LONGEST_S * 1_000)
        page.goto(server.url)
        texts = [f"message {number}" for number in range(5)]
        for text in texts:
            say(page, text)
        page.get_by_text(answer(texts[-1])).wait_for()
        page.wait_for_selector(IDLE)
        snapshot = quiet_snapshot(server)
        page.wait_for_selector(f'body[data-position="{snapshot.epoch}.{snapshot.seq}"]')
        assert [row.text for row in snapshot.rows if row.role == "user"] == texts
        assert shown(page) == [pair for text in texts for pair in (("You", text), ("Agent", answer(text)))]
        assert seen(snapshot) == seen(server.cold())


def quiet_snapshot(server: Client) -> Snapshot:
    """A snapshot over a wire that may lose it."""
    for _ in range(100):
        try:
            return server.snapshot()
        except (OSError, HTTPException):
            continue
    raise AssertionError("the wire loses everything")


def test_what_is_said_is_never_markup(page: Page, tmp_path: Path) -> None:
    """Text of the person, of the model and of tools stands in the page as text."""
    nasty = '<img src=x onerror=alert(1)><script>alert(2)</script> list the files & "open" <b>me</b>'
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    with running(tmp_path / "chat.jsonl") as server:
        visit(page, server)
        say(page, nasty)
        page.get_by_text("There are 3 files").wait_for()
        say(page, "open <b>none</b>")
        page.locator(".tool[data-state=output-error]").wait_for()
        page.wait_for_selector(IDLE)
        assert shown(page)[0] == ("You", nasty)
        assert page.locator("#transcript img, #transcript script, #transcript b").count() == 0
        assert alerts == []


def test_what_waits_looks_so_and_can_be_removed(page: Page, tmp_path: Path) -> None:
    """A137, A180, A184, A185, A186: italic, muted, “Waiting…”; removed, it never becomes a row."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        visit(page, server)
        say(page, "first")
        page.wait_for_selector(BUSY)
        say(page, "keep me")
        say(page, "remove me")
        page.locator(".waiting .remove:visible").nth(1).wait_for()
        waiting = page.locator(".waiting").nth(0)
        assert waiting.locator(".label").text_content() == "Waiting…"
        styles = waiting.evaluate("each => getComputedStyle(each).fontStyle + getComputedStyle(each).color")
        usual = page.locator(".row.user:not(.waiting)").evaluate("each => getComputedStyle(each).color")
        assert styles.startswith("italic")
        assert usual not in styles
        assert waiting.locator(".send").is_hidden()
        page.locator(".waiting .remove").nth(1).click()
        page.get_by_text("remove me").wait_for(state="detached")
        server.gate.open()
        page.get_by_text(answer("keep me")).wait_for()
        page.wait_for_selector(IDLE)
        assert [text for who, text in shown(page) if who == "You"] == ["first", "keep me"]
        reach(page, server)


def test_the_keyboard_is_enough(page: Page, tmp_path: Path) -> None:
    """Enter sends, Shift+Enter begins a line, Escape stops; what was stopped says so, what waited comes back
    to where it was written.
    """
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        visit(page, server)
        page.locator("#message:focus").wait_for()
        page.keyboard.type("two")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("lines")
        page.keyboard.press("Enter")
        page.wait_for_selector(BUSY)
        server.gate.let(20)
        page.locator(".row.assistant .text").wait_for()
        say(page, "later")
        page.wait_for_selector(".waiting .remove:visible")
        page.keyboard.press("Escape")
        page.wait_for_selector(IDLE)
        page.locator(".row.assistant[data-status=aborted]").wait_for()
        assert shown(page)[0] == ("You", "two\nlines")
        page.locator(".waiting").wait_for(state="detached")
        has_value(page, "later")
        reach(page, server)


def test_one_can_hear_the_page(page: Page, tmp_path: Path) -> None:
    """The transcript is a log that tells what is new, an answer is busy while it grows, and every control has
    a name.
    """
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        visit(page, server)
        transcript = page.get_by_role("log", name="Conversation")
        assert transcript.get_attribute("aria-live") == "polite"
        say(page, "hello")
        page.wait_for_selector(BUSY)
        server.gate.let(20)
        page.locator(".row.assistant[aria-busy=true]").wait_for()
        server.gate.open()
        page.locator(".row.assistant[aria-busy=false]").wait_for()
        assert page.get_by_role("textbox", name="Message to the agent").count() == 1
        for button in page.get_by_role("button").all():
            assert (button.text_content() or "").strip()


def test_a_workflow_runs_in_the_page(page: Page, tmp_path: Path) -> None:
    """Its prompt is a card with title and node, never a bubble; the answer stands under it,
    and the run ends by its exit.
    """
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        visit(page, server)
        page.click("#start")
        card = page.locator(".step[data-status=working]")
        card.wait_for()
        assert card.locator("summary").text_content() == "▶ Summary: alpha › summarize"
        assert card.locator(".prompt").is_hidden()
        card.locator("summary").click()
        assert "Write a plain summary" in (card.locator(".prompt").text_content() or "")
        server.gate.open()
        page.wait_for_selector("#standing[data-status=completed]")
        page.wait_for_selector(".step[data-status=done]")
        assert page.locator("#standing").text_content() == "run-1 ended by done"
        assert page.locator(".row.user").count() == 0
        assert shown(page)[1] == ("Agent", "An answer from summarize.")
        reach(page, server)


def test_a_person_decides_in_the_page(page: Page, tmp_path: Path) -> None:
    """What is asked stands in the page, with a button for each choice and room for what is said with it."""
    with running(tmp_path / "chat.jsonl", flow="builtin:plan-approval") as server:
        visit(page, server)
        page.click("#start")
        form = page.get_by_role("form", name="A decision")
        form.wait_for()
        assert form.get_by_role("heading").text_content() == "Approve the implementation plan"
        assert form.get_by_role("button").all_text_contents() == ["Yes, continue", "Replan", "No, stop"]
        form.get_by_role("textbox", name="Replan: What should change?").fill("fewer steps")
        form.get_by_role("button", name="Replan").click()
        page.wait_for_selector("#standing[data-status=completed]")
        assert page.locator("#standing").text_content() == "run-1 ended by replan"
        assert form.is_hidden()
