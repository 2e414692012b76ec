"""The client's fold: events of the stream to rows, queue and activity, with optimistic messages beside them.

A position at or before the last one changes nothing; the next one applies; a gap changes no content and asks
for a snapshot. Rows are found by message id, parts by (message, kind, part), messages of the person by
nonce; never by text, and never by place.
"""

from __future__ import annotations

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.faults import SOUND
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.merging import (
    add_delta,
    adopt_final,
    finish_row,
    part_at,
    replace_final,
    row_after_end,
    same_kind,
    with_result,
)
from windtunnel.simulator.chat.optimistic import adopt, drop_optimistic, keep_outbox, update_queue
from windtunnel.simulator.chat.parts import (
    Notice,
    Part,
    ReasoningPart,
    Row,
    RunStatus,
    TextPart,
    ToolPart,
)
from windtunnel.simulator.chat.rows import Snapshot
from windtunnel.simulator.chat.view import (
    MAX_WARNINGS,
    NeedsResync,
    ViewState,
    calls_in,
)

# --- the rule of positions ----------------------------------------------------------------------------------


def reduce_event(state: ViewState, event: wire.Event) -> ViewState:
    """The state after one event; the same object if the event is old."""
    if event.epoch < state.epoch:
        return state
    if event.epoch > state.epoch:
        return ask_resync(state, event.seq)
    if event.seq <= state.last and "C04" not in state.faults:
        return state
    if event.seq > state.last + 1 or state.resync is not None:
        return ask_resync(state, event.seq)
    applied = apply_event(state, event.body)
    if applied.resync is not None:
        return applied
    return replace(applied, last=max(state.last, event.seq), live=True)


def ask_resync(state: ViewState, got: int) -> ViewState:
    """No content changes; a snapshot is needed."""
    if state.resync is not None:
        return state
    return replace(state, resync=NeedsResync(state.last + 1, got, state.last))


def hear_heartbeat(state: ViewState, epoch: int, seq: int) -> ViewState:
    """The stream says where it is; a reader that is behind missed its last events."""
    if epoch > state.epoch or (epoch == state.epoch and seq > state.last):
        return ask_resync(state, seq)
    return state


def hydrate(state: ViewState, snapshot: Snapshot) -> ViewState:
    """The state on a snapshot; the same object if the snapshot is older than what the state has."""
    older = snapshot.epoch == state.epoch and snapshot.seq < state.last and (state.live or state.hydrated)
    if (snapshot.epoch < state.epoch or older) and "C24" not in state.faults:
        return state
    rows = snapshot.rows if snapshot.open is None else (*snapshot.rows, snapshot.open)
    turns = tuple(dict.fromkeys(row.turn for row in rows if row.turn is not None))
    if snapshot.turn is not None and snapshot.turn not in turns:
        turns = (*turns, snapshot.turn)
    hydrated = ViewState(
        rows=snapshot.rows,
        streaming=snapshot.open,
        queue=snapshot.queue,
        held=snapshot.held,
        pending=calls_in(rows),
        epoch=snapshot.epoch,
        last=snapshot.seq,
        activity=snapshot.activity,
        outcome=snapshot.outcome,
        turn=snapshot.turn,
        turns=turns,
        over=None if snapshot.activity == "running" else snapshot.turn,
        notices=snapshot.notices,
        warnings=state.warnings,
        mode=snapshot.mode,
        hydrated=True,
        foreign=state.foreign,
        faults=state.faults,
    )
    return keep_outbox(hydrated, state.outbox)


# --- rows ---------------------------------------------------------------------------------------------------


def stale(state: ViewState, turn: str | None) -> bool:
    """Whether a turn is older than the current one."""
    return turn is not None and turn != state.turn and turn in state.turns


def enter_turn(state: ViewState, turn: str | None) -> ViewState:
    """A turn that was not seen before is the current one."""
    if turn is None or turn == state.turn or turn in state.turns:
        return state
    return replace(state, turn=turn, turns=(*state.turns, turn))


def row_of(state: ViewState, message: str) -> Row | None:
    """The row of a message, newest first."""
    if state.streaming is not None and state.streaming.id == message:
        return state.streaming
    for row in reversed(state.rows):
        if row.id == message:
            return row
    return None


def put_row(state: ViewState, row: Row) -> ViewState:
    """The state with another content of a row that it has."""
    if state.streaming is not None and state.streaming.id == row.id:
        return replace(state, streaming=row)
    rows = state.rows
    for index in range(len(rows) - 1, -1, -1):
        if rows[index].id == row.id:
            return replace(state, rows=(*rows[:index], row, *rows[index + 1 :]))
    return state


def insert_row(state: ViewState, row: Row) -> ViewState:
    """A new row at its ordered place: after the last row of its turn or of an older one."""
    if not stale(state, row.turn):
        return replace(state, rows=(*state.rows, row))
    order = {turn: place for place, turn in enumerate(state.turns)}
    ours = order[row.turn or ""]
    place = len(state.rows)
    while place > 0 and order.get(state.rows[place - 1].turn or "", -1) > ours:
        place -= 1
    return replace(state, rows=(*state.rows[:place], row, *state.rows[place:]))


def commit(state: ViewState, status: str) -> ViewState:
    """The streaming row goes to the others; `status` is what becomes of what is unfinished in it."""
    row = state.streaming
    if row is None:
        return state
    done = finish_row(row, status)
    state = insert_row(replace(state, streaming=None, ended=frozenset()), done)
    return forget_calls(state, done)


def forget_calls(state: ViewState, row: Row) -> ViewState:
    """The index without the calls of a row that have ended."""
    still = {(row.id, call) for call in row.pending}
    pending = tuple(key for key in state.pending if key[0] != row.id or key in still)
    return state if pending == state.pending else replace(state, pending=pending)


def close_all(state: ViewState, status: str) -> ViewState:
    """A run is over: nothing streams and nothing is pending."""
    state = commit(state, status)
    for message, _ in state.pending:
        row = row_of(state, message)
        if row is not None and row.pending:
            state = put_row(state, finish_row(row, status))
    return replace(state, pending=())


def start_message(state: ViewState, start: wire.MessageStart) -> ViewState:
    """A message begins."""
    known = row_of(state, start.message)
    if start.role == "user":
        state = adopt(enter_turn(state, start.turn), start)
        parts: tuple[Part, ...] = (TextPart(f"{start.message}.1", start.text or ""),)
        row = Row(start.message, "user", start.turn, parts, "done", start.nonce, start.step, start.at)
        state = replace(state, fresh_run=False)
        if known is not None:
            return put_row(state, row)
        for index, each in enumerate(state.rows):
            if start.nonce is not None and each.nonce == start.nonce:
                row = replace(row, at=min(each.at, row.at))
                return replace(state, rows=(*state.rows[:index], row, *state.rows[index + 1 :]))
        return insert_row(state, row)
    if known is not None:
        return state
    row = Row(start.message, "assistant", start.turn, (), "streaming", at=start.at)
    if stale(state, start.turn):
        return insert_row(state, row)
    state = enter_turn(state, start.turn)
    if state.streaming is not None:
        state = commit(state, "ok" if state.streaming.turn == start.turn else "aborted")
    return replace(state, streaming=row, ended=frozenset())


def end_message(state: ViewState, end: wire.MessageEnd) -> ViewState:
    """A message is whole."""
    row = row_of(state, end.message)
    if end.role == "user":
        if row is None:
            start = wire.MessageStart(end.message, "user", end.turn)
            return end_message(start_message(state, start), end)
        return put_row(state, replace(row, parts=end.final.parts))
    if row is None:
        row = Row(end.message, "assistant", end.turn, (), "streaming")
        if stale(state, end.turn):
            state = insert_row(state, row)
        else:
            state = replace(commit(enter_turn(state, end.turn), "aborted"), streaming=row)
    if row.status in ("aborted", "error"):
        return state
    if state.streaming is None or state.streaming.id != row.id:
        done = row_after_end(replace_final(row, end.final.parts), end.stop)
        state = put_row(state, done)
    else:
        done = row_after_end(adopt_final(row, end.final.parts, state.faults), end.stop)
        state = insert_row(replace(state, streaming=None, ended=frozenset()), done)
    state = forget_calls(state, done)
    new = tuple(key for key in calls_in((done,)) if key not in state.pending)
    return replace(state, pending=state.pending + new) if new else state


def change_part(state: ViewState, body: wire.ProseStart | wire.ProseDelta | wire.ProseEnd) -> ViewState:
    """Text or reasoning grows."""
    row = row_of(state, body.message)
    if "C03" in state.faults:
        owners = [each for each in state.rows if same_kind(each, body.kind)]
        row = owners[0] if owners else row
    if row is None or row.status != "streaming" or f"{body.kind} {body.part}" in state.ended:
        return state
    place = part_at(row, body.kind, body.part)
    if "C03" in state.faults and place < 0:
        place = same_kind(row, body.kind) - 1
    if place < 0:
        made = TextPart(body.part) if body.kind == "text" else ReasoningPart(body.part)
        row, place = replace(row, parts=(*row.parts, made)), len(row.parts)
    part = row.parts[place]
    assert not isinstance(part, ToolPart), "prose is found by its kind"
    if isinstance(body, wire.ProseDelta):
        text = add_delta(part.text, body.delta, body.offset, state.faults)
        if text is None:
            return ask_resync(state, state.last + 1)
        part = replace(part, text=text)
    elif isinstance(body, wire.ProseEnd):
        if body.text is not None and not part.text.startswith(body.text):
            part = replace(part, text=body.text)
        if isinstance(part, ReasoningPart):
            part = replace(part, state="done")
        state = replace(state, ended=state.ended | {f"{body.kind} {body.part}"})
    return put_row(state, replace(row, parts=(*row.parts[:place], part, *row.parts[place + 1 :])))


def change_call(
    state: ViewState, body: wire.ToolCallStart | wire.ToolCallDelta | wire.ToolCallEnd
) -> ViewState:
    """The input of a call grows."""
    row = row_of(state, body.message)
    if row is None or row.status != "streaming":
        return state
    place = part_at(row, "tool", body.call)
    if place < 0:
        name = body.name if isinstance(body, wire.ToolCallStart) else ""
        row, place = replace(row, parts=(*row.parts, ToolPart(body.call, name))), len(row.parts)
        if not ("C12" in state.faults and place > 0):
            state = replace(state, pending=(*state.pending, (row.id, body.call)))
    part = row.parts[place]
    assert isinstance(part, ToolPart), "a call is found by its kind"
    if part.state != "input-streaming":
        return put_row(state, row)
    if isinstance(body, wire.ToolCallDelta):
        text = add_delta(part.partial, body.delta, body.offset, SOUND)
        if text is None:
            return ask_resync(state, state.last + 1)
        part = replace(part, partial=text)
    elif isinstance(body, wire.ToolCallEnd):
        part = replace(part, state="input-available", input=body.input, partial="")
    return put_row(state, replace(row, parts=(*row.parts[:place], part, *row.parts[place + 1 :])))


def result(state: ViewState, body: wire.ToolResult) -> ViewState:
    """A result goes to the part that asked for it, wherever that is; an orphan changes nothing."""
    if "C02" in state.faults:
        row = Row(f"result {body.call}", "assistant", state.turn, (TextPart(body.call, body.output),))
        return insert_row(state, row)
    owner = row_of(state, body.message)
    if owner is None or part_at(owner, "tool", body.call) < 0:
        owners = [message for message, call in state.pending if call == body.call]
        owner = row_of(state, owners[-1]) if owners else None
    if owner is None:
        return state
    streams = state.streaming is not None and state.streaming.id == owner.id
    row = with_result(owner, body, streams)
    return forget_calls(put_row(state, row), row)


# --- events -------------------------------------------------------------------------------------------------


def start_run(state: ViewState, turn: str | None) -> ViewState:
    """A run begins; what an older one left open is closed."""
    repeated = turn is not None and (
        turn == state.over or (turn == state.turn and state.activity == "running")
    )
    if stale(state, turn) or repeated:
        return state
    state = close_all(enter_turn(state, turn), "aborted")
    return replace(state, activity="running", fresh_run=True)


def end_run(state: ViewState, status: RunStatus, turn: str | None) -> ViewState:
    """A run is over; the end of an older turn touches nothing."""
    if stale(state, turn):
        return state
    state = replace(close_all(state, status), over=turn or state.over)
    return replace(state, activity="idle", outcome=status, fresh_run=False)


def note_error(state: ViewState, body: wire.Error) -> ViewState:
    """Something went wrong in the current turn."""
    if stale(state, body.turn):
        return state
    notice = Notice(body.message, body.turn, body.code)
    known = notice.turn is not None and notice in state.notices
    notices = state.notices if known else (*state.notices, notice)
    return replace(close_all(state, "error"), activity="idle", outcome="error", notices=notices)


def warn(state: ViewState, warning: str) -> ViewState:
    """Something that the person of this tab may want to know."""
    return replace(state, warnings=(*state.warnings, warning)[-MAX_WARNINGS:])


def apply_event(state: ViewState, body: wire.EventBody) -> ViewState:
    """The content after one event, without its position."""
    match body:
        case wire.Mode(enabled):
            return replace(state, mode=enabled)
        case wire.AgentStart(turn):
            return start_run(state, turn)
        case wire.AgentEnd(status, turn):
            return end_run(state, status, turn)
        case wire.MessageStart():
            return start_message(state, body)
        case wire.MessageEnd():
            return end_message(state, body)
        case wire.ProseStart() | wire.ProseDelta() | wire.ProseEnd():
            return change_part(state, body)
        case wire.ToolCallStart() | wire.ToolCallDelta() | wire.ToolCallEnd():
            return change_call(state, body)
        case wire.ToolResult():
            return result(state, body)
        case wire.QueueUpdated(queue, held):
            return update_queue(state, queue, held)
        case wire.FollowupConsumed(_, nonce):
            queue = tuple(item for item in state.queue if nonce is None or item.nonce != nonce)
            return drop_optimistic(replace(state, queue=queue), (nonce,))
        case wire.RetryStart(turn=turn):
            return state if stale(state, turn) else replace(state, activity="retrying")
        case wire.RetryEnd(_, outcome):
            return state if outcome == "started" else replace(state, activity="idle")
        case wire.Error():
            return note_error(state, body)
        case wire.Unknown(kind):
            return warn(state, f"an event of an unknown kind was skipped: {kind}")


def hear_raw(state: ViewState, text: str) -> ViewState:
    """A chunk of the transport's own speaks for the assistant: the transport shows it, whoever owns the
    history.
    """
    return replace(state, foreign=state.foreign + text)
