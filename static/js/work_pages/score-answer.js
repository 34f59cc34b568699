// The answer beside the scoring form: passages that code counts are marked, and a cited number shows
// its argument.
"use strict";

const answer = document.querySelector("#answer .answer-text");
const unmarked = [...answer.childNodes].map((node) => node.cloneNode(true));

function mark(button) {
  const isOn = button.getAttribute("aria-pressed") === "true";
  document.querySelectorAll("[data-hint]").forEach((each) => each.setAttribute("aria-pressed", "false"));
  answer.replaceChildren(...unmarked.map((node) => node.cloneNode(true)));
  if (isOn) return;
  button.setAttribute("aria-pressed", "true");
  for (const [start, end] of apart(JSON.parse(button.dataset.places))) markPlace(start, end);
  answer.querySelector("mark")?.scrollIntoView({ block: "nearest" });
}

// Places in their order without what lies inside an earlier one.
function apart(places) {
  let at = 0;
  return places.filter(([start, end]) => {
    const isApart = start >= at;
    if (isApart) at = end;
    return isApart;
  });
}

// Places count code points, as the server does; strings of this language count UTF-16 units.
function markPlace(start, end) {
  const texts = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const ranges = [];
  for (let at = 0; texts.nextNode();) {
    const letters = [...texts.currentNode.data];
    const [from, to] = [Math.max(0, start - at), Math.min(letters.length, end - at)];
    const units = (count) => letters.slice(0, count).join("").length;
    if (from < to) ranges.push([texts.currentNode, units(from), units(to)]);
    at += letters.length;
  }
  for (const [node, from, to] of ranges) {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    range.surroundContents(document.createElement("mark"));
  }
}

function markActive() {
  const name = active?.querySelector("[data-counted]")?.dataset.counted;
  const button = name && document.querySelector(`[data-hint="${name}"]`);
  if (button) mark(button);
}

// -- on a narrow screen a part of the answer stays in sight, and of the arguments the cited one ------

function unfold(button, element, isUnfolded = !element.classList.contains("whole")) {
  element.classList.toggle("whole", isUnfolded);
  button.setAttribute("aria-expanded", isUnfolded);
}

for (const [name, of] of [["whole", "reading"], ["all-arguments", "arguments"]]) {
  const button = document.getElementById(name);
  button?.addEventListener("click", () => unfold(button, document.getElementById(of)));
}

// The focus stays in the text, where reading goes on; what the argument says is announced.
function showArgument(event) {
  const link = event.target.closest("a.cited");
  if (!link) return;
  event.preventDefault();
  const number = Number(link.hash.split("-").at(-1));
  pointAt([number]);
  unfold(document.getElementById("whole"), document.getElementById("reading"), false);
  const shown = known.get(number);
  shown.scrollIntoView({ block: "nearest" });
  say(`${number}. ${shown.querySelector("[data-sentence]").textContent.trim()}`);
}

document.querySelectorAll("[data-hint]").forEach((button) => button.addEventListener("click", () => mark(button)));
answer.addEventListener("click", showArgument);
