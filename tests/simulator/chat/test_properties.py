"""Every property can fail: a named patch breaks one rule, and the property that is about it says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from tests.simulator.chat.test_small_worlds import NOTICED
from windtunnel.simulator.chat import client, conversation, host, reducer
from windtunnel.simulator.chat.chances import moves
from windtunnel.simulator.chat.client import Tab
from windtunnel.simulator.chat.endings import END_PROPERTIES
from windtunnel.simulator.chat.happenings import after_move
from windtunnel.simulator.chat.hunting import hunt
from windtunnel.simulator.chat.messages import Opened
from windtunnel.simulator.chat.network import Act, Script, Setting, first_world, says
from windtunnel.simulator.chat.parts import Item
from windtunnel.simulator.chat.properties import STEP_PROPERTIES, followers
from windtunnel.simulator.chat.small_worlds import ASK, LAST, NEXT, calls_tool
from windtunnel.simulator.chat.turns import Content, ModelDone
from windtunnel.simulator.chat.view import ViewState


class Patch(NamedTuple):
    """What is put in the place of a function, the world it shows in, and the budget."""

    module: object
    name: str
    instead: Callable[..., Any]
    setting: Setting
    budget: int = 0


ORIGINAL_POST = client.post_next
ORIGINAL_EVENT = reducer.reduce_event


def newest_first(tab: Tab) -> client.Done:
    """M-p: the newest message is posted first."""
    turned, outs = ORIGINAL_POST(replace(tab, outgoing=tab.outgoing[::-1]))
    return replace(turned, outgoing=turned.outgoing[::-1]), outs


def last_of(queue: tuple[Item, ...], mode: str) -> tuple[Item, ...]:
    """M-p: the newest item is taken first."""
    return queue[-1:]


def going_back(state: ViewState, event: Any) -> ViewState:
    """The cursor is whatever came last."""
    return replace(ORIGINAL_EVENT(state, event), last=event.seq)


def wordless(opened: Opened, contents: object) -> Opened:
    """The words of a final are lost."""
    return replace(opened, parts=())


AT_ONCE: Script = (ModelDone(0, (Content("text", "yes"),)),)
STOPPED = (ASK, Act("stop", when="streaming"))
PATCHES = {
    "spoken in order": Patch(
        client, "post_next", newest_first, Setting((ASK, NEXT, LAST, LAST), kinds=frozenset({"delay"})), 1
    ),
    "each message once": Patch(conversation, "first_of", last_of, Setting((ASK, NEXT, LAST))),
    "positions rise": Patch(
        client, "reduce_event", going_back, Setting((ASK,), kinds=frozenset({"duplicate"})), 1
    ),
    "said is shown": Patch(client, "add_optimistic", lambda view, item: view, Setting((ASK,))),
    "tabs arrive": Patch(
        client, "fired", lambda tab, timer: (tab, ()), Setting((ASK,), kinds=frozenset({"disconnect"})), 1
    ),
    "answers are kept": Patch(conversation, "merge", wordless, Setting((ASK,), (AT_ONCE,))),
    "commands happen once": Patch(
        host,
        "receipt_of",
        lambda admission, receipt: None,
        Setting(STOPPED, kinds=frozenset({"duplicate"})),
        1,
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_property_notices_its_patch(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Law 5: with the patch the search finds a run that breaks this property; without it none."""
    patch = PATCHES[name]
    assert hunt(patch.setting, patch.budget).finding is None
    monkeypatch.setattr(patch.module, patch.name, patch.instead)
    found = hunt(patch.setting, patch.budget).finding
    assert found is not None
    assert found.problem.property == name


def test_every_property_has_something_that_breaks_it() -> None:
    """By a seeded fault or by a patch of this file."""
    assert set(STEP_PROPERTIES) | set(END_PROPERTIES) == set(NOTICED.values()) | set(PATCHES)


def test_the_law_is_judged_often() -> None:
    """M3: in a quiet run a reader has everything at many points: idle, with tools running, and in
    mid-answer.
    """
    world = first_world(Setting((ASK, NEXT), (calls_tool("look", before="x"), says("Hel", "lo"))))
    seen: set[tuple[str, bool]] = set()
    count = 0
    while possible := moves(world, 0):
        world = after_move(world, possible[0])
        for tab, _, session in followers(world):
            count += 1
            seen.add((session.loop.phase, tab.view.streaming is not None))
    assert count >= 15
    assert {("idle", False), ("tools", False), ("calling", True), ("calling", False)} <= seen


def test_a_move_done_twice_gives_the_same() -> None:
    """Law 3: handlers are pure: the same world and move give an equal world, and the old one is as it was."""
    world = first_world(Setting((ASK, NEXT), (calls_tool("look"),)))
    while possible := moves(world, 0):
        before = hash(world)
        once = after_move(world, possible[0])
        assert after_move(world, possible[0]) == once
        assert hash(world) == before
        world = once
