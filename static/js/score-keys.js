// Keys, the criterion in hand, dialogs and marks of the scoring form, and its start. Loaded after
// score.js.
"use strict";

let active = null;

function activate(criterion, scrolls = false) {
  if (!criterion) return;
  if (active !== criterion) {
    active?.classList.remove("active");
    if (active) delete active.dataset.choosing;
    active = criterion;
    active.classList.add("active");
    say(spoken(criterion));
  }
  if (scrolls) criterion.scrollIntoView({ block: "nearest" });
}

function spoken(criterion) {
  const value = given(criterion);
  const name = criterion.querySelector("legend").textContent.trim();
  if (value === "x") return `${name}: ${words.unable}`;
  return value === "" ? name : `${name}: ${value} ${words.of} ${criterion.dataset.maximum}`;
}

function step(by) {
  const at = criteria.indexOf(active);
  activate(criteria[Math.min(criteria.length - 1, Math.max(0, at + by))], true);
  leaveField();
}

// On to the next criterion without points; after the last one the button to submit has the focus.
function moveOn() {
  const at = criteria.indexOf(active);
  const order = [...criteria.slice(at + 1), ...criteria.slice(0, at)];
  const next = order.find((criterion) => given(criterion) === "");
  if (next) activate(next, true);
  else byId("submit")?.focus();
}

function pressPoints(digit) {
  if (!active || isFrozen) return;
  if (given(active) === "x" && active.dataset.choosing) return chooseReason(digit);
  const fits = active.querySelector(`input[type=radio][value="${digit}"]`);
  if (!fits) return say(words.off_scale.replace("#", active.dataset.key));
  const done = active;
  setPoints(active, digit);
  say(spoken(done));
  moveOn();
}

function pressUnable() {
  if (!active || isFrozen) return;
  setPoints(active, "x");
  active.dataset.choosing = "1";
  say(spoken(active));
}

// A digit right after X is the reason; the reason "other" needs a note.
function chooseReason(digit) {
  const select = active.querySelector("select");
  const option = select.options[Number(digit) - 1];
  if (!option) return;
  option.selected = true;
  delete active.dataset.choosing;
  changed();
  if (option.value === "other") openNote();
  else moveOn();
}

function clear() {
  if (!active || isFrozen) return;
  delete active.dataset.choosing;
  setPoints(active, "");
  say(`${active.dataset.key} ${words.cleared}`);
}

function openNote() {
  if (!active || isFrozen) return;
  const note = active.querySelector(".note");
  note.open = true;
  note.querySelector("textarea").focus();
}

// -- marks in the answer -------------------------------------------------------------------------

const answer = byId("answer");
const answerText = answer.textContent;

function mark(button) {
  const isOn = button.getAttribute("aria-pressed") === "true";
  document.querySelectorAll("[data-hint]").forEach((each) => each.setAttribute("aria-pressed", "false"));
  answer.textContent = answerText;
  if (isOn) return;
  button.setAttribute("aria-pressed", "true");
  answer.replaceChildren(...marked(JSON.parse(button.dataset.places)));
  answer.querySelector("mark")?.scrollIntoView({ block: "nearest" });
}

// Places count code points, as the server does; strings of this language count UTF-16 units.
function marked(places) {
  const letters = [...answerText];
  const parts = [];
  let at = 0;
  for (const [start, end] of places) {
    if (start < at) continue;
    parts.push(document.createTextNode(letters.slice(at, start).join("")));
    const element = document.createElement("mark");
    element.textContent = letters.slice(start, end).join("");
    parts.push(element);
    at = end;
  }
  parts.push(document.createTextNode(letters.slice(at).join("")));
  return parts;
}

function markActive() {
  const name = active?.querySelector("[data-counted]")?.dataset.counted;
  const button = name && document.querySelector(`[data-hint="${name}"]:not(:disabled)`);
  if (button) mark(button);
}

// -- dialogs and keys ----------------------------------------------------------------------------

function openJump() {
  byId("jump-number").value = "";
  toggle("jump");
}

function jump() {
  const wanted = byId(`C${Number(byId("jump-number").value)}`);
  if (wanted?.classList.contains("criterion")) activate(wanted, true);
}

const ACTS = {
  arrowdown: () => step(1), arrowup: () => step(-1), j: () => step(1), k: () => step(-1),
  x: pressUnable, n: openNote, h: markActive, backspace: clear, delete: clear,
  g: openJump, "?": () => toggle("keys"),
};

// -- start ---------------------------------------------------------------------------------------

function start() {
  startPage(ACTS, pressPoints);
  form.addEventListener("change", (event) => {
    if (event.target.type === "radio") event.target.closest(".criterion").classList.remove("missing");
    changed();
  });
  for (const criterion of criteria) {
    // Not on press: unfolding would move the button away from under the pointer.
    criterion.addEventListener("click", () => activate(criterion));
    criterion.addEventListener("focusin", () => activate(criterion));
  }
  byId("jump-dialog").querySelector("form").addEventListener("submit", jump);
  document.querySelectorAll("[data-hint]").forEach((button) => button.addEventListener("click", () => mark(button)));
  activate(criteria.find((criterion) => given(criterion) === "") ?? criteria[0]);
}

showTotals();
const isOpened = !isFrozen;
if (isOpened) start();
// Also in a closed round: the server keeps aside what it never got.
bringBack();
// What somebody chose before this script was there differs from what the server sent.
if (isOpened && wasTouched()) saver.changed();
