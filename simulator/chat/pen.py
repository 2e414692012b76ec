"""The state of the agent loop, and the pen that writes down what one step does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.entries import (
    IN_TREE,
    Body,
    Entry,
    UserMessage,
)
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.messages import Opened
from windtunnel.simulator.chat.parts import Item, Row
from windtunnel.simulator.chat.turns import (
    Batch,
    Effect,
    LoopEvent,
    RunTool,
    Settings,
)

DEFAULTS: Final = Settings()

Phase: TypeAlias = Literal["idle", "calling", "tools", "retrying", "compacting"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The volatile state of the loop; what matters of it is in the log as well.

    `todo` and `running` are tools of the message that ended last; `minted` counts the ids given out;
    `length` is the number of rows since the last compaction; `waiting` is filled by a seeded fault only.
    """

    settings: Settings = DEFAULTS
    faults: Faults = SOUND
    phase: Phase = "idle"
    run: str = ""
    turn: str = ""
    call: int = 0
    opened: Opened | None = None
    last_opened: str = ""
    queue: tuple[Item, ...] = ()
    held: bool = False
    todo: tuple[RunTool, ...] = ()
    running: tuple[RunTool, ...] = ()
    attempt: int = 0
    leaf: str | None = None
    length: int = 0
    minted: int = 0
    waiting: tuple[UserMessage, ...] = ()


class Pen:
    """Writes down what one step does; lives for one step only."""

    def __init__(self, state: Conversation) -> None:
        self.state = state
        self.entries: list[Entry] = []
        self.stream: list[wire.EventBody] = []
        self.effects: list[Effect] = []
        self.events: list[LoopEvent] = []

    def set(self, **changes: object) -> None:
        """Change the state."""
        self.state = replace(self.state, **changes)

    def mint(self, letter: str) -> str:
        """A new id."""
        self.set(minted=self.state.minted + 1)
        return f"{letter}{self.state.minted}"

    def add(self, body: Body) -> str:
        """Append an entry, in the tree if it belongs there; its id."""
        name = self.mint("e")
        if isinstance(body, IN_TREE):
            self.entries.append(Entry(name, body, self.state.leaf))
            self.set(leaf=name)
        else:
            self.entries.append(Entry(name, body))
        return name

    def tell(self, kind: str, subject: str = "") -> None:
        """Tell an event of the reference agent."""
        self.events.append(LoopEvent(kind, subject))

    def batch(self) -> Batch:
        """All of it."""
        opened = self.state.opened
        row = (
            None
            if opened is None
            else Row(opened.id, "assistant", opened.turn, opened.parts, "streaming", at=opened.at)
        )
        return Batch(tuple(self.entries), tuple(self.stream), tuple(self.effects), tuple(self.events), row)
