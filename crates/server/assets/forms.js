// Posts forms without leaving the page if they redirect back to it; they work without this, too. Other scripts are
// notified by `baton:sent`.

import { clearDraft } from "./drafts.js";
import { headers, refresh, take } from "./live.js";
import { toast } from "./notices.js";
import { choose, decide } from "./undo.js";

export function postForms() {
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.method !== "post" || form.hasAttribute("data-plain")) return;
    event.preventDefault();
    if (form.dataset.undo) {
      decide(form, /** @type {HTMLElement | null} */ (event.submitter));
      return;
    }
    if (form.getAttribute("aria-busy") !== "true") send(form, /** @type {HTMLElement | null} */ (event.submitter));
  });
}

/** Files are sent by scripts only, so their field is hidden until there are any. */
export function offerFiles() {
  return () => {
    for (const field of document.querySelectorAll("[data-files]")) /** @type {HTMLElement} */ (field).hidden = false;
  };
}

/** @param {HTMLFormElement} form @param {HTMLElement | null} submitter */
async function send(form, submitter) {
  const fields = new FormData(form, submitter);
  form.setAttribute("aria-busy", "true");
  try {
    const body = await encode(fields);
    const answer = await fetch(form.action, { method: "POST", headers: headers(), body });
    const html = await answer.text();
    if (answer.ok) done(form, answer, html);
    else refused(answer, html);
  } catch {
    toast("Cannot reach the server. Your text is still here.", true);
  } finally {
    form.removeAttribute("aria-busy");
  }
}

/** A file becomes its name, a line break and a data URL. @param {FormData} fields */
async function encode(fields) {
  const body = new URLSearchParams();
  for (const [name, value] of fields) {
    if (typeof value === "string") body.append(name, value);
    else if (value.size > 0) body.append(name, `${value.name}\n${await dataUrl(value)}`);
  }
  return body;
}

/** @param {File} file @returns {Promise<string>} */
function dataUrl(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
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

/** The next entry, so that a person can decide one after the other. @param {Element | null} row */
function goOn(row) {
  if (!row?.matches(".question, .row")) return;
  const open = [...document.querySelectorAll(".question:not(.closed), .row:not([data-own-gone])")].filter((each) => each !== row);
  const after = open.find((each) => row.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  const next = after ?? open[0];
  if (next) choose(next);
}

/** @param {Response} answer @param {string} html */
function refused(answer, html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const words = [...page.querySelectorAll("[role=alert]:not(#away) > *")].map((part) => part.textContent?.replace(/\s+/g, " ").trim()).filter(Boolean).join(" · ");
  const by = page.querySelector(".outcome p")?.textContent?.replace(/\s+/g, " ").trim();
  toast([words || `The server refused (${answer.status}).`, by].filter(Boolean).join(" "), true);
  refresh();
}
