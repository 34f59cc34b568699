// Counts how each text on a page of work came about, where the person agreed to that: characters
// typed and pasted, and the time between keys. Which keys were pressed is never recorded. A text that
// goes on after it was sent, as after a look at another tab, continues the same one.
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

const none = { typed: 0, pasted: 0, inserted: 0, pastes: 0, typing_ms: 0 };

function send(text) {
  const { typed, pasted, pastes, typing_ms } = text, inserted = Math.max(0, text.inserted);
  const csrfmiddlewaretoken = document.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!(typed + pasted + inserted) || !csrfmiddlewaretoken) return;
  const body = new URLSearchParams({ typed, pasted, inserted, pastes, typing_ms, csrfmiddlewaretoken });
  if (text.isContinued) body.set("continues", "on");
  if (trap.value) body.set("filled_trap", "on");
  navigator.sendBeacon(typingAddress, body);
  Object.assign(text, none, { isContinued: true });
}

function add(text, { inputType = "", data }, growth, selected) {
  if (inputType === "insertFromPaste" || inputType === "insertFromDrop") {
    text.pastes += 1;
    text.pasted += Math.max(0, growth + selected);
  } else if (inputType === "insertLineBreak" || (inputType === "insertText" && data?.length === 1)) {
    text.typed += 1;
    const now = performance.now(), pause = now - (text.lastAt ?? -Infinity);
    if (pause <= longestPauseMs) text.typing_ms += Math.round(pause);
    text.lastAt = now;
  } else if (inputType.includes("Composition")) {
    // Each event replaces the word so far, which can get shorter.
    text.inserted += growth;
  } else if (inputType.startsWith("insert")) text.inserted += Math.max(0, growth + selected);
}

// Fields of one line take numbers.
const isText = (field) => field instanceof HTMLTextAreaElement;
// An input event does not say how much came and went.
let before = null;
document.addEventListener("beforeinput", ({ target: field }) => {
  if (!isText(field)) return;
  before = { length: field.value.length, selected: field.selectionEnd - field.selectionStart };
});

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!isText(field)) return;
  // Buttons of a page insert text without that event.
  const usual = () => texts.get(field)?.length ?? field.value.length - (event.data?.length ?? 0);
  const { length, selected } = before ?? { length: usual(), selected: 0 };
  before = null;
  for (const [other, text] of texts) {
    // Pages bring the next item without leaving, in a new field or in one that they changed.
    if (other.isConnected && (other !== field || text.length === length)) continue;
    send(text);
    texts.delete(other);
  }
  if (!texts.has(field)) texts.set(field, { ...none });
  const text = texts.get(field);
  text.length = field.value.length;
  add(text, event, text.length - length, selected);
});

function sendAll() {
  texts.forEach(send);
}
document.addEventListener("visibilitychange", () => { if (document.hidden) sendAll(); });
addEventListener("pagehide", sendAll);
// Before the answer: counts that come later than the last answer are of an unfinished item.
addEventListener("submit", sendAll, true);
