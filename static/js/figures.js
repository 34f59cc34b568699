// Results: filters that act at once, menus that close, details that stay open in new figures.
"use strict";

let opened = [];

document.addEventListener("htmx:beforeSwap", () => {
  const kept = document.querySelectorAll(".figure-card details[open]:not(.drop), details.columns[open]");
  opened = [...kept].map(wayTo);
});

document.addEventListener("htmx:afterSettle", () => {
  for (const way of opened) document.querySelector(way)?.setAttribute("open", "");
});

function wayTo(details) {
  return details.id ? `#${details.id}` : `#${details.closest(".figure-card").id} details:not(.drop)`;
}

// The address holds what differs from the page as it opens, and columns only once some were chosen.
document.addEventListener("htmx:configRequest", (event) => {
  const { parameters, triggeringEvent } = event.detail;
  if (!event.target.matches(".filters")) return;
  const chosen = triggeringEvent?.target.name === "show" || new URLSearchParams(location.search).has("show");
  for (const name of Object.keys(parameters)) {
    if (parameters[name] === "" || (name === "show" && !chosen)) delete parameters[name];
  }
});

// A chart that is on its way keeps a place; what was drawn before is there already.
document.documentElement.classList.add("drawing");
for (const end of ["load", "error"]) {
  document.addEventListener(end, (event) => {
    if (event.target.matches?.(".chart img")) event.target.classList.add("drawn");
  }, true);
}

function markDrawn() {
  for (const chart of document.querySelectorAll(".chart img")) {
    if (chart.complete && chart.naturalWidth) chart.classList.add("drawn");
  }
}
markDrawn();
document.addEventListener("htmx:afterSettle", markDrawn);

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".drop[open]")) menu.open = menu.contains(event.target);
});

document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(".drop[open]");
  if (event.key !== "Escape" || !menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
