// The scoring form: what is set, and totals. Saving and submitting are in sheet-form.js, keys and
// marks in score-keys.js, which starts the page.
"use strict";

const criteria = [...form.querySelectorAll(".criterion")];

// The fields as the browser would send them: the server reads both ways by the same code.
function content() {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (SENT_APART.includes(name) || value === "") continue;
    const key = name.startsWith("unable-") ? name.slice(7) : "";
    if (key && given(byId(key)) !== "x") continue;
    fields.append(name, value);
  }
  return fields.toString();
}

function given(criterion) {
  return criterion.querySelector("input[type=radio]:checked")?.value ?? "";
}

function setPoints(criterion, value) {
  for (const input of criterion.querySelectorAll("input[type=radio]")) input.checked = input.value === value;
  criterion.classList.remove("missing");
  changed();
}

function showTotals() {
  // Without a prototype: keys of groups are whatever a rubric calls them.
  const sums = Object.create(null);
  let total = 0;
  let left = 0;
  for (const criterion of criteria) {
    const value = given(criterion);
    const points = value === "" || value === "x" ? 0 : Number(value);
    sums[criterion.dataset.group] = (sums[criterion.dataset.group] ?? 0) + points;
    total += points;
    if (value === "") left += 1;
  }
  for (const output of form.querySelectorAll("[data-group-points]")) output.value = sums[output.dataset.groupPoints];
  byId("total").value = total;
  const text = left === 1 ? words.left_one : words.left_many.replace("#", left);
  byId("left").textContent = left ? text : words.all_done;
  byId("left").dataset.left = left;
}

function showMissing(keys) {
  for (const criterion of criteria) criterion.classList.toggle("missing", keys.includes(criterion.dataset.key));
  if (keys.length) activate(byId(keys[0]), true);
}

startSaving();
