// What the desk shows about the text: citations with their arguments, and the places of checks.
// Loaded before editing.js, which says what everything here works on.
"use strict";

let citations = [];
let places = [];
let wasInEditor = false;

// -- the text and its citations ------------------------------------------------------------------

function readText() {
  citations = findCitations(editor.value);
  const cited = new Set(citations.flatMap((citation) => citation.numbers));
  for (const [number, element] of known) element.classList.toggle("cited", cited.has(number));
  byId("cited-count").textContent = [...known.keys()].filter((number) => cited.has(number)).length;
  paint();
}

function paint() {
  const ranges = citations.map((citation) => ({ ...citation, kind: kindOf(citation) }));
  mirror.paint(editor.value, [...ranges, ...places.map(([start, end]) => ({ start, end, kind: "found" }))]);
}

function kindOf({ numbers, isGenerated }) {
  if (numbers.some((number) => !known.has(number))) return "cite unknown";
  return isGenerated ? "cite generated" : "cite";
}

// Numbers go where the caret is: into a citation it touches, else into a new one.
function cite(number) {
  if (editor.readOnly) return;
  if (!wasInEditor) {
    editor.focus();
    tell(words.place_caret);
    return;
  }
  const caret = editor.selectionEnd;
  const touched = citations.find(({ start, end }) => start < caret && caret <= end);
  if (touched?.numbers.includes(number)) return;
  if (touched) insert(`, ${number}`, touched.end - 1, touched.end);
  else {
    const { at, inserted } = placeCitation(editor.value, caret, number);
    insert(inserted, at);
  }
  say(words.cited.replace("#", number));
  saver.flush();
}

// Typed, as it were, so that undo takes it back.
function insert(text, at, after) {
  editor.focus();
  editor.setSelectionRange(at, at);
  if (!document.execCommand("insertText", false, text)) {
    editor.setRangeText(text, at, at, "end");
    editor.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (after !== undefined) editor.setSelectionRange(after + text.length, after + text.length);
}

// -- the argument behind a citation --------------------------------------------------------------

const card = document.getElementById("citation-card");
let hiding;

function showCard(mark) {
  clearTimeout(hiding);
  const numbers = mark.dataset.numbers.split(" ").filter(Boolean).map(Number);
  pointAt(numbers);
  card.replaceChildren(...(numbers.length ? numbers.map(argumentLine) : [line(words.generated)]));
  card.hidden = false;
  const paper = mirror.element.parentElement.getBoundingClientRect();
  const box = mark.getBoundingClientRect();
  const left = Math.min(box.left - paper.left, paper.width - card.offsetWidth);
  card.style.left = `${Math.max(0, left)}px`;
  card.style.top = `${box.bottom - paper.top + 4}px`;
}

function argumentLine(number) {
  const text = known.get(number)?.querySelector("[data-sentence]").textContent;
  return line(text ? `${number}. ${text}` : words.unknown.replace("#", number));
}

function line(text) {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}

function hideCard(after = 0) {
  clearTimeout(hiding);
  hiding = setTimeout(() => { card.hidden = true; pointAt([]); }, after);
}

function followCaret() {
  const caret = editor.selectionStart;
  const inside = citations.find(({ start, end }) => start < caret && caret < end);
  if (!inside || caret !== editor.selectionEnd) return hideCard();
  const mark = mirror.marks("mark.cite").find((element) => startOf(element) <= caret && caret <= startOf(element) + element.textContent.length);
  if (!mark) return undefined;
  showCard(mark);
  return say([...card.children].map(({ textContent }) => textContent).join(" "));
}

function startOf(mark) { return Number(mark.dataset.start); }

// -- checks --------------------------------------------------------------------------------------

let shownCheck = "";
let shownPlace = 0;

async function showPlaces(button) {
  const name = button.dataset.check;
  // Places are those of the text that the server has seen.
  if (saver.hasUnsent && await saver.flush() !== "saved") return;
  const fresh = document.querySelector(`[data-check="${name}"]`);
  if (!fresh) return;
  places = toUnits(editor.value, JSON.parse(fresh.dataset.places));
  shownPlace = name === shownCheck ? (shownPlace + 1) % places.length : 0;
  shownCheck = name;
  paint();
  const [start, end] = places[shownPlace];
  editor.focus({ preventScroll: true });
  editor.setSelectionRange(start, end);
  mirror.marks("mark.found").find((mark) => startOf(mark) >= start)?.scrollIntoView({ block: "center" });
  say(words.place_shown.replace("#", shownPlace + 1).replace("%%", places.length));
}

function forgetPlaces() {
  places = [];
  shownCheck = "";
}

function showChecks(html) {
  const focused = document.activeElement?.dataset?.check;
  byId("checks").innerHTML = html;
  if (focused) document.querySelector(`[data-check="${focused}"]`)?.focus();
}

// -- keys and pointer ----------------------------------------------------------------------------

function startEditor() {
  editor.addEventListener("input", () => {
    forgetPlaces();
    hideCard();
  });
  editor.addEventListener("focus", () => { wasInEditor = true; });
  editor.addEventListener("keyup", (event) => { if (event.key.startsWith("Arrow")) followCaret(); });
  editor.addEventListener("click", followCaret);
  editor.addEventListener("pointermove", (event) => {
    if (event.buttons || event.pointerType === "touch") return;
    const mark = mirror.at(event.clientX, event.clientY);
    if (mark) showCard(mark);
    else if (!card.hidden) hideCard(250);
  });
  editor.addEventListener("pointerleave", () => hideCard(250));
  card.addEventListener("pointerenter", () => clearTimeout(hiding));
  card.addEventListener("pointerleave", () => hideCard(250));
}

function startArguments() {
  for (const [number, element] of known) {
    element.addEventListener("click", (event) => {
      if (!event.target.closest("a") && !isSelecting(element)) cite(number);
    });
    element.addEventListener("pointerenter", () => pointOut(number));
    element.addEventListener("pointerleave", () => pointOut(null));
    element.addEventListener("focusin", () => pointOut(number));
    element.addEventListener("focusout", () => pointOut(null));
  }
}

// Somebody who marks words of an argument, to copy them, does not cite it.
function isSelecting(element) {
  const selection = window.getSelection();
  return !selection.isCollapsed && element.contains(selection.anchorNode);
}

// Where the text cites an argument that is under the pointer or has the focus.
function pointOut(number) {
  for (const mark of mirror.marks("mark.cite")) {
    mark.classList.toggle("pointed", mark.dataset.numbers.split(" ").includes(String(number)));
  }
}

