"""What may go wrong in one run, and how often: a total over all kinds together, and caps for single kinds."""

from __future__ import annotations

from typing import Final, NamedTuple

KINDS: Final = (
    *("crash", "duplicate", "provider", "followup", "escape", "cancel", "timeout"),
    *("pause", "zombie", "branch", "edit"),
)
"""Every kind of fault; a torn tail is a crash. New ones stand at the end."""

FIRST_KINDS: Final = 7
"""How many kinds the first tokens knew."""

UNCAPPED: Final = -1


class Budget(NamedTuple):
    """What is left: of the total, and of each kind in the order of KINDS (UNCAPPED where only the total
    counts).
    """

    total: int
    kinds: tuple[int, ...]


def budget(total: int, caps: dict[str, int | None] | None = None) -> Budget:
    """A budget; `caps` holds the most of single kinds."""
    limits = caps or {}
    assert set(limits) <= set(KINDS), "a cap names a kind of fault"
    found = (limits.get(kind) for kind in KINDS)
    # A cap at or above the total never binds.
    return Budget(total, tuple(UNCAPPED if cap is None or cap >= total else cap for cap in found))


def spend(left: Budget, kind: str) -> Budget | None:
    """What is left after one fault of the kind; None if it cannot be afforded."""
    at = KINDS.index(kind)
    if left.total == 0 or left.kinds[at] == 0:
        return None
    total = left.total - 1
    kinds = list(left.kinds)
    if kinds[at] != UNCAPPED:
        kinds[at] -= 1
    return Budget(total, tuple(UNCAPPED if cap >= total else cap for cap in kinds))
