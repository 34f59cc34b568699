// A sheet that a person fills in: saving and submitting. Texts travel by draft-saver.js, keys are
// read by keys.js; what is on the form is the page's own script's, loaded after this one: content(),
// showTotals() and showMissing(keys), which leads to the first of them. That script calls startSheet(). Without script the page is a
// plain form.
"use strict";

const byId = (id) => document.getElementById(id);
const form = document.querySelector("form[data-sheet]");
const page = JSON.parse(byId(`${form.dataset.sheet}-page`).textContent);
const words = Object.fromEntries(
  [...byId("words").content.querySelectorAll("[data-word]")]
    .map((element) => [element.dataset.word, element.textContent]));
const csrf = document.querySelector("[name=csrfmiddlewaretoken]").value;
const prefix = `counterpoint:${page.user}:${form.dataset.sheet}:${page.sheet}:`;
const copies = new LocalCopies(prefix);
const otherTabs = "BroadcastChannel" in window ? new BroadcastChannel(prefix) : null;
// Sent by other ways than as content.
const SENT_APART = ["csrfmiddlewaretoken", "base_version", "client_key"];
let isFrozen = "closed" in form.dataset;
let savedAt = page.saved_at ? Date.parse(page.saved_at) : null;

const say = (text) => { byId("announce").textContent = text; };

// -- saving --------------------------------------------------------------------------------------

let last;
let saver;

// ``start`` is the page's own, where the sheet can be changed.
function startSheet(start) {
  last = content();
  saver = new DraftSaver({
    url: form.dataset.save, csrf, page, copies, read: content, worked: new WorkClock(), onChange: showState,
  });
  const text = saver.resume();
  if (text !== null) fill(text);
  const isOpened = !isFrozen;
  startDialogs(openNamed);
  if (isOpened) start();
  // Also in a closed round: the server keeps aside what it never got.
  bringBack();
  // What somebody chose before this script was there differs from what the server sent.
  if (isOpened && (text === null ? wasTouched() : saver.hasUnsent)) saver.changed();
}

// The form as it was when its content was read.
function fill(text) {
  const fields = new URLSearchParams(text);
  for (const element of form.elements) {
    const values = fields.getAll(element.name);
    if (!element.name || SENT_APART.includes(element.name) || element.matches("button, fieldset")) continue;
    if (element.matches("[type=radio], [type=checkbox]")) element.checked = values.includes(element.value);
    else if (values.length || !element.matches("select")) element.value = values[0] ?? "";
  }
  form.dataset.chosen = fields.get("verdict") ?? "";
  form.elements.base_version.value = saver.version;
  last = content();
  showTotals();
}

function changed() {
  showTotals();
  const now = content();
  if (now === last || isFrozen) return;
  last = now;
  renewKey();
  saver.changed();
}

function freeze() {
  isFrozen = true;
  for (const fieldset of form.querySelectorAll("fieldset")) fieldset.disabled = true;
  form.elements.comment.readOnly = true;
  if (byId("submit")) byId("submit").disabled = true;
}

function showState(state, reply) {
  const status = byId("saved");
  status.dataset.state = state;
  if (reply.version !== undefined) tookDraft(reply);
  if (state === "conflict") {
    byId("kept").innerHTML = reply.conflict;
    byId("kept").querySelector("h2").focus();
  }
  if (["conflict", "closed", "gone"].includes(state)) freeze();
  const link = byId("trouble-link");
  link.hidden = state !== "signed_out" && state !== "forbidden";
  link.textContent = state === "signed_out" ? words.sign_in : words.reload;
  link.href = state === "signed_out" ? `${form.dataset.signIn}?next=${encodeURIComponent(location.pathname)}` : location.pathname;
  showSaved();
  if (!["saved", "saving", "waiting"].includes(state)) say(status.textContent);
}

function tookDraft(reply) {
  savedAt = Date.now();
  form.elements.base_version.value = reply.version;
  otherTabs?.postMessage({ version: reply.version });
}

function showSaved() {
  byId("saved").querySelector("[data-text]").textContent = stateText(saver.state);
}

function stateText(state) {
  if (state === "saved") return savedText();
  const text = words[state] || "";
  if (["not_valid", "flawed"].includes(state)) return `${text} ${saver.detail}`;
  return state === "again" && copies.isVolatile ? words.no_storage : text;
}

function savedText() {
  if (savedAt === null) return words.untouched;
  const seconds = Math.max(0, Math.round((Date.now() - savedAt) / 1000));
  return seconds < 60 ? words.seconds_ago.replace("#", seconds) : words.saved_at.replace("#", new Date(savedAt).toLocaleString());
}

// What an earlier visit entered and the server never got is sent as that page would have sent it.
async function bringBack() {
  let arrived = 0;
  for (const copy of copies.all().filter(({ client }) => client !== saver.client)) {
    if (copy.text === content()) copies.drop(copy);
    else if (await deliver(copy)) arrived += 1;
  }
  if (arrived) location.reload();
}

async function deliver(copy) {
  saver.report("bringing_back", {});
  const fields = { text: copy.text, base_version: copy.version, client: copy.client, sequence: copy.sequence, active_seconds: 0 };
  const { outcome, reply } = await post(form.dataset.save, fields, csrf);
  const isKept = ["ok", "flawed", "conflict", "closed"].includes(outcome);
  if (isKept) copies.drop(copy);
  if (outcome === "again") setTimeout(bringBack, 3000);
  if (!isKept) saver.report(outcome, reply);
  return isKept;
}

// -- submitting ----------------------------------------------------------------------------------

let key = form.elements.client_key.value;
let isTried = false;
let isSubmitting = false;

async function submitSheet() {
  if (isFrozen || isSubmitting || saver.isStuck) return;
  isSubmitting = true;
  showSubmit(words.submitting);
  while (saver.busy) await saver.busy;
  clearTimeout(saver.timer);
  const sent = saver.fields();
  const wanted = isTried ? {} : nextPage();
  isTried = true;
  const { outcome, reply } = await post(form.dataset.submit, { ...sent, client_key: key }, csrf, wanted);
  if (outcome === "ok") {
    saver.took(sent);
    await goTo(reply);
    return;
  }
  isSubmitting = false;
  saver.detail = reply.detail || "";
  showRefusal(outcome === "not_valid" ? reply.detail : words.not_submitted);
  if (outcome === "not_valid" && reply.missing.length) showMissing(reply.missing);
  if (outcome === "conflict" || outcome === "closed") {
    saver.took(sent);
    saver.report(outcome, reply);
  }
  // As a draft it may well be stored; this also says what the trouble is.
  saver.flush();
}

// What is sent after a change is another request and needs another key.
function renewKey() {
  if (isTried) key = newKey();
  isTried = false;
  if (!isSubmitting) showSubmit("");
}

// -- keys ----------------------------------------------------------------------------------------

function leaveField() {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

function pressKey(event, acts, pressDigit) {
  if (event.isComposing) return undefined;
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    return submitSheet();
  }
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
    event.preventDefault();
    return saver.flush();
  }
  if (event.key === "Escape" && event.target.matches?.("textarea, select")) return leaveField();
  const key = keyOf(event);
  if (!key || (document.querySelector("dialog[open]") && key.name !== "?")) return undefined;
  const act = acts[key.name];
  if (!act && key.digit === null) return undefined;
  event.preventDefault();
  // A key held down is one press, except for moving.
  if (event.repeat && !event.key.startsWith("Arrow")) return undefined;
  return act ? act(event) : pressDigit(key.digit, event);
}

// -- start ---------------------------------------------------------------------------------------

// ``acts`` are functions by key, ``pressDigit`` takes the digits.
function startPage(acts, pressDigit) {
  form.classList.add("scripted");
  document.addEventListener("keydown", (event) => pressKey(event, { i: openGuideline, u: () => byId("before")?.click(), "?": () => toggleDialog("keys"), ...acts }, pressDigit));
  form.addEventListener("input", () => changed());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.id === "submit") submitSheet();
    else saver.flush();
  });
  byId("changed-elsewhere").querySelector("button").addEventListener("click", () => location.reload());
  otherTabs?.addEventListener("message", ({ data }) => {
    if (!saver.hasUnsent && data.version > saver.version) byId("changed-elsewhere").hidden = false;
  });
  document.addEventListener("visibilitychange", () => saver.flush());
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  window.addEventListener("beforeunload", (event) => {
    if (saver.hasUnsent && !saver.isStuck && saver.state !== "signed_out" && saver.state !== "forbidden") event.preventDefault();
  });
  setInterval(showSaved, 1000);
}

// Whether somebody chose or typed something before this script was there.
function wasTouched() {
  const boxes = [...form.querySelectorAll("input[type=radio], input[type=checkbox]")];
  const texts = [...form.querySelectorAll("textarea, input[type=text]")];
  const options = [...form.querySelectorAll("option:not(:first-child)")];
  return boxes.some((box) => box.checked !== box.defaultChecked)
    || texts.some((text) => text.value !== text.defaultValue)
    || options.some((option) => option.selected && !option.defaultSelected);
}
