// Forms that are made of rows, one of which is in hand. What answers a row leads on to the next
// one without an answer, after the last one to the button to submit; arrows lead back. What a
// row is, when it has its answer and what keys do to it is the page's own script's, loaded after
// this one, which calls startRows(). Saving and submitting are in sheet-form.js.
"use strict";

let active = null;
// rows; isOpen(row): it still asks for an answer; spoken(row): it in words; leave(row), take(row):
// what else goes with a row that is put away or taken in hand; isSent(name): whether a field counts.
let sheetRows;

function activate(row, scrolls = false) {
  if (!row) return;
  if (active !== row) {
    if (active) sheetRows.leave(active);
    active?.classList.remove("active");
    active = row;
    active.classList.add("active");
    sheetRows.take(active);
    say(sheetRows.spoken(active));
  }
  if (scrolls) row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const { rows } = sheetRows;
  const at = rows.indexOf(active);
  activate(rows[Math.min(rows.length - 1, Math.max(0, at + by))], true);
  leaveField();
}

// What was answered is said before what comes next, which takes no answer at once.
function moveOn() {
  const { rows, isOpen, spoken } = sheetRows;
  const [at, answered] = [rows.indexOf(active), spoken(active)];
  const next = [...rows.slice(at + 1), ...rows.slice(0, at)].find(isOpen);
  if (!next) {
    byId("submit")?.focus();
    return say(`${answered}. ${byId("left").textContent}`);
  }
  activate(next, true);
  settle();
  leaveField();
  return say(`${answered}. ${spoken(next)}`);
}

// Nothing moves under a finger: only after the time of a double click.
let leading;

function moveOnLater() {
  clearTimeout(leading);
  leading = setTimeout(moveOn, Number(settleMs));
}

// The row in hand got something by a key: what it says now, and on where that was its answer.
function gave(isAnswer) {
  clearTimeout(leading);
  active.classList.remove("missing");
  changed();
  sheetRows.take(active);
  say(sheetRows.spoken(active));
  if (isAnswer) moveOn();
}

function showMissing(names) {
  const { rows } = sheetRows;
  for (const row of rows) row.classList.toggle("missing", names.includes(row.id));
  const first = byId(names[0]);
  activate(first);
  first.tabIndex = -1;
  first.focus({ preventScroll: true });
  first.scrollIntoView({ block: "center" });
}

// The fields as the browser would send them: the server reads both ways by the same code.
function content() {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (!SENT_APART.includes(name) && value !== "" && sheetRows.isSent(name)) fields.append(name, value);
  }
  return fields.toString();
}

function startRows(told) {
  sheetRows = { leave: () => undefined, take: () => undefined, isSent: () => true, ...told };
  showTotals();
  startSheet(takeRows);
}

function takeRows() {
  const { rows, isOpen, acts, pressDigit } = sheetRows;
  const moves = { arrowdown: () => step(1), arrowup: () => step(-1), j: () => step(1), k: () => step(-1) };
  startPage({ ...moves, ...acts }, pressDigit);
  let isPointed = false;
  form.addEventListener("pointerdown", () => { isPointed = true; });
  form.addEventListener("keydown", () => { isPointed = false; });
  // Caught before the box is ticked: what has just moved there was not meant.
  form.addEventListener("click", (event) => {
    if (!event.detail || isSettled() || !event.target.closest("label, input, select")) return;
    event.preventDefault();
    event.stopPropagation();
    mayAnswer();
  }, { capture: true });
  form.addEventListener("change", (event) => {
    rows.find((row) => row.contains(event.target))?.classList.remove("missing");
    changed();
    sheetRows.take(active);
    // Arrow keys run through the values of a field: with them nothing is answered yet.
    if (isPointed && event.target.matches("[type=radio]") && event.target.value !== "x") moveOnLater();
  });
  for (const row of rows) {
    // Not on press: unfolding would move the button away from under the pointer.
    row.addEventListener("click", () => activate(row));
    row.addEventListener("focusin", () => activate(row));
  }
  activate(rows.find(isOpen) ?? rows[0]);
}
