// The editing desk: states of saving, submitting, keys. Texts are read in editing-text.js and sent
// in draft-saver.js; citations and checks are in editing-marks.js. Without script the page is a
// plain form.
"use strict";

const byId = (id) => document.getElementById(id);
const page = JSON.parse(byId("desk-page").textContent);
const form = byId("desk-form");
const editor = byId("text");
const words = Object.fromEntries(
  [...byId("words").content.querySelectorAll("[data-word]")]
    .map((element) => [element.dataset.word, element.textContent]));
const csrf = document.querySelector("[name=csrfmiddlewaretoken]").value;
const prefix = `counterpoint:${page.user}:edit:${page.sheet}:`;
const copies = new LocalCopies(prefix);
const mirror = new Mirror(byId("mirror"));
const otherTabs = "BroadcastChannel" in window ? new BroadcastChannel(prefix) : null;

// A browser may fill in what stood here before a reload; what counts is what the server sent, and
// what somebody wrote before this script was there.
const wasTyped = "typed" in editor.dataset;
if (!wasTyped) editor.value = editor.defaultValue;
const isClosed = editor.readOnly;
let savedAt = page.saved_at ? Date.parse(page.saved_at) : null;

const saver = new DraftSaver({
  url: form.dataset.save, csrf, page, copies, read: () => editor.value, worked: new WorkClock(), onChange: showState,
});

const resumed = saver.resume();
if (resumed !== null) editor.value = resumed;

function say(text) { byId("announce").textContent = text; }

// -- saving --------------------------------------------------------------------------------------

function showState(state, reply) {
  const status = byId("saved");
  status.dataset.state = state;
  if (reply.checks) showChecks(reply.checks);
  if (reply.version !== undefined) tookDraft(reply);
  if (state === "conflict") showConflict(reply.conflict);
  if (state === "closed" || state === "gone") editor.readOnly = true;
  const link = byId("trouble-link");
  link.hidden = state !== "signed_out" && state !== "forbidden";
  link.textContent = state === "signed_out" ? words.sign_in : words.reload;
  link.href = state === "signed_out" ? `${form.dataset.signIn}?next=${encodeURIComponent(location.pathname)}` : location.pathname;
  showSaved();
  if (!["saved", "saving", "waiting"].includes(state)) say(status.textContent);
}

function tookDraft(reply) {
  savedAt = Date.now();
  for (const field of document.querySelectorAll("[name=base_version]")) field.value = reply.version;
  otherTabs?.postMessage({ version: reply.version });
}

function showSaved() {
  byId("saved").querySelector("[data-text]").textContent = stateText(saver.state);
}

function stateText(state) {
  if (state === "saved") return savedText();
  const text = words[state] || "";
  if (state === "not_valid") return `${text} ${saver.detail}`;
  return state === "again" && copies.isVolatile ? words.no_storage : text;
}

function savedText() {
  if (savedAt === null) return words.untouched;
  const seconds = Math.max(0, Math.round((Date.now() - savedAt) / 1000));
  if (seconds < 60) return words.seconds_ago.replace("#", seconds);
  if (seconds < 3600) return words.minutes_ago.replace("#", Math.floor(seconds / 60));
  return words.saved_at.replace("#", shortTime(savedAt));
}

// The server has kept both texts; nothing more is written here until one is chosen.
function showConflict(html) {
  editor.readOnly = true;
  byId("submit").disabled = true;
  byId("conflicts").innerHTML = html;
  byId("conflicts").querySelector("h2").focus();
}

// Texts of earlier visits that never arrived go first, as the pages sent them that wrote them.
async function bringBack() {
  const waiting = copies.all().filter((copy) => copy.client !== saver.client);
  let arrived = 0;
  for (const copy of waiting) {
    if (copy.text === editor.value) copies.drop(copy);
    else if (await deliver(copy)) arrived += 1;
  }
  if (arrived) location.reload();
}

async function deliver(copy) {
  editor.readOnly = true;
  saver.report("bringing_back");
  const fields = { text: copy.text, base_version: copy.version, client: copy.client, sequence: copy.sequence, active_seconds: 0 };
  const { outcome, reply } = await post(form.dataset.save, fields, csrf);
  saver.detail = reply.detail || "";
  const isKept = ["ok", "conflict", "closed"].includes(outcome);
  if (isKept) copies.drop(copy);
  if (outcome === "again") setTimeout(bringBack, 3000);
  if (outcome === "ok") rememberArrival();
  // What the server will never take must not keep anybody from writing.
  if (outcome === "not_valid") editor.readOnly = isClosed;
  if (!isKept) saver.report(outcome, reply);
  return isKept;
}

function rememberArrival() {
  try {
    sessionStorage.setItem(prefix, "arrived");
  } catch { /* then nobody is told */ }
}

function tellArrival() {
  try {
    if (sessionStorage.getItem(prefix)) toast(words.brought_back);
    sessionStorage.removeItem(prefix);
  } catch { /* nothing was remembered */ }
}

// -- submitting ----------------------------------------------------------------------------------

let key = form.elements.client_key.value;
let isTried = false;

function chosenReasons() {
  return [...form.querySelectorAll("[name=reasons]:checked")].map((box) => box.value);
}

async function submitRevision() {
  if (editor.readOnly || saver.isStuck || !mayAnswer()) return;
  editor.readOnly = true;
  byId("submit").disabled = true;
  showSubmit(words.submitting);
  while (saver.busy) await saver.busy;
  if (saver.isStuck) return;
  const sent = saver.fields();
  const fields = [...Object.entries(sent), ["client_key", key], ["comment", form.elements.comment.value]];
  for (const reason of chosenReasons()) fields.push(["reasons", reason]);
  const wanted = isTried ? {} : nextPage();
  isTried = true;
  const { outcome, reply } = await post(form.dataset.submit, fields, csrf, wanted);
  if (outcome === "ok") {
    saver.took(sent);
    await goTo(reply);
    return;
  }
  editor.readOnly = false;
  byId("submit").disabled = false;
  saver.detail = reply.detail || "";
  showRefusal(outcome === "not_valid" ? reply.detail : words.not_submitted);
  if (outcome === "conflict" || outcome === "closed") {
    saver.took(sent);
    saver.report(outcome, reply);
  }
  // As a draft the text may well be stored; this also says what the trouble is.
  saver.flush();
}

// What is sent after a change is another request and needs another key.
function renewKey() {
  if (isTried) key = newKey();
  isTried = false;
  showSubmit("");
}

// -- start ---------------------------------------------------------------------------------------

const COMMANDS = { s: () => saver.flush(), enter: submitRevision };
const KEYS = { escape: leaveText, u: () => byId("before")?.click(), i: openGuideline, "?": () => toggleDialog("keys") };

function pressKey(event) {
  const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && !event.isComposing;
  const act = isCommand ? COMMANDS[event.key.toLowerCase()] : keyIn(event);
  if (!act) return;
  event.preventDefault();
  // Nothing happens behind a dialog.
  const isBehind = isCommand && document.querySelector("dialog[open]");
  if (!event.repeat && !isBehind) act();
}

// Escape is the one key of those that is none of the text.
function keyIn(event) {
  if (event.key === "Escape" && !event.isComposing && !document.querySelector("dialog[open]")) return KEYS.escape;
  const name = keyOf(event)?.name;
  return document.querySelector("dialog[open]") && name !== "?" ? null : KEYS[name];
}

// What is shown in the text goes first, then the caret, so that letters are keys.
function leaveText() {
  const isShown = places.length || !byId("citation-card").hidden;
  forgetPlaces();
  paint();
  hideCard();
  if (!isShown) document.activeElement.blur();
}

function startForm() {
  document.addEventListener("keydown", pressKey);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.id === "submit") submitRevision();
    else saver.flush();
  });
  form.addEventListener("input", renewKey);
  byId("checks").addEventListener("click", (event) => {
    const button = event.target.closest("[data-check]");
    if (button) showPlaces(button);
  });
  byId("changed-elsewhere").querySelector("button").addEventListener("click", () => location.reload());
  otherTabs?.addEventListener("message", ({ data }) => {
    if (!saver.hasUnsent && data.version > saver.version) byId("changed-elsewhere").hidden = false;
  });
  document.addEventListener("visibilitychange", () => saver.flush());
  window.addEventListener("beforeunload", (event) => {
    if (saver.hasUnsent && !saver.isStuck && saver.state !== "signed_out" && saver.state !== "forbidden") event.preventDefault();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  setInterval(showSaved, 1000);
}

startDialogs(openNamed);
if (!isClosed) {
  startForm();
  startEditor();
  startArguments();
}
bringBack();
tellArrival();
readText();
showSaved();
if (wasTyped || saver.hasUnsent) saver.changed();
