// Answers that the server has not acknowledged, kept in this browser until it has.
// One storage entry per answer, so two tabs never overwrite each other's.
"use strict";

class Outbox extends LocalEntries {
  constructor(prefix) { super(`${prefix}:unsent:`); }

  // An answer must arrive before its change.
  all() { return super.all().sort((a, b) => a.at - b.at || a.order - b.order); }

  waiting() { return this.all().filter((entry) => !entry.refused); }

  refused() { return this.all().filter((entry) => entry.refused); }

  put(entry) { this.write(entry.fields.client_key, entry); }

  drop(entry) { this.remove(entry.fields.client_key); }
}

// What was typed into a dialog of an item and not sent: neither Escape nor signing in loses it.
class TypedTexts extends LocalEntries {
  constructor(prefix) { super(`${prefix}:typed:`); }

  of(item, dialog) { return this.read(`${item.id}:${dialog}`) ?? null; }

  put(item, dialog, text) { this.write(`${item.id}:${dialog}`, text); }

  drop(item) {
    for (const name of this.names()) if (name.startsWith(`${item.id}:`)) this.remove(name);
  }
}

// Sends the outbox in order. What became of an answer is one of: "saved", "refused", "again"
// (no connection or a busy server), "signed_out", "forbidden".
class Sender {
  constructor({ outbox, url, csrf, onReply, onTrouble }) {
    Object.assign(this, { outbox, url, csrf, onReply, onTrouble });
    this.trouble = "";
    this.retries = new Retries(() => this.flush());
    this.isSending = false;
    window.addEventListener("online", () => {
      this.retries.reset();
      this.flush();
    });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.flush(); });
  }

  async flush() {
    if (this.isSending) return;
    this.isSending = true;
    let trouble = "";
    for (let entry = this.outbox.waiting()[0]; entry && !trouble; entry = this.outbox.waiting()[0]) {
      this.onTrouble(this.trouble);
      trouble = await this.#deliver(entry);
      this.trouble = trouble;
    }
    this.isSending = false;
    if (trouble !== "again") this.retries.reset();
    this.onTrouble(trouble);
  }

  // Returns what keeps the answer waiting, if anything does.
  async #deliver(entry) {
    const { outcome, reply, pause } = await post(this.url, entry.fields, this.csrf);
    if (outcome === "again") this.retries.plan(pause);
    if (WAITING.includes(outcome)) return outcome;
    if (reply.saved) {
      this.outbox.drop(entry);
      this.onReply(reply);
    } else this.outbox.put({ ...entry, refused: reply.detail || outcome, reply });
    return "";
  }
}
