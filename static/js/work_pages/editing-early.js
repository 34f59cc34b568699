// Loaded before the text is there: what somebody writes while the other scripts are on their way
// is told from what a browser fills in by itself.
"use strict";

document.addEventListener("input", ({ target }) => {
  if (target.id === "text") target.dataset.typed = "";
});
