// The editing desk: its text and keys. Saving and submitting are in sheet-form.js, citations are read in
// editing-text.js, shown with the checks in editing-marks.js. Without script the page is a plain form.
"use strict";

const editor = byId("text");
const mirror = new Mirror(byId("mirror"));

// A browser may fill in what stood here before a reload; what counts is what the server sent, and
// what somebody wrote before this script was there.
const wasTyped = "typed" in editor.dataset;
if (!wasTyped) editor.value = editor.defaultValue;

function content() { return editor.value; }

function showTotals() { readText(); }

// What goes with a submission alone.
function extra() {
  const reasons = [...form.querySelectorAll("[name=reasons]:checked")].map((box) => box.value);
  return { comment: form.elements.comment.value, reasons };
}

function put(text, submitted) {
  editor.value = text;
  if (!submitted) return;
  form.elements.comment.value = submitted.comment;
  for (const box of form.querySelectorAll("[name=reasons]")) box.checked = submitted.reasons.includes(box.value);
}

// What is shown in the text goes first, then the caret, so that letters are keys.
function leaveText() {
  const isShown = places.length || !byId("citation-card").hidden;
  forgetPlaces();
  paint();
  hideCard();
  if (!isShown) leaveField();
}

function start() {
  startPage({ escape: leaveText }, () => undefined);
  form.addEventListener("input", renewKey);
  byId("checks").addEventListener("click", (event) => {
    const button = event.target.closest("[data-check]");
    if (button) showPlaces(button);
  });
  startEditor();
  startArguments();
}

readText();
startSheet(start, { extra, put, stored: ({ checks }) => showChecks(checks), wasTouched: () => wasTyped });
