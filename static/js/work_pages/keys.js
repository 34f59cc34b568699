// Keys that do something by themselves. Letters, digits and signs can be had with Alt only, or not
// at all (see the account page); keys with a name of their own, such as arrows, always work.
"use strict";

const shortcuts = document.querySelector("meta[name=shortcuts]")?.content ?? "single";
document.documentElement.dataset.shortcuts = shortcuts;

// By place on the keyboard, so that digits need no shift on AZERTY; a numpad only with its lock.
function digitOf(event) {
  const match = /^(Digit|Numpad)(\d)$/.exec(event.code);
  if (!match) return /^\d$/.test(event.key) ? event.key : null;
  return match[1] === "Digit" || event.key === match[2] ? match[2] : null;
}

// Buttons and boxes to choose are no fields here: arrows and digits on them mean the page's own.
// A dialog that was just closed keeps the focus until the browser draws again.
function isField(element) {
  const fields = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  return element.matches?.(fields) && !element.closest("dialog:not([open])");
}

// What a key is called, and its digit if it has one; null where it is not for this page.
function keyOf(event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || isField(event.target)) return null;
  if (event.key.length > 1 && event.key !== "Dead") {
    return event.altKey ? null : { name: event.key.toLowerCase(), digit: null };
  }
  if (shortcuts === "off" || event.altKey !== (shortcuts === "alt")) return null;
  return { name: event.altKey ? withoutAlt(event) : event.key.toLowerCase(), digit: digitOf(event) };
}

// With Alt some systems write another sign: then the place of the key says which letter it is.
function withoutAlt({ code, key, shiftKey }) {
  if (code === "Slash" && shiftKey) return "?";
  return /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : key.toLowerCase();
}

// -- dialogs: a button with data-open opens the one it names, a press outside closes it --

function toggleDialog(name) {
  const dialog = document.getElementById(`${name}-dialog`);
  if (dialog.open) return dialog.close();
  if (document.querySelector("dialog[open]")) return undefined;
  dialog.showModal();
  // Not the link before it, which leads away from the work.
  if (name === "keys") dialog.querySelector("[data-close]").focus();
  return undefined;
}

// ``open`` takes the name of a dialog.
function startDialogs(open = toggleDialog) {
  document.querySelectorAll(".with-script").forEach((element) => { element.hidden = false; });
  document.querySelectorAll(".without-script").forEach((element) => { element.hidden = true; });
  document.querySelectorAll("[data-open]").forEach((button) => button.addEventListener("click", () => open(button.dataset.open)));
  document.querySelectorAll("dialog").forEach((dialog) => dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
  }));
}
