"""What a tab knows of a session, as frozen data, and what it shows of that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.parts import (
    Item,
    Notice,
    Row,
    RunStatus,
    TextPart,
)
from windtunnel.simulator.chat.rows import Activity, Seen
from windtunnel.simulator.chat.window import Cursor

MAX_WARNINGS: Final = 100
"""How many warnings a client keeps; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A message shown before the server has it; `accepted` is where the stream was when it was accepted."""

    item: Item
    accepted: Cursor | None = None


@dataclass(frozen=True, slots=True)
class NeedsResync:
    """Events are missing: `expected` was to come, `got` came, `last` is what was applied."""

    expected: int
    got: int
    last: int


@dataclass(frozen=True, slots=True)
class ViewState:
    """What a tab knows of a session.

    `rows` are committed, `streaming` is the one that grows. `pending` are the calls (message, call) that have
    not ended; `adopted` the selectors given to queue entries of an old server; `ended` the parts of the
    streaming row that take no more; `over` the turn in which a run ended last. `live` says that an event was
    applied, `hydrated` that a snapshot was.
    """

    rows: tuple[Row, ...] = ()
    streaming: Row | None = None
    queue: tuple[Item, ...] = ()
    held: bool = False
    outbox: tuple[Pending, ...] = ()
    pending: tuple[tuple[str, str], ...] = ()
    epoch: int = 1
    last: int = 0
    activity: Activity = "idle"
    outcome: RunStatus | None = None
    turn: str | None = None
    turns: tuple[str, ...] = ()
    fresh_run: bool = False
    over: str | None = None
    notices: tuple[Notice, ...] = ()
    warnings: tuple[str, ...] = ()
    mode: bool = False
    hydrated: bool = False
    live: bool = False
    resync: NeedsResync | None = None
    adopted: tuple[str, ...] = ()
    ended: frozenset[str] = frozenset()
    foreign: str = ""
    faults: Faults = SOUND


# --- what is seen -------------------------------------------------------------------------------------------


def seen_live(state: ViewState) -> Seen:
    """What the tab agrees on with every other reader at a quiet point."""
    rows = state.rows if state.streaming is None else (*state.rows, state.streaming)
    if state.foreign:
        rows = (*rows, Row("transport", "assistant", None, (TextPart("transport", state.foreign),)))
    return Seen(rows, state.queue, state.held, state.activity, state.outcome, state.turn, state.notices)


WAITING: Final = "Waiting…"
"""The label of a message that is no row yet; it is italic and muted."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing on the screen: a row, or a message that waits, drawn as a user row with its label.

    A message that waits in a held queue is offered with *Send* and *Remove*.
    """

    row: Row
    label: str = ""
    offered: bool = False


def screen(state: ViewState) -> tuple[Shown, ...]:
    """What a tab shows, from the top: rows, the one that grows, the queue, what is still on its way there."""
    shown = [Shown(row) for row in seen_live(state).rows]
    waiting = [(item, state.held) for item in state.queue]
    waiting += [(entry.item, False) for entry in state.outbox]
    for item, held in waiting:
        row = Row(item.nonce or "", "user", None, (TextPart("waiting", item.text),), nonce=item.nonce)
        shown.append(Shown(row, WAITING, held))
    return tuple(shown)


def calls_in(rows: Iterable[Row]) -> tuple[tuple[str, str], ...]:
    """The calls in these rows that have not ended, in order."""
    return tuple((row.id, call) for row in rows for call in row.pending)


def rebuilt_pending(state: ViewState) -> tuple[tuple[str, str], ...]:
    """The index of pending calls, made anew from the rows."""
    return calls_in(state.rows) + (() if state.streaming is None else calls_in((state.streaming,)))
