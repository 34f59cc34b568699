// The digit of an answer chooses it, as on the page of work; Enter then continues.
"use strict";

document.addEventListener("keydown", (event) => {
  const answer = document.querySelector(`[name=label][value="${keyOf(event)?.digit}"]`);
  if (!answer) return;
  event.preventDefault();
  answer.checked = true;
  answer.focus();
});
