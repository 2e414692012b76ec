"""The clock on the wall, and the processes of this machine."""

from __future__ import annotations

import os
import socket
import time  # noqa: TID251

from windtunnel.simulator.clock import Clock

SLICE_MS = 200
"""The longest nap: between two, a host renews its claim and looks for word from outside."""


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class WallClock(Clock):
    """The time of a run that began at `began_ms`; it never goes back, also not when the wall's clock does."""

    def __init__(self, began_ms: int, last_ms: int) -> None:
        super().__init__()
        self._began_ms = began_ms
        self.now_ms = last_ms

    def tick(self) -> None:
        """Look at the wall."""
        self.now_ms = max(self.now_ms, now_ms() - self._began_ms)

    def jump(self) -> None:
        """Sleep until the timer fires, or for a slice."""
        self.tick()
        if self.deadline_ms is not None and self.now_ms < self.deadline_ms:
            time.sleep(min(SLICE_MS, self.deadline_ms - self.now_ms) / 1_000)
        self.tick()


def nap(most_ms: int = SLICE_MS) -> None:
    """Do nothing for a moment."""
    time.sleep(most_ms / 1_000)


def owner() -> str:
    """The name of this process in a claim."""
    return f"{os.getpid()}@{socket.gethostname()}"


def is_dead(owner: str) -> bool:
    """Whether a process of this machine is gone; a process elsewhere may always be alive.

    A wrong answer would do no harm: the token of the claim that follows fences the older one.
    """
    pid, _, machine = owner.partition("@")
    if os.name != "posix" or machine != socket.gethostname() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
