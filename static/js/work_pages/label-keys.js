// Keys, dialogs and active time of the label page, and its start. Loaded last.
"use strict";

// -- time in use: visible, and no more than half a minute per pause ---------------------------

const IDLE_MS = 30000;
let spent = 0;
let lastSign = performance.now();

function tick(counts = true) {
  const now = performance.now();
  if (counts) spent += Math.min(now - lastSign, IDLE_MS);
  lastSign = now;
}

function activeTime() {
  tick();
  return Math.round(spent);
}

function restartClock() {
  tick(false);
  spent = 0;
}

for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
  document.addEventListener(sign, () => tick(), { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => tick(document.hidden));

// -- dialogs ----------------------------------------------------------------------------------

function toggle(name) {
  if (!shown()) return;
  if (name === "guideline") return openGuideline();
  if (name === "skip") byId("skip-comment").value = draft().comment;
  if (name === "flag") byId("flag-comment").value = draft().comment;
  toggleDialog(name);
  if (name === "flag") byId("flag-comment").focus();
}

function skip(reason) {
  byId("skip-dialog").close();
  give({ skip_reason: reason, comment: byId("skip-comment").value.trim() });
}

function keepFlag(flag) {
  const comment = flag ? byId("flag-comment").value.trim() : "";
  byId("flag-dialog").close();
  // An earlier answer is sent again with its flag; a new one takes the flag along.
  if (reviewed) return give({ ...reviewed.answer, comment, flag });
  drafts.set(queue[0].id, { comment, flag });
  return showFlag();
}

// -- keys -------------------------------------------------------------------------------------

const LETTERS = { u: back, backspace: back, s: () => toggle("skip"), f: () => toggle("flag"), i: () => toggle("guideline"), "?": () => toggle("keys") };

function pressDigit(digit) {
  const dialog = document.querySelector("dialog[open]");
  if (dialog?.id === "skip-dialog") return dialog.querySelectorAll("[data-reason]")[digit - 1]?.click();
  if (dialog) return undefined;
  const level = [...form.querySelectorAll(".level")].find((button) => button.value === digit);
  return level && give({ label: Number(digit) });
}

function pressKey(event) {
  // A key held down is one press, on a focused button too.
  if (event.repeat) {
    if (event.key === "Enter" && !isField(event.target)) event.preventDefault();
    return;
  }
  const key = keyOf(event);
  if (!key) return;
  const dialog = document.querySelector("dialog[open]");
  if (key.name === "escape" && reviewed && !dialog) return forward(event);
  const act = LETTERS[key.name];
  if (act === back && dialog) return;
  if (act) act();
  else if (key.digit !== null) pressDigit(key.digit);
  if (act || key.digit !== null) event.preventDefault();
}

function forward(event) {
  event.preventDefault();
  goOn("");
  leaveOrRefresh();
}

// -- start ------------------------------------------------------------------------------------

function startForm() {
  startDialogs(toggle);
  document.addEventListener("keydown", pressKey);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.name === "label") give({ label: Number(event.submitter.value) });
  });
  // The second click of a double click would label the sentence that has just appeared.
  form.addEventListener("click", (event) => {
    const level = event.target.closest(".level");
    if (event.detail > 1 && level) event.preventDefault();
    // Nor may it look as if it were chosen already.
    if (event.detail && level) level.blur();
  });
  byId("undo").addEventListener("click", (event) => {
    if (!past.length || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    back();
  });
  byId("forward").addEventListener("click", forward);
  document.querySelectorAll("[data-reason]").forEach((button) => button.addEventListener("click", () => skip(button.dataset.reason)));
  document.querySelector("[data-keep]").addEventListener("click", () => keepFlag(true));
  document.querySelector("[data-unflag]").addEventListener("click", () => keepFlag(false));
  if (otherTabs) otherTabs.addEventListener("message", takeNews);
  setInterval(stayAlive, page.beat * 1000);
  startQueue();
}

// Answers of an earlier visit may still be on their way: they are not asked for again.
function startQueue() {
  const before = shown();
  for (const entry of outbox.waiting()) remember(entry.item, entry.answer);
  if (shown() !== before || resumed) show(words.next);
  showFlag();
}

// Prolong the reservation while somebody is there; finished work is taken in any case.
function stayAlive() {
  if (document.hidden || performance.now() - lastSign > 10 * 60 * 1000) return;
  fetch(place.alive, { method: "POST", headers: { "X-CSRFToken": csrf }, redirect: "manual" })
    .then((response) => { if (response.type === "opaqueredirect") showOutbox("signed_out"); })
    .catch(() => undefined);
}

async function lookAgain() {
  const reply = document.hidden ? null : await ask(place.next);
  if (reply && reply.state !== "held") location.reload();
}

if (form) startForm();
if (place.reason === "held") setInterval(lookAgain, 20000);
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
sender.flush();
