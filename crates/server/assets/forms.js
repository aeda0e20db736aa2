// Posts forms without leaving the page if they redirect back to it; they work without this, too. Other scripts are
// notified by `baton:sent`.

import { clearDraft } from "./drafts.js";
import { headers, refresh, take } from "./live.js";
import { toast } from "./notices.js";

export function postForms() {
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.method !== "post" || form.hasAttribute("data-plain")) return;
    event.preventDefault();
    if (form.getAttribute("aria-busy") !== "true") send(form, /** @type {HTMLElement | null} */ (event.submitter));
  });
}

/** @param {HTMLFormElement} form @param {HTMLElement | null} submitter */
async function send(form, submitter) {
  const fields = /** @type {any} */ (new FormData(form, submitter));
  form.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(form.action, { method: "POST", headers: headers(), body: new URLSearchParams(fields) });
    const html = await answer.text();
    if (answer.ok) done(form, answer, html);
    else refused(answer, html);
  } catch {
    toast("Cannot reach the server. Your text is still here.", true);
  } finally {
    form.removeAttribute("aria-busy");
  }
}

/** @param {HTMLFormElement} form @param {Response} answer @param {string} html */
function done(form, answer, html) {
  for (const field of form.querySelectorAll("[data-draft]")) clearDraft(field);
  document.dispatchEvent(new CustomEvent("baton:sent", { detail: form }));
  const row = form.closest("[data-row]");
  form.closest("dialog")?.close();
  const to = new URL(answer.url);
  if (to.pathname !== location.pathname || to.search !== location.search) {
    location.assign(answer.url);
    return;
  }
  if (!row) form.reset();
  take(html);
  goOn(row);
}

/** The next question, so that a person can answer one after the other. @param {Element | null} row */
function goOn(row) {
  if (!row?.matches(".question")) return;
  const open = [...document.querySelectorAll(".question:not(.closed)")];
  const after = open.find((each) => row.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  /** @type {HTMLElement | undefined} */ (after ?? open[0])?.focus();
}

/** @param {Response} answer @param {string} html */
function refused(answer, html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const words = page.querySelector("[role=alert]")?.textContent?.replace(/\s+/g, " ").trim();
  const by = page.querySelector(".outcome p")?.textContent?.replace(/\s+/g, " ").trim();
  toast([words ?? `The server refused (${answer.status}).`, by].filter(Boolean).join(" "), true);
  refresh();
}
