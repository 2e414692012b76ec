"""Messages shown before the server has them: known by nonce, adopted when the stream brings them."""

from __future__ import annotations

from collections.abc import Iterable

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.parts import (
    Item,
)
from windtunnel.simulator.chat.view import (
    MAX_WARNINGS,
    Pending,
    ViewState,
)
from windtunnel.simulator.chat.window import Cursor


def keep_outbox(state: ViewState, outbox: tuple[Pending, ...]) -> ViewState:
    """The state of a snapshot with the optimistic messages that it does not know, unless it should know
    them.
    """
    known = {row.nonce for row in state.rows} | {item.nonce for item in state.queue}
    kept = tuple(entry for entry in outbox if entry.item.nonce not in known)
    return drop_settled(replace(state, outbox=kept))


# --- optimistic messages ------------------------------------------------------------------------------------


def add_optimistic(state: ViewState, item: Item) -> ViewState:
    """Show a message that the server does not have yet."""
    return replace(state, outbox=(*state.outbox, Pending(item)))


def mark_accepted(state: ViewState, nonce: str, position: Cursor | None) -> ViewState:
    """The server has the message; it is shown as optimistic until the stream says where it is."""
    outbox = tuple(
        Pending(entry.item, position) if entry.item.nonce == nonce else entry for entry in state.outbox
    )
    return replace(state, outbox=outbox)


def drop_settled(state: ViewState) -> ViewState:
    """Without messages that were accepted at a position that the view has, and that are nowhere in it."""
    known = {row.nonce for row in state.rows} | {item.nonce for item in state.queue}
    here = (state.epoch, state.last)
    gone = [
        entry
        for entry in state.outbox
        if entry.accepted is not None
        and (entry.accepted.epoch, entry.accepted.seq) <= here
        and entry.item.nonce not in known
    ]
    if not gone:
        return state
    told = tuple(f"a message is neither in the history nor in the queue: {each.item.text}" for each in gone)
    state = replace(state, warnings=(*state.warnings, *told)[-MAX_WARNINGS:])
    return drop_optimistic(state, (entry.item.nonce for entry in gone))


def drop_optimistic(state: ViewState, nonces: Iterable[str | None]) -> ViewState:
    """These messages are no longer shown as optimistic."""
    gone = frozenset(nonces) - {None}
    outbox = tuple(entry for entry in state.outbox if entry.item.nonce not in gone)
    return state if len(outbox) == len(state.outbox) else replace(state, outbox=outbox)


def clear_items(state: ViewState, nonces: Iterable[str | None]) -> ViewState:
    """The person removed these, and the server agreed."""
    gone = frozenset(nonces) - {None}
    queue = tuple(item for item in state.queue if item.nonce not in gone)
    return drop_optimistic(replace(state, queue=queue), gone)


def matching(outbox: tuple[Pending, ...], item: Item) -> Pending | None:
    """The optimistic message that a queue entry is, by nonce or else by client and number."""
    for entry in outbox:
        if item.nonce is not None:
            if entry.item.nonce == item.nonce:
                return entry
        elif item.number is not None and (item.number, item.client or entry.item.client) == (
            entry.item.number,
            entry.item.client,
        ):
            return entry
    return None


def update_queue(state: ViewState, queue: tuple[Item, ...], held: bool) -> ViewState:
    """The whole queue, as the server has it. Entries of an old server get selectors where that is certain.

    What is a row already waits no more, whatever a repeated event says.
    """
    done = {row.nonce for row in state.rows} - {None}
    queue = tuple(item for item in queue if item.nonce not in done)
    nonces = {item.nonce for item in queue}
    earlier = [item for item in state.queue if item.nonce in state.adopted and item.nonce not in nonces]
    shown: list[Item] = []
    adopted: list[str] = []
    outbox = state.outbox
    for item in queue:
        if item.nonce is None and item.number is None:
            waiting = [entry.item for entry in outbox if entry.item.kind == item.kind]
            ours = earlier.pop(0) if earlier else waiting[0] if len(waiting) == 1 else None
            if ours is not None and ours.nonce is not None:
                item = replace(item, nonce=ours.nonce, client=ours.client, number=ours.number)
                adopted.append(ours.nonce)
        entry = matching(outbox, item)
        if entry is not None:
            outbox = tuple(each for each in outbox if each is not entry)
        shown.append(item)
    return replace(state, queue=tuple(shown), held=held, outbox=outbox, adopted=tuple(adopted))


def adopt(state: ViewState, start: wire.MessageStart) -> ViewState:
    """A user message begins: the optimistic one that it is gives up its place to it."""
    if "C06" in state.faults:
        same = [entry for entry in state.outbox if entry.item.text == start.text]
        return drop_optimistic(state, (entry.item.nonce for entry in same))
    if start.nonce is not None:
        queue = tuple(item for item in state.queue if item.nonce != start.nonce)
        return drop_optimistic(replace(state, queue=queue), (start.nonce,))
    if start.step is not None or not state.outbox:
        return state
    kind = "prompt" if state.fresh_run else "followup"
    same_kind_first = sorted(state.outbox, key=lambda entry: entry.item.kind != kind)
    return drop_optimistic(state, (same_kind_first[0].item.nonce,))
