// Lets a reload without a connection show the page: a worker keeps it (templates/rounds/work-worker.js).
// What was entered is kept by the page itself, as ever.
"use strict";

// Whether this is a page as it was some time ago, because the server could not be asked.
const isKeptPage = "kept" in document.documentElement.dataset;

async function startWorker() {
  const { content: scope } = document.querySelector("meta[name=work-pages]");
  const registration = await navigator.serviceWorker.register("/work-worker.js", { scope });
  if (navigator.serviceWorker.controller) return;
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  const files = performance.getEntriesByType("resource").map(({ name }) => name)
    .filter((name) => new URL(name).pathname.startsWith("/static/"));
  worker.postMessage({ page: location.href, files });
}

// Only where the site is served over TLS, or from this machine.
if ("serviceWorker" in navigator) startWorker().catch(() => undefined);

// What a page that is reloaded has to go on with; gone with its tab.
const place = {
  put(name, told) {
    try {
      sessionStorage.setItem(name, JSON.stringify(told));
    } catch { /* then a reload without a connection shows the page as it came */ }
  },
  get(name) {
    try {
      return isKeptPage ? JSON.parse(sessionStorage.getItem(name)) : null;
    } catch {
      return null;
    }
  },
};

// A kept page that does not know where it was: the server's own is better, as soon as there is one.
function replaceWhenOnline() {
  if (isKeptPage) window.addEventListener("online", () => location.reload());
}
