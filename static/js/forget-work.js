// Whoever signs in, or has just signed out, must not find a page of somebody else's work.
"use strict";

if ("caches" in window) caches.delete("counterpoint-work").catch(() => undefined);
