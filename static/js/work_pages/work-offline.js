// What every page of work needs to lose nothing: a worker keeps the page for a reload without a connection
// (templates/rounds/work_pages/worker.js), this browser keeps what was entered, requests are sent again.
"use strict";

const KEPT = "counterpoint-work";
// Whether this is a page as it was some time ago, because the server could not be asked.
const isKeptPage = "kept" in document.documentElement.dataset;

async function startWorker() {
  const wasThere = Boolean(navigator.serviceWorker.controller);
  await navigator.serviceWorker.register("/work-worker.js");
  await navigator.serviceWorker.ready;
  const cache = await caches.open(KEPT);
  const files = performance.getEntriesByType("resource").map(({ name }) => name)
    .filter((name) => new URL(name).pathname.startsWith("/static/"));
  for (const name of new Set(files)) if (!(await cache.match(name))) await cache.add(name);
  // The worker keeps a page on its way here; the first one came before it.
  if (!wasThere) await cache.put(location.href, await fetch(location.href));
}

// Only where the site is served over TLS, or from this machine, and where a worker can tell whose
// session it is.
if ("serviceWorker" in navigator && "cookieStore" in window && !isKeptPage) {
  window.addEventListener("load", () => startWorker().catch(() => undefined));
}

// Storage may be full, broken or switched off: then there is nothing, and what was given stays with the page.
function tryStorage(act) {
  try {
    return act();
  } catch {
    return undefined;
  }
}

// What this browser keeps under a prefix, one entry for each name, so that two tabs never overwrite each other's.
class LocalEntries {
  constructor(prefix) {
    this.prefix = prefix;
    this.memory = new Map();
  }

  // Whether something is kept no longer than the page.
  get isVolatile() { return this.memory.size > 0; }

  names() {
    const stored = tryStorage(() => Object.keys(localStorage).filter((name) => name.startsWith(this.prefix))) ?? [];
    return [...new Set([...this.memory.keys(), ...stored.map((name) => name.slice(this.prefix.length))])];
  }

  read(name) {
    return this.memory.get(name) ?? tryStorage(() => JSON.parse(localStorage.getItem(this.prefix + name)));
  }

  write(name, entry) {
    this.memory.set(name, entry);
    tryStorage(() => {
      localStorage.setItem(this.prefix + name, JSON.stringify(entry));
      this.memory.delete(name);
    });
  }

  remove(name) {
    this.memory.delete(name);
    tryStorage(() => localStorage.removeItem(this.prefix + name));
  }

  // Oldest first.
  all() { return this.names().map((name) => this.read(name)).filter(Boolean).sort((a, b) => a.at - b.at); }
}

// What a page that is reloaded has to go on with, and a word to the page that comes next; gone with its tab.
const tabMemory = {
  put(name, told) { tryStorage(() => sessionStorage.setItem(`${name}:here`, JSON.stringify(told))); },
  get(name) { return isKeptPage ? this.read(name) : null; },
  read(name) { return tryStorage(() => JSON.parse(sessionStorage.getItem(`${name}:here`))) ?? null; },
  take(name) {
    const told = this.read(name);
    tryStorage(() => sessionStorage.removeItem(`${name}:here`));
    return told;
  },
};

// A kept page that does not know where it was: the server's own is better, as soon as there is one.
function replaceWhenOnline(mayLeave) {
  if (isKeptPage) window.addEventListener("online", () => { if (mayLeave()) location.reload(); });
}

// -- requests: sent again by themselves, with the same key, until the server has answered --

function newKey() {
  // Not randomUUID: it is missing where a lab serves the site without TLS.
  return [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, "0")).join("");
}

// A request that may outlive its page has little room.
const KEEPALIVE_LIMIT = 60000;
// After these an answer waits; whatever else the server says ends it.
const WAITING = ["again", "signed_out", "forbidden"];

// What became of a request: "ok", "flawed" (stored, but the reply says what is wrong with it), "conflict",
// "closed", "not_valid", "again" (no connection or a busy server), "signed_out", "forbidden", "gone".
// With ``wanted`` headers the reply may be the page that comes next itself.
async function post(url, fields, csrf, wanted = {}) {
  const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const body = new URLSearchParams(pairs);
  let response;
  let reply = null;
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
    return { outcome: "again", reply: {}, pause: 0 };
  }
  const pause = Math.min(60, Number(response.headers.get("Retry-After")) || 0);
  return { outcome: outcomeOf(response, reply), reply: reply ?? { detail: String(response.status) }, pause };
}

function outcomeOf({ type, ok, status }, reply) {
  if (type === "opaqueredirect") return "signed_out";
  // Something between answers in the place of the server: it stored nothing.
  if (ok) return reply ? "ok" : "again";
  if (status === 403) return "forbidden";
  if (status === 404) return "gone";
  if (status === 409 && reply?.error) return reply.error;
  if (status === 422 && reply?.version !== undefined) return "flawed";
  return status >= 500 || status === 429 || status === 408 ? "again" : "not_valid";
}

// When to ask again: after a second, and each time twice as late, but for what the server asks for.
class Retries {
  constructor(act) { Object.assign(this, { act, failures: 0 }); }

  plan(pause = 0) {
    this.stop();
    this.timer = setTimeout(this.act, 1000 * Math.max(pause, Math.min(30, 2 ** this.failures)));
    this.failures = Math.min(5, this.failures + 1);
  }

  stop() { clearTimeout(this.timer); }

  reset() {
    this.stop();
    this.failures = 0;
  }
}

// Seconds with signs of somebody at work, no more than half a minute per pause.
class WorkClock {
  constructor() {
    this.spent = 0;
    this.last = performance.now();
    for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
      document.addEventListener(sign, () => this.tick(true), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.tick(document.hidden));
  }

  seconds() {
    this.tick(true);
    return Math.max(0, Math.round(this.spent / 1000));
  }

  // What was rounded up is missing from the next seconds.
  take(seconds) { this.spent -= seconds * 1000; }

  tick(counts) {
    const now = performance.now();
    if (counts) this.spent += Math.min(now - this.last, 30000);
    this.last = now;
  }
}
