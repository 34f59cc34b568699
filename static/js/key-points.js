// Shows the value of a slider beside it while it moves.
document.addEventListener("input", ({ target }) => {
  const shown = document.getElementById(target.dataset.shows);
  if (shown) shown.value = target.value;
});
