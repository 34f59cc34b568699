// Lets a reload without a connection show the page: a worker keeps it (templates/rounds/work_pages/worker.js).
// What was entered is kept by the page itself, as ever.
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

// What a page that is reloaded has to go on with; gone with its tab.
const tabMemory = {
  put(name, told) {
    try {
      sessionStorage.setItem(`${name}:here`, JSON.stringify(told));
    } catch { /* then a reload without a connection shows the page as it came */ }
  },
  get(name) {
    try {
      return isKeptPage ? JSON.parse(sessionStorage.getItem(`${name}:here`)) : null;
    } catch {
      return null;
    }
  },
};

// A kept page that does not know where it was: the server's own is better, as soon as there is one.
function replaceWhenOnline(mayLeave) {
  if (isKeptPage) window.addEventListener("online", () => { if (mayLeave()) location.reload(); });
}
