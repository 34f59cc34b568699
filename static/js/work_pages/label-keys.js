// Keys and dialogs of the label page, and its start. Loaded last.
"use strict";

// -- dialogs: each belongs to the item it was opened on, whatever other tabs do meanwhile ------

let opened = null;

function toggle(name) {
  if (name === "guideline") return openGuideline();
  if (["skip", "flag"].includes(name)) {
    if (!shown()) return undefined;
    opened = shown();
    byId(`${name}-comment`).value = typed.of(opened, name) ?? draft().comment;
  }
  toggleDialog(name);
  if (name === "flag") byId("flag-comment").focus();
  return undefined;
}

function skip(reason) {
  byId("skip-dialog").close();
  if (shown()?.id !== opened.id) return tell(words.answered_elsewhere);
  return give({ skip_reason: reason, comment: byId("skip-comment").value.trim() });
}

function keepFlag(flag) {
  const comment = flag ? byId("flag-comment").value.trim() : "";
  byId("flag-dialog").close();
  // An earlier answer, or one that came from another tab meanwhile, is sent again with its flag.
  const given = past.find((entry) => entry.item.id === opened.id);
  if (given) {
    reviewed = given;
    return give({ ...given.answer, comment, flag });
  }
  // A new one takes the flag along.
  typed.drop(opened);
  typed.put(opened, "kept", { comment, flag });
  showFlag();
  return say(flag ? `${words.flagged} ${comment}` : words.not_flagged);
}

// -- keys -------------------------------------------------------------------------------------

const LETTERS = { u: back, backspace: back, s: () => toggle("skip"), f: () => toggle("flag"), i: () => toggle("guideline"), "?": () => toggle("keys") };

function pressDigit(digit) {
  const dialog = document.querySelector("dialog[open]");
  if (dialog?.id === "skip-dialog") return dialog.querySelectorAll("[data-reason]")[digit - 1]?.click();
  if (dialog) return undefined;
  const level = [...form.querySelectorAll(".level")].find((button) => button.value === digit);
  if (!level) return say(words.no_level.replace("#", digit));
  return mayAnswer() && give({ label: Number(digit) });
}

function pressKey(event) {
  // A key held down is one press.
  if (event.repeat) return;
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
    if (event.submitter?.name === "label" && mayAnswer()) give({ label: Number(event.submitter.value) });
  });
  // The next sentence must not look as if the level were chosen already.
  form.addEventListener("click", (event) => {
    if (event.detail) event.target.closest(".level")?.blur();
  });
  byId("undo").addEventListener("click", (event) => {
    if (!past.length || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    back();
  });
  byId("forward").addEventListener("click", forward);
  document.querySelectorAll("[data-reason]").forEach((button) => button.addEventListener("click", () => skip(button.dataset.reason)));
  for (const name of ["skip", "flag"]) {
    byId(`${name}-comment`).addEventListener("input", ({ target }) => typed.put(opened, name, target.value));
  }
  document.querySelector("[data-keep]").addEventListener("click", () => keepFlag(true));
  document.querySelector("[data-unflag]").addEventListener("click", () => keepFlag(false));
  if (otherTabs) otherTabs.addEventListener("message", takeNews);
  setInterval(stayAlive, page.beat * 1000);
  startQueue();
}

// Answers of an earlier visit may still be on their way: they are not asked for again.
function startQueue() {
  const before = shown();
  for (const entry of outbox.waiting()) remember(entry.item, entry.answer, entry.fields.client_key);
  if (shown() !== before || resumed) show(words.next);
  showFlag();
}

// Prolong the reservation while somebody is there; finished work is taken in any case.
function stayAlive() {
  if (document.hidden || performance.now() - clock.last > 10 * 60 * 1000) return;
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
