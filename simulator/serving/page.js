// The page: draws what a tab knows, and hands over what the person wants.
//
// Everything that was said stands in the page as text, never as markup. An element that stands for the same thing
// stays the same element, so that folds stay open, focus stays where it is, and a screen reader hears each thing once.

import { screen } from "./reducer.js";
import { Tab } from "./tab.js";

const at = (id) => document.getElementById(id);
const CONNECTIONS = { connecting: "Connecting…", live: "Connected", offline: "Offline, trying again" };
const TOOL_STATES = {
  "input-streaming": "is being asked", "input-available": "is running", "output-available": "done", "output-error": "failed",
  aborted: "was stopped",
};
const NEAR_END = 80; // Pixels from the end within which the page follows what is new.
const SHOWN_NOTICES = 3;

let standing = { titles: {} };
let drawing = false;

const tab = new Tab("main", { onChange: drawSoon, onRun: (run) => { standing = run; drawSoon(); } });

function drawSoon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw();
  });
}

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Children by key, in order: known ones are kept and moved, new ones made, the others removed.
function arrange(parent, wanted, key, create, update) {
  const known = parent.known ?? new Map();
  const kept = new Map();
  let next = parent.firstChild;
  for (const each of wanted) {
    const name = key(each);
    const element = known.get(name) ?? create(each);
    kept.set(name, element);
    if (element === next) next = next.nextSibling;
    else parent.insertBefore(element, next);
    update(element, each);
  }
  for (const [name, element] of known) if (!kept.has(name)) element.remove();
  parent.known = kept;
}

// --- rows -----------------------------------------------------------------------------------------------------------

const shownKey = ({ row, item }) => {
  const nonce = row === null ? item.clientNonce : row.clientNonce;
  return nonce == null ? `row ${row === null ? item.text : row.id}` : `said ${nonce}`;
};

function makeRow(shown) {
  const { row } = shown;
  if (row !== null && row.step) return makeStep(row);
  const article = make("article", "row");
  article.append(make("p", "label"), make("div", "parts"), make("p", "end muted"));
  return article;
}

function updateRow(article, shown, status) {
  const { row, item, waiting } = shown;
  if (article.drawn === row && article.standing === status && !waiting) return;
  article.drawn = row;
  article.standing = status;
  if (row !== null && row.step) {
    updateStep(article, row, status);
    return;
  }
  const role = row === null ? "user" : row.role;
  article.className = `row ${role}${waiting ? " waiting" : ""}`;
  article.dataset.status = waiting ? "waiting" : row.status;
  if (row !== null) article.dataset.id = row.id;
  article.setAttribute("aria-label", role === "user" ? "You" : "Agent");
  article.setAttribute("aria-busy", String(row !== null && row.status === "streaming"));
  setText(article.children[0], waiting ? "Waiting…" : "");
  const parts = row === null ? [{ type: "text", id: "waiting", text: item.text }] : row.parts;
  arrange(article.children[1], parts, (part) => `${part.type} ${part.id}`, makePart, updatePart);
  const ends = { aborted: "Stopped", error: "Broken off" };
  setText(article.children[2], role === "assistant" ? ends[row.status] ?? (parts.length ? "" : "…") : "");
  article.hidden = role === "assistant" && row.status === "done" && parts.every((part) => part.type === "text" && !part.text);
  if (waiting) offer(article, shown);
  else article.querySelector(".offers")?.remove();
}

// A message that waits can be removed; one in a queue that is held can be sent.
function offer(article, { item, offered, sent }) {
  let offers = article.querySelector(".offers");
  if (offers === null) {
    offers = make("p", "offers");
    const send = make("button", "plain send", "Send");
    const remove = make("button", "plain remove", "Remove");
    send.type = remove.type = "button";
    send.addEventListener("click", () => tab.press("send"));
    remove.addEventListener("click", () => tab.press("clear", [item.clientNonce]));
    offers.append(send, remove);
    article.append(offers);
  }
  offers.children[0].hidden = !offered;
  offers.children[1].hidden = !sent;
}

function makePart(part) {
  if (part.type === "text") return make("div", "text");
  const fold = make("details", part.type === "reasoning" ? "reasoning" : "tool");
  fold.append(make("summary"));
  if (part.type === "reasoning") fold.append(make("div", "thought"));
  else fold.append(make("p", "name muted", "Input"), make("pre", "input"), make("p", "name muted", "Output"), make("pre", "output"));
  return fold;
}

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

function updatePart(element, part) {
  if (part.type === "text") {
    setText(element, part.text);
    return;
  }
  element.dataset.state = part.state;
  if (part.type === "reasoning") {
    setText(element.children[0], part.state === "done" ? "Thought" : "Thinking…");
    setText(element.children[1], part.text);
    return;
  }
  setText(element.children[0], `${part.toolName} ${TOOL_STATES[part.state] ?? part.state}`);
  setText(element.children[2], "input" in part ? asText(part.input) : part.partial ?? "");
  const output = part.errorText ?? ("output" in part ? asText(part.output) : null);
  element.children[3].hidden = element.children[4].hidden = output === null;
  setText(element.children[4], output ?? "");
}

function makeStep(row) {
  const article = make("article", "step");
  const fold = make("details");
  fold.append(make("summary"), make("pre", "prompt"));
  fold.open = row.step.kind === "notice"; // It is meant for people; a prompt is not.
  article.append(fold, make("p", "status muted"));
  return article;
}

function updateStep(article, row, status) {
  const { step } = row;
  const again = step.kind === "step" ? "" : ` (${step.kind})`;
  const title = standing.titles[step.runId] ?? step.runId;
  article.dataset.id = row.id;
  article.dataset.status = status;
  article.setAttribute("aria-label", `Workflow step ${step.nodeId}${again}`);
  setText(article.querySelector("summary"), `▶ ${title} › ${step.nodeId}${again}`);
  setText(article.querySelector(".prompt"), row.parts.map((part) => part.text).join("\n"));
  const told = { working: "working…", done: "done", aborted: "interrupted", error: "failed", waiting: "sent", told: "told" };
  setText(article.querySelector(".status"), told[status]);
}

// How each step stands, by what was said after its prompt; other rows by nothing.
function standings(items) {
  const found = new Map();
  let step = null;
  for (const { row } of items) {
    if (row === null) continue;
    if (row.role === "user") {
      step = row.step ? row : null;
      if (step !== null) found.set(step, step.step.kind === "notice" ? "told" : "waiting");
    } else if (step !== null) {
      found.set(step, row.status === "streaming" ? "working" : row.status);
    }
  }
  if (step !== null && step.step.kind !== "notice" && tab.view.activity !== "idle") found.set(step, "working");
  return found;
}

// --- the whole page -------------------------------------------------------------------------------------------------

function draw() {
  const { view, connection } = tab;
  const page = document.scrollingElement;
  const follows = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_END;
  const items = screen(view);
  const stands = standings(items);
  arrange(at("transcript"), items, shownKey, makeRow, (article, shown) =>
    updateRow(article, shown, stands.get(shown.row) && `${stands.get(shown.row)}`));
  drawNotices(view, connection);
  const busy = view.activity !== "idle";
  at("empty").hidden = !view.hydrated || items.length > 0 || standing.run !== undefined;
  at("stop").hidden = !busy;
  at("interrupt").hidden = !busy || !view.queue.length;
  at("continue").hidden = busy || standing.paused || view.outcome === "ok" || view.outcome === null || view.queue.length > 0;
  at("connection").dataset.state = connection;
  setText(at("connection"), CONNECTIONS[connection]);
  document.body.dataset.activity = view.activity;
  document.body.dataset.position = `${view.epoch}.${view.last}`;
  drawRun();
  if (follows) page.scrollTop = page.scrollHeight;
}

function drawNotices(view, connection) {
  const turn = view.turn;
  const told = view.notices.filter((notice) => notice.turnId === turn).map((notice) => notice.message);
  const lines = [...told, ...view.warnings.slice(-SHOWN_NOTICES)];
  if (standing.trouble) lines.push(standing.trouble);
  if (!view.hydrated && connection === "offline") lines.push("The history could not be loaded yet; trying again.");
  arrange(at("notices"), lines.map((text, place) => ({ text, place })), (line) => `${line.place} ${line.text}`,
    (line) => make("p", "notice", line.text), () => {});
}

function drawRun() {
  const { workflow, run, status, paused, exit, request } = standing;
  const goes = run !== undefined && !["completed", "failed", "cancelled"].includes(status);
  setText(at("workflow"), workflow ?? "windtunnel");
  document.title = workflow ?? "windtunnel";
  const how = paused ? "is paused" : status === "completed" && exit ? `ended by ${exit}` : `is ${status}`;
  setText(at("standing"), run === undefined ? "has not run yet" : `${run} ${how}`);
  at("standing").dataset.status = paused ? "paused" : status ?? "";
  at("start").hidden = goes;
  setText(at("start"), run === undefined ? "Run the workflow" : "Run it again");
  at("release").hidden = !goes || !paused;
  at("cancel").hidden = !goes;
  drawRequest(request ?? null);
}

// What a person is asked: a button for each choice, and a field where something is to be said with it.
function drawRequest(request) {
  const form = at("request");
  form.hidden = request === null;
  const digest = request === null ? "" : request.digest;
  if (form.dataset.digest === digest) return;
  form.dataset.digest = digest;
  form.replaceChildren();
  if (request === null) return;
  form.append(make("h2", "", asText(request.title ?? "A decision is needed")));
  for (const key of ["subject", "show"]) if (key in request) form.append(make("pre", "", asText(request[key])));
  const said = make("textarea");
  const choices = request.choices ?? [{ id: null, label: "Answer", asks: true }];
  const asks = choices.filter((choice) => choice.asks);
  said.rows = 2;
  said.placeholder = asks.map((choice) => `${choice.label ?? choice.id}: ${choice.prompt ?? "as JSON or as plain text"}`).join("; ");
  said.setAttribute("aria-label", said.placeholder);
  if (asks.length) form.append(said);
  for (const choice of choices) {
    const button = make("button", "", choice.label ?? choice.id);
    button.type = "button";
    button.addEventListener("click", () => {
      const data = { what: "answer", choice: choice.id, digest };
      if (choice.asks) data.value = jsonOrText(said.value);
      wish(data);
    });
    form.append(button);
  }
}

function jsonOrText(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function wish(data) {
  try {
    const response = await fetch("/api/run", {
      method: "POST", body: JSON.stringify(data), headers: { "Content-Type": "application/json" },
    });
    const answer = await response.json();
    standing = response.ok ? answer : { ...standing, trouble: answer.error };
  } catch {
    standing = { ...standing, trouble: "the server did not answer; try again" };
  }
  drawSoon();
}

// --- what the person does -------------------------------------------------------------------------------------------

function sendMessage() {
  const box = at("message");
  if (!box.value.trim()) return;
  tab.send(box.value, tab.view.activity === "idle" && !tab.view.queue.length ? "prompt" : "followup");
  box.value = "";
  document.scrollingElement.scrollTop = document.scrollingElement.scrollHeight;
}

// Stop what runs; what waited goes back to where it was written.
async function stop() {
  const waiting = new Map(tab.view.queue.map((item) => [item.clientNonce, item.text]));
  const cleared = await tab.press("stop");
  const texts = cleared.map((nonce) => waiting.get(nonce)).filter((text) => text !== undefined);
  const box = at("message");
  if (texts.length && !box.value) box.value = texts.join("\n\n");
}

at("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  sendMessage();
});
at("message").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    sendMessage();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !at("stop").hidden) stop();
});
at("stop").addEventListener("click", stop);
at("interrupt").addEventListener("click", () => tab.press("interrupt"));
at("continue").addEventListener("click", () => tab.press("continue"));
at("start").addEventListener("click", () => wish({ what: "start" }));
at("release").addEventListener("click", () => wish({ what: "release" }));
at("cancel").addEventListener("click", () => wish({ what: "cancel" }));

tab.start();
draw();
