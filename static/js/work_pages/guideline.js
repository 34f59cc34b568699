// The guideline or the instructions: in a drawer, or kept open beside the item where the window is
// wide. What somebody chose is remembered for the round in this browser. Without script the text
// stands folded on the page.
"use strict";

const guideline = document.getElementById("guideline");
const byGuideline = (part) => document.getElementById(`guideline-${part}`);
const WIDE = window.matchMedia("(min-width: 75rem)");

function isPinned() { return tryStorage(() => localStorage.getItem(guideline.dataset.remembered)) === "pinned"; }

function pinGuideline(isWanted) {
  tryStorage(() => localStorage.setItem(guideline.dataset.remembered, isWanted ? "pinned" : "folded"));
  placeGuideline(isWanted);
}

function placeGuideline(isWanted = isPinned()) {
  const panel = document.getElementById("guideline-panel");
  const isBeside = isWanted && WIDE.matches;
  panel.hidden = !isBeside;
  document.documentElement.classList.toggle("guideline-beside", isBeside);
  const place = isBeside ? panel : document.getElementById("guideline-dialog");
  place.querySelector(".drawer-body").append(document.getElementById("guideline-text"));
}

// Pinned it is open already: the focus goes there, so that keys scroll it, and the next time it goes.
function openGuideline() {
  if (!guideline) return;
  const panel = document.getElementById("guideline-panel");
  if (panel.hidden) {
    toggleDialog("guideline");
    // Enter closes what it has just opened, and does not pin it.
    byGuideline("dialog").querySelector("[data-close]").focus();
  } else if (panel.contains(document.activeElement)) unpinGuideline();
  else panel.querySelector(".drawer-body").focus();
}

function unpinGuideline() {
  pinGuideline(false);
  document.querySelector("[data-open=guideline]").focus();
}

// Opens what a button names: the guideline in its place, anything else as a dialog.
function openNamed(name) {
  return name === "guideline" ? openGuideline() : toggleDialog(name);
}

// Before the first item, once for each wording: what it was is kept as a number.
function showUnread() {
  const text = byGuideline("text").textContent;
  const wording = String([...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) | 0, 7));
  const name = `${guideline.dataset.remembered}:read`;
  const note = () => tryStorage(() => localStorage.setItem(name, wording));
  // Without storage it would stand before every item.
  if ([wording, undefined].includes(tryStorage(() => localStorage.getItem(name)))) return;
  // A page before the first item has shown it.
  const isFirst = tryStorage(() => localStorage.getItem(name)) === null;
  if (!byGuideline("panel").hidden || (isFirst && "wasRead" in guideline.dataset)) return note();
  openGuideline();
  byGuideline("dialog").addEventListener("close", note, { once: true });
}

if (guideline) {
  guideline.hidden = true;
  // Out of whatever scrolls or sticks on the page: nothing of it may lie over the panel.
  document.body.append(document.getElementById("guideline-panel"));
  placeGuideline();
  WIDE.addEventListener("change", () => placeGuideline());
  document.querySelector("[data-pin]").addEventListener("click", () => {
    document.getElementById("guideline-dialog").close();
    pinGuideline(true);
    document.querySelector("#guideline-panel .drawer-body").focus();
  });
  document.querySelector("[data-unpin]").addEventListener("click", unpinGuideline);
  if (!isKeptPage) window.addEventListener("DOMContentLoaded", showUnread);
}
