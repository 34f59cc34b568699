// The label page: what is shown, answering, going back. Sending is in label-outbox.js, keys and
// dialogs in label-keys.js. Without script the page is a plain form; this only makes it quicker.
"use strict";

const page = JSON.parse(document.getElementById("label-page").textContent);
const form = document.getElementById("answer");
const place = (form || document.getElementById("state")).dataset;
const prefix = `counterpoint:${page.user}:${page.round}`;
const words = Object.fromEntries(
  [...document.getElementById("words").content.querySelectorAll("[data-word]")]
    .map((element) => [element.dataset.word, element.textContent]));
const csrf = document.querySelector("[name=csrfmiddlewaretoken]").value;
const byId = (id) => document.getElementById(id);
const say = (text) => { byId("announce").textContent = text; };

const outbox = new Outbox(prefix);
const sender = new Sender({
  outbox, csrf, url: form ? form.action : place.answer, onReply: takeSaved, onTrouble: showOutbox,
});
const typed = new TypedTexts(prefix);
const clock = new WorkClock();
const otherTabs = "BroadcastChannel" in window ? new BroadcastChannel(prefix) : null;

// A page shown without a connection goes on where it was when it was reloaded.
const resumed = tabMemory.get(prefix);
if (!resumed) replaceWhenOnline(() => !outbox.waiting().length);
// With so many left the server need not send more.
const ENOUGH = 20;
// Items not answered yet, the shown one first; own answers of late, newest last.
let queue = resumed?.queue ?? page.items;
const past = resumed?.past ?? page.earlier;
let reviewed = resumed ? null : page.change;
const progress = { ...page.progress, ...resumed?.progress };
let state = page.state;

// -- what is on the screen --------------------------------------------------------------------

function shown() { return reviewed ? reviewed.item : queue[0]; }

function sentence(item) { return item.segments.map((part) => part.text).join("") || words.no_sentence; }

function show(prelude) {
  const item = shown();
  form.setAttribute("aria-busy", String(!item));
  byId("item").classList.toggle("is-coming", !item);
  byId("review").hidden = !reviewed;
  if (reviewed) window.scrollTo(0, 0);
  for (const button of form.querySelectorAll(".level")) {
    const isGiven = reviewed && String(reviewed.answer.label) === button.value;
    if (isGiven) button.setAttribute("aria-pressed", "true");
    else button.removeAttribute("aria-pressed");
  }
  if (reviewed) byId("review").querySelector("[data-given]").textContent = given(reviewed.answer);
  showFlag();
  settle();
  if (!item) return showNone(prelude);
  form.elements.item.value = item.id;
  byId("item").querySelector("[data-object='1']").textContent = item.object1;
  byId("item").querySelector("[data-object='2']").textContent = item.object2;
  fillSentence(item.blank ? [{ text: words.no_sentence, mark: null }] : item.segments, item.blank);
  say(`${prelude} ${item.object1} ${words.and} ${item.object2}. ${sentence(item)}`);
  clock.tick(false);
  clock.spent = 0;
}

function activeMs() {
  clock.tick(true);
  return Math.round(clock.spent);
}

// Nothing is loading where there is no connection, or where everything is done.
function showNone(prelude) {
  const text = sender.trouble ? words.no_more : words.coming;
  fillSentence([{ text, mark: null }], false);
  if (sender.trouble) say(`${prelude} ${text}`);
}

function fillSentence(segments, isBlank) {
  const parts = segments.map(({ text, mark }) => {
    if (!mark) return document.createTextNode(text);
    const element = document.createElement("mark");
    element.className = `object-${mark}`;
    element.textContent = text;
    return element;
  });
  byId("item").querySelector("[data-sentence]").replaceChildren(...parts);
  byId("item").querySelector("[data-blank]").hidden = !isBlank;
}

function given(answer) { return answer.label === null ? words.skipped : String(answer.label); }

function draft() {
  if (reviewed) return { comment: reviewed.answer.comment, flag: reviewed.answer.flag };
  return (queue[0] && typed.of(queue[0], "kept")) || { comment: "", flag: false };
}

function showFlag() {
  const { comment, flag } = draft();
  byId("flagged").hidden = !flag;
  byId("flagged").querySelector("[data-comment]").textContent = comment;
}

function showProgress() {
  tabMemory.put(prefix, { queue, past, progress });
  const done = progress.answered + outbox.waiting().filter((entry) => entry.isFirst).length;
  const total = Math.max(progress.total, done);
  const far = document.querySelector("[data-far]");
  far.textContent = far.dataset.far.replace("##", total).replace("#", done);
  Object.assign(byId("bar"), { max: total || 1, value: done });
  const time = document.querySelector("[data-minutes]");
  const minutes = Math.ceil(((total - done) * progress.seconds) / 60);
  const text = minutes > 120 ? time.dataset.hours : time.dataset.minutes;
  time.textContent = minutes ? text.replace("#", minutes > 120 ? Math.round(minutes / 60) : minutes) : "";
}

// As in cqa_site/rounds/progress.py, so that the estimate is the same after a reload.
const PLANNED = 10;
const LONGEST = 5;

function keepPace(seconds) {
  if (!progress.planned) return;
  progress.timed = (progress.timed ?? progress.answered) + 1;
  const counted = Math.min(seconds || progress.planned, LONGEST * progress.planned);
  progress.seconds += (counted - progress.seconds) / (PLANNED + progress.timed);
}

// -- answering --------------------------------------------------------------------------------

let order = 0;

function give({ label = null, skip_reason = "", comment, flag }) {
  const item = shown();
  if (!item) return;
  const answer = { ...draft(), label, skip_reason };
  if (comment !== undefined) answer.comment = comment;
  if (flag !== undefined) answer.flag = flag;
  const isFirst = !reviewed;
  const fields = { item: item.id, client_key: newKey(), comment: answer.comment, active_ms: activeMs() };
  // What this page knew: a late answer may not replace a newer one of another device.
  fields.known = reviewed?.known ?? "";
  if (label !== null) fields.label = label;
  if (label === null) fields.skip_reason = skip_reason;
  if (answer.flag) fields.flag = "on";
  if (queue.length > ENOUGH) fields.has_enough = "on";
  // Stored before it is sent, so that nothing can be lost in between.
  if (isFirst) keepPace(fields.active_ms / 1000);
  outbox.put({ fields, isFirst, item, answer, at: Date.now(), order: order++ });
  remember(item, answer, fields.client_key);
  typed.drop(item);
  if (otherTabs) otherTabs.postMessage({ item, answer, known: fields.client_key });
  goOn(`${given(answer)}.`);
  sender.flush();
}

function remember(item, answer, known) {
  queue = queue.filter((other) => other.id !== item.id);
  const earlier = past.find((entry) => entry.item.id === item.id);
  if (earlier) Object.assign(earlier, { answer, known });
  else past.push({ item, answer, known });
}

function goOn(prelude) {
  reviewed = null;
  if (location.search) window.history.replaceState(null, "", place.page);
  show(`${prelude} ${words.next}`);
  showProgress();
}

function back() {
  const at = reviewed ? past.findIndex((entry) => entry.item.id === reviewed.item.id) : past.length;
  // A change opened from the list may be older than everything here.
  const before = past[(at < 0 ? past.length : at) - 1];
  if (!before) return tell(words.no_earlier);
  reviewed = before;
  show(`${words.earlier} ${given(before.answer)}.`);
}

function takeReply(reply) {
  progress.answered = reply.progress.answered;
  state = reply.state;
  if (!form) return;
  const kept = queue.slice(0, 1);
  // A reply may be older than an answer given meanwhile, here or in another tab.
  const known = new Set([...outbox.all(), ...past, { item: kept[0] }].map((entry) => entry.item?.id));
  const fresh = reply.next.filter((item) => !known.has(item.id));
  const wasEmpty = !shown();
  // Where this page has enough, the server sends none.
  if (reply.next.length || queue.length < ENOUGH) queue = [...kept, ...fresh];
  if (wasEmpty && shown()) show(words.next);
  showProgress();
}

function takeSaved(reply) {
  takeReply(reply);
  if (otherTabs) otherTabs.postMessage({ answered: progress.answered });
}

// From another tab of the same person.
function takeNews({ data }) {
  if (!form) return;
  const before = shown();
  if (data.item) remember(data.item, data.answer, data.known);
  if (data.answered !== undefined) progress.answered = data.answered;
  if (shown() !== before) show(words.next);
  else if (reviewed && reviewed.item.id === data.item?.id) show(`${words.earlier} ${given(reviewed.answer)}.`);
  showProgress();
  if (data.answered !== undefined && queue.length < 2) refresh();
}

async function refresh() {
  const reply = await ask(place.next);
  if (!reply) return;
  takeReply(reply);
  leaveWhenDone();
}

async function ask(url) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" }, redirect: "manual" });
    if (response.type === "opaqueredirect") showOutbox("signed_out");
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

// The server has nothing more and everything is saved: its page says why; a trial ends at its round.
function leaveWhenDone() {
  if (form && !shown() && state && !outbox.waiting().length) location.replace(place.done || place.page);
}

// -- what is not saved ------------------------------------------------------------------------

// Said, and not yet that it is over.
let isTroubleOpen = false;

function showOutbox(trouble) {
  const count = outbox.waiting().length;
  const box = byId("trouble");
  const link = box.querySelector("[data-link]");
  let text = "";
  link.hidden = true;
  if (trouble === "again" && count) text = count === 1 ? words.unsaved_one : words.unsaved_many;
  if (trouble === "signed_out" || trouble === "forbidden") text = words[trouble];
  if (text && outbox.isVolatile) text += ` ${words.no_storage}`;
  if (trouble === "signed_out") Object.assign(link, { hidden: false, textContent: words.sign_in, href: `${place.signIn}?next=${encodeURIComponent(place.page)}` });
  if (trouble === "forbidden") Object.assign(link, { hidden: false, textContent: words.reload, href: place.page });
  text = text.replace("#", count);
  // Said once, however often it is tried again and however many answers follow.
  if (box.querySelector("[data-text]").textContent !== text) {
    box.ariaLive = box.dataset.trouble === trouble ? "off" : "polite";
    box.dataset.trouble = trouble;
    box.querySelector("[data-text]").textContent = text;
  }
  box.hidden = !text;
  if (isTroubleOpen && !trouble && !count) say(words.saved);
  isTroubleOpen = Boolean(text) || (isTroubleOpen && count > 0);
  showRefused();
  if (!form) return;
  if (!shown()) showNone("");
  byId("saved").textContent = savedText(count, trouble);
  showProgress();
  if (!trouble && !count && queue.length < 2 && !sender.isSending) leaveOrRefresh();
}

function savedText(count, trouble) {
  if (count) return trouble ? words.waiting.replace("#", count) : words.saving;
  return past.length ? words.saved : "";
}

function leaveOrRefresh() {
  if (!shown() && !state) refresh();
  leaveWhenDone();
}

function showRefused() {
  const entries = outbox.refused();
  // The answer of the other device is the one to change from now on.
  for (const { reply, fields } of entries.filter((entry) => entry.reply?.stored)) {
    const isHere = past.some(({ known }) => known === fields.client_key);
    if (isHere) remember(reply.stored.item, reply.stored.answer, reply.stored.known);
  }
  byId("refused").hidden = !entries.length;
  byId("refused").querySelector("[data-list]").replaceChildren(...entries.map((entry) => {
    const line = document.createElement("li");
    const comment = entry.answer.comment && ` (${entry.answer.comment})`;
    line.textContent = `${sentence(entry.item)} → ${given(entry.answer)}${comment}. ${entry.refused}`;
    return line;
  }));
}

byId("refused").querySelector("[data-drop]").addEventListener("click", () => {
  outbox.refused().forEach((entry) => outbox.drop(entry));
  showRefused();
});
byId("refused").querySelector("[data-copy]").addEventListener("click", (event) => {
  const lines = [...byId("refused").querySelectorAll("li")].map((line) => line.textContent).join("\n");
  navigator.clipboard?.writeText(lines).then(() => { event.target.textContent = words.copied; });
});

window.addEventListener("beforeunload", (event) => {
  if (outbox.waiting().length && sender.trouble !== "signed_out" && sender.trouble !== "forbidden") event.preventDefault();
});
