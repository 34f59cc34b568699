// The menu of a study: groups stay as they were left, counts come after the page, and Ctrl K or ⌘ K
// searches. Without it the menu is a list of links.
"use strict";

{
  const menu = document.getElementById("menu");
  const KEY = "menu-groups";
  const groups = [...menu.querySelectorAll("details")];

  function remembered() {
    try { return JSON.parse(localStorage.getItem(KEY)) || {}; } catch { return {}; }
  }

  function keepGroups() {
    const left = remembered();
    for (const group of groups) {
      const name = group.dataset.group;
      if (left[name] && !group.querySelector("[aria-current]")) group.open = true;
      group.querySelector("summary").addEventListener("click", () => {
        const now = { ...remembered(), [name]: !group.open };
        try { localStorage.setItem(KEY, JSON.stringify(now)); } catch { /* storage is full or off */ }
      });
    }
  }

  function show(place, number) {
    place.textContent = number > 99 ? "99+" : number;
    place.hidden = !number;
  }

  async function countWhatWaits() {
    const reply = await fetch(menu.dataset.waiting, { headers: { Accept: "application/json" } });
    if (!reply.ok) return;
    const { waiting } = await reply.json();
    for (const group of groups) {
      let sum = 0;
      for (const entry of group.querySelectorAll("a")) {
        const number = waiting[entry.dataset.page] || 0;
        show(entry.querySelector(".count"), number);
        sum += number;
      }
      show(group.querySelector("summary .count"), sum);
    }
  }

  keepGroups();
  menu.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  countWhatWaits().catch(() => { /* counts are a convenience */ });

  // A tour goes on where a choice on the page leads back to the page.
  if (document.querySelector(".tour")) {
    document.addEventListener("formdata", ({ target, formData }) => {
      if (target.method === "get" && leadsHere(target.action)) formData.set("tour", "1");
    });
    document.addEventListener("click", ({ target }) => {
      const link = target.closest("main a[href]");
      if (link?.search && leadsHere(link.href)) link.search += "&tour=1";
    });
  }

  function leadsHere(address) {
    return new URL(address).pathname === location.pathname;
  }

  // -- search -----------------------------------------------------------------------------------

  const palette = document.getElementById("palette");
  const words = document.getElementById("palette-words");
  const list = document.getElementById("palette-found");
  const none = palette.querySelector(".palette-none");
  const button = document.getElementById("palette-button");
  const pages = [...menu.querySelectorAll("a.menu-entry")].map((link) => ({
    kind: link.closest("details")?.querySelector("summary span").textContent || "",
    name: (link.querySelector("span") || link).textContent.trim(),
    also: link.dataset.also || "",
    url: link.href,
  }));
  let asked = 0;
  let timer = 0;

  if (navigator.platform.startsWith("Mac")) button.querySelector("kbd").textContent = "⌘ K";
  button.hidden = false;

  function option(found, index) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const kind = document.createElement("span");
    item.setAttribute("role", "presentation");
    link.id = "palette-" + index;
    link.setAttribute("role", "option");
    link.href = found.url;
    link.tabIndex = -1;
    link.textContent = found.name;
    kind.textContent = found.kind;
    link.append(kind);
    item.append(link);
    return item;
  }

  function choose(index) {
    const items = [...list.querySelectorAll("a")];
    const at = Math.max(0, Math.min(index, items.length - 1));
    items.forEach((item, n) => item.setAttribute("aria-selected", n === at));
    items[at]?.scrollIntoView({ block: "nearest" });
    if (items[at]) words.setAttribute("aria-activedescendant", items[at].id);
    else words.removeAttribute("aria-activedescendant");
  }

  function chosen() {
    return [...list.querySelectorAll("a")].findIndex((item) => item.getAttribute("aria-selected") === "true");
  }

  // What comes later stands behind what is there, so that a choice made meanwhile stays.
  // The last line leads into the help, which has words for what the names of pages have not.
  function fill(found, isFinal, at = 0, text = "") {
    const more = isFinal && text ? [inHelp(text)] : [];
    list.replaceChildren(...[...found, ...more].map(option));
    none.hidden = !isFinal || found.length > 0;
    choose(at);
  }

  function inHelp(text) {
    const url = palette.dataset.help + "?q=" + encodeURIComponent(text);
    return { kind: "", name: palette.dataset.inHelp.replace("%s", () => text), url };
  }

  function fitting(text) {
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    return pages.filter((page) => parts.every((part) => [page.kind, page.name, page.also].join(" ").toLowerCase().includes(part)));
  }

  // Pages are found with each letter, so that Enter never takes what an earlier word had found; what
  // else the study has is asked for when typing pauses.
  function search(text) {
    clearTimeout(timer);
    const mine = ++asked;
    const found = text ? fitting(text).slice(0, 6) : pages;
    fill(found, !text);
    if (text) timer = setTimeout(ask, 120, text, found, mine);
  }

  async function ask(text, found, mine) {
    let rows = [];
    try {
      const reply = await fetch(palette.dataset.search + "?q=" + encodeURIComponent(text));
      if (reply.ok) rows = (await reply.json()).found;
    } catch {
      // Without a connection pages are still found.
    }
    if (mine === asked) fill([...found, ...rows], true, chosen(), text);
  }

  function open() {
    words.value = "";
    palette.showModal();
    search("");
  }

  button.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    if (palette.open) palette.close();
    else open();
  });
  words.addEventListener("input", () => search(words.value.trim()));
  words.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen() + 1);
    else if (event.key === "ArrowUp") choose(chosen() - 1);
    else if (event.key === "Enter") list.querySelector("[aria-selected=true]")?.click();
    // A search field takes the first Escape to empty itself.
    else if (event.key === "Escape") palette.close();
    else return;
    event.preventDefault();
  });
  // A click beside the box closes it.
  palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
}
