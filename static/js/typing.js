// Counts how each text on a page of work came about, where the person agreed to that: characters
// typed and pasted, and the time between keys. Which keys were pressed is never recorded.
"use strict";

const { address: typingAddress, trap: trapLabel } = document.currentScript.dataset;
const longestPauseMs = 2000;
const texts = new Map();

// A field that nobody sees; programs that read the page may fill it in.
const trap = Object.assign(document.createElement("input"), { tabIndex: -1, autocomplete: "off" });
const trapBox = Object.assign(document.createElement("label"), { className: "visually-hidden", textContent: trapLabel });
trapBox.setAttribute("aria-hidden", "true");
trapBox.append(trap);
document.body.append(trapBox);

function countsOf(field) {
  if (!texts.has(field)) texts.set(field, { typed: 0, pasted: 0, inserted: 0, pastes: 0, typing_ms: 0 });
  return texts.get(field);
}

function send(field) {
  const { typed, pasted, inserted, pastes, typing_ms } = texts.get(field);
  texts.delete(field);
  const csrfmiddlewaretoken = document.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!(typed + pasted + inserted) || !csrfmiddlewaretoken) return;
  const body = new URLSearchParams({ typed, pasted, inserted, pastes, typing_ms, csrfmiddlewaretoken });
  if (trap.value) body.set("filled_trap", "on");
  navigator.sendBeacon(typingAddress, body);
}

function add(counts, { inputType = "", data }, clipboard) {
  const length = clipboard ?? data?.length ?? 0, now = performance.now();
  if (inputType === "insertFromPaste" || inputType === "insertFromDrop") {
    counts.pastes += 1;
    counts.pasted += length;
  } else if (inputType === "insertText" && length === 1) {
    counts.typed += 1;
    const pause = now - (counts.lastAt ?? -Infinity);
    if (pause <= longestPauseMs) counts.typing_ms += Math.round(pause);
    counts.lastAt = now;
  } else if (inputType.startsWith("insert")) counts.inserted += length;
}

const isText = (field) => field !== trap && field.matches?.("textarea, input[type=text]");
// An input event of a paste does not say how much came.
let clipboard;
document.addEventListener("paste", (event) => { clipboard = event.clipboardData?.getData("text").length; });
document.addEventListener("drop", (event) => { clipboard = event.dataTransfer?.getData("text").length; });

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!isText(field)) return;
  // Pages bring the next item without leaving: another text begins in a field that was emptied.
  const isNew = field.value.length <= (clipboard ?? event.data?.length ?? 0);
  for (const other of [...texts.keys()]) {
    if (!other.isConnected || (other === field && isNew)) send(other);
  }
  add(countsOf(field), event, clipboard);
  clipboard = undefined;
});

function sendAll() {
  [...texts.keys()].forEach(send);
}
document.addEventListener("visibilitychange", () => { if (document.hidden) sendAll(); });
addEventListener("pagehide", sendAll);
