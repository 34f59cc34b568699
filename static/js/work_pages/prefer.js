// Two answers side by side: one key is the verdict, submits it and leads to the next pair. Saving
// and submitting are in sheet-form.js.
"use strict";

const verdicts = [...form.querySelectorAll("button[name=verdict]")];

// The fields as the browser would send them: the server reads both ways by the same code.
function content() {
  const fields = new URLSearchParams();
  if (form.dataset.chosen) fields.append("verdict", form.dataset.chosen);
  if (form.elements.comment.value) fields.append("comment", form.elements.comment.value);
  return fields.toString();
}

function showTotals() {
  for (const button of verdicts) button.setAttribute("aria-pressed", String(button.value === form.dataset.chosen));
}

function showMissing() {
  verdicts[0].focus();
}

function choose(value) {
  if (isFrozen || isSubmitting) return;
  form.dataset.chosen = value;
  changed();
  submitSheet();
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

startSheet(start);
