"""What every store does: one transaction for each transition, and every write proves its claim.

A store never looks at a clock; whoever calls says what time it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, Protocol

from windtunnel.simulator.store.records import (
    Asked,
    Claim,
    Decision,
    Held,
    Line,
    NewRun,
    Notice,
    Receipt,
    RunRecord,
)

MAX_LINES: Final = 10_000
"""Lines of one transaction; the longest way through includes is far shorter."""


class StoreRefused(Exception):
    """The store cannot be used, or not so; the message says why, in words for a person."""


class NoSuchRun(StoreRefused):
    """The store holds no run of that name."""


class RunIsOver(StoreRefused):
    """The run has ended; nothing is added to it any more."""


class ClaimLost(StoreRefused):
    """Somebody else has claimed the run since; nothing was written."""


class Gap(StoreRefused):
    """The trace is not as long as the writer believes; nothing was written."""


Dead = Callable[[str], bool]
"""Whether an owner is known to be gone; saying no is always safe."""


def nobody_is_dead(owner: str) -> bool:
    """The careful answer: a claim lasts until it expires."""
    return False


class Store(Protocol):
    """Runs with their traces. Each method is one transaction: it happens whole or not at all."""

    def create(self, new: NewRun) -> RunRecord:
        """Add a run, queued, under the next free id `run-N`; its snapshot is stored once by content."""
        ...

    def runs(self) -> tuple[RunRecord, ...]:
        """Every run, oldest first."""
        ...

    def run(self, run: str) -> RunRecord:
        """One run, by its id or by one that continues it. Raises NoSuchRun."""
        ...

    def content(self, address: str) -> str:
        """The text with this SHA-256. Raises StoreRefused when it is missing or damaged."""
        ...

    def trace(self, run: str) -> tuple[Line, ...]:
        """The run's lines, numbered from 1 without a gap. Raises StoreRefused when one is missing."""
        ...

    def receipts(self, run: str) -> tuple[Receipt, ...]:
        """What proves the run's assistant answers, in the order of the trace."""
        ...

    def decisions(self, run: str) -> tuple[Decision, ...]:
        """The run's requests for decisions, in the order of the trace."""
        ...

    def notices(self, run: str) -> tuple[Notice, ...]:
        """The run's notifications, in the order of the trace."""
        ...

    def claim(
        self, run: str, owner: str, now_ms: int, lease_ms: int, dead: Dead = nobody_is_dead
    ) -> Claim | Held:
        """Claim a run, unless another owner's lease still lasts and that owner is not known to be dead.

        Raises NoSuchRun, and RunIsOver for a run that ended and has nothing left to tell.
        """
        ...

    def claimed(self, run: str) -> Held | None:
        """Who claimed the run last, until when; None if nobody did or the claim was given back."""
        ...

    def renew(self, claim: Claim, now_ms: int, lease_ms: int) -> Claim:
        """The same claim for longer. Raises ClaimLost."""
        ...

    def release(self, claim: Claim) -> None:
        """Give the claim back; nothing happens when it is lost already."""
        ...

    def guard(self, claim: Claim) -> AbstractContextManager[None]:
        """While inside, nobody else can claim the run. Raises ClaimLost, before anything inside runs."""
        ...

    def commit(self, claim: Claim, lines: tuple[Line, ...]) -> RunRecord:
        """Add lines, with everything that follows from them.

        Raises ClaimLost, RunIsOver and Gap; the only lines after a run's end tell that a notification was
        delivered.
        """
        ...

    def ask(self, run: str, what: str, now_ms: int) -> None:
        """Leave word for whoever holds the run. Raises NoSuchRun and RunIsOver."""
        ...

    def asked(self, run: str) -> tuple[Asked, ...]:
        """What was asked and not settled yet, oldest first; nothing for a run that is not there."""
        ...

    def settle(self, claim: Claim, asked: Asked) -> None:
        """What was asked is done. Raises ClaimLost."""
        ...
