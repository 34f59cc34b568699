// Keeps the work page last opened in this session of the browser with its static files, so that a
// reload without a connection shows it. Everything comes from the network as long as there is one.
// A page is shown only while the cookie names the session it was written for; a page of another
// session, or of nobody, makes the worker forget it (cqa_site/rounds/pages/replies.py).
"use strict";

const KEPT = "counterpoint-work";
const SESSION = "{{ header }}";
const COOKIE = "{{ cookie }}";

async function session() { return (await self.cookieStore?.get(COOKIE))?.value; }

function isStatic({ origin, pathname }) {
  return origin === self.location.origin && pathname.startsWith("/static/");
}

// A page that came with the reply to a form is shown once, and only at once.
const FRESH_MS = 5000;
let brought = null;

async function takeBrought(url) {
  const was = brought;
  brought = null;
  if (was?.url !== url || performance.now() - was.at > FRESH_MS) return null;
  const response = new Response(was.text, { headers: was.headers });
  return response.headers.get(SESSION) === await session() ? response : null;
}

async function page(event) {
  let response;
  try {
    response = await takeBrought(event.request.url) ?? await fetch(event.request);
  } catch (error) {
    const kept = await keptPage(event.request.url);
    if (kept) return kept;
    throw error;
  }
  const isWork = response.ok && response.headers.has(SESSION);
  event.waitUntil(isWork ? keep(event.request.url, response.clone()) : forgetOthers());
  return response;
}

async function keptPage(url) {
  await forgetOthers();
  const response = await caches.match(url, { cacheName: KEPT, ignoreVary: true });
  if (!response) return null;
  // The page has to know that it may be older than what the server has.
  const text = (await response.text()).replace("<html ", "<html data-kept ");
  return new Response(text, { headers: response.headers });
}

// One page at a time, and nothing at all of another session.
async function keep(url, response) {
  await forgetOthers();
  if (response.headers.get(SESSION) !== await session()) return;
  const cache = await caches.open(KEPT);
  for (const request of await cache.keys()) {
    if (!isStatic(new URL(request.url))) await cache.delete(request);
  }
  await cache.put(url, response);
}

async function forgetOthers() {
  if (!(await caches.has(KEPT))) return;
  const cache = await caches.open(KEPT);
  const now = await session();
  const pages = (await cache.keys()).filter(({ url }) => !isStatic(new URL(url)));
  for (const request of pages) {
    const { headers } = await cache.match(request, { ignoreVary: true });
    if (!now || headers.get(SESSION) !== now) await caches.delete(KEPT);
  }
}

async function file(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(request.url, { cacheName: KEPT, ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("message", ({ data, ports: [port] }) => {
  brought = { ...data, at: performance.now() };
  port.postMessage("taken");
});
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(page(event));
  else if (isStatic(new URL(request.url))) event.respondWith(file(request));
});
