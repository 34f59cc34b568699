// Two answers side by side: one key is the verdict, submits it and leads to the next pair. Saving
// and submitting are in sheet-form.js.
"use strict";

const verdicts = [...form.querySelectorAll("button[name=verdict]")];

// The fields as the browser would send them: the server reads both ways by the same code.
function content(verdict = form.dataset.chosen) {
  const fields = new URLSearchParams();
  if (verdict) fields.append("verdict", verdict);
  if (form.elements.comment.value) fields.append("comment", form.elements.comment.value);
  return fields.toString();
}

function showTotals() {
  for (const button of verdicts) button.setAttribute("aria-pressed", String(button.value === form.dataset.chosen));
}

function showMissing() {
  verdicts[0].focus();
}

// A verdict is no draft: it is what was submitted, or on its way.
const submitted = form.dataset.chosen;
const draft = () => content(submitted);

// Another one while the first is on its way, or waits for a connection, takes its place.
function choose(value) {
  if (isFrozen || !mayAnswer()) return;
  if (form.dataset.chosen !== value) renewKey();
  form.dataset.chosen = value;
  showTotals();
  submitSheet();
}

function answered() {
  const name = verdicts.find(({ value }) => value === form.dataset.chosen)?.firstChild.data.trim();
  return name ? `${name}.` : "";
}

// A key held down would run through the pairs: arrows repeat elsewhere, verdicts never.
function verdict(value) {
  return (event) => { if (!event.repeat) choose(value); };
}

const ACTS = {
  a: verdict("left"), arrowleft: verdict("left"), b: verdict("right"), arrowright: verdict("right"),
  t: verdict("tie"), "=": verdict("tie"), n: verdict("both_bad"),
  r: () => form.elements.comment.focus(),
};

function start() {
  startPage(ACTS, () => undefined);
  for (const button of verdicts) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      choose(button.value);
    });
  }
}

startSheet(start, { read: draft, answered });
