"""What tells things apart: a word, a colour and a line style for each kind, in a light and a dark theme.

Nothing is told by colour alone: kinds have an icon and their word, arrows a line style.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal[
    "start", "agent", "compute", "action", "shell", "notify", "checkpoint", "decision", "include", "exit"
]
Flow = Literal["ok", "loop", "failure", "limit"]
Theme = Literal["light", "dark"]
Status = Literal["", "added", "removed", "text", "callers", "runs", "taken", "current", "failed", "missed"]

KIND_WORDS: Final[dict[Kind, str]] = {
    "start": "where a run begins",
    "agent": "agent: a turn of the model",
    "compute": "compute: a value, no effect",
    "action": "action: an effect outside",
    "shell": "shell: a command",
    "notify": "notify: a message to the chat",
    "checkpoint": "checkpoint: a person answers",
    "decision": "decision: a person chooses",
    "include": "include: another workflow",
    "exit": "exit: how a run can end",
}
FLOW_WORDS: Final[dict[Flow, str]] = {
    "ok": "goes on",
    "loop": "goes back",
    "failure": "after a failure or a timeout",
    "limit": "when a limit is used up",
}
STATUS_WORDS: Final[dict[Status, str]] = {
    "": "",
    "added": "added",
    "removed": "removed",
    "text": "changed: text only",
    "callers": "changed: matters to callers",
    "runs": "changed: matters to unfinished runs",
    "taken": "taken",
    "current": "the run is here",
    "failed": "ended badly here",
    "missed": "not taken",
}


PATH: Final[tuple[Status, ...]] = ("taken", "current", "failed", "missed")
"""The statuses of a path that was taken."""

WRITTEN: Final[tuple[Status, ...]] = ("added", "removed", "text", "callers", "runs", "current", "failed")
"""The statuses that are written beside what has them; taken and missed differ in the width of lines."""


class Ink(NamedTuple):
    """The colours of one kind: inside, border, icon."""

    fill: str
    stroke: str


class Palette(NamedTuple):
    """All colours of a theme."""

    paper: str
    ink: str
    muted: str
    cluster: str
    cluster_stroke: str
    kinds: dict[Kind, Ink]
    flows: dict[Flow, str]
    statuses: dict[Status, str]


DASHES: Final[dict[Flow, tuple[float, ...]]] = {
    "ok": (),
    "loop": (),
    "failure": (6, 4),
    "limit": (9, 3, 2, 3),
}
"""Lengths drawn and left out, in points; an empty tuple is a whole line."""

WIDTHS: Final[dict[Flow, float]] = {"ok": 1.3, "loop": 2.2, "failure": 1.3, "limit": 1.3}
"""Line widths in points."""

PALETTES: Final[dict[Theme, Palette]] = {
    "light": Palette(
        paper="#ffffff",
        ink="#1b2430",
        muted="#566270",
        cluster="#f7f9fb",
        cluster_stroke="#9aa7b4",
        kinds={
            "start": Ink("#1b2430", "#1b2430"),
            "agent": Ink("#e3effc", "#2468b2"),
            "compute": Ink("#f3f4f6", "#7a8694"),
            "action": Ink("#fdeedd", "#bf6215"),
            "shell": Ink("#e7ebee", "#37474f"),
            "notify": Ink("#e4f5ec", "#22804c"),
            "checkpoint": Ink("#f4e9fb", "#8a3fae"),
            "decision": Ink("#fff3cd", "#a87900"),
            "include": Ink("#ffffff", "#4c5b6b"),
            "exit": Ink("#ffffff", "#1b2430"),
        },
        flows={"ok": "#47535f", "loop": "#6840b5", "failure": "#c0332b", "limit": "#8f5a00"},
        statuses={
            "": "",
            "added": "#1a8a3c",
            "removed": "#c0332b",
            "text": "#2468b2",
            "callers": "#b06a00",
            "runs": "#a3168f",
            "taken": "#1a8a3c",
            "current": "#2468b2",
            "failed": "#c0332b",
            "missed": "#b4bcc5",
        },
    ),
    "dark": Palette(
        paper="#12161c",
        ink="#e6ebf1",
        muted="#a3afbc",
        cluster="#191f27",
        cluster_stroke="#566270",
        kinds={
            "start": Ink("#e6ebf1", "#e6ebf1"),
            "agent": Ink("#16304d", "#6fb0f5"),
            "compute": Ink("#232a33", "#8d99a6"),
            "action": Ink("#402a13", "#f0a055"),
            "shell": Ink("#1f2a30", "#9fb4bf"),
            "notify": Ink("#12352a", "#5ecb92"),
            "checkpoint": Ink("#35204a", "#c792ea"),
            "decision": Ink("#3d3310", "#e6bf4a"),
            "include": Ink("#1b222b", "#9aa7b4"),
            "exit": Ink("#12161c", "#e6ebf1"),
        },
        flows={"ok": "#aeb9c5", "loop": "#b69cf5", "failure": "#ff7b72", "limit": "#e0a84a"},
        statuses={
            "": "",
            "added": "#4fce76",
            "removed": "#ff7b72",
            "text": "#6fb0f5",
            "callers": "#f0a055",
            "runs": "#e58be0",
            "taken": "#4fce76",
            "current": "#6fb0f5",
            "failed": "#ff7b72",
            "missed": "#4c5866",
        },
    ),
}
