// Shows the value of a slider beside it while it moves.
for (const slider of document.querySelectorAll("input[type=range][data-shows]")) {
  const shown = document.getElementById(slider.dataset.shows);
  slider.addEventListener("input", () => { shown.value = slider.value; });
}
