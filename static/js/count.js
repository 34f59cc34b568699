// The counting form: what is marked, and the counts that follow. Saving and submitting are in
// sheet-form.js, keys in count-keys.js, which starts the page. The server counts again by itself.
"use strict";

const POINTS = { full: 1, part: 0.5, none: 0 };
const rows = [...form.querySelectorAll(".count-row")];
const references = rows.filter((row) => row.dataset.kind === "reference");
const summaries = rows.filter((row) => row.dataset.kind === "summary");

// The fields as the browser would send them: the server reads both ways by the same code.
function content() {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (!SENT_APART.includes(name) && value !== "") fields.append(name, value);
  }
  return fields.toString();
}

function levelOf(reference) {
  return reference.querySelector("input[type=radio]:checked")?.value ?? "";
}

function ticksOf(reference) {
  return [...reference.querySelectorAll("input[type=checkbox]")];
}

function letterOf(summary) {
  return summary.querySelector("select").value;
}

function partlyOf(summary) {
  return summary.querySelector("input[type=checkbox]");
}

function isDecided(row) {
  return Boolean(row.dataset.kind === "reference" ? levelOf(row) : letterOf(row));
}

function countCovered() {
  return references.reduce((sum, reference) => sum + (POINTS[levelOf(reference)] ?? 0), 0);
}

// Every letter is one statement; one that repeats another partly counts half.
function countUnique() {
  const statements = new Map();
  for (const summary of summaries) {
    const letter = letterOf(summary);
    if (letter === "" || letter === "0") continue;
    statements.set(letter, statements.get(letter) || partlyOf(summary).checked);
  }
  return [...statements.values()].reduce((sum, isPartly) => sum + (isPartly ? 0.5 : 1), 0);
}

function showTotals() {
  for (const reference of references) {
    const isMissed = levelOf(reference) === "none";
    for (const tick of ticksOf(reference)) {
      if (isMissed) tick.checked = false;
      tick.disabled = isMissed;
    }
  }
  for (const summary of summaries) {
    const letter = letterOf(summary);
    summary.dataset.letter = letter;
    if (letter === "0") partlyOf(summary).checked = false;
    partlyOf(summary).disabled = letter === "0";
  }
  showCount("covered", countCovered());
  showCount("unique", countUnique());
  showLeft();
}

function showCount(name, marked) {
  const typed = form.elements[name].value.trim().replace(",", ".");
  const isUnsure = form.elements[`${name}_unsure`].checked;
  const count = typed === "" || Number.isNaN(Number(typed)) ? marked : Number(typed);
  byId(`${name}-shown`).value = isUnsure ? words.unsure : String(count);
}

function needsMarks(name) {
  return !form.elements[`${name}_unsure`].checked && form.elements[name].value.trim() === "";
}

function showLeft() {
  const open = [...(needsMarks("covered") ? references : []), ...(needsMarks("unique") ? summaries : [])];
  const left = open.filter((row) => !isDecided(row)).length;
  byId("left").textContent = left ? words.left.replace("#", left) : words.all_done;
}

function showMissing(names) {
  for (const row of rows) row.classList.toggle("missing", names.includes(row.id));
  if (names.length) activate(byId(names[0]), true);
}

startSaving();
