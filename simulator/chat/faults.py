"""Seeded faults of the conversation: each puts a bug back that real systems shipped.

A switch changes only the line that asks `"C04" in faults`; nothing that judges (properties, search) reads
one.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Faults: TypeAlias = frozenset[str]
"""The switches that are on; empty for the sound system."""

SOUND: Final[Faults] = frozenset()

CHAT_FAULTS: Final[dict[str, str]] = {
    "C01": "the transport owns the first turn, the projection the later ones",
    "C02": "a tool result is drawn as a row of its own",
    "C03": "parts are found by kind alone, in whatever row has one",
    "C04": "an event that was applied already is applied again",
    "C05": "message ids are made anew on every read",
    "C06": "an optimistic message is recognised by its text",
    "C08": "follow-ups are posted in parallel",
    "C09": "an item counts as posted before it is acknowledged",
    "C10": "the final text is appended to the streamed text",
    "C11": "an item is posted to the session that is open now",
    "C12": "the index of pending tools misses parts that come out of order",
    "C13": "two posts with one nonce both pass the check while an append is in flight",
    "C14": "the snapshot reads a store that nobody writes any more",
    "C15": "the open message of one turn leaks into the next",
    "C17": "a run that ends in error with items waiting never closes",
    "C18": "the reasoning of the final is appended under another id",
    "C19": "an item is removed by its text",
    "C23": "two tabs that open a cold session open it twice",
    "C24": "an older snapshot wipes newer rows",
    "C25": "the position in a receipt moves the client's cursor",
    "C26": "an interrupt is answered when the next run ends",
    "C27": "a lost answer is met with a second post under a new nonce",
    "C28": "a run that is refused before its first event leaves no error",
    "C30": "closing a run leaves its tools pending in the log",
    "C32": "a snapshot in mid-answer lacks the text so far",
    "C33": "a text that equals an earlier one is dropped as a duplicate",
    "C34": "a late event of an aborted call ends the newer one",
    "C35": "a follow-up that reaches an idle session waits",
    "C36": "a late post after a clear puts the item back",
    "C37": "a cold load shows abandoned branches",
    "C38": "tools run before their message is in the log",
    "C40": "what waits is forgotten when the session compacts itself",
    "C41": "nothing is written before the first reply",
}
"""Every switch by its id, and what it puts back."""
