// Keeps the last work page of one person with its static files, so that a reload without a
// connection shows it. Pages that say so by a header are kept, by address; everything else goes to
// the network untouched. Signing in or out forgets all of it (forget-work.js).
"use strict";

const KEPT = "counterpoint-work";
const PERSON = "X-Work-Page";

async function page(request) {
  try {
    const response = await fetch(request);
    if (response.ok && response.headers.has(PERSON)) await keepPage(request.url, response.clone());
    return response;
  } catch (error) {
    const kept = await (await caches.open(KEPT)).match(request.url);
    if (!kept) throw error;
    // The page has to know that it may be older than what the server has.
    const text = (await kept.text()).replace("<html ", "<html data-kept ");
    return new Response(text, { headers: kept.headers });
  }
}

// One page at a time, and nothing at all of anybody else.
async function keepPage(url, response) {
  const kept = await caches.open(KEPT);
  for (const request of await kept.keys()) {
    if (!isStatic(new URL(request.url))) await kept.delete(request);
  }
  await kept.put(url, response);
}

function isStatic({ origin, pathname }) {
  return origin === self.location.origin && pathname.startsWith("/static/");
}

// A name with a hash of its content never means anything else.
async function file(request) {
  const kept = await caches.open(KEPT);
  const isFixed = /\.[0-9a-f]{12}\.\w+$/.test(new URL(request.url).pathname);
  const known = await kept.match(request);
  if (known && isFixed) return known;
  try {
    const response = await fetch(request);
    if (response.ok) await kept.put(request, response.clone());
    return response;
  } catch (error) {
    if (known) return known;
    throw error;
  }
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (isStatic(new URL(request.url))) event.respondWith(file(request));
});
// A page that was there before this worker says what it is made of.
self.addEventListener("message", ({ data }) => {
  for (const url of data.files) file(new Request(url)).catch(() => undefined);
  page(new Request(data.page, { credentials: "same-origin" })).catch(() => undefined);
});
