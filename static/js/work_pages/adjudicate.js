// The queue of decisions has the keys of the label page: digits choose the level, "u" takes the last
// decision back, "s" skips, "i" opens the guideline; "n" leads to the comment, Escape out of it.
"use strict";

const decision = document.getElementById("adjudicate");
const byId = (id) => document.getElementById(id);

const KEYS = {
  u: () => byId("undo")?.click(), backspace: () => byId("undo")?.click(), s: () => byId("skip")?.click(),
  i: openGuideline, "?": () => toggleDialog("keys"), n: () => byId("id_comment")?.focus(),
};

function choose(digit) {
  decision?.querySelector(`button[name="label"][value="${digit}"]`)?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing && event.target.matches?.("textarea")) event.target.blur();
  const key = event.repeat ? null : keyOf(event);
  if (!key || (document.querySelector("dialog[open]") && !["i", "?"].includes(key.name))) return;
  const act = KEYS[key.name];
  if (!act && key.digit === null) return;
  event.preventDefault();
  if (act) act();
  else choose(key.digit);
});

// A second press while the first is on its way must not decide the next sentence, nor undo two.
for (const sent of document.querySelectorAll("form#adjudicate, form:has(#undo)")) {
  sent.addEventListener("submit", (event) => {
    if (sent.getAttribute("aria-busy") === "true") event.preventDefault();
    sent.setAttribute("aria-busy", "true");
  });
}

// Coming back with the browser's button shows the old page; it must work again.
window.addEventListener("pageshow", () => {
  document.querySelectorAll("form[aria-busy]").forEach((sent) => sent.removeAttribute("aria-busy"));
});

startDialogs(openNamed);
