// Digit keys choose the level with that digit, "s" skips; nothing fires while typing.
"use strict";

const decision = document.getElementById("adjudicate");

document.addEventListener("keydown", (event) => {
  const key = event.repeat ? null : keyOf(event);
  if (!decision || !key) return;
  const button = key.digit !== null
    ? decision.querySelector(`button[name="label"][value="${key.digit}"]`)
    : key.name === "s" && decision.querySelector("button[formaction]");
  if (!button) return;
  event.preventDefault();
  button.click();
});

// A second press while the first is on its way must not decide the next sentence.
decision?.addEventListener("submit", (event) => {
  if (decision.getAttribute("aria-busy") === "true") event.preventDefault();
  decision.setAttribute("aria-busy", "true");
});

// Coming back with the browser's button shows the old page; it must work again.
window.addEventListener("pageshow", () => decision?.removeAttribute("aria-busy"));
