// Deciding about one sentence, with the keys of the label page. A decision is kept in this browser until
// the server has it (label-outbox.js), a comment from its first letter. Without script the page is a form.
"use strict";

const byId = (id) => document.getElementById(id);
const words = Object.fromEntries(
  [...byId("words").content.querySelectorAll("[data-word]")]
    .map((element) => [element.dataset.word, element.textContent]));
const { prefix } = byId("work").dataset;
const csrf = document.querySelector("[name=csrfmiddlewaretoken]").value;
const say = (text) => { byId("announce").textContent = text; };

const outbox = new Outbox(prefix);
const drafts = new LocalCopies(`${prefix}:comment:`);
const sender = new Sender({
  outbox, csrf, url: location.pathname + location.search, onReply: takeSaved, onTrouble: showOutbox,
});

// The form of the sentence on the screen, if any, and the decision given for it that is on its way.
let form = null;
let given = null;
let order = 0;
let isLeaving = false;

// -- what has just appeared takes no answer: it was not read yet --------------------------------

const UNREAD_MS = 400;
let settlesAt = 0;
function settle() { settlesAt = performance.now() + UNREAD_MS; }
function isSettled() { return performance.now() >= settlesAt; }

// -- what is on the screen ----------------------------------------------------------------------

const shown = () => form?.elements.argument.value;
const sentence = () => form.querySelector(".sentence").textContent.trim();
const waiting = () => outbox.waiting().filter(({ fields }) => fields.argument === shown());
const comment = () => form.elements.comment.value.trim().replace(/\r\n/g, "\n");

function start(prelude) {
  form = byId("adjudicate");
  given = form && waiting().at(-1);
  settle();
  if (!form) return say(`${prelude} ${byId("work").querySelector("h2").textContent}`);
  const draft = drafts.all().find(({ client }) => client === shown());
  form.elements.comment.value = draft?.text ?? given?.fields.comment ?? form.elements.comment.value;
  const objects = [...form.querySelectorAll(".chip")].map(({ textContent }) => textContent);
  say(`${prelude} ${objects.join(` ${words.and} `)}. ${sentence()}`);
  tabMemory.put(prefix, byId("work").outerHTML);
  return showOutbox(sender.trouble);
}

// In place, so that nothing is pressed on a page whose script is not there yet.
async function show(url, prelude) {
  isLeaving = true;
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(20000) });
    if (!response.ok) throw new Error(response.status);
    swap(new DOMParser().parseFromString(await response.text(), "text/html"), url, prelude);
  } catch {
    byId("saved").textContent = words.no_next;
    setTimeout(() => show(url, prelude), 3000);
  }
}

function swap(next, url, prelude) {
  isLeaving = false;
  if (!next.getElementById("work")) return showOutbox("signed_out");
  const held = document.activeElement?.closest(".level:focus-visible")?.value;
  for (const id of ["progress", "bar", "work", "moves", "decisions"]) byId(id).replaceWith(next.getElementById(id));
  window.history.replaceState(null, "", url);
  window.scrollTo(0, 0);
  start(prelude);
  if (held) levelOf(held)?.focus();
  return next.querySelectorAll("#toasts .toast").forEach(({ textContent }) => toast(textContent));
}

function levelOf(label) { return form?.querySelector(`.level[value="${label}"]`); }

// -- deciding -----------------------------------------------------------------------------------

function give(label) {
  const last = given?.fields;
  if (last?.label === label && last.comment === comment()) return;
  const known = form.elements.known.value;
  const fields = { argument: shown(), label, comment: comment(), known, client_key: newKey() };
  given = { fields, after: last?.client_key, text: sentence(), at: Date.now(), order: order++ };
  keep(given);
  keepDraft();
}

// Stored before it is sent, so that nothing can be lost in between.
function keep(entry) {
  outbox.put(entry);
  sender.flush();
}

// A second thought on the same page knows of the first one.
function takeSaved({ saved }) {
  for (const entry of outbox.waiting()) {
    if (entry.after === saved.client_key) outbox.put({ ...entry, fields: { ...entry.fields, known: saved.known } });
  }
  if (shown() === saved.argument) form.elements.known.value = saved.known;
  const draft = drafts.all().find(({ client }) => client === saved.argument);
  if (draft?.text.trim() === saved.comment) drafts.drop({ client: saved.argument, sequence: 0 });
}

function keepDraft() {
  drafts.put({ client: shown(), sequence: 0, text: form.elements.comment.value, at: Date.now() });
}

// Sent from here or from another tab: the next one comes, unless the comment has gone on.
function goOnWhenSaved() {
  if (isLeaving || !given || outbox.all().some(({ fields }) => fields.client_key === given.fields.client_key)) return;
  if (comment() !== given.fields.comment) byId("saved").textContent = words.changed;
  else show(byId("work").dataset.queue, `${given.fields.label}. ${words.next}`);
}

// Skip and undo.
async function move(url, fields) {
  if (outbox.waiting().length) return toast(words.save_first);
  const { outcome, reply } = await post(url, fields, csrf);
  if (outcome === "ok") return show(reply.page, "");
  return outcome === "again" ? toast(words.no_connection, "error") : showOutbox(outcome);
}

// -- what is not saved --------------------------------------------------------------------------

function showOutbox(trouble) {
  const count = new Set(outbox.waiting().map(({ fields }) => fields.argument)).size;
  showTrouble(trouble, count);
  showRefused();
  byId("saved").textContent = savedText(trouble, count);
  const label = given && waiting().length ? given.fields.label : null;
  if (label) form.querySelectorAll(".level").forEach((level) => level.setAttribute("aria-pressed", level.value === label));
  if (!trouble && !sender.isSending) goOnWhenSaved();
}

function savedText(trouble, count) {
  if (count) return trouble ? words.waiting.replace("#", count) : words.saving;
  if (form && drafts.all().some(({ client }) => client === shown())) return words.kept;
  return byId("undo") ? words.saved : "";
}

function showTrouble(trouble, count) {
  const box = byId("trouble");
  const link = box.querySelector("[data-link]");
  const isOver = ["signed_out", "forbidden"].includes(trouble);
  const unsaved = trouble === "again" && count ? words[count === 1 ? "unsaved_one" : "unsaved_many"] : "";
  let text = isOver ? words[trouble] : unsaved;
  if (text && (outbox.isVolatile || drafts.isVolatile)) text += ` ${words.no_storage}`;
  link.hidden = !isOver;
  link.textContent = words[trouble === "signed_out" ? "sign_in" : "reload"];
  const here = location.pathname + location.search;
  link.href = trouble === "signed_out" ? `${byId("work").dataset.signIn}?next=${encodeURIComponent(here)}` : here;
  box.querySelector("[data-text]").textContent = text.replace("#", count);
  box.hidden = !text;
}

function showRefused() {
  const entries = outbox.refused();
  const box = byId("refused");
  const keys = entries.map(({ fields }) => fields.client_key).join();
  if (form) form.hidden = entries.some(({ fields }) => fields.argument === shown());
  if (byId("skip")) byId("skip").hidden = form.hidden;
  if ((box.dataset.keys ?? "") === keys) return;
  box.dataset.keys = keys;
  box.hidden = !keys;
  box.replaceChildren(...entries.map(conflictOf));
  settle();
  if (!keys) return;
  box.querySelector("h2").focus();
  say(box.querySelector("[data-detail]").textContent);
}

function conflictOf(entry) {
  const card = byId("conflict").content.firstElementChild.cloneNode(true);
  const fill = (name, text) => { card.querySelector(name).textContent = text || "–"; };
  const { stored, detail } = entry.reply;
  fill("[data-detail]", detail || words.refused.replace("#", entry.refused));
  fill("[data-text]", entry.text);
  fill("[data-mine=label]", entry.fields.label);
  fill("[data-mine=comment]", entry.fields.comment);
  fill("[data-stored=label]", String(stored?.label ?? ""));
  fill("[data-stored=comment]", stored?.comment);
  card.querySelector("[name=label]").hidden = !stored;
  card.dataset.conflict = entry.fields.client_key;
  return card;
}

// One that was filled here; the server's own is a plain form.
const CARD = "[data-conflict]:not([data-conflict=''])";

function settleConflict(card, isMine) {
  const entry = outbox.refused().find(({ fields }) => fields.client_key === card.dataset.conflict);
  const { fields, text, at, reply } = entry;
  const isShown = fields.argument === shown();
  if (!isMine) {
    outbox.drop(entry);
    drafts.drop({ client: fields.argument, sequence: 0 });
    showOutbox(sender.trouble);
    return isShown && show(byId("work").dataset.queue, words.next);
  }
  const again = { fields: { ...fields, known: reply.stored.known }, text, at, order: order++ };
  if (isShown) given = again;
  return keep(again);
}

// -- keys and buttons ---------------------------------------------------------------------------

const KEYS = {
  u: () => byId("undo")?.click(), backspace: () => byId("undo")?.click(), s: () => byId("skip")?.click(),
  i: openGuideline, "?": () => toggleDialog("keys"), n: () => byId("id_comment")?.focus(),
};

document.addEventListener("keydown", (event) => {
  // A key held down is one press, on a focused button too.
  if (event.repeat && event.key === "Enter" && !isField(event.target)) event.preventDefault();
  if (event.key === "Escape" && !event.isComposing && event.target.matches?.("textarea")) event.target.blur();
  const key = event.repeat ? null : keyOf(event);
  if (!key || (document.querySelector("dialog[open]") && !["i", "?"].includes(key.name))) return;
  const act = KEYS[key.name];
  if (!act && key.digit === null) return;
  event.preventDefault();
  if (act) act();
  else if (!form?.hidden) levelOf(key.digit)?.click();
});

document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  const card = target.closest(CARD);
  if (target !== form && !card && !target.closest("#moves")) return;
  event.preventDefault();
  if (!isSettled()) return;
  if (card) settleConflict(card, true);
  else if (submitter?.name === "label") give(submitter.value);
  else move(submitter.getAttribute("formaction") ?? target.action, new FormData(target));
});

document.addEventListener("click", (event) => {
  const card = event.target.closest("[data-keep]")?.closest(CARD);
  if (!card) return;
  event.preventDefault();
  if (isSettled()) settleConflict(card, false);
});

document.addEventListener("input", ({ target }) => {
  if (target.id === "id_comment") keepDraft();
});

window.addEventListener("beforeunload", (event) => {
  if (outbox.waiting().length && !["signed_out", "forbidden"].includes(sender.trouble)) event.preventDefault();
});
// Coming back with the browser's button shows the old page; it must work again.
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// A page shown without a connection goes on where it was when it was reloaded.
const was = tabMemory.get(prefix);
if (was) byId("work").replaceWith(new DOMParser().parseFromString(was, "text/html").getElementById("work"));
replaceWhenOnline(() => !outbox.waiting().length);
startDialogs(openNamed);
start("");
sender.flush();
