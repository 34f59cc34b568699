// Answers that the server has not acknowledged, kept in this browser until it has.
// One storage entry per answer, so two tabs never overwrite each other's.
"use strict";

class Outbox {
  constructor(prefix) {
    this.prefix = prefix + ":unsent:";
    this.memory = new Map();
  }

  // Oldest first; an answer must arrive before its change.
  all() {
    const found = new Map(this.memory);
    for (const name of this.#names()) found.set(name, JSON.parse(localStorage.getItem(name)));
    return [...found.values()].filter(Boolean).sort((a, b) => a.at - b.at || a.order - b.order);
  }

  waiting() { return this.all().filter((entry) => !entry.refused); }

  refused() { return this.all().filter((entry) => entry.refused); }

  put(entry) {
    const name = this.prefix + entry.fields.client_key;
    try {
      localStorage.setItem(name, JSON.stringify(entry));
    } catch {
      this.memory.set(name, entry);
    }
  }

  drop(entry) {
    const name = this.prefix + entry.fields.client_key;
    this.memory.delete(name);
    try {
      localStorage.removeItem(name);
    } catch { /* nothing was stored there */ }
  }

  get isVolatile() { return this.memory.size > 0; }

  #names() {
    try {
      return Object.keys(localStorage).filter((name) => name.startsWith(this.prefix));
    } catch {
      return [];
    }
  }
}

// What was typed into a dialog of an item and not sent: neither Escape nor signing in loses it.
class TypedTexts {
  constructor(prefix) { this.name = `${prefix}:typed`; }

  of(item, dialog) { return this.#all()[`${item.id}:${dialog}`] ?? null; }

  put(item, dialog, text) { this.#store({ ...this.#all(), [`${item.id}:${dialog}`]: text }); }

  drop(item) {
    const kept = Object.entries(this.#all()).filter(([name]) => !name.startsWith(`${item.id}:`));
    this.#store(Object.fromEntries(kept));
  }

  #all() {
    try {
      return JSON.parse(localStorage.getItem(this.name)) ?? {};
    } catch {
      return {};
    }
  }

  #store(texts) {
    try {
      localStorage.setItem(this.name, JSON.stringify(texts));
    } catch { /* then it is kept no longer than the page */ }
  }
}

// For how many seconds the server asks to be left alone.
function pauseOf(response) {
  return Math.min(60, Number(response.headers.get("Retry-After")) || 0);
}

// Sends the outbox in order. What became of an answer is one of: "saved", "refused", "again"
// (no connection or a busy server), "signed_out", "forbidden".
class Sender {
  constructor({ outbox, url, csrf, onReply, onTrouble }) {
    Object.assign(this, { outbox, url, csrf, onReply, onTrouble });
    this.trouble = "";
    this.failures = 0;
    this.pause = 0;
    this.isSending = false;
    window.addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.flush(); });
  }

  retryNow() {
    clearTimeout(this.timer);
    this.failures = 0;
    return this.flush();
  }

  async flush() {
    if (this.isSending) return;
    this.isSending = true;
    let outcome = "saved";
    for (let entry = this.outbox.waiting()[0]; entry; entry = this.outbox.waiting()[0]) {
      this.onTrouble(this.trouble);
      outcome = await this.#deliver(entry);
      if (outcome !== "saved" && outcome !== "refused") break;
      this.failures = 0;
      this.trouble = "";
    }
    this.isSending = false;
    this.#report(outcome === "saved" || outcome === "refused" ? "" : outcome);
  }

  #report(trouble) {
    this.trouble = trouble;
    clearTimeout(this.timer);
    if (trouble === "again") {
      const seconds = Math.max(this.pause, Math.min(30, 2 ** Math.min(this.failures, 5)));
      this.failures += 1;
      this.timer = setTimeout(() => this.flush(), seconds * 1000);
    }
    this.onTrouble(trouble);
  }

  async #deliver(entry) {
    let response;
    let body = {};
    this.pause = 0;
    try {
      response = await fetch(this.url, {
        method: "POST",
        body: new URLSearchParams(entry.fields),
        headers: { Accept: "application/json", "X-CSRFToken": this.csrf },
        redirect: "manual",
        keepalive: true,
        signal: AbortSignal.timeout(20000),
      });
      if (response.headers.get("Content-Type") === "application/json") body = await response.json();
    } catch {
      return "again";
    }
    this.pause = pauseOf(response);
    if (response.type === "opaqueredirect") return "signed_out";
    if (response.status === 403) return "forbidden";
    if (response.status >= 500 || response.status === 429 || response.status === 408) return "again";
    if (!response.ok || !body.saved) {
      this.outbox.put({ ...entry, refused: body.detail || String(response.status), reply: body });
      return "refused";
    }
    this.outbox.drop(entry);
    this.onReply(body);
    return "saved";
  }
}
