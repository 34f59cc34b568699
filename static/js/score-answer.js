// The answer beside the scoring form: passages that code counts are marked.
"use strict";

const answer = byId("answer");
const answerText = answer.textContent;

function mark(button) {
  const isOn = button.getAttribute("aria-pressed") === "true";
  document.querySelectorAll("[data-hint]").forEach((each) => each.setAttribute("aria-pressed", "false"));
  answer.textContent = answerText;
  if (isOn) return;
  button.setAttribute("aria-pressed", "true");
  answer.replaceChildren(...marked(JSON.parse(button.dataset.places)));
  answer.querySelector("mark")?.scrollIntoView({ block: "nearest" });
}

// Places count code points, as the server does; strings of this language count UTF-16 units.
function marked(places) {
  const letters = [...answerText];
  const parts = [];
  let at = 0;
  for (const [start, end] of places) {
    if (start < at) continue;
    parts.push(document.createTextNode(letters.slice(at, start).join("")));
    const element = document.createElement("mark");
    element.textContent = letters.slice(start, end).join("");
    parts.push(element);
    at = end;
  }
  parts.push(document.createTextNode(letters.slice(at).join("")));
  return parts;
}

function markActive() {
  const name = active?.querySelector("[data-counted]")?.dataset.counted;
  const button = name && document.querySelector(`[data-hint="${name}"]:not(:disabled)`);
  if (button) mark(button);
}

document.querySelectorAll("[data-hint]").forEach((button) => button.addEventListener("click", () => mark(button)));
