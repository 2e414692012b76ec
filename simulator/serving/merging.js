// How a client puts parts of one row together: deltas at their offset, finals once, results where they belong.
//
// It does what `simulator/chat/merging.py` does. Offsets count code points, as the wire does; a JavaScript string counts
// UTF-16 units.

const ENDED_TOOL = new Set(["output-available", "output-error", "aborted"]);
const BAD_ENDS = { error: "error", aborted: "aborted" };

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
export function addDelta(text, delta, offset) {
  const length = offset == null ? 0 : codePoints(text);
  if (offset == null || offset === length) return text + delta;
  if (offset > length) return null;
  return text + afterCodePoints(delta, length - offset);
}

// --- parts ----------------------------------------------------------------------------------------------------------

const isTool = (part) => part.type === "tool-call";

// A part that came as JSON: every field of its own is there.
export function partOf(data) {
  if (data.type === "text") return { type: "text", id: data.id, text: data.text };
  if (data.type === "reasoning") return { type: "reasoning", id: data.id, text: data.text, state: data.state ?? "done" };
  const part = { type: "tool-call", id: data.id, toolName: data.toolName, state: data.state };
  if ("input" in data) part.input = data.input;
  if (data.partial) part.partial = data.partial;
  if ("output" in data) part.output = data.output;
  if (data.errorText != null) part.errorText = data.errorText;
  return part;
}

export function without(part, ...names) {
  const rest = { ...part };
  for (const name of names) delete rest[name];
  return rest;
}

function closePart(part, state) {
  if (isTool(part) && !ENDED_TOOL.has(part.state)) return { ...without(part, "partial", "output", "errorText"), state };
  if (part.type === "reasoning" && part.state !== "done") return { ...part, state: "done" };
  return part;
}

export const pendingOf = (row) => row.parts.filter((part) => isTool(part) && !ENDED_TOOL.has(part.state)).map((part) => part.id);

export function partAt(row, kind, name) {
  for (let place = row.parts.length - 1; place >= 0; place -= 1) {
    if (row.parts[place].id === name && row.parts[place].type === kind) return place;
  }
  return -1;
}

export function withPart(row, place, part) {
  const parts = row.parts.slice();
  parts[place] = part;
  return { ...row, parts };
}

// --- rows ----------------------------------------------------------------------------------------------------------

export function finishRow(row, status) {
  const state = status === "error" ? "output-error" : "aborted";
  return { ...row, parts: row.parts.map((part) => closePart(part, state)), status: BAD_ENDS[status] ?? "done" };
}

export function rowAfterEnd(row, stop) {
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

export function adoptFinal(row, final) {
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

export function replaceFinal(row, final) {
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

export function withResult(row, event, streams) {
  const parts = row.parts.map((part) => {
    if (!isTool(part) || part.id !== event.toolCallId || ENDED_TOOL.has(part.state)) return part;
    if (event.isError) return { ...without(part, "partial"), state: "output-error", errorText: words(event.output) };
    return { ...without(part, "partial"), state: "output-available", output: event.output };
  });
  const after = { ...row, parts };
  return after.status === "streaming" && !streams && !pendingOf(after).length ? { ...after, status: "done" } : after;
}
