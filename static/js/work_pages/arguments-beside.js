// Numbered arguments beside a text, on the editing desk and on the scoring sheet.
"use strict";

const known = new Map([...document.querySelectorAll("[data-argument]")]
  .map((element) => [Number(element.dataset.argument), element]));

// Marks the arguments beside the text, and brings the first one into view inside its list.
function pointAt(numbers) {
  for (const [number, element] of known) element.classList.toggle("current", numbers.includes(number));
  const first = known.get(numbers[0]);
  const list = document.getElementById("arguments");
  if (!first || list.scrollHeight <= list.clientHeight) return;
  const [outer, inner] = [list.getBoundingClientRect(), first.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) list.scrollTop += inner.top - outer.top - 60;
}
