// Dialogs of work pages: a button with data-open opens the one it names, a press outside closes it.
"use strict";

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
