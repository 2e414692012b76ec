// One browser tab: it follows the stream of a session, posts what the person says one at a time, and starts anew.
//
// It does what `simulator/chat/client.py` does. What lasts over a reload is the outbox and its numbers, never the
// history: that comes from the server. What gets no answer is said again under the same name until it is answered.

import {
  NOTHING_SEEN, addOptimistic, askResync, clearItems, dropOptimistic, dropSettled, hearHeartbeat, hydrate, markAccepted,
  reduceEvent, warn,
} from "./reducer.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 4_000; // The server is on this machine: asking it costs nothing.
const ANSWER_MS = 10_000; // A request without an answer for so long will not get one.
const SILENCE_MS = 10_000; // A stream says where it is more often than that.

const waitMs = (failures) => Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 16), LONGEST_WAIT_MS);
const name = () => crypto.randomUUID().slice(0, 13);

export class Tab {
  constructor(session, { storage = sessionStorage, onChange = () => {}, onRun = () => {} } = {}) {
    this.path = `/api/sessions/${encodeURIComponent(session)}`;
    this.storage = storage;
    this.key = `windtunnel:${session}`;
    this.onChange = onChange;
    this.onRun = onRun;
    const lasting = this.restored();
    this.client = lasting.client ?? name();
    this.outgoing = lasting.outgoing ?? [];
    this.number = lasting.number ?? null;
    this.minted = lasting.minted ?? 0;
    this.load = name();
    this.view = { ...NOTHING_SEEN, outbox: this.outgoing.map((item) => ({ item, accepted: null })) };
    this.posting = false;
    this.hydrating = false;
    this.conn = null;
    this.failures = 0;
    this.timers = {};
    this.connection = "connecting";
  }

  start() {
    this.save();
    this.connect();
    this.postNext();
  }

  restored() {
    try {
      return JSON.parse(this.storage.getItem(this.key)) ?? {};
    } catch {
      return {};
    }
  }

  save() {
    const { client, outgoing, number, minted } = this;
    try {
      this.storage.setItem(this.key, JSON.stringify({ client, outgoing, number, minted }));
    } catch {
      // Without room the tab works on; only a reload would forget what was not sent.
    }
  }

  mint(letter) {
    this.minted += 1;
    this.save();
    return `${this.client}.${this.load}.${letter}${this.minted}`;
  }

  show(view) {
    if (view === this.view) return;
    this.view = view;
    this.onChange();
  }

  say(connection) {
    if (connection === this.connection) return;
    this.connection = connection;
    this.onChange();
  }

  // An answer as { status, data }; null if none came, or none that can be read.
  async ask(method, path, data) {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), ANSWER_MS);
    try {
      const init = { method, signal: limit.signal };
      if (data !== undefined) Object.assign(init, { body: JSON.stringify(data), headers: { "Content-Type": "application/json" } });
      const response = await fetch(this.path + path, init);
      return { status: response.status, data: await response.json() };
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  // --- connection ---------------------------------------------------------------------------------------------------

  connect() {
    if (this.view.hydrated && this.view.resync === null) this.follow();
    else this.readSnapshot();
  }

  retryLater(what, act) {
    clearTimeout(this.timers[what]);
    this.timers[what] = setTimeout(act, waitMs(this.failures));
    this.failures += 1;
  }

  connectLater() {
    this.say("offline");
    this.retryLater("connect", () => {
      if (this.conn === null && !this.hydrating) this.connect();
    });
  }

  async readSnapshot() {
    this.hydrating = true;
    const answer = await this.ask("GET", "/snapshot");
    this.hydrating = false;
    if (answer === null || answer.status !== 200) {
      this.connectLater();
      return;
    }
    const { snapshot } = answer.data;
    // A number is learnt here only while none is known: a message may be on its way.
    if (this.number === null) {
      this.number = snapshot.expected[this.client] ?? 1;
      this.save();
    }
    this.show(hydrate(this.view, snapshot));
    if (this.view.resync !== null) this.connectLater();
    else this.connect();
  }

  async follow() {
    const conn = new AbortController();
    this.conn = conn;
    let silence = setTimeout(() => conn.abort(), SILENCE_MS);
    try {
      const response = await fetch(`${this.path}/stream?after=${this.view.epoch}.${this.view.last}`, { signal: conn.signal });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        clearTimeout(silence);
        silence = setTimeout(() => conn.abort(), SILENCE_MS);
        const frames = (rest + value).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) {
          if (this.conn !== conn) return;
          this.hear(frame);
        }
      }
    } catch {
      // The stream broke off; where it stood is known.
    } finally {
      clearTimeout(silence);
    }
    if (this.conn === conn) {
      this.conn = null;
      this.connectLater();
    }
  }

  hear(frame) {
    const line = frame.split("\n").find((each) => each.startsWith("data: "));
    if (line === undefined) return;
    const chunk = JSON.parse(line.slice("data: ".length));
    this.failures = 0;
    if (this.connection !== "live") {
      this.say("live");
      clearTimeout(this.timers.post); // Who is there to tell is there to be told.
      this.postNext();
    }
    if (chunk.type === "data-run") this.onRun(chunk.data);
    else if (chunk.type === "data-pi-heartbeat") this.show(hearHeartbeat(this.view, chunk.data.epoch, chunk.data.seq));
    else if (chunk.type === "data-pi-resync") this.show(askResync(this.view, chunk.data.latest));
    else if (chunk.type === "error") this.conn.abort();
    else if (chunk.type.startsWith("data-pi-")) this.show(reduceEvent(this.view, chunk.data));
    if (this.view.resync !== null) this.resync();
  }

  // The view needs a snapshot; what it shows stays until that is here.
  resync() {
    if (this.conn !== null) {
      const conn = this.conn;
      this.conn = null;
      conn.abort();
    }
    if (!this.hydrating) this.readSnapshot();
  }

  // --- saying something ---------------------------------------------------------------------------------------------

  send(text, kind = "followup") {
    const item = { text, clientNonce: this.mint("n"), clientId: this.client, kind };
    this.outgoing = [...this.outgoing, item];
    this.save();
    this.show(addOptimistic(this.view, item));
    this.postNext();
  }

  keep(nonce, change) {
    this.outgoing = this.outgoing.flatMap((item) => (item.clientNonce === nonce ? change(item) : [item]));
    this.save();
  }

  // Post the oldest message; the next one waits for the answer.
  async postNext() {
    if (this.posting || !this.outgoing.length) return;
    this.posting = true;
    const nonce = this.outgoing[0].clientNonce;
    this.keep(nonce, (item) => [{ ...item, clientSeq: item.clientSeq ?? this.number ?? 1 }]);
    const answer = await this.ask("POST", "/followup", this.outgoing[0]);
    this.posting = false;
    if (answer === null || answer.status >= 500) {
      this.retryLater("post", () => this.postNext());
      return;
    }
    const { status, data } = answer;
    if (data.expected !== undefined) this.number = data.expected;
    if (status === 409) {
      this.keep(nonce, (item) => [{ ...item, clientSeq: undefined }]);
    } else {
      this.keep(nonce, () => []);
      if (status !== 202) this.show(warn(dropOptimistic(this.view, [nonce]), `a message was refused: ${data.error}`));
      else if (data.code === "deleted") this.show(dropOptimistic(this.view, [nonce]));
      else this.show(dropSettled(markAccepted(this.view, nonce, data.position)));
    }
    this.postNext();
  }

  // --- wishes -------------------------------------------------------------------------------------------------------

  // `stop`, `interrupt`, `send` what is held, `continue`, or `clear` items. What was cleared, once that is known.
  async press(what, nonces = []) {
    let wanted = nonces;
    if (what === "clear") {
      const here = this.outgoing.filter((item) => nonces.includes(item.clientNonce) && item.clientSeq === undefined);
      const mine = here.map((item) => item.clientNonce);
      for (const nonce of mine) this.keep(nonce, () => []);
      this.show(dropOptimistic(this.view, mine));
      wanted = nonces.filter((nonce) => !mine.includes(nonce));
      if (!wanted.length) return mine;
    }
    const receipt = this.mint("k");
    for (let failures = 0; ; failures += 1) {
      const answer = await this.ask("POST", "/command", { what, receipt, nonces: wanted });
      if (answer !== null && answer.status < 500) {
        const cleared = answer.data.cleared ?? [];
        this.show(clearItems(this.view, cleared));
        return cleared;
      }
      await new Promise((done) => setTimeout(done, waitMs(failures)));
    }
  }
}
