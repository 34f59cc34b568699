// Small behaviours every page shares. Everything works without them, except copying.
"use strict";

function toast(text, kind) {
  const box = document.createElement("div");
  box.className = "toast " + (kind || "");
  box.textContent = text;
  document.getElementById("toasts").append(box);
  setTimeout(() => box.remove(), 6000);
}

// As pages write it: Swedes have the year first.
function shortTime(at) {
  return new Date(at).toLocaleString("sv", { dateStyle: "short", timeStyle: "short" });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select();
  navigator.clipboard.writeText(field.value).then(() => toast(button.dataset.copied));
});

// A form marked data-confirm asks before it is sent. A double click sends a form once.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) event.preventDefault();
  if (event.defaultPrevented) return;
  if (event.timeStamp - form.dataset.sentAt < 3000) event.preventDefault();
  else form.dataset.sentAt = event.timeStamp;
  isUnsaved = false;
});

// Leaving a page asks first if a form marked data-unsaved was changed or refused; its Cancel does not.
let isUnsaved = Boolean(document.querySelector("form[data-unsaved] [aria-invalid=true]"));
document.querySelectorAll("form[data-unsaved]").forEach((form) => {
  form.addEventListener("input", () => { isUnsaved = true; });
  form.querySelector("a.quiet")?.addEventListener("click", () => { isUnsaved = false; });
  window.addEventListener("beforeunload", (event) => { if (isUnsaved) event.preventDefault(); });
});

// A finished background job tells pages that show its result to load it.
document.addEventListener("job-ended", () => {
  if (document.querySelector("[data-reload-on-job]")) window.location.reload();
});

// What asks again by itself waits while nobody sees the page.
document.addEventListener("htmx:configRequest", (event) => {
  const polls = event.detail.elt.getAttribute("hx-trigger")?.startsWith("every");
  if (document.hidden && polls) event.preventDefault();
});

document.addEventListener("htmx:sendError", () => toast("No connection. Nothing was lost. Try again.", "error"));
document.addEventListener("htmx:responseError", (event) => {
  toast("The server responded with error " + event.detail.xhr.status + ".", "error");
});
// Where a page that is nothing but a form begins, and where one goes on that was refused.
const begins = document.querySelector("form[data-begin] input:not([type=hidden])");
(document.querySelector("main [aria-invalid=true]") ?? begins)?.focus();
document.querySelectorAll("#toasts .toast").forEach((box) => setTimeout(() => box.remove(), 8000));
// On a narrow screen the rows of tabs scroll sideways: bring the current one into view.
document.querySelectorAll(".subtabs [aria-current]").forEach((tab) => {
  tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.clientWidth / 2 + tab.clientWidth / 2;
});

// Help belongs to no study: its pages lead back to the page of one that this tab came from.
function leadBack(link, study) {
  if (study) {
    sessionStorage.setItem("came-from", JSON.stringify([window.location.href, study.textContent]));
  } else if (!link) {
    sessionStorage.removeItem("came-from");
  } else if (sessionStorage.getItem("came-from")) {
    const [address, name] = JSON.parse(sessionStorage.getItem("came-from"));
    link.href = address;
    link.querySelector("span").textContent = name;
    link.parentElement.hidden = false;
  }
}
leadBack(document.getElementById("help-back"), document.querySelector(".where a"));
