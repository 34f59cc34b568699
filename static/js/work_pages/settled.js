// What has only just appeared, or just moved, takes no answer: the second half of a double click or
// a second press of a key would give one that nobody read. Loaded first on every page of work, and
// at once: it has to be there before the page can be pressed.
"use strict";

const { settleMs, tooQuick } = document.currentScript.dataset;
let settledAt = 0;

// Something else to answer is there; the time counts from when the browser has drawn it.
function settle() {
  if (!Number(settleMs)) return;
  settledAt = Infinity;
  requestAnimationFrame(() => requestAnimationFrame((now) => { settledAt = now + Number(settleMs); }));
}

function isSettled() { return performance.now() >= settledAt; }

// A word that passes, in the place of the last one.
let told;

function tell(text) {
  told?.remove();
  const box = Object.assign(document.createElement("div"), { className: "toast", textContent: text });
  document.getElementById("toasts")?.append(box);
  setTimeout(() => box.remove(), 6000);
  told = box;
}

// Asked by whatever answers or submits; what is refused is said.
function mayAnswer() {
  if (!isSettled()) tell(tooQuick);
  return isSettled();
}

settle();
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[name=verdict], [name=answer], [name=label], #submit") || mayAnswer()) return;
  event.preventDefault();
  event.stopPropagation();
}, { capture: true });
// A dialog that closes shows again what it lay on; keys held down press nothing twice.
document.addEventListener("close", settle, { capture: true });
document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target.matches?.("button, a, summary")) event.preventDefault();
}, { capture: true });
