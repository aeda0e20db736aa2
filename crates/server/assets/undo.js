// Decisions that can be taken back for a few seconds. They are sent when the time is up or the page is left; a decision
// that opens the next page is carried there.

import { headers, refresh } from "./live.js";
import { toast } from "./notices.js";

const UNDO_MS = 8000;
const STORED = "baton-undo";

/** @typedef {{ address: string, body: string, said: string, row: string, from: string, task: string, until: number }} Pending */

/** @type {Pending[]} */
let waiting = [];
/** Whether our own script opens the next page, which takes over what waits. */
let isMoving = false;

/** Takes over what the page before left, and sends what is due. */
export function keepDecisions() {
  waiting = stored();
  for (const each of waiting) offer(each);
  window.addEventListener("pagehide", () => {
    if (isMoving) keep();
    else flush();
  });
  window.addEventListener("pageshow", () => (isMoving = false));
  document.addEventListener("baton:changed", hide);
  hide();
}

/** Notes a decision; its row is hidden at once. @param {HTMLFormElement} form @param {HTMLElement | null} submitter */
export function decide(form, submitter) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) if (typeof value === "string") body.append(name, value);
  const row = form.closest("[data-row]");
  const next = body.get("next") ?? "/";
  const task = new URL(form.action).pathname.split("/")[2] ?? "";
  const made = { address: form.action, body: body.toString(), said: form.dataset.undo ?? "", row: row?.id ?? "", from: location.pathname + location.search, task, until: Date.now() + UNDO_MS };
  waiting.push(made);
  keep();
  if (next.startsWith("/next")) {
    isMoving = true;
    location.assign(`/next?skip=${encodeURIComponent(waiting.map((each) => each.task).join(","))}`);
    return;
  }
  offer(made);
  goOn(row);
  hide();
}

/** Takes back the last decision. Whether there was one. */
export function undo() {
  const last = waiting.pop();
  if (!last) return false;
  keep();
  close(last);
  if (last.from !== location.pathname + location.search) {
    isMoving = true;
    location.assign(last.from);
    return true;
  }
  const row = document.getElementById(last.row);
  row?.removeAttribute("data-own-gone");
  if (row) choose(row);
  return true;
}

/** Makes a row the current one, and opens it. @param {Element} row */
export function choose(row) {
  mark(row);
  /** @type {HTMLElement} */ (row).focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

/** @param {Element} row @param {string} [how] */
function mark(row, how = "") {
  for (const each of document.querySelectorAll("[data-own-here]")) if (each !== row) each.removeAttribute("data-own-here");
  row.setAttribute("data-own-here", how);
}

/** The first entry of a list is open, until the person chooses another. */
export function openFirst() {
  return () => {
    if (document.querySelector(".waiting [data-own-here]:not(.closed, [data-own-gone])")) return;
    const first = document.querySelector(".waiting [data-row]:not(.closed, .filtered, [data-own-gone])");
    if (first) mark(first, "first");
  };
}

/** The row after this one, else the one before. @param {Element | null} row */
function goOn(row) {
  if (!row) return;
  const open = [...document.querySelectorAll("[data-row]:not(.filtered, [data-own-gone], .closed)")].filter((each) => each !== row);
  const after = open.find((each) => row.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  const next = after ?? open.at(-1);
  if (next) choose(next);
}

function hide() {
  for (const each of waiting) document.getElementById(each.row)?.setAttribute("data-own-gone", "");
}

/** @param {Pending} made */
function offer(made) {
  const line = toast(made.said, false, made.until - Date.now());
  if (line) {
    line.dataset.decision = made.address;
    const back = document.createElement("button");
    back.type = "button";
    back.textContent = "Undo";
    back.addEventListener("click", () => {
      waiting = [...waiting.filter((each) => each !== made), made];
      undo();
    });
    line.append(" ", back);
  }
  setTimeout(() => send(made), Math.max(0, made.until - Date.now()));
}

/** @param {Pending} made */
function close(made) {
  for (const line of document.querySelectorAll("#toasts [data-decision]")) {
    if (/** @type {HTMLElement} */ (line).dataset.decision === made.address) line.remove();
  }
}

/** @param {Pending} made */
async function send(made) {
  if (!waiting.includes(made)) return;
  // Before it is sent: a page that opens meanwhile must not send it again. The request outlives this one.
  forget(made);
  try {
    const answer = await post(made);
    if (!answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const words = page.querySelector("[role=alert]:not(#away)")?.textContent?.replace(/\s+/g, " ").trim();
      toast(words || `The server refused (${answer.status}).`, true);
      document.getElementById(made.row)?.removeAttribute("data-own-gone");
    }
    refresh();
  } catch {
    document.getElementById(made.row)?.removeAttribute("data-own-gone");
    toast(`Cannot reach the server. Not done: ${made.said}.`, true);
  }
}

/** @param {Pending} made */
function forget(made) {
  waiting = waiting.filter((each) => each !== made);
  keep();
}

/** @param {Pending} made */
const post = (made) => fetch(made.address, { method: "POST", headers: { ...headers(), "content-type": "application/x-www-form-urlencoded" }, body: made.body, keepalive: true });

/** The page is left: nothing may be lost. */
function flush() {
  for (const made of waiting) post(made).catch(() => undefined);
  waiting = [];
  keep();
}

function keep() {
  try {
    sessionStorage.setItem(STORED, JSON.stringify(waiting));
  } catch {
    // Without storage nothing can be carried to another page.
    if (isMoving) flush();
  }
}

/** @returns {Pending[]} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
  } catch {
    return [];
  }
}
