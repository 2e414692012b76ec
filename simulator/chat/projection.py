"""The projection: entries of the log to events of the wire, from the first turn on.

The same function makes the live stream and, after a restart, the window of events that can be replayed.
Deltas have no entry; they come from the agent loop and take their numbers between those of the entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.entries import (
    BranchMoved,
    BranchSummary,
    Commanded,
    Compacted,
    Entry,
    EpochStarted,
    MessageEnded,
    MessageOpened,
    Queued,
    RetryEnded,
    RetryStarted,
    RunClosed,
    RunOpened,
    SessionOpened,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.parts import Item, TextPart


@dataclass(frozen=True, slots=True)
class Projection:
    """What the projection remembers between entries: the queue, and the turn of the last open message."""

    queue: tuple[Item, ...] = ()
    held: bool = False
    mode: bool = False
    turn: str | None = None
    opened: tuple[str, str] | None = None


def user_events(state: Projection, entry: Entry, body: UserMessage) -> tuple[wire.EventBody, ...]:
    """A user message: whole at once."""
    final = wire.Whole(entry.id, "user", (TextPart(f"{entry.id}.1", body.text),))
    return (
        wire.MessageStart(entry.id, "user", body.turn, body.nonce, body.text, body.step, entry.at),
        wire.MessageEnd(entry.id, "user", final, body.turn),
    )


def whole(body: MessageEnded, turn: str | None) -> wire.MessageEnd:
    """An assistant message that is whole."""
    return wire.MessageEnd(
        body.message, "assistant", wire.Whole(body.message, "assistant", body.parts), turn, body.stop
    )


def queue_event(state: Projection) -> wire.QueueUpdated:
    """The queue as it is now."""
    return wire.QueueUpdated(state.queue, state.held)


def project(state: Projection, entry: Entry) -> tuple[Projection, tuple[wire.EventBody, ...]]:
    """The events of one more entry, without positions."""
    before = state.queue, state.held
    match entry.body:
        case SessionOpened() | EpochStarted():
            return replace(state, mode=True), (wire.Mode(),)
        case BranchMoved():
            return replace(state, mode=True), (wire.Mode(),)
        case UserMessage(turn, _, nonce, consumed=consumed) as body:
            events = user_events(state, entry, body)
            state = replace(state, turn=turn)
            if consumed:
                queue = tuple(item for item in state.queue if item.nonce != nonce)
                state = replace(state, queue=queue)
                events = (*events, wire.FollowupConsumed(entry.id, nonce), queue_event(state))
            return state, events
        case MessageOpened(turn):
            started = wire.MessageStart(entry.id, "assistant", turn, at=entry.at)
            return replace(state, opened=(entry.id, turn)), (started,)
        case MessageEnded(message) as body:
            known = state.opened is not None and state.opened[0] == message
            return state, (whole(body, state.opened[1] if known and state.opened else None),)
        case ToolEnded(message, call, output, is_error):
            return state, (wire.ToolResult(message, call, output, is_error),)
        case RunOpened(_, turn):
            state = replace(state, turn=turn, held=False)
            start: tuple[wire.EventBody, ...] = (wire.AgentStart(turn),)
            return state, start if before == (state.queue, state.held) else (*start, queue_event(state))
        case RunClosed() as body:
            state = replace(state, held=body.held)
            ended: list[wire.EventBody] = []
            if body.message is not None:
                ended.append(whole(body.message, body.turn))
            if body.error is not None:
                ended.append(wire.Error(body.error, body.turn))
            ended.append(wire.AgentEnd(body.status, body.turn))
            if before != (state.queue, state.held):
                ended.append(queue_event(state))
            return state, tuple(ended)
        case RetryStarted(turn, attempt, delay):
            return state, (wire.RetryStart(attempt, delay, turn),)
        case RetryEnded(turn, attempt, outcome, held):
            state = replace(state, held=held)
            end: tuple[wire.EventBody, ...] = (wire.RetryEnd(attempt, outcome, turn),)
            return state, end if before == (state.queue, state.held) else (*end, queue_event(state))
        case Queued(item):
            state = replace(state, queue=(*state.queue, item), held=False)
            return state, (queue_event(state),)
        case Commanded(what, _, cleared):
            queue = tuple(item for item in state.queue if item.nonce not in cleared)
            state = replace(state, queue=queue, held=state.held and bool(queue) and what != "send")
            return state, () if before == (state.queue, state.held) else (queue_event(state),)
        case Compacted() | BranchSummary():
            return state, ()
        case _ as unreachable:
            assert_never(unreachable)
