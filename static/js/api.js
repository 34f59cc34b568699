// Asks one address of the REST API as a program would: with a token that may only read, lent
// to this page and kept nowhere else.
"use strict";

{
  const section = document.getElementById("try");
  const form = section.querySelector("form");
  const state = section.querySelector("output");
  const answer = section.querySelector("pre");
  const LONGEST = 50_000;
  let token = "";

  function address() {
    let path = section.dataset.path;
    const query = new URLSearchParams();
    for (const field of form.querySelectorAll("[data-place]")) {
      if (field.dataset.place === "path") {
        path = path.replace(`{${field.name}}`, encodeURIComponent(field.value.trim()));
      } else if (field.value.trim()) {
        query.append(field.name, field.value.trim());
      }
    }
    return query.size ? `${path}?${query}` : path;
  }

  async function lend() {
    const csrf = form.querySelector("[name=csrfmiddlewaretoken]").value;
    const reply = await fetch(section.dataset.lend, { method: "POST", headers: { "X-CSRFToken": csrf } });
    if (reply.ok) token = (await reply.json()).token;
  }

  async function ask() {
    const headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
    return fetch(address(), { headers, credentials: "omit" });
  }

  function readable(text, type) {
    if (!type.includes("json")) return text;
    try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
  }

  async function show(reply) {
    const text = readable(await reply.text(), reply.headers.get("Content-Type") || "");
    state.textContent = `${reply.status} ${reply.statusText}`;
    answer.textContent = text.slice(0, LONGEST);
    answer.hidden = !text;
    if (text.length > LONGEST) state.textContent += ` · ${section.dataset.cut}`;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    state.textContent = "…";
    try {
      if (!token) await lend();
      let reply = await ask();
      if (reply.status === 401) { // it has ended, or another window was lent one since
        await lend();
        reply = await ask();
      }
      await show(reply);
    } catch {
      state.textContent = section.dataset.none;
    }
  });

  section.hidden = false;
}
