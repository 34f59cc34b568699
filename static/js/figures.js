// New figures replace the dashboard's content; tables somebody opened stay open.
"use strict";

let opened = [];

document.addEventListener("htmx:beforeSwap", () => {
  opened = [...document.querySelectorAll(".figure-card:has(details[open])")].map((card) => card.id);
});

document.addEventListener("htmx:afterSettle", () => {
  for (const id of opened) document.querySelector(`#${id} details`)?.setAttribute("open", "");
});
