// One question about what is on the page: one key is the answer, submits it and leads to the next
// one. Buttons name their keys. Saving and submitting are in sheet-form.js.
"use strict";

const choices = [...form.querySelectorAll("button[data-keys]")];
const comment = form.elements.comment;

// The fields as the browser would send them: the server reads both ways by the same code.
function content(choice = form.dataset.chosen) {
  const fields = new URLSearchParams();
  if (choice) fields.append(choices[0].name, choice);
  if (comment?.value) fields.append("comment", comment.value);
  return fields.toString();
}

function showTotals() {
  for (const button of choices) button.setAttribute("aria-pressed", String(button.value === form.dataset.chosen));
}

function showMissing() {
  choices[0].focus();
}

// An answer is no draft: it is what was submitted, or on its way.
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
  const name = choices.find(({ value }) => value === form.dataset.chosen)?.firstChild.data.trim();
  return name ? `${name}.` : "";
}

// A key held down would run through the sheets: arrows repeat elsewhere, answers never.
function answer(value) {
  return (event) => { if (!event.repeat) choose(value); };
}

const ACTS = Object.fromEntries(choices.flatMap(({ value, dataset }) =>
  dataset.keys.split(" ").map((key) => [key, answer(value)])));
if (comment?.type === "textarea") ACTS.r = () => comment.focus();

function start() {
  startPage(ACTS, () => undefined);
  for (const button of choices) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      choose(button.value);
    });
  }
}

startSheet(start, { read: draft, answered });
