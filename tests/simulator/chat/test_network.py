"""The law under any faults: live == snapshot == cold, each message once and in order, nothing lost, stuck
or pending.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windtunnel.simulator.chat.hunting import follow, hunt
from windtunnel.simulator.chat.network import Act, Kind, Script, Setting, says
from windtunnel.simulator.chat.small_worlds import ASK, LAST, NEXT, breaks, calls_tool, thinks
from windtunnel.simulator.chat.turns import Settings

ALL: frozenset[Kind] = frozenset(
    {"reorder", "drop", "delay", "duplicate", "disconnect", "crash", "append", "reload", "timeout"}
)

FEW: frozenset[Kind] = frozenset({"delay", "duplicate", "crash", "append"})
"""The kinds for worlds that are large already; the other worlds have them all."""

WORLDS = {
    "three follow-ups": Setting((ASK, NEXT, LAST), (says("Hel", "lo"),), ALL),
    "tools and steering": Setting(
        (ASK, Act("steer", "now", "tools")), (calls_tool("look", "bad", before="x"), says("done")), ALL
    ),
    "tools in parallel": Setting(
        (ASK, Act("interrupt", when="tools"), Act("continue")),
        (calls_tool("look", "find"), says("done")),
        ALL,
        Settings(tools="parallel", followups="all"),
    ),
    "retries": Setting(
        (ASK, Act("send", "b", "retrying"), Act("stop", when="retrying")),
        (breaks("x", retryable=True), breaks(retryable=True), says("ok")),
        ALL,
    ),
    "a held queue": Setting((ASK, NEXT, Act("remove", pick=1), Act("send", "c")), (breaks("x"),), ALL),
    "interrupt and stop": Setting(
        (ASK, NEXT, Act("interrupt", when="streaming"), Act("stop", when="streaming")),
        (),
        ALL,
        late_calls=True,
    ),
    "compaction": Setting(
        (ASK, Act("send", "b", "compacting"), Act("reload")), (), FEW, Settings(compact_at=1)
    ),
    "branches": Setting(
        (ASK, Act("prompt", "again"), Act("branch", pick=1), Act("prompt", "other")), (), FEW | {"disconnect"}
    ),
    "two tabs": Setting((ASK, Act("send", "first", "streaming", 1)), (), FEW, tabs=2),
    "two sessions": Setting(
        (Act("prompt", "one", "now"), Act("open", "z", "now"), Act("prompt", "two", "now"), Act("open", "s")),
        (),
        FEW | {"drop"},
        sessions=("s", "z"),
    ),
    "a small window": Setting((ASK, NEXT), (thinks("hm", "yes"),), ALL, replay_limit=3, backlog_limit=2),
    "a copied tab": Setting((ASK, Act("send", "first", "streaming", 1)), (), FEW, copies=1),
}


@pytest.mark.parametrize("name", WORLDS)
def test_any_one_fault(name: str) -> None:
    """Every single fault and every single jump of the queue at every point, searched whole."""
    found = hunt(WORLDS[name], 1)
    assert found.finding is None, found.finding
    assert found.complete
    assert found.states > 300


ACTS = st.lists(
    st.builds(
        Act,
        st.sampled_from(
            ["prompt", "send", "send", "steer", "remove", "stop", "interrupt", "release", "reload", "branch"]
        ),
        st.sampled_from(["same", "same", "", "other"]),
        st.sampled_from(["now", "quiet", "calling", "streaming", "tools", "queued"]),
        st.integers(0, 1),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=6,
)
SCRIPTS: st.SearchStrategy[list[Script]] = st.lists(
    st.sampled_from(
        [
            says("Hel", "lo"),
            says("ha", "ha", stop="length"),
            says(""),
            thinks("hm", "yes"),
            calls_tool("look", before="x"),
            calls_tool("look", "bad"),
            breaks("half"),
            breaks(retryable=True),
            says("no", stop="aborted"),
            says("no", stop="error"),
        ]
    ),
    max_size=4,
)
SETTINGS = st.builds(
    Settings,
    st.sampled_from(["sequence", "parallel"]),
    st.sampled_from(["one", "all"]),
    st.sampled_from(["one", "all"]),
    st.integers(0, 2),
    st.sampled_from([None, None, 2]),
)


def sane(acts: list[Act]) -> tuple[Act, ...]:
    """Acts that can be done: what is removed was said before, and the first act waits for nothing."""
    done: list[Act] = []
    said = 0
    for act in acts:
        if act.what == "remove" and act.pick >= said:
            continue
        said += act.what in ("prompt", "send", "steer")
        done.append(act if done else replace(act, when="quiet"))
    return tuple(done)


@given(
    ACTS,
    SCRIPTS,
    SETTINGS,
    st.dictionaries(st.integers(0, 90), st.integers(1, 30), max_size=8),
    st.sampled_from([(3, 2), (1_000, 256)]),
    st.sampled_from([(2, 0), (1, 1)]),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_any_acts_and_any_faults(
    acts: list[Act],
    scripts: list[Script],
    loop: Settings,
    deviations: dict[int, int],
    limits: tuple[int, int],
    tabs: tuple[int, int],
    late: bool,
) -> None:
    """S35–S55, A200, A220: whatever the person does, whatever the model says, whatever breaks: every
    property.
    """
    setting = Setting(
        sane(acts), tuple(scripts), ALL, loop, tabs[0], ("s",), tabs[1], *limits, late_calls=late
    )
    choices = tuple(deviations.get(place, 0) for place in range(1 + max(deviations, default=0)))
    assert follow(setting, choices, len(deviations)) is None
