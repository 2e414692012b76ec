"""For each seeded fault a small world in which it shows, with the number of deviations that it takes.

The sound system passes every one of them with the same bounds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.hunting import Hunt, hunt
from windtunnel.simulator.chat.network import Act, Kind, Script, Setting, says
from windtunnel.simulator.chat.turns import (
    Content,
    ModelDelta,
    ModelDone,
    ModelFailed,
    ModelPartEnd,
    Settings,
)


class SmallWorld(NamedTuple):
    """A setting, and how many deviations from the quiet way are allowed in it."""

    setting: Setting
    budget: int


def calls_tool(*names: str, before: str = "") -> Script:
    """A script: a text, if any, then calls of these tools, whose input comes in one piece."""
    script: list[ModelDelta | ModelPartEnd | ModelDone | ModelFailed] = []
    contents: list[Content] = []
    if before:
        script += [ModelDelta(0, 0, "text", before), ModelPartEnd(0, 0)]
        contents.append(Content("text", before))
    for index, name in enumerate(names, start=len(contents)):
        script += [
            ModelDelta(0, index, "tool", '{"n":1}', f"call-{name}", name),
            ModelPartEnd(0, index, '{"n":1}'),
        ]
        contents.append(Content("tool", '{"n":1}', f"call-{name}", name))
    return (*script, ModelDone(0, tuple(contents), "toolUse"))


def thinks(thought: str, words: str) -> Script:
    """A script: reasoning, then text."""
    return (
        ModelDelta(0, 0, "reasoning", thought),
        ModelDelta(0, 1, "text", words),
        ModelDone(0, (Content("reasoning", thought), Content("text", words))),
    )


def breaks(*pieces: str, retryable: bool = False) -> Script:
    """A script: some text, then the call breaks off."""
    deltas = tuple(ModelDelta(0, 0, "text", piece) for piece in pieces)
    return (*deltas, ModelFailed(0, "overloaded", retryable))


def world(
    *acts: Act,
    budget: int = 0,
    kinds: tuple[Kind, ...] = (),
    scripts: tuple[Script, ...] = (),
    **more: object,
) -> SmallWorld:
    """A small world."""
    setting = Setting(acts, scripts, frozenset(kinds))
    return SmallWorld(replace(setting, **more), budget)


ASK: Final = Act("prompt", "first")
NEXT: Final = Act("send", "second", "streaming")
LAST: Final = Act("send", "third", "streaming")

SMALL_WORLDS: Final[dict[str, SmallWorld]] = {
    "C01": world(ASK),
    "C02": world(ASK, scripts=(calls_tool("look"),)),
    "C03": world(ASK, Act("prompt", "again")),
    "C04": world(ASK, NEXT, Act("remove", when="queued", pick=1), budget=1, kinds=("duplicate",)),
    "C05": world(ASK),
    "C06": world(Act("prompt", "same", "now"), Act("prompt", "same", "now", 1), tabs=2),
    "C08": world(ASK, NEXT, LAST, budget=1, kinds=("reorder",)),
    "C09": world(ASK, budget=1, kinds=("drop",)),
    "C10": world(ASK),
    "C11": world(
        Act("prompt", "first", "now"), Act("open", "z", "now"), sessions=("s", "z"), budget=1, kinds=("drop",)
    ),
    "C12": world(ASK, scripts=(calls_tool("look", before="let me see"),)),
    "C13": world(ASK, budget=2, kinds=("duplicate", "reorder")),
    "C14": world(ASK),
    "C15": world(ASK, NEXT),
    "C17": world(ASK, NEXT, scripts=(breaks("let", " me"),)),
    "C18": world(ASK, scripts=(thinks("hm", "yes"),)),
    "C19": world(
        ASK,
        Act("send", "same", "streaming"),
        Act("send", "same", "streaming"),
        Act("remove", when="queued", pick=2),
    ),
    "C23": world(tabs=2, budget=2, kinds=("reorder",)),
    "C24": world(ASK, budget=1, kinds=("duplicate",)),
    "C25": world(ASK, budget=1, kinds=("reorder",)),
    "C26": world(ASK, NEXT, Act("interrupt", when="streaming")),
    "C27": world(ASK, budget=1, kinds=("drop",)),
    "C28": world(ASK, scripts=(breaks(),)),
    "C30": world(ASK, Act("stop", when="tools"), scripts=(calls_tool("look"),)),
    "C32": world(ASK, Act("reload", when="streaming"), scripts=(says("Hel", "lo"),)),
    "C33": world(ASK, scripts=(says("ha", "ha"),)),
    "C34": world(ASK, NEXT, Act("interrupt", when="streaming"), late_calls=True),
    "C35": world(Act("send", "first")),
    "C36": world(ASK, NEXT, Act("remove", when="streaming", pick=1), budget=1, kinds=("delay",)),
    "C37": world(ASK, Act("prompt", "again"), Act("branch", pick=1), Act("prompt", "other")),
    "C38": world(ASK, scripts=(calls_tool("look"),), budget=1, kinds=("reorder",)),
    "C40": world(ASK, Act("send", "second", "compacting"), settings=Settings(compact_at=1)),
    "C41": world(ASK, budget=1, kinds=("crash",)),
}
"""By the id of the fault."""


def hunt_fault(fault: str | None, name: str, max_states: int = 50_000) -> Hunt:
    """Search the small world `name`, with a fault put back or, with None, as it should be."""
    small = SMALL_WORLDS[name]
    faults = frozenset() if fault is None else frozenset({fault})
    return hunt(replace(small.setting, faults=faults), small.budget, max_states)
