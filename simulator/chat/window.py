"""The bounded window of events that can be replayed, and what a cursor finds there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.wire import Event

REPLAY_LIMIT: Final = 1_000
"""How many events a session keeps for readers that come back."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last event that a reader has."""

    epoch: int
    seq: int


@dataclass(frozen=True, slots=True)
class Window:
    """The last events of one epoch; `latest` is the position of the last one ever, also of those
    forgotten.
    """

    epoch: int = 1
    latest: int = 0
    events: tuple[Event, ...] = ()
    limit: int = REPLAY_LIMIT

    @property
    def first(self) -> int:
        """The position of the oldest event that can be replayed; one past the latest if there is none."""
        return self.events[0].seq if self.events else self.latest + 1


@dataclass(frozen=True, slots=True)
class Replay:
    """What comes after the cursor."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Resync:
    """The cursor cannot be continued: `replay_gap`, `cursor_ahead` or `epoch_changed`."""

    code: str
    latest: int
    first: int


Found: TypeAlias = Replay | Resync


def publish(window: Window, event: Event) -> Window:
    """The window with one more event. An event of a newer epoch empties it first."""
    if event.epoch != window.epoch:
        window = replace(window, epoch=event.epoch, events=(), latest=event.seq - 1)
    assert event.seq == window.latest + 1, f"event {event.seq} follows {window.latest}"
    kept = (*window.events, event)
    return replace(window, latest=event.seq, events=kept[-window.limit :] if window.limit else ())


def after(window: Window, cursor: Cursor) -> Found:
    """The events after a cursor, or why there must be a new start."""
    if cursor.epoch != window.epoch:
        return Resync("epoch_changed", window.latest, window.first)
    if cursor.seq > window.latest:
        return Resync("cursor_ahead", window.latest, window.first)
    if cursor.seq < window.first - 1:
        return Resync("replay_gap", window.latest, window.first)
    return Replay(window.events[max(0, cursor.seq - window.first + 1) :])
