// Shows what belongs to the chosen system: its parameters, and who may write beside it.
const form = document.getElementById("run-form");

function show() {
  const chosen = form?.querySelector("input[name=system]:checked")?.value;
  for (const grid of form?.querySelectorAll("fieldset[data-system]") ?? []) {
    grid.hidden = grid.dataset.system !== chosen;
    if (!grid.hidden) offer(grid.dataset.variants.split(" "));
  }
}

function offer(variants) {
  for (const input of form.querySelectorAll("input[name=variant]")) {
    input.closest("label").parentElement.hidden = !variants.includes(input.value);
  }
  const chosen = form.querySelector("input[name=variant]:checked");
  if (!variants.includes(chosen?.value)) form.querySelector("input[name=variant]").checked = true;
}

form?.addEventListener("change", show);
show();
