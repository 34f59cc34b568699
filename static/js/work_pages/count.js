// The counting form: what is marked, the counts that follow, and its keys. Rows in hand are in
// sheet-rows.js. The server counts again by itself.
"use strict";

const POINTS = { full: 1, part: 0.5, none: 0 };
const rows = [...form.querySelectorAll(".count-row")];
const references = rows.filter((row) => row.dataset.kind === "reference");
const summaries = rows.filter((row) => row.dataset.kind === "summary");

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

function isReference(row) { return row.dataset.kind === "reference"; }

// Without a mark, and the count is neither typed nor unsure.
function isOpen(row) {
  return isReference(row) ? !levelOf(row) && needsMarks("covered") : !letterOf(row) && needsMarks("unique");
}

function needsMarks(name) {
  return !form.elements[`${name}_unsure`].checked && form.elements[name].value.trim() === "";
}

// -- totals --------------------------------------------------------------------------------------

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
  const left = rows.filter(isOpen).length;
  const text = left === 1 ? words.left_one : words.left_many.replace("#", left);
  byId("left").textContent = left ? text : words.all_done;
}

function showCount(name, marked) {
  const typed = form.elements[name].value.trim().replace(",", ".");
  const isUnsure = form.elements[`${name}_unsure`].checked;
  const count = typed === "" || Number.isNaN(Number(typed)) ? marked : Number(typed);
  byId(`${name}-shown`).value = isUnsure ? words.unsure : String(count);
}

// -- the row in hand -----------------------------------------------------------------------------

// The summaries that make the point of the reference in hand stand out.
function showCovering(row) {
  const ticks = isReference(row) ? ticksOf(row) : [];
  summaries.forEach((summary, place) => summary.classList.toggle("covering", Boolean(ticks[place]?.checked)));
}

function spoken(row) {
  const text = row.querySelector("legend").textContent.trim().replace(/\s+/g, " ");
  if (!isReference(row)) {
    const letter = letterOf(row);
    const named = letter === "0" ? words.nothing : letter && `${words.statement} ${letter}`;
    const said = [named, partlyOf(row).checked && words.part].filter(Boolean).join(", ");
    return `${words.summary} ${text}${said && `: ${said}`}`;
  }
  const level = levelOf(row);
  const by = ticksOf(row).filter((tick) => tick.checked).map((tick) => Number(tick.value) + 1);
  const named = by.length ? `, ${words.by} ${by.join(", ")}` : "";
  return `${words.reference} ${text}${level ? `: ${words[level]}` : ""}${named}`;
}

function cross(to) {
  activate(to.find(isOpen) ?? to[0], true);
  leaveField();
}

function pressDigit(digit, event) {
  if (!active || isFrozen) return;
  if (!isReference(active)) pressOnSummary(digit);
  else if (event.shiftKey) tick(Number(digit));
  else setLevel(digit);
}

function setLevel(digit) {
  const input = active.querySelectorAll("input[type=radio]")[Number(digit) - 1];
  if (!input) return;
  input.checked = true;
  gave(true);
}

function tick(number) {
  const box = ticksOf(active)[number - 1];
  if (!box) return say(words.no_summary);
  if (!box.disabled) box.checked = !box.checked;
  return gave(false);
}

// 0: it says nothing. Another number: the statement of that summary.
function pressOnSummary(digit) {
  if (digit === "0") return setLetter("0");
  const other = summaries[Number(digit) - 1];
  if (!other) return say(words.no_summary);
  if (other === active) return setLetter(freeLetter());
  if (["", "0"].includes(letterOf(other))) {
    other.querySelector("select").value = freeLetter();
    other.classList.remove("missing");
  }
  return setLetter(letterOf(other));
}

function freeLetter() {
  const used = new Set(summaries.filter((each) => each !== active).map(letterOf));
  const options = [...active.querySelectorAll("option")].map((option) => option.value);
  return options.find((letter) => letter !== "" && letter !== "0" && !used.has(letter)) ?? "";
}

function setLetter(letter) {
  active.querySelector("select").value = letter;
  gave(true);
}

function pressLetter(event) {
  if (!active || isFrozen || isReference(active)) return;
  const letter = keyOf(event).name.toUpperCase();
  if ([...active.querySelectorAll("option")].some((option) => option.value === letter)) setLetter(letter);
}

function pressPartly() {
  if (!active || isFrozen || isReference(active)) return;
  const box = partlyOf(active);
  if (!box.disabled) box.checked = !box.checked;
  gave(false);
}

function clear() {
  if (!active || isFrozen) return;
  for (const input of active.querySelectorAll("input")) input.checked = false;
  if (!isReference(active)) active.querySelector("select").value = "";
  gave(false);
}

startRows({
  rows,
  isOpen,
  spoken,
  take: showCovering,
  pressDigit,
  acts: {
    arrowleft: () => cross(references), arrowright: () => cross(summaries),
    p: pressPartly, backspace: clear, delete: clear,
    ...Object.fromEntries([..."abcdefgh"].map((letter) => [letter, pressLetter])),
  },
});
