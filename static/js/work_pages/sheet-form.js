// A sheet that a person fills in: saving and submitting. Texts travel by draft-saver.js, keys are
// read by keys.js; what is on the form is the page's own script's, loaded after this one: content(),
// showTotals() and showMissing(keys), which leads to the first of them. That script calls startSheet().
// Without script the page is a plain form.
"use strict";

const byId = (id) => document.getElementById(id);
const form = document.querySelector("form[data-sheet]");
const page = JSON.parse(byId(`${form.dataset.sheet}-page`).textContent);
const words = Object.fromEntries(
  [...byId("words").content.querySelectorAll("[data-word]")]
    .map((element) => [element.dataset.word, element.textContent]));
const csrf = document.querySelector("[name=csrfmiddlewaretoken]").value;
// Of all sheets of this kind, and of this one.
const kindPrefix = `counterpoint:${page.user}:${form.dataset.sheet}:`;
const prefix = `${kindPrefix}${page.sheet}:`;
const copies = new LocalCopies(prefix);
const submissions = new Submissions(kindPrefix, page.sheet);
const otherTabs = "BroadcastChannel" in window ? new BroadcastChannel(prefix) : null;
// Sent by other ways than as content.
const SENT_APART = ["csrfmiddlewaretoken", "base_version", "client_key"];
let isFrozen = "closed" in form.dataset;
let savedAt = page.saved_at ? Date.parse(page.saved_at) : null;
// Whether what stands on the form differs from what was submitted, or nothing was.
let isDraft = page.is_draft;

const say = (text) => { byId("announce").textContent = text; };

// -- saving --------------------------------------------------------------------------------------

const QUIET_STATES = ["saved", "saving", "waiting"];
// What was said of a trouble, and not yet that it is over.
let troubleSaid = "";
let last;
let saver;
let hooks;

// ``start`` is the page's own, where the sheet can be changed; ``read`` what of it is kept as a draft,
// ``extra`` what goes with a submission alone, ``put`` brings both back; ``stored`` takes what a reply says
// of a draft, ``answered`` is the answer in words, ``wasTouched`` what was entered before this script was there.
function startSheet(start, own = {}) {
  hooks = { read: content, extra: () => ({}), put: fill, stored: () => undefined, answered: () => "", wasTouched, ...own };
  last = hooks.read();
  saver = new DraftSaver({
    url: form.dataset.save, csrf, page, copies, read: hooks.read, worked: new WorkClock(), onChange: showState,
  });
  const text = submissions.own?.fields.text ?? saver.resume();
  if (text !== null) bringIn(text, submissions.own?.fields);
  const isOpened = !isFrozen;
  startDialogs(openNamed);
  if (isOpened) start();
  showSaved();
  if (tabMemory.take(`${prefix}arrived`)) tell(words.brought_back);
  sayNext();
  // Also in a closed round: the server keeps aside what it never got.
  bringBack();
  // What somebody chose before this script was there differs from what the server sent.
  if (isOpened && (text === null ? hooks.wasTouched() : saver.hasUnsent)) saver.changed();
  sendWaiting();
}

// Where a submission led on to this sheet, or back to it: a page that only changed says nothing by itself.
function sayNext() {
  const submitted = tabMemory.take(`${kindPrefix}went-on`);
  if (!submitted) return;
  const about = document.querySelectorAll(submitted.isHere ? "#toasts .toast" : "main .eyebrow, main h1");
  const told = [...about].map(({ textContent }) => textContent.trim()).join(". ").replaceAll("?. ", "? ");
  setTimeout(() => say(submitted.isHere ? told : `${submitted.answered} ${words.went_on} ${told}`), 500);
}

function bringIn(text, submitted) {
  hooks.put(text, submitted);
  form.elements.base_version.value = saver.version;
  last = saver.read();
  showTotals();
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
}

function changed() {
  showTotals();
  const now = saver.read();
  if (now === last || isFrozen) return;
  last = now;
  isDraft = true;
  renewKey();
  saver.changed();
}

function freeze() {
  isFrozen = true;
  for (const fieldset of form.querySelectorAll("fieldset")) fieldset.disabled = true;
  hold(true);
  if (byId("submit")) byId("submit").disabled = true;
}

// Nothing is written meanwhile that would not be sent.
function hold(isHeld) {
  for (const text of form.querySelectorAll("textarea")) text.readOnly = isHeld || isFrozen;
}

function showState(state, reply) {
  const status = byId("saved");
  status.dataset.state = state;
  if (reply.version !== undefined) tookDraft(reply);
  if (state === "conflict") {
    byId("conflicts").innerHTML = reply.conflict;
    byId("changed-elsewhere").hidden = true;
    byId("conflicts").querySelector("h2").focus();
  }
  if (["conflict", "closed", "gone"].includes(state)) freeze();
  const link = byId("trouble-link");
  link.hidden = state !== "signed_out" && state !== "forbidden";
  link.textContent = state === "signed_out" ? words.sign_in : words.reload;
  link.href = state === "signed_out" ? `${form.dataset.signIn}?next=${encodeURIComponent(location.pathname)}` : location.pathname;
  showSaved();
  const isInTrouble = !QUIET_STATES.includes(state);
  if (!isInTrouble && (state !== "saved" || !troubleSaid || submissions.own)) return;
  const text = status.querySelector("[data-text]").textContent;
  // Once, however often it is tried again.
  if (text !== troubleSaid && !submissions.own) say(text);
  troubleSaid = isInTrouble ? text : "";
}

function tookDraft(reply) {
  savedAt = Date.now();
  isDraft = reply.is_draft;
  hooks.stored(reply);
  for (const field of document.querySelectorAll("[name=base_version]")) field.value = reply.version;
  otherTabs?.postMessage({ version: reply.version });
}

function showSaved() {
  const status = byId("saved");
  const isWaiting = Boolean(submissions.own);
  form.toggleAttribute("data-unsubmitted", isWaiting);
  if (isWaiting && saver.state === "saved") status.dataset.state = "waiting";
  const text = isWaiting ? words.not_yet : stateText(saver.state);
  status.querySelector("[data-text]").textContent = isFirstTry ? words.submitting : text;
}

function stateText(state) {
  if (state === "saved") return savedText();
  const text = words[state] || "";
  if (["not_valid", "flawed"].includes(state)) return `${text} ${saver.detail}`;
  return state === "again" && copies.isVolatile ? words.no_storage : text;
}

function savedText() {
  if (savedAt === null) return words.untouched;
  if (!isDraft) return words.submitted;
  const seconds = Math.max(0, Math.round((Date.now() - savedAt) / 1000));
  return seconds < 60 ? words.seconds_ago.replace("#", seconds) : words.saved_at.replace("#", shortTime(savedAt));
}

// What an earlier visit entered and the server never got is sent as that page would have sent it.
async function bringBack() {
  let arrived = 0;
  for (const copy of copies.all().filter(({ client }) => client !== saver.client)) {
    if (copy.text === saver.read()) copies.drop(copy);
    else if (await deliver(copy)) arrived += 1;
  }
  if (!arrived) return;
  tabMemory.put(`${prefix}arrived`, true);
  location.reload();
}

async function deliver(copy) {
  hold(true);
  saver.report("bringing_back", {});
  const fields = { text: copy.text, base_version: copy.version, client: copy.client, sequence: copy.sequence, active_seconds: 0 };
  const { outcome, reply } = await post(form.dataset.save, fields, csrf);
  const isKept = ["ok", "flawed", "conflict", "closed"].includes(outcome);
  if (isKept) copies.drop(copy);
  if (outcome === "again") setTimeout(bringBack, 3000);
  if (isKept) return true;
  // What the server will not take now, or never, keeps nobody from working.
  hold(false);
  saver.report(outcome, reply);
  return false;
}

// -- submitting ----------------------------------------------------------------------------------

let key = form.elements.client_key.value;
let isTried = false;
let isSubmitting = false;
// A submission is on its way, and has not had to wait.
let isFirstTry = false;
// The key of the request that is on its way, or was last.
let sentKey = "";
const resubmissions = new Retries(() => resubmit());

// What an earlier visit submitted goes as it was: it knows nothing of what was stored since.
let left = null;

// Kept from the press on. What changes the answer while a request is under way follows it.
function keepSubmission() {
  if (left?.client_key === key) return left;
  const fields = { ...saver.fields(), text: content(), client_key: key, ...hooks.extra() };
  submissions.put({ url: form.dataset.submit, page: location.pathname, fields });
  return fields;
}

async function submitSheet(isAgain = false) {
  if (isFrozen || saver.isStuck) return;
  if (isSubmitting) return key !== sentKey && keepSubmission();
  isSubmitting = true;
  isFirstTry = !isAgain;
  if (isFirstTry) {
    showSubmit("");
    say(words.submitting);
  }
  hold(true);
  while (saver.busy) await saver.busy;
  clearTimeout(saver.timer);
  const sent = keepSubmission();
  showSaved();
  const wanted = isTried ? {} : nextPage();
  isTried = true;
  sentKey = key;
  const { outcome, reply, pause } = await post(form.dataset.submit, sent, csrf, wanted);
  isSubmitting = false;
  isFirstTry &&= outcome === "ok";
  hold(false);
  if (outcome === "ok") saver.took(sent);
  // Changed meanwhile, and submitted so or not.
  if (key !== sentKey && submissions.own) return submitSheet();
  if (key !== sentKey && outcome !== "ok") {
    showSubmit("");
    return saver.flush();
  }
  if (WAITING.includes(outcome)) return waitToSubmit(outcome, reply, pause);
  submissions.drop();
  if (outcome === "ok") return goOn(reply);
  if (["conflict", "closed", "gone"].includes(outcome)) {
    showSubmit("");
    // Kept aside by the server.
    if (outcome !== "gone") saver.took(sent);
    return saver.report(outcome, reply);
  }
  showRefusal(reply.detail || words.not_submitted);
  if (reply.missing?.length) showMissing(reply.missing);
  // As a draft it may well be stored; this also says what the trouble is.
  return saver.flush();
}

async function goOn(reply) {
  isSubmitting = true;
  hold(true);
  await saver.flush();
  otherTabs?.postMessage({ isSubmitted: true });
  const isHere = new URL(reply.page, location.href).pathname === location.pathname;
  tabMemory.put(`${kindPrefix}went-on`, { isHere, answered: hooks.answered() });
  return goTo(reply);
}

// It stays in this browser, and is sent when the connection is back or the page is there again.
function waitToSubmit(outcome, reply, pause) {
  saver.report(outcome, reply);
  showRefusal(outcome === "again" ? words.unsubmitted : `${words.not_yet}. ${words[outcome]}`);
  if (outcome === "again") resubmissions.plan(pause);
}

function resubmit() {
  resubmissions.stop();
  if (submissions.own && !isSubmitting) submitSheet(true);
}

// What was submitted on an earlier visit, here and on pages of other sheets of this kind. In a closed
// round the server keeps it aside.
async function sendWaiting() {
  const { own } = submissions;
  if (own && !isFrozen) {
    left = own.fields;
    key = left.client_key;
    await submitSheet(true);
  }
  const closed = own && isFrozen ? [[page.sheet, own]] : [];
  for (const [sheet, entry] of [...closed, ...submissions.others()]) {
    const { outcome, reply } = await post(entry.url, entry.fields, csrf);
    if (WAITING.includes(outcome)) return;
    submissions.drop(sheet);
    showSaved();
    if (outcome === "ok") tell(words.earlier_submitted);
    else showLost(entry, reply.detail);
  }
}

function showLost(entry, detail) {
  const link = Object.assign(document.createElement("a"), { href: entry.page, textContent: words.look_there });
  const toast = Object.assign(document.createElement("div"), { className: "toast" });
  toast.append(`${words.not_taken} ${detail ?? ""} `, link);
  byId("toasts").append(toast);
}

// What is sent after a change is another request and needs another key.
function renewKey() {
  if (isTried) key = newKey();
  isTried = false;
  resubmissions.stop();
  submissions.drop();
  if (!isSubmitting) showSubmit("");
}

// -- keys ----------------------------------------------------------------------------------------

function leaveField() {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

// They move about and open things; all other keys answer.
const MOVING = ["j", "k", "i", "u", "?", "g", "h", "r", "escape"];

function pressKey(event, acts, pressDigit) {
  if (event.isComposing) return undefined;
  const isBehind = Boolean(document.querySelector("dialog[open]"));
  const command = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase();
  if (command === "enter" || command === "s") {
    event.preventDefault();
    if (isBehind || event.repeat) return undefined;
    return command === "s" ? saver.flush() : mayAnswer() && submitSheet();
  }
  if (event.key === "Escape" && !isBehind && event.target.matches?.("textarea, select")) return (acts.escape ?? leaveField)();
  const key = keyOf(event);
  if (!key || (isBehind && key.name !== "?")) return undefined;
  const act = acts[key.name];
  if (!act && key.digit === null) return undefined;
  event.preventDefault();
  // A key held down is one press, except for moving.
  const isArrow = event.key.startsWith("Arrow");
  if (event.repeat && !isArrow) return undefined;
  if (!isArrow && !MOVING.includes(key.name) && !mayAnswer()) return undefined;
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
    if (event.submitter?.id !== "submit") saver.flush();
    else if (mayAnswer()) submitSheet();
  });
  byId("changed-elsewhere").querySelector("button").addEventListener("click", () => location.reload());
  otherTabs?.addEventListener("message", ({ data }) => {
    if (!isFrozen && !saver.hasUnsent && (data.isSubmitted || data.version > saver.version)) byId("changed-elsewhere").hidden = false;
  });
  document.addEventListener("visibilitychange", () => saver.flush());
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  window.addEventListener("beforeunload", (event) => {
    if (saver.hasUnsent && !saver.isStuck && saver.state !== "signed_out" && saver.state !== "forbidden") event.preventDefault();
  });
  window.addEventListener("online", resubmit);
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
