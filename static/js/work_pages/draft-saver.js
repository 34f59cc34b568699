// Drafts on their way to the server. A text is kept in this browser from the keystroke until the
// server has it; the server says which version it became, or keeps it aside. The reply to a submission
// may bring the page that comes next, which the worker then shows (templates/rounds/work_pages/worker.js).
"use strict";

const QUIET_MS = 1500;
const LONGEST_MS = 5000;
// A request that may outlive its page has little room.
const KEEPALIVE_LIMIT = 60000;

// One storage entry per page, so two tabs never overwrite each other's text.
class LocalCopies {
  constructor(prefix) {
    this.prefix = prefix;
    this.isVolatile = false;
  }

  put(copy) {
    try {
      localStorage.setItem(this.prefix + copy.client, JSON.stringify(copy));
      this.isVolatile = false;
    } catch {
      this.isVolatile = true;
    }
  }

  all() {
    try {
      const names = Object.keys(localStorage).filter((name) => name.startsWith(this.prefix));
      return names.map((name) => JSON.parse(localStorage.getItem(name))).filter(Boolean)
        .sort((a, b) => a.at - b.at);
    } catch {
      return [];
    }
  }

  // Only the text that was sent: its own page may have gone on meanwhile.
  drop({ client, sequence }) {
    try {
      const name = this.prefix + client;
      const kept = JSON.parse(localStorage.getItem(name));
      if (kept && kept.sequence <= sequence) localStorage.removeItem(name);
    } catch { /* nothing was stored there */ }
  }
}

// What became of a request: "ok", "flawed" (stored, but the reply says what is wrong with it),
// "conflict", "closed", "not_valid", "again" (no connection or a busy server), "signed_out",
// "forbidden", "gone". With ``wanted`` headers the reply may be the page that comes next itself.
async function post(url, fields, csrf, wanted = {}) {
  const body = new URLSearchParams(fields);
  let response;
  let reply = {};
  try {
    response = await fetch(url, {
      method: "POST",
      body,
      headers: { Accept: "application/json", "X-CSRFToken": csrf, ...wanted },
      redirect: "manual",
      keepalive: body.toString().length < KEEPALIVE_LIMIT,
      signal: AbortSignal.timeout(20000),
    });
    if (response.headers.get("Content-Type") === "application/json") reply = await response.json();
    if (response.headers.has("Preference-Applied")) reply = await broughtPage(response);
  } catch {
    return { outcome: "again", reply };
  }
  const pause = Math.min(60, Number(response.headers.get("Retry-After")) || 0);
  return { outcome: outcomeOf(response, reply), reply, pause };
}

function outcomeOf(response, reply) {
  if (response.type === "opaqueredirect") return "signed_out";
  if (response.ok) return "ok";
  if (response.status === 403) return "forbidden";
  if (response.status === 404) return "gone";
  if (response.status === 409 && reply.error) return reply.error;
  if (response.status === 422) return reply.version === undefined ? "not_valid" : "flawed";
  return "again";
}

const HANDED_MS = 300;

// Headers that ask for it in the reply to a form, where there is a worker that can show it.
function nextPage() {
  return navigator.serviceWorker?.controller ? { Prefer: "return=representation" } : {};
}

async function broughtPage(response) {
  const page = response.headers.get("Content-Location");
  // Not how it travelled: the text is unpacked here.
  const headers = [...response.headers].filter(([name]) => !/^content-(encoding|length)$/.test(name));
  return { page, headers, text: await response.text() };
}

// The worker shows the page once, at its own address; without it the server is asked.
async function goTo({ page, headers, text }) {
  const worker = navigator.serviceWorker?.controller;
  if (worker && text) {
    const { port1, port2 } = new MessageChannel();
    const url = new URL(page, location.href).href;
    worker.postMessage({ url, headers, text }, [port2]);
    await new Promise((go) => { port1.onmessage = go; setTimeout(go, HANDED_MS); });
  }
  location.assign(page);
}

// A word to the page that comes next in this tab.
function putMark(name) {
  try {
    sessionStorage.setItem(name, "1");
  } catch { /* then the next page says less */ }
}

function takeMark(name) {
  try {
    const isThere = sessionStorage.getItem(name) !== null;
    sessionStorage.removeItem(name);
    return isThere;
  } catch {
    return false;
  }
}

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, "0")).join("");
}

function showSubmit(text) {
  const message = document.getElementById("submit-message");
  message.textContent = text;
  message.hidden = !text;
}

// Whoever submitted may be far from what stands in the way.
function showRefusal(text) {
  showSubmit(text);
  const message = document.getElementById("submit-message");
  message.scrollIntoView({ block: "nearest" });
  message.focus();
}

class DraftSaver {
  constructor({ url, csrf, page, copies, read, worked, onChange }) {
    Object.assign(this, { url, csrf, copies, read, worked, onChange });
    this.client = page.client;
    this.version = page.version;
    this.sequence = 0;
    this.sentSequence = 0;
    this.failures = 0;
    this.state = "saved";
    this.detail = "";
    this.busy = null;
    window.addEventListener("online", () => this.flush());
  }

  // A page shown without a connection goes on as the one that was reloaded, with its text, of which
  // the server may know the last part or not. Returns the text, or null where this tab knows of none:
  // then the page may be open in another tab, too, and writes under a name of its own.
  resume() {
    if (!isKeptPage) return null;
    const was = tabMemory.get(this.copies.prefix);
    if (was && was.at.version >= this.version) {
      Object.assign(this, was.at);
      return was.text;
    }
    this.client = crypto.randomUUID();
    replaceWhenOnline(() => !this.hasUnsent);
    return null;
  }

  get hasUnsent() { return this.sequence > this.sentSequence; }

  // States after which sending more would be of no use.
  get isStuck() { return ["conflict", "closed", "gone"].includes(this.state); }

  changed() {
    this.sequence += 1;
    this.#keep();
    if (!this.isStuck) this.#show(this.state === "saving" ? "saving" : "waiting");
    this.#plan();
  }

  // Save now; returns what became of it.
  async flush() {
    clearTimeout(this.timer);
    while (this.busy) await this.busy;
    if (!this.hasUnsent || this.isStuck) return this.state;
    this.busy = this.#send();
    try {
      await this.busy;
    } finally {
      this.busy = null;
    }
    if (this.state === "waiting") this.#plan();
    return this.state;
  }

  fields() {
    return {
      text: this.read(),
      base_version: this.version,
      client: this.client,
      sequence: this.sequence,
      active_seconds: this.worked.seconds(),
    };
  }

  // The server has the text of this request, as a draft or a revision.
  took({ sequence, active_seconds }, version) {
    this.version = version ?? this.version;
    this.sentSequence = Math.max(this.sentSequence, sequence);
    this.since = undefined;
    this.failures = 0;
    this.worked.take(active_seconds);
    if (this.hasUnsent) this.#keep();
    else this.copies.drop({ client: this.client, sequence });
    this.#remember();
  }

  // Another request met something that concerns drafts just as well.
  report(state, reply) { this.#show(state, reply); }

  #keep() {
    const { client, version, sequence } = this;
    this.copies.put({ client, version, sequence, text: this.read(), at: Date.now() });
    this.#remember();
  }

  #remember() {
    const { client, version, sequence, sentSequence } = this;
    tabMemory.put(this.copies.prefix, { at: { client, version, sequence, sentSequence }, text: this.read() });
  }

  #plan() {
    if (this.isStuck) return;
    clearTimeout(this.timer);
    this.since ??= Date.now();
    const wait = Math.min(QUIET_MS, Math.max(0, this.since + LONGEST_MS - Date.now()));
    this.timer = setTimeout(() => this.flush(), wait);
  }

  async #send() {
    const sent = this.fields();
    this.#show("saving");
    const { outcome, reply, pause } = await post(this.url, sent, this.csrf);
    this.detail = reply.detail || "";
    if (["ok", "flawed"].includes(outcome)) this.took(sent, reply.version);
    // Kept aside by the server: this browser need not keep it, too.
    if (outcome === "conflict" || outcome === "closed") this.took(sent);
    if (outcome === "again") this.#retry(pause);
    const whenOk = this.hasUnsent ? "waiting" : "saved";
    this.#show(outcome === "ok" ? whenOk : outcome, reply);
  }

  #retry(pause = 0) {
    const seconds = Math.max(pause, Math.min(30, 2 ** Math.min(this.failures, 5)));
    this.failures += 1;
    this.timer = setTimeout(() => this.flush(), seconds * 1000);
  }

  #show(state, reply = {}) {
    this.state = state;
    this.onChange(state, reply);
  }
}

// -- submissions: kept from the press until the server has answered, and sent again by themselves,
// from the page of another sheet as well

// After these a submission waits; whatever else the server says ends it.
const WAITING = ["again", "signed_out", "forbidden"];

class Submissions {
  constructor(prefix, sheet) {
    Object.assign(this, { prefix: `${prefix}submission:`, sheet });
  }

  get own() { return this.#read(this.prefix + this.sheet); }

  put(entry) {
    try {
      localStorage.setItem(this.prefix + this.sheet, JSON.stringify(entry));
    } catch { /* then it waits on this page alone */ }
  }

  drop(sheet = this.sheet) {
    try {
      localStorage.removeItem(this.prefix + sheet);
    } catch { /* nothing was stored there */ }
  }

  // What other pages of this kind left, as [sheet, entry].
  others() {
    try {
      return Object.keys(localStorage).filter((name) => name.startsWith(this.prefix))
        .map((name) => [name.slice(this.prefix.length), this.#read(name)])
        .filter(([sheet, entry]) => entry && sheet !== this.sheet);
    } catch {
      return [];
    }
  }

  #read(name) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  }
}

// Seconds with signs of somebody at work, no more than half a minute per pause.
class WorkClock {
  constructor() {
    this.spent = 0;
    this.last = performance.now();
    for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
      document.addEventListener(sign, () => this.#tick(true), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.#tick(document.hidden));
  }

  seconds() {
    this.#tick(true);
    return Math.round(this.spent / 1000);
  }

  take(seconds) { this.spent = Math.max(0, this.spent - seconds * 1000); }

  #tick(counts) {
    const now = performance.now();
    if (counts) this.spent += Math.min(now - this.last, 30000);
    this.last = now;
  }
}
