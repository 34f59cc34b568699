// The scoring form: points, totals and keys. Rows in hand are in sheet-rows.js, what is shown in
// the answer in score-answer.js.
"use strict";

const criteria = [...form.querySelectorAll(".criterion")];

function given(criterion) {
  return criterion.querySelector("input[type=radio]:checked")?.value ?? "";
}

// A reason counts only where nothing can be judged.
function isSent(name) {
  return !name.startsWith("unable-") || given(byId(name.slice(7))) === "x";
}

function setPoints(value) {
  for (const input of active.querySelectorAll("input[type=radio]")) input.checked = input.value === value;
}

function showTotals() {
  // Without a prototype: keys of groups are whatever a rubric calls them.
  const sums = Object.create(null);
  let total = 0;
  let left = 0;
  for (const criterion of criteria) {
    const value = given(criterion);
    const points = value === "" || value === "x" ? 0 : Number(value);
    sums[criterion.dataset.group] = (sums[criterion.dataset.group] ?? 0) + points;
    total += points;
    if (value === "") left += 1;
  }
  for (const output of form.querySelectorAll("[data-group-points]")) output.value = sums[output.dataset.groupPoints];
  byId("total").value = total;
  const text = left === 1 ? words.left_one : words.left_many.replace("#", left);
  byId("left").textContent = left ? text : words.all_done;
  byId("left").dataset.left = left;
}

// -- keys ----------------------------------------------------------------------------------------

function spoken(criterion) {
  const value = given(criterion);
  const name = criterion.querySelector("legend").textContent.trim();
  if (value === "x") return `${name}: ${words.unable}`;
  return value === "" ? name : `${name}: ${value} ${words.of} ${criterion.dataset.maximum}`;
}

function pressPoints(digit) {
  if (!active || isFrozen) return undefined;
  if (given(active) === "x" && active.dataset.choosing) return chooseReason(digit);
  const fits = active.querySelector(`input[type=radio][value="${digit}"]`);
  if (!fits) return say(words.off_scale.replace("#", active.dataset.key));
  setPoints(digit);
  return gave(true);
}

function pressUnable() {
  if (!active || isFrozen) return;
  setPoints("x");
  active.dataset.choosing = "1";
  gave(false);
}

// A digit right after X is the reason; the reason "other" needs a note.
function chooseReason(digit) {
  const select = active.querySelector("select");
  const option = select.options[Number(digit) - 1];
  if (!option) return;
  option.selected = true;
  delete active.dataset.choosing;
  gave(option.value !== "other");
  if (option.value === "other") openNote();
}

function clear() {
  if (!active || isFrozen) return;
  delete active.dataset.choosing;
  setPoints("");
  gave(false);
  say(`${active.dataset.key} ${words.cleared}`);
}

function openNote() {
  if (!active || isFrozen) return;
  const note = active.querySelector(".note");
  note.open = true;
  note.querySelector("textarea").focus();
}

function jump() {
  const wanted = byId(`C${Number(byId("jump-number").value)}`);
  byId("jump-number").value = "";
  if (wanted?.classList.contains("criterion")) activate(wanted, true);
}

// -- one criterion at a time, where there is one column --------------------------------------------

function showStep() {
  const at = criteria.indexOf(active);
  byId("step-at").textContent = `${at + 1}/${criteria.length}`;
  byId("step-back").disabled = at === 0;
  byId("step-on").disabled = at === criteria.length - 1;
  // The first reason is chosen as long as nobody sees that there are others.
  if (isAlone() && given(active) === "x") active.querySelector(".unable-reason").scrollIntoView({ block: "nearest" });
}

function isAlone() { return byId("step-on").checkVisibility(); }

// From its start, and below the answer: one that is higher than what is left would begin beneath it.
function showFromStart() {
  unfold(byId("whole"), byId("reading"), false);
  requestAnimationFrame(() => active.scrollIntoView({ block: "start" }));
}

// The focus stays on the button, for the next press; only an arrow key leaves it.
function turn(by) {
  activate(criteria[criteria.indexOf(active) + by], true);
}

// Across, and clearly more so than up or down: a text is scrolled by the same finger.
let touch = null;

function endSwipe({ changedTouches: [end] }) {
  if (!touch || !isAlone()) return;
  const [across, down] = [end.clientX - touch.clientX, end.clientY - touch.clientY];
  if (Math.abs(across) > Math.max(60, 2 * Math.abs(down))) turn(across < 0 ? 1 : -1);
}

form.addEventListener("touchstart", ({ touches, target }) => {
  touch = touches.length === 1 && !isField(target) ? touches[0] : null;
}, { passive: true });
form.addEventListener("touchend", endSwipe);
byId("step-back").addEventListener("click", () => turn(-1));
byId("step-on").addEventListener("click", () => turn(1));
byId("jump-dialog").querySelector("form").addEventListener("submit", jump);
startRows({
  rows: criteria,
  isOpen: (criterion) => given(criterion) === "",
  spoken,
  isSent,
  take: showStep,
  leave: (criterion) => {
    delete criterion.dataset.choosing;
    if (isAlone()) showFromStart();
  },
  pressDigit: pressPoints,
  acts: { x: pressUnable, n: openNote, h: markActive, backspace: clear, delete: clear, g: () => toggleDialog("jump") },
});
