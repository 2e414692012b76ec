// The client's fold of events: rows, queue and activity, with optimistic messages beside them.
//
// It does what `simulator/chat/reducer.py` does, function by function; tests feed both the same events and compare.
// States and rows are never changed, only replaced, so whoever draws them sees by identity what is new.
//
// Offsets count code points, as the wire does; a JavaScript string counts UTF-16 units.

const MAX_WARNINGS = 100;
const ENDED_TOOL = new Set(["output-available", "output-error", "aborted"]);
const BAD_ENDS = { error: "error", aborted: "aborted" };

export const NOTHING_SEEN = Object.freeze({
  rows: [], streaming: null, queue: [], held: false, outbox: [], pending: [], epoch: 1, last: 0, activity: "idle",
  outcome: null, turn: null, turns: [], freshRun: false, over: null, notices: [], warnings: [], mode: false,
  hydrated: false, live: false, resync: null, adopted: [], ended: [],
});

// --- text in code points --------------------------------------------------------------------------------------------

const SURROGATES = /[\ud800-\udbff][\udc00-\udfff]/g;

function codePoints(text) {
  const pairs = text.match(SURROGATES);
  return text.length - (pairs === null ? 0 : pairs.length);
}

function afterCodePoints(text, count) {
  let place = 0;
  for (; count > 0 && place < text.length; count -= 1) place += text.codePointAt(place) > 0xffff ? 2 : 1;
  return text.slice(place);
}

// The text with a delta at its offset; null if something before it is missing.
function addDelta(text, delta, offset) {
  const length = offset == null ? 0 : codePoints(text);
  if (offset == null || offset === length) return text + delta;
  if (offset > length) return null;
  return text + afterCodePoints(delta, length - offset);
}

// --- parts ----------------------------------------------------------------------------------------------------------

const isTool = (part) => part.type === "tool-call";

// A part that came as JSON: every field of its own is there.
function partOf(data) {
  if (data.type === "text") return { type: "text", id: data.id, text: data.text };
  if (data.type === "reasoning") return { type: "reasoning", id: data.id, text: data.text, state: data.state ?? "done" };
  const part = { type: "tool-call", id: data.id, toolName: data.toolName, state: data.state };
  if ("input" in data) part.input = data.input;
  if (data.partial) part.partial = data.partial;
  if ("output" in data) part.output = data.output;
  if (data.errorText != null) part.errorText = data.errorText;
  return part;
}

function without(part, ...names) {
  const rest = { ...part };
  for (const name of names) delete rest[name];
  return rest;
}

function closePart(part, state) {
  if (isTool(part) && !ENDED_TOOL.has(part.state)) return { ...without(part, "partial", "output", "errorText"), state };
  if (part.type === "reasoning" && part.state !== "done") return { ...part, state: "done" };
  return part;
}

const pendingOf = (row) => row.parts.filter((part) => isTool(part) && !ENDED_TOOL.has(part.state)).map((part) => part.id);

function partAt(row, kind, name) {
  for (let place = row.parts.length - 1; place >= 0; place -= 1) {
    if (row.parts[place].id === name && row.parts[place].type === kind) return place;
  }
  return -1;
}

function withPart(row, place, part) {
  const parts = row.parts.slice();
  parts[place] = part;
  return { ...row, parts };
}

// --- rows: merging.py -----------------------------------------------------------------------------------------------

function finishRow(row, status) {
  const state = status === "error" ? "output-error" : "aborted";
  return { ...row, parts: row.parts.map((part) => closePart(part, state)), status: BAD_ENDS[status] ?? "done" };
}

function rowAfterEnd(row, stop) {
  if (stop != null && stop in BAD_ENDS) return finishRow(row, stop);
  return { ...row, status: pendingOf(row).length ? "streaming" : "done" };
}

function merged(old, fresh) {
  if (isTool(old) && isTool(fresh)) return ENDED_TOOL.has(old.state) ? old : fresh;
  if (old.type === fresh.type) return old.text.startsWith(fresh.text) ? { ...fresh, text: old.text } : fresh;
  return fresh;
}

// For each part of the final the streamed part that it is: by kind and id, or else the next of its kind.
function counterparts(parts, final) {
  const pairs = new Map();
  const taken = new Set();
  const pair = (place, fits) => {
    const found = parts.findIndex((old, index) => !taken.has(index) && fits(old));
    if (found >= 0) {
      pairs.set(place, found);
      taken.add(found);
    }
  };
  final.forEach((part, place) => pair(place, (old) => old.id === part.id && old.type === part.type));
  final.forEach((part, place) => {
    if (!pairs.has(place) && !isTool(part)) pair(place, (old) => old.type === part.type);
  });
  return pairs;
}

function adoptFinal(row, final) {
  const pairs = counterparts(row.parts, final);
  const streamed = new Map([...pairs].map(([fresh, old]) => [old, fresh]));
  const parts = row.parts.map((old, place) =>
    streamed.has(place) ? [streamed.get(place), merged(old, final[streamed.get(place)])] : [-1, old]);
  final.forEach((part, fresh) => {
    if (pairs.has(fresh)) return;
    const before = parts.findIndex(([other]) => other >= 0 && other === fresh - 1);
    parts.splice(before + 1, 0, [fresh, part]);
  });
  return { ...row, parts: parts.map(([, part]) => part) };
}

function replaceFinal(row, final) {
  const ended = new Map(row.parts.filter((part) => isTool(part) && ENDED_TOOL.has(part.state)).map((part) => [part.id, part]));
  return { ...row, parts: final.map((part) => (isTool(part) ? ended.get(part.id) ?? part : part)) };
}

// JSON as the log writes it: keys sorted, ASCII only.
function compact(value) {
  const sorted = (key, each) =>
    each !== null && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.keys(each).sort().map((name) => [name, each[name]]))
      : each;
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, sorted).replace(/[\u007f-\uffff]/g, escaped);
}

const words = (value) => (typeof value === "string" ? value : compact(value));

function withResult(row, event, streams) {
  const parts = row.parts.map((part) => {
    if (!isTool(part) || part.id !== event.toolCallId || ENDED_TOOL.has(part.state)) return part;
    if (event.isError) return { ...without(part, "partial"), state: "output-error", errorText: words(event.output) };
    return { ...without(part, "partial"), state: "output-available", output: event.output };
  });
  const after = { ...row, parts };
  return after.status === "streaming" && !streams && !pendingOf(after).length ? { ...after, status: "done" } : after;
}

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
