// The client's fold of events: rows, queue and activity, with optimistic messages beside them.
//
// It does what `simulator/chat/reducer.py` does, function by function; tests feed both the same events and compare.
// States and rows are never changed, only replaced, so whoever draws them sees by identity what is new.

import {
  addDelta, adoptFinal, finishRow, partAt, partOf, pendingOf, replaceFinal, rowAfterEnd, withPart, withResult, without,
} from "./merging.js";

const MAX_WARNINGS = 100;

export const NOTHING_SEEN = Object.freeze({
  rows: [], streaming: null, queue: [], held: false, outbox: [], pending: [], epoch: 1, last: 0, activity: "idle",
  outcome: null, turn: null, turns: [], freshRun: false, over: null, notices: [], warnings: [], mode: false,
  hydrated: false, live: false, resync: null, adopted: [], ended: [],
});

// --- optimistic messages: optimistic.py -----------------------------------------------------------------------------

const noncesIn = (state) => new Set([...state.rows, ...state.queue].map((each) => each.clientNonce).filter((one) => one != null));

export function addOptimistic(state, item) {
  return { ...state, outbox: [...state.outbox, { item, accepted: null }] };
}

export function dropOptimistic(state, nonces) {
  const gone = new Set(nonces.filter((nonce) => nonce != null));
  const outbox = state.outbox.filter((entry) => !gone.has(entry.item.clientNonce));
  return outbox.length === state.outbox.length ? state : { ...state, outbox };
}

export function markAccepted(state, nonce, position) {
  const outbox = state.outbox.map((entry) => (entry.item.clientNonce === nonce ? { item: entry.item, accepted: position } : entry));
  return { ...state, outbox };
}

// Without messages that were accepted at a position that the view has, and that are nowhere in it.
export function dropSettled(state) {
  const known = noncesIn(state);
  const reached = (at) => at.epoch < state.epoch || (at.epoch === state.epoch && at.seq <= state.last);
  const gone = state.outbox.filter((entry) => entry.accepted != null && reached(entry.accepted) && !known.has(entry.item.clientNonce));
  if (!gone.length) return state;
  const told = gone.map((entry) => `a message is neither in the history nor in the queue: ${entry.item.text}`);
  return dropOptimistic(
    { ...state, warnings: [...state.warnings, ...told].slice(-MAX_WARNINGS) },
    gone.map((entry) => entry.item.clientNonce),
  );
}

export function clearItems(state, nonces) {
  const gone = new Set(nonces);
  return dropOptimistic({ ...state, queue: state.queue.filter((item) => !gone.has(item.clientNonce)) }, [...gone]);
}

function keepOutbox(state, outbox) {
  const known = noncesIn(state);
  return dropSettled({ ...state, outbox: outbox.filter((entry) => !known.has(entry.item.clientNonce)) });
}

function matching(outbox, item) {
  for (const entry of outbox) {
    if (item.clientNonce != null) {
      if (entry.item.clientNonce === item.clientNonce) return entry;
    } else if (
      item.clientSeq != null && item.clientSeq === entry.item.clientSeq
      && (item.clientId || entry.item.clientId) === entry.item.clientId
    ) return entry;
  }
  return null;
}

function updateQueue(state, given, held) {
  const done = new Set(state.rows.map((row) => row.clientNonce).filter((nonce) => nonce != null));
  const queue = given.filter((item) => item.clientNonce == null || !done.has(item.clientNonce));
  const nonces = new Set(queue.map((item) => item.clientNonce ?? null));
  const earlier = state.queue.filter((item) => state.adopted.includes(item.clientNonce) && !nonces.has(item.clientNonce ?? null));
  const shown = [];
  const adopted = [];
  let outbox = state.outbox;
  for (let item of queue) {
    if (item.clientNonce == null && item.clientSeq == null) {
      const waiting = outbox.map((entry) => entry.item).filter((each) => kindOf(each) === kindOf(item));
      const ours = earlier.length ? earlier.shift() : waiting.length === 1 ? waiting[0] : null;
      if (ours != null && ours.clientNonce != null) {
        item = { ...item, clientNonce: ours.clientNonce, clientId: ours.clientId, clientSeq: ours.clientSeq };
        adopted.push(ours.clientNonce);
      }
    }
    const entry = matching(outbox, item);
    if (entry !== null) outbox = outbox.filter((each) => each !== entry);
    shown.push(item);
  }
  return { ...state, queue: shown, held, outbox, adopted };
}

const kindOf = (item) => item.kind ?? "followup";

function adopt(state, start) {
  if (start.clientNonce != null) {
    const queue = state.queue.filter((item) => item.clientNonce !== start.clientNonce);
    return dropOptimistic({ ...state, queue }, [start.clientNonce]);
  }
  if (start.step != null || !state.outbox.length) return state;
  const kind = state.freshRun ? "prompt" : "followup";
  const first = state.outbox.find((entry) => kindOf(entry.item) === kind) ?? state.outbox[0];
  return dropOptimistic(state, [first.item.clientNonce]);
}

// --- the rule of positions ------------------------------------------------------------------------------------------

export function reduceEvent(state, event) {
  if (event.epoch < state.epoch) return state;
  if (event.epoch > state.epoch) return askResync(state, event.seq);
  if (event.seq <= state.last) return state;
  if (event.seq > state.last + 1 || state.resync !== null) return askResync(state, event.seq);
  const applied = applyEvent(state, event);
  return applied.resync !== null ? applied : { ...applied, last: event.seq, live: true };
}

export function askResync(state, got) {
  return state.resync !== null ? state : { ...state, resync: { expected: state.last + 1, got, last: state.last } };
}

export function hearHeartbeat(state, epoch, seq) {
  return epoch > state.epoch || (epoch === state.epoch && seq > state.last) ? askResync(state, seq) : state;
}

export function hydrate(state, snapshot) {
  const older = snapshot.epoch === state.epoch && snapshot.seq < state.last && (state.live || state.hydrated);
  if (snapshot.epoch < state.epoch || older) return state;
  const read = (row) => ({ ...row, parts: row.parts.map(partOf) });
  const rows = snapshot.rows.map(read);
  const streaming = snapshot.open === null ? null : read(snapshot.open);
  const all = streaming === null ? rows : [...rows, streaming];
  const turns = [...new Set(all.map((row) => row.turnId).filter((turn) => turn != null))];
  if (snapshot.turnId !== null && !turns.includes(snapshot.turnId)) turns.push(snapshot.turnId);
  const notices = snapshot.notices.map((each) => ({ message: each.message, turnId: each.turnId, code: each.code }));
  return keepOutbox({
    ...NOTHING_SEEN, rows, streaming, turns, notices, queue: snapshot.queue, held: snapshot.held, pending: callsIn(all),
    epoch: snapshot.epoch, last: snapshot.seq, activity: snapshot.activity, outcome: snapshot.outcome,
    turn: snapshot.turnId, over: snapshot.activity === "running" ? null : snapshot.turnId, warnings: state.warnings,
    mode: snapshot.mode, hydrated: true,
  }, state.outbox);
}

// --- rows in a state ------------------------------------------------------------------------------------------------

const callsIn = (rows) => rows.flatMap((row) => pendingOf(row).map((call) => [row.id, call]));
const stale = (state, turn) => turn != null && turn !== state.turn && state.turns.includes(turn);

function enterTurn(state, turn) {
  if (turn == null || turn === state.turn || state.turns.includes(turn)) return state;
  return { ...state, turn, turns: [...state.turns, turn] };
}

function rowOf(state, message) {
  if (state.streaming !== null && state.streaming.id === message) return state.streaming;
  for (let index = state.rows.length - 1; index >= 0; index -= 1) {
    if (state.rows[index].id === message) return state.rows[index];
  }
  return null;
}

function putRow(state, row) {
  if (state.streaming !== null && state.streaming.id === row.id) return { ...state, streaming: row };
  for (let index = state.rows.length - 1; index >= 0; index -= 1) {
    if (state.rows[index].id === row.id) return { ...state, rows: replaced(state.rows, index, row) };
  }
  return state;
}

function replaced(rows, index, row) {
  const after = rows.slice();
  after[index] = row;
  return after;
}

// A new row at its ordered place: after the last row of its turn or of an older one.
function insertRow(state, row) {
  if (!stale(state, row.turnId)) return { ...state, rows: [...state.rows, row] };
  const order = new Map(state.turns.map((turn, place) => [turn, place]));
  const ours = order.get(row.turnId);
  let place = state.rows.length;
  while (place > 0 && (order.get(state.rows[place - 1].turnId ?? "") ?? -1) > ours) place -= 1;
  return { ...state, rows: [...state.rows.slice(0, place), row, ...state.rows.slice(place)] };
}

function commit(state, status) {
  if (state.streaming === null) return state;
  const done = finishRow(state.streaming, status);
  return forgetCalls(insertRow({ ...state, streaming: null, ended: [] }, done), done);
}

function forgetCalls(state, row) {
  const still = new Set(pendingOf(row));
  const pending = state.pending.filter(([message, call]) => message !== row.id || still.has(call));
  return pending.length === state.pending.length ? state : { ...state, pending };
}

function closeAll(state, status) {
  let after = commit(state, status);
  for (const [message] of after.pending) {
    const row = rowOf(after, message);
    if (row !== null && pendingOf(row).length) after = putRow(after, finishRow(row, status));
  }
  return { ...after, pending: [] };
}

function newRow(id, role, turn, parts, status, more = {}) {
  const row = { id, role, parts, status, at: more.at ?? 0 };
  if (turn != null) row.turnId = turn;
  if (more.clientNonce != null) row.clientNonce = more.clientNonce;
  if (more.step != null) row.step = more.step;
  return row;
}

function startMessage(state, start) {
  const known = rowOf(state, start.messageId);
  if (start.role === "user") {
    const after = { ...adopt(enterTurn(state, start.turnId), start), freshRun: false };
    const parts = [{ type: "text", id: `${start.messageId}.1`, text: start.text ?? "" }];
    const row = newRow(start.messageId, "user", start.turnId, parts, "done", start);
    if (known !== null) return putRow(after, row);
    const twin = start.clientNonce == null ? -1 : after.rows.findIndex((each) => each.clientNonce === start.clientNonce);
    if (twin < 0) return insertRow(after, row);
    return { ...after, rows: replaced(after.rows, twin, { ...row, at: Math.min(after.rows[twin].at, row.at) }) };
  }
  if (known !== null) return state;
  const row = newRow(start.messageId, "assistant", start.turnId, [], "streaming", { at: start.at });
  if (stale(state, start.turnId)) return insertRow(state, row);
  let after = enterTurn(state, start.turnId);
  if (after.streaming !== null) {
    after = commit(after, (after.streaming.turnId ?? null) === (start.turnId ?? null) ? "ok" : "aborted");
  }
  return { ...after, streaming: row, ended: [] };
}

function endMessage(state, end) {
  const final = end.final.parts.map(partOf);
  let after = state;
  let row = rowOf(state, end.messageId);
  if (end.role === "user") {
    if (row === null) {
      const start = { messageId: end.messageId, role: "user", turnId: end.turnId };
      return endMessage(startMessage(state, start), end);
    }
    return putRow(state, { ...row, parts: final });
  }
  if (row === null) {
    row = newRow(end.messageId, "assistant", end.turnId, [], "streaming");
    if (stale(state, end.turnId)) after = insertRow(state, row);
    else after = { ...commit(enterTurn(state, end.turnId), "aborted"), streaming: row };
  }
  if (row.status === "aborted" || row.status === "error") return after;
  let done;
  if (after.streaming === null || after.streaming.id !== row.id) {
    done = rowAfterEnd(replaceFinal(row, final), end.stop);
    after = putRow(after, done);
  } else {
    done = rowAfterEnd(adoptFinal(row, final), end.stop);
    after = insertRow({ ...after, streaming: null, ended: [] }, done);
  }
  after = forgetCalls(after, done);
  const has = (key) => after.pending.some(([message, call]) => message === key[0] && call === key[1]);
  const fresh = callsIn([done]).filter((key) => !has(key));
  return fresh.length ? { ...after, pending: [...after.pending, ...fresh] } : after;
}

function changeProse(state, kind, what, event) {
  let row = rowOf(state, event.messageId);
  const name = `${kind} ${event.partId}`;
  if (row === null || row.status !== "streaming" || state.ended.includes(name)) return state;
  let place = partAt(row, kind, event.partId);
  if (place < 0) {
    const made = { type: kind, id: event.partId, text: "" };
    if (kind === "reasoning") made.state = "streaming";
    place = row.parts.length;
    row = { ...row, parts: [...row.parts, made] };
  }
  let part = row.parts[place];
  let after = state;
  if (what === "delta") {
    const text = addDelta(part.text, event.delta, event.offset);
    if (text === null) return askResync(state, state.last + 1);
    part = { ...part, text };
  } else if (what === "end") {
    if (event.text != null && !part.text.startsWith(event.text)) part = { ...part, text: event.text };
    if (kind === "reasoning") part = { ...part, state: "done" };
    after = { ...after, ended: [...after.ended, name] };
  }
  return putRow(after, withPart(row, place, part));
}

function changeCall(state, what, event) {
  let row = rowOf(state, event.messageId);
  if (row === null || row.status !== "streaming") return state;
  let after = state;
  let place = partAt(row, "tool-call", event.toolCallId);
  if (place < 0) {
    place = row.parts.length;
    const made = { type: "tool-call", id: event.toolCallId, toolName: event.toolName ?? "", state: "input-streaming" };
    row = { ...row, parts: [...row.parts, made] };
    after = { ...after, pending: [...after.pending, [row.id, event.toolCallId]] };
  }
  let part = row.parts[place];
  if (part.state !== "input-streaming") return putRow(after, row);
  if (what === "delta") {
    const text = addDelta(part.partial ?? "", event.delta, event.offset);
    if (text === null) return askResync(after, after.last + 1);
    part = text ? { ...part, partial: text } : part;
  } else if (what === "end") {
    part = { ...without(part, "partial"), state: "input-available", input: event.input };
  }
  return putRow(after, withPart(row, place, part));
}

function result(state, event) {
  let owner = rowOf(state, event.messageId);
  if (owner === null || partAt(owner, "tool-call", event.toolCallId) < 0) {
    const owners = state.pending.filter(([, call]) => call === event.toolCallId);
    owner = owners.length ? rowOf(state, owners[owners.length - 1][0]) : null;
  }
  if (owner === null) return state;
  const row = withResult(owner, event, state.streaming !== null && state.streaming.id === owner.id);
  return forgetCalls(putRow(state, row), row);
}

// --- events ---------------------------------------------------------------------------------------------------------

function startRun(state, turn) {
  const repeated = turn != null && (turn === state.over || (turn === state.turn && state.activity === "running"));
  if (stale(state, turn) || repeated) return state;
  return { ...closeAll(enterTurn(state, turn), "aborted"), activity: "running", freshRun: true };
}

function endRun(state, status, turn) {
  if (stale(state, turn)) return state;
  return { ...closeAll(state, status), over: turn ?? state.over, activity: "idle", outcome: status, freshRun: false };
}

function noteError(state, event) {
  if (stale(state, event.turnId)) return state;
  const notice = { message: event.message, turnId: event.turnId ?? null, code: event.code ?? "run_failed" };
  const same = (each) => each.message === notice.message && each.turnId === notice.turnId && each.code === notice.code;
  const known = notice.turnId !== null && state.notices.some(same);
  const notices = known ? state.notices : [...state.notices, notice];
  return { ...closeAll(state, "error"), activity: "idle", outcome: "error", notices };
}

export function warn(state, warning) {
  return { ...state, warnings: [...state.warnings, warning].slice(-MAX_WARNINGS) };
}

const PROSE = /^pi-(text|reasoning)-(start|delta|end)$/;
const CALL = /^pi-tool-call-(start|delta|end)$/;

function applyEvent(state, event) {
  const prose = PROSE.exec(event.type);
  if (prose !== null) return changeProse(state, prose[1], prose[2], event);
  const call = CALL.exec(event.type);
  if (call !== null) return changeCall(state, call[1], event);
  switch (event.type) {
    case "pi-mode":
      return { ...state, mode: event.enabled ?? true };
    case "pi-agent-start":
      return startRun(state, event.turnId);
    case "pi-agent-end":
      return endRun(state, event.status ?? "ok", event.turnId);
    case "pi-message-start":
      return startMessage(state, event);
    case "pi-message-end":
      return endMessage(state, event);
    case "pi-tool-result":
      return result(state, event);
    case "pi-queue-updated":
      return updateQueue(state, event.queue, event.held ?? false);
    case "pi-followup-consumed": {
      const queue = state.queue.filter((item) => event.clientNonce == null || item.clientNonce !== event.clientNonce);
      return dropOptimistic({ ...state, queue }, [event.clientNonce]);
    }
    case "pi-retry-start":
      return stale(state, event.turnId) ? state : { ...state, activity: "retrying" };
    case "pi-retry-end":
      return event.outcome === "started" ? state : { ...state, activity: "idle" };
    case "pi-error":
      return noteError(state, event);
    default:
      return warn(state, `an event of an unknown kind was skipped: ${event.type}`);
  }
}

// --- what is seen ---------------------------------------------------------------------------------------------------

export const rowsSeen = (state) => (state.streaming === null ? state.rows : [...state.rows, state.streaming]);

// What a tab shows, from the top: rows, the one that grows, the queue, what is still on its way there.
export function screen(state) {
  return [
    ...rowsSeen(state).map((row) => ({ row, waiting: false, offered: false, item: null })),
    ...state.queue.map((item) => ({ row: null, waiting: true, offered: state.held, item, sent: true })),
    ...state.outbox.map((entry) => ({ row: null, waiting: true, offered: false, item: entry.item, sent: false })),
  ];
}

// What every reader must agree on at a quiet point.
export function seen(state) {
  return {
    rows: rowsSeen(state), queue: state.queue, held: state.held, activity: state.activity, outcome: state.outcome,
    turnId: state.turn, notices: state.notices,
  };
}
