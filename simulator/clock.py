"""Virtual time. It stands still inside a transition, grows by one tick between two, and jumps only to a
timer.
"""

from __future__ import annotations

from typing import Final, NamedTuple

TICK_MS: Final = 1
"""What one transition takes."""


class Timer(NamedTuple):
    """The one timer of an attempt; in search only that it runs matters, not how far."""

    timeout_ms: int


class Clock:
    """The time of one printed run. `due_ms` is when the request that is open can no longer be answered."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.deadline_ms: int | None = None
        self.due_ms: int | None = None
        self._left_ms: int | None = None

    def tick(self) -> None:
        """One transition passes."""
        self.now_ms += TICK_MS

    def arm(self, timeout_ms: int) -> None:
        """A timer starts to run, or runs on after it was held."""
        left = timeout_ms if self._left_ms is None else self._left_ms
        self.deadline_ms, self._left_ms = self.now_ms + left, None

    def disarm(self, *, held: bool = False) -> None:
        """No timer runs; one that is held keeps what is left."""
        running = self.deadline_ms is not None and held
        self._left_ms = max(1, (self.deadline_ms or 0) - self.now_ms) if running else None
        self.deadline_ms = None

    def wait(self) -> None:
        """Nobody answers until the request is due."""
        if self.due_ms is not None:
            self.now_ms = max(self.now_ms, self.due_ms)

    def jump(self) -> None:
        """Nothing else happens until the timer fires."""
        if self.deadline_ms is not None:
            self.now_ms = max(self.now_ms, self.deadline_ms)
