"""Admission of messages: each nonce once, the numbers of each client without a gap, what was removed stays
removed.

The state is a fold of the log, so a number is taken with the append and never before, and a restart forgets
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from windtunnel.simulator.chat.entries import Commanded, Entry, Queued, UserMessage
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.parts import Item

Verdict: TypeAlias = Literal["accepted", "duplicate", "deleted", "followup_conflict", "followup_out_of_order"]
"""`accepted`, `duplicate` and `deleted` are answered 202, the others 409."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What was accepted, and what must not come (back).

    `expected` is the next number of each client, `taken` are (client, number, nonce), `removed` nonces,
    `receipts` the commands that were obeyed.
    """

    expected: tuple[tuple[str, int], ...] = ()
    taken: frozenset[tuple[str, int, str]] = frozenset()
    nonces: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    receipts: tuple[Commanded, ...] = ()


def expected_of(admission: Admission, client: str | None) -> int:
    """The next number of a client; clients begin at 1."""
    return dict(admission.expected).get(client or "", 1)


def judge(admission: Admission, item: Item, faults: Faults = SOUND) -> Verdict:
    """What is to be answered to a post; nothing changes before its entry is appended."""
    assert item.nonce is not None, "a post carries a nonce"
    client, number = item.client or "", item.number or 0
    expected = expected_of(admission, client)
    if item.nonce in admission.removed and "C36" not in faults:
        return "deleted"
    if "C08" in faults:
        return "duplicate" if item.nonce in admission.nonces else "accepted"
    if number < expected:
        return "duplicate" if (client, number, item.nonce) in admission.taken else "followup_conflict"
    if number > expected:
        return "followup_out_of_order"
    return "duplicate" if item.nonce in admission.nonces and "C36" not in faults else "accepted"


def receipt_of(admission: Admission, receipt: str | None) -> Commanded | None:
    """The command that was obeyed under this receipt."""
    for done in admission.receipts:
        if receipt is not None and done.receipt == receipt:
            return done
    return None


def unknown(admission: Admission, nonces: Iterable[str]) -> tuple[str, ...]:
    """The nonces that were never accepted."""
    return tuple(nonce for nonce in nonces if nonce not in admission.nonces)


def take(admission: Admission, nonce: str | None, client: str | None, number: int | None) -> Admission:
    """A message was accepted."""
    if nonce is None:
        return admission
    admission = replace(admission, nonces=admission.nonces | {nonce})
    if client is None or number is None:
        return admission
    expected = dict(admission.expected)
    expected[client] = max(number + 1, expected.get(client, 1))
    taken = admission.taken | {(client, number, nonce)}
    return replace(admission, expected=tuple(sorted(expected.items())), taken=taken)


def admit_entry(admission: Admission, entry: Entry) -> Admission:
    """The state after one more entry of the log."""
    match entry.body:
        case Queued(item):
            return take(admission, item.nonce, item.client, item.number)
        case UserMessage(_, _, nonce, client, number, consumed):
            return admission if consumed else take(admission, nonce, client, number)
        case Commanded(_, receipt, cleared, barred) as done:
            removed = admission.removed.union(cleared, barred)
            receipts = admission.receipts if receipt is None else (*admission.receipts, done)
            return replace(admission, removed=removed, receipts=receipts)
        case _:
            return admission


def fold_admission(entries: Iterable[Entry]) -> Admission:
    """The state of a whole log."""
    admission = Admission()
    for entry in entries:
        admission = admit_entry(admission, entry)
    return admission
