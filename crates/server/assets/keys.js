// The keyboard shortcuts listed under `?`. Each has a link or button, too.

import { filterField } from "./filter.js";
import { openPalette } from "./palette.js";
import { choose, undo } from "./undo.js";

/** Timeout for the second letter after `g`. */
const CHORD_MS = 1200;

let chordUntil = 0;

/** @param {EventTarget | null} target */
const isField = (target) => target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");

export function followKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      if (withControl(event)) event.preventDefault();
      return;
    }
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (isField(event.target)) {
      if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if (plain(event)) event.preventDefault();
  });
}

/** @param {KeyboardEvent} event */
function withControl(event) {
  if (event.key === "k") {
    openPalette();
    return true;
  }
  const form = event.key === "Enter" && isField(event.target) ? /** @type {HTMLElement} */ (event.target).closest("form") : null;
  form?.requestSubmit(/** @type {HTMLElement | null} */ (form.querySelector("button.primary")));
  return form !== null;
}

/** Whether the key was one of ours. @param {KeyboardEvent} event */
function plain(event) {
  const { key } = event;
  if (Date.now() < chordUntil) {
    chordUntil = 0;
    const link = document.querySelector(`#nav a[data-chord="${CSS.escape(key)}"]`);
    if (link instanceof HTMLElement) link.click();
    return link !== null;
  }
  if (key === "g") {
    chordUntil = Date.now() + CHORD_MS;
    return true;
  }
  if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
  if (key === "s") return step(1);
  if (key === "z") return undo();
  if (key === "?") {
    /** @type {HTMLDialogElement} */ (document.getElementById("keys")).showModal();
    return true;
  }
  if (key === "/") {
    const field = filterField();
    field?.focus();
    field?.select();
    return field !== null;
  }
  return inRow(key, event);
}

const rows = () => [...document.querySelectorAll("[data-row]:not(.filtered, [data-own-gone])")].filter((row) => row instanceof HTMLElement);

/** The current row. */
function here() {
  const focused = document.activeElement?.closest("[data-row]");
  return focused ?? document.querySelector("[data-own-here]");
}

/** @param {number} by */
function step(by) {
  const [all, current] = [rows(), here()];
  const at = all.indexOf(/** @type {HTMLElement} */ (current));
  // The first entry was opened by the page, not by the person.
  const isFresh = by > 0 && current?.getAttribute("data-own-here") === "first";
  const next = isFresh ? current : all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  if (!(next instanceof HTMLElement)) return false;
  next.tabIndex = -1;
  choose(next);
  return true;
}

/** @param {string} key @param {KeyboardEvent} event */
function inRow(key, event) {
  // A page about one task has its buttons outside of rows.
  const row = here() ?? document.querySelector(".question:not(.closed), .waiting .row:not([data-own-gone])");
  const button = (row ?? document).querySelector(`[data-key="${CSS.escape(key)}"]`) ?? document.querySelector(`#main > .heading [data-key="${CSS.escape(key)}"], .review-bar [data-key="${CSS.escape(key)}"]`);
  if (button) return click(button);
  if (!row) return false;
  if (/^[1-9]$/.test(key)) return click(row.querySelector(`[data-option="${key}"]`));
  if (key === "r") {
    choose(row);
    const area = row.querySelector("textarea");
    area?.focus();
    return area !== null;
  }
  if (key === "Enter" && event.target === row) return click(row.querySelector("a.title, h2 a, a"));
  return false;
}

/** @param {Element | null} element */
function click(element) {
  if (element instanceof HTMLElement) element.click();
  return element !== null;
}
