// Keys and the row in hand of the counting form, and its start. Loaded after count.js.
"use strict";

let active = null;

function activate(row, scrolls = false) {
  if (!row) return;
  if (active !== row) {
    active?.classList.remove("active");
    active = row;
    active.classList.add("active");
    showCovering();
    say(spoken(row));
  }
  if (scrolls) row.scrollIntoView({ block: "nearest" });
}

// The summaries that make the point of the reference in hand stand out.
function showCovering() {
  const ticks = active?.dataset.kind === "reference" ? ticksOf(active) : [];
  summaries.forEach((summary, place) => summary.classList.toggle("covering", Boolean(ticks[place]?.checked)));
}

function spoken(row) {
  const text = row.querySelector("legend").textContent.trim().replace(/\s+/g, " ");
  if (row.dataset.kind === "summary") {
    const letter = letterOf(row);
    if (letter === "") return `${words.summary} ${text}`;
    return `${words.summary} ${text}: ${letter === "0" ? words.nothing : `${words.statement} ${letter}`}`;
  }
  const level = levelOf(row);
  const by = ticksOf(row).filter((tick) => tick.checked).map((tick) => Number(tick.value) + 1);
  const named = by.length ? `, ${words.by} ${by.join(", ")}` : "";
  return `${words.reference} ${text}${level ? `: ${words[level]}` : ""}${named}`;
}

function step(by) {
  const at = rows.indexOf(active);
  activate(rows[Math.min(rows.length - 1, Math.max(0, at + by))], true);
  leaveField();
}

function cross(to) {
  activate(to.find((row) => !isDecided(row)) ?? to[0], true);
  leaveField();
}

function marked() {
  active.classList.remove("missing");
  changed();
  showCovering();
  say(spoken(active));
}

function pressDigit(digit, event) {
  if (!active || isFrozen) return;
  if (active.dataset.kind === "summary") pressOnSummary(digit);
  else if (event.shiftKey) tick(Number(digit));
  else setLevel(digit);
}

function setLevel(digit) {
  const input = active.querySelectorAll("input[type=radio]")[Number(digit) - 1];
  if (!input) return;
  input.checked = true;
  marked();
  // Nothing is left to say about a reference that is not covered.
  if (input.value === "none") step(1);
}

function tick(number) {
  const box = ticksOf(active)[number - 1];
  if (!box) return say(words.no_summary);
  if (!box.disabled) box.checked = !box.checked;
  marked();
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
    showTotals();
  }
  return setLetter(letterOf(other));
}

function freeLetter() {
  const used = new Set(summaries.filter((each) => each !== active).map(letterOf));
  const options = [...active.querySelectorAll("option")].map((option) => option.value);
  return options.find((letter) => letter !== "" && letter !== "0" && !used.has(letter)) ?? "";
}

function setLetter(letter) {
  const done = active;
  done.querySelector("select").value = letter;
  marked();
  if (done === active) step(1);
}

function pressLetter(event) {
  if (!active || isFrozen || active.dataset.kind !== "summary") return;
  const letter = event.key.toUpperCase();
  if ([...active.querySelectorAll("option")].some((option) => option.value === letter)) setLetter(letter);
}

function pressPartly() {
  if (!active || isFrozen || active.dataset.kind !== "summary") return;
  const box = partlyOf(active);
  if (!box.disabled) box.checked = !box.checked;
  marked();
}

function clear() {
  if (!active || isFrozen) return;
  for (const input of active.querySelectorAll("input")) input.checked = false;
  if (active.dataset.kind === "summary") active.querySelector("select").value = "";
  marked();
}

const ACTS = {
  arrowdown: () => step(1), arrowup: () => step(-1), j: () => step(1), k: () => step(-1),
  arrowleft: () => cross(references), arrowright: () => cross(summaries),
  p: pressPartly, backspace: clear, delete: clear, "?": () => toggle("keys"),
};
for (const letter of "abcdefgh") ACTS[letter] = pressLetter;

// -- start ---------------------------------------------------------------------------------------

function start() {
  startPage(ACTS, pressDigit);
  form.addEventListener("change", (event) => {
    event.target.closest(".count-row")?.classList.remove("missing");
    changed();
    showCovering();
  });
  for (const row of rows) {
    row.addEventListener("click", () => activate(row));
    row.addEventListener("focusin", () => activate(row));
  }
  activate(rows.find((row) => !isDecided(row)) ?? rows[0]);
}

showTotals();
const isOpened = !isFrozen;
if (isOpened) start();
// Also in a closed round: the server keeps aside what it never got.
bringBack();
// What somebody chose before this script was there differs from what the server sent.
if (isOpened && wasTouched()) saver.changed();
