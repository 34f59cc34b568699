// Deciding about one sentence, with the keys of the label page. A decision, a skip and an undo are kept in
// this browser until the server has them (label-outbox.js), a comment from its first letter. Without script
// the page is a form.
"use strict";

const byId = (id) => document.getElementById(id);
const words = Object.fromEntries(
  [...byId("words").content.querySelectorAll("[data-word]")]
    .map((element) => [element.dataset.word, element.textContent]));
const { prefix } = byId("work").dataset;
const csrf = document.querySelector("[name=csrfmiddlewaretoken]").value;
const say = (text) => { byId("announce").textContent = text; };
const parse = (html) => new DOMParser().parseFromString(html, "text/html");

const outbox = new Outbox(prefix);
const drafts = new LocalCopies(`${prefix}:comment:`);
const sender = new Sender({
  outbox, csrf, url: location.pathname + location.search, onReply: takeSaved, onTrouble: showOutbox,
});
// The form of the sentence on the screen, if any, and what was last done about it and is on its way.
let form = null;
let given = null;
let order = 0;
let isLeaving = false;
// Whether a trouble was shown, and not yet that it is over.
let isTroubled = false;
const otherTabs = "BroadcastChannel" in window ? new BroadcastChannel(prefix) : null;

// -- what is on the screen ----------------------------------------------------------------------

const shown = () => form?.elements.argument.value ?? "";
const waiting = () => outbox.waiting().filter(({ fields }) => fields.argument === shown());
const draftOf = (argument) => drafts.all().find(({ client }) => client === argument);
const comment = () => form.elements.comment.value.trim();
const levels = () => [...form?.querySelectorAll(".level") ?? []];

// What is said of the next one, where another one follows.
function start(prelude, isNext = false) {
  form = byId("adjudicate");
  given = waiting().at(-1);
  settle();
  const parts = [...byId("work").querySelectorAll(".objects, .sentence, .empty h2")];
  say(`${prelude} ${isNext && form ? words.next : ""} ${parts.map(({ textContent }) => textContent.trim().replace(/\s+/g, " ")).join(". ").replaceAll("?. ", "? ")}`);
  const typed = draftOf(shown())?.text ?? given?.fields.comment;
  if (typed !== undefined) form.elements.comment.value = typed;
  tabMemory.put(prefix, byId("work").outerHTML);
  showOutbox(sender.trouble);
}

// Shows a page in place, so that nothing is pressed before its script is there, and asks until it comes.
async function show(url, prelude, isNext = true) {
  isLeaving = true;
  let response;
  try {
    response = await fetch(url, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(20000) });
    if (response.ok) return swap(parse(await response.text()), response.url, prelude, isNext);
  } catch { /* no connection */ }
  if (response?.status === 403) showOutbox("forbidden");
  showAndSay(words.no_next);
  setTimeout(() => show(url, prelude, isNext), 3000);
}

function swap(next, url, prelude, isNext) {
  isLeaving = false;
  if (!next.getElementById("work")) return showOutbox("signed_out");
  // A job that is under way brings a script of its own.
  if (next.querySelector("[data-reload-on-job]")) return location.assign(url);
  for (const id of ["progress", "bar", "work", "moves", "decisions"]) byId(id).replaceWith(next.getElementById(id));
  window.history.replaceState(null, "", url);
  window.scrollTo(0, 0);
  start(prelude, isNext);
  next.querySelectorAll("#toasts .toast").forEach(({ textContent }) => toast(textContent));
}

// -- deciding -----------------------------------------------------------------------------------

function give(label) {
  const last = given?.fields;
  if (last?.label === label && last.comment === comment()) return;
  const known = form.elements.known.value;
  const fields = { argument: shown(), label, comment: comment(), known, client_key: newKey() };
  send({ fields, after: last?.client_key });
}

// An undo names the decision that is meant, so that it takes back one however often it is sent. That of
// one which is on its way learns its name when it is stored; if it never is, there is nothing to take back.
function move(name) {
  const last = outbox.waiting().at(-1)?.fields;
  if (last && (last.move || name === "skip")) return toast(words.save_first);
  const known = last ? "0001-01-02T00:00Z" : byId("take-back").elements.known.value;
  const fields = { argument: shown(), move: name, known, client_key: newKey() };
  send({ fields, after: last?.client_key });
}

// Stored before it is sent, so that nothing can be lost in between.
function send(entry) {
  const kept = { ...entry, at: Date.now(), order: order++ };
  if (entry.fields.argument === shown()) given = kept;
  outbox.put(kept);
  byId("undo").hidden &&= Boolean(entry.fields.move);
  if (sender.trouble) say(`${spoken(entry)} ${words.waits}`);
  sender.flush();
}

function spoken({ fields }) {
  const standing = fields.move === "undo" && standingLabel();
  return (words[fields.move] ?? `${fields.label}.`) + (standing ? ` ${words.stands.replace("#", standing)}` : "");
}

// Of what waits for the sentence on the screen: the label that counts once all of it is sent.
function standingLabel() {
  const labels = [];
  for (const { fields } of waiting()) {
    if (fields.label) labels.push(fields.label);
    else if (fields.move === "undo") labels.pop();
  }
  return labels.at(-1);
}

// A second thought on the same page knows of the first one.
function takeSaved({ saved }) {
  if (saved.url && given?.fields.client_key === saved.client_key) given.next = saved.url;
  if (saved.url) return;
  otherTabs?.postMessage(saved.argument);
  byId("take-back").elements.known.value = saved.known;
  const later = outbox.waiting().find(({ after }) => after === saved.client_key);
  if (later) outbox.put({ ...later, fields: { ...later.fields, known: saved.known } });
  if (shown() === saved.argument) form.elements.known.value = saved.known;
  if (draftOf(saved.argument)?.text.trim() === saved.comment) forgetDraft(saved.argument);
}

function keepDraft() {
  drafts.put({ client: shown(), sequence: 0, text: form.elements.comment.value, at: Date.now() });
}

function forgetDraft(argument) { drafts.drop({ client: argument, sequence: 0 }); }

// Sent from here or from another tab: the next one comes, unless the comment has gone on.
function goOnWhenSaved(prelude) {
  const isThere = ({ fields }) => fields.client_key === given.fields.client_key;
  if (isLeaving || !given || outbox.all().some(isThere)) return;
  const isChanged = !given.fields.move && comment() !== given.fields.comment;
  if (isChanged) showAndSay(words.changed);
  else show(given.next ?? byId("work").dataset.queue, prelude + spoken(given), given.fields.move !== "undo");
}

// -- what is not saved --------------------------------------------------------------------------

function showOutbox(trouble) {
  const count = new Set(outbox.waiting().map(({ fields }) => `${fields.argument} ${fields.move}`)).size;
  const box = byId("trouble");
  box.hidden = !trouble || (trouble === "again" && !count);
  box.querySelectorAll("[data-when]").forEach((text) => { text.hidden = text.dataset.when !== trouble; });
  box.querySelector("[data-count]").textContent = count;
  box.querySelector("[data-volatile]").hidden = !outbox.isVolatile && !drafts.isVolatile;
  const label = standingLabel();
  if (waiting().length) levels().forEach((level) => level.setAttribute("aria-pressed", level.value === label));
  showConflicts();
  byId("saved").textContent = savedText(trouble, count);
  isTroubled ||= !box.hidden;
  if (trouble || sender.isSending) return;
  const prelude = isTroubled && !count && !outbox.refused().length ? `${words.saved}. ` : "";
  isTroubled = false;
  if (prelude) say(prelude);
  goOnWhenSaved(prelude);
}

// Once, however often it is tried again.
function showAndSay(text) {
  if (byId("saved").textContent !== text) say(text);
  byId("saved").textContent = text;
}

function savedText(trouble, count) {
  if (count) return trouble ? words.waiting.replace("#", count) : words.saving;
  if (outbox.refused().length) return "";
  if (draftOf(shown())?.text) return words.kept;
  return byId("undo").hidden ? "" : words.saved;
}

// The comment of what was refused for another reason stays with its sentence.
function showConflicts() {
  for (const entry of outbox.refused().filter(({ reply }) => !reply.card)) {
    toast(`${words.refused} ${entry.refused}`, "error");
    outbox.drop(entry);
    if (entry.fields.client_key === given?.fields.client_key) given = null;
    if (entry.fields.move) show(byId("work").dataset.queue, "");
  }
  const entries = outbox.refused();
  const box = byId("conflicts");
  const isAsked = entries.some(({ fields }) => fields.argument === shown());
  for (const part of [form, byId("skip")]) if (part) part.hidden = isAsked;
  const keys = entries.map(({ fields }) => fields.client_key).join();
  if (keys === (box.dataset.keys ?? "")) return;
  box.dataset.keys = keys;
  box.hidden = !keys;
  box.replaceChildren(...entries.map(cardOf));
  settle();
  if (keys) box.querySelector("h2").focus();
  say([...box.querySelectorAll("[data-detail]")].map(({ textContent }) => textContent).join(" "));
}

function cardOf({ fields, reply }) {
  const card = parse(reply.card).querySelector("section");
  card.dataset.conflict = fields.client_key;
  return card;
}

function settleConflict(card, isMine) {
  const { fields, reply } = outbox.refused().find((entry) => entry.fields.client_key === card.dataset.conflict);
  if (isMine) return send({ fields: { ...fields, known: reply.known } });
  const isShown = fields.argument === shown();
  outbox.drop({ fields });
  forgetDraft(fields.argument);
  if (isShown) given = null;
  showOutbox(sender.trouble);
  if (isShown) show(byId("work").dataset.queue, "");
}

// -- keys and buttons ---------------------------------------------------------------------------

const KEYS = {
  u: () => byId("undo").click(), backspace: () => byId("undo").click(), s: () => byId("skip")?.click(),
  i: openGuideline, "?": () => toggleDialog("keys"), n: () => byId("id_comment")?.focus(),
};

function choose(digit) {
  const level = levels().find(({ value }) => value === digit);
  if (level) level.click();
  else say(words.no_level.replace("#", digit));
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing && event.target.matches?.("textarea")) event.target.blur();
  const key = event.repeat ? null : keyOf(event);
  if (!key || (document.querySelector("dialog[open]") && !["i", "?"].includes(key.name))) return;
  const act = KEYS[key.name];
  if (!act && key.digit === null) return;
  event.preventDefault();
  if (act) act();
  else if (!form?.hidden) choose(key.digit);
});

document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  const card = target.closest("#conflicts section");
  if (target !== form && !card && !target.closest("#moves")) return;
  event.preventDefault();
  if (!mayAnswer()) return;
  if (card) return settleConflict(card, true);
  if (submitter?.name === "label") return give(submitter.value);
  if (!isLeaving) move(submitter.value);
});

document.addEventListener("click", (event) => {
  const card = event.target.closest("[data-keep]")?.closest("#conflicts section");
  if (card) event.preventDefault();
  if (card && mayAnswer()) settleConflict(card, false);
});

document.addEventListener("input", ({ target }) => { if (target.id === "id_comment") keepDraft(); });
// What another tab decided is left; where a comment stands here, it is shown with that decision.
otherTabs?.addEventListener("message", ({ data }) => {
  if (data !== shown() || given || isLeaving) return;
  tell(words.elsewhere);
  show(draftOf(data)?.text ? `?unit=${data}` : byId("work").dataset.queue, "");
});
window.addEventListener("beforeunload", (event) => {
  if (outbox.waiting().length && !["signed_out", "forbidden"].includes(sender.trouble)) event.preventDefault();
});
// Coming back with the browser's button shows the old page; it must work again.
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// A page shown without a connection goes on where it was when it was reloaded.
const was = tabMemory.get(prefix);
if (was) byId("work").replaceWith(parse(was).getElementById("work"));
replaceWhenOnline(() => !outbox.waiting().length);
startDialogs(openNamed);
start("");
sender.flush();
