// Drafts on their way to the server. A text is kept in this browser from the keystroke until the
// server has it; the server says which version it became, or keeps it aside. The reply to a submission
// may bring the page that comes next, which the worker then shows (templates/rounds/work_pages/worker.js).
"use strict";

const QUIET_MS = 1500;
const LONGEST_MS = 5000;

class LocalCopies extends LocalEntries {
  put(copy) { this.write(copy.client, copy); }

  // Only the text that was sent: its own page may have gone on meanwhile.
  drop({ client, sequence }) {
    const kept = this.read(client);
    if (kept && kept.sequence <= sequence) this.remove(client);
  }
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

function showSubmit(text) {
  const message = document.getElementById("submit-message");
  message.textContent = text;
  message.hidden = !text;
}

// Whoever submitted may be far from what stands in the way. What stands there already was said.
function showRefusal(text) {
  const message = document.getElementById("submit-message");
  if (message.textContent === text) return;
  showSubmit(text);
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
    this.retries = new Retries(() => this.flush());
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
    this.retries.stop();
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

  // Every request has a number of its own, so that the server knows which of two is the later one,
  // also where a reply was lost.
  fields() {
    const { hasUnsent } = this;
    this.sequence += 1;
    if (!hasUnsent) this.sentSequence = this.sequence;
    this.#remember();
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
    this.retries.reset();
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
    this.retries.stop();
    this.since ??= Date.now();
    const wait = Math.min(QUIET_MS, Math.max(0, this.since + LONGEST_MS - Date.now()));
    this.timer = setTimeout(() => this.flush(), wait);
  }

  async #send() {
    const sent = this.fields();
    this.#show("saving");
    const { outcome, reply, pause } = await post(this.url, sent, this.csrf);
    if (["ok", "flawed"].includes(outcome)) this.took(sent, reply.version);
    // Kept aside by the server: this browser need not keep it, too.
    if (outcome === "conflict" || outcome === "closed") this.took(sent);
    if (outcome === "again") this.retries.plan(pause);
    const whenOk = this.hasUnsent ? "waiting" : "saved";
    this.#show(outcome === "ok" ? whenOk : outcome, reply);
  }

  #show(state, reply = {}) {
    this.state = state;
    this.detail = reply.detail ?? "";
    this.onChange(state, reply);
  }
}

// -- submissions: kept from the press until the server has answered, and sent again by themselves,
// from the page of another sheet as well

class Submissions extends LocalEntries {
  constructor(prefix, sheet) {
    super(`${prefix}submission:`);
    this.sheet = sheet;
  }

  get own() { return this.read(this.sheet); }

  put(entry) { this.write(this.sheet, entry); }

  drop(sheet = this.sheet) { this.remove(sheet); }

  // What other pages of this kind left, as [sheet, entry].
  others() {
    return this.names().filter((sheet) => sheet !== this.sheet).map((sheet) => [sheet, this.read(sheet)])
      .filter(([, entry]) => entry);
  }
}
