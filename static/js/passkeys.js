// Passkeys: what the server asks for goes to the browser, what the browser makes goes to the server.
"use strict";

async function passkeyOptions(form) {
  if (!form.dataset.options) return JSON.parse(document.getElementById("passkey-options").textContent);
  const answer = await fetch(form.dataset.options, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}

async function runPasskey(form) {
  const { creation_options: make, request_options: use } = await passkeyOptions(form);
  const made = make
    ? await navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(make.publicKey),
      })
    : await navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(use.publicKey),
      });
  form.elements.credential.value = JSON.stringify(made.toJSON());
  form.submit();
}

// Where the browser cannot, buttons that only use a passkey stay hidden.
if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  document.querySelectorAll("form[data-passkey]").forEach((form) => {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      runPasskey(form).catch(() => toast(form.dataset.failed, "error"));
    });
  });
}

document.querySelectorAll("[data-print]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
});
