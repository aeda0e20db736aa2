// Finds rows by text: on the page where all of them are there, on the server where a form searches (`data-search`).

import { refresh } from "./live.js";

/** Typing pauses this long before the server is asked. */
const PAUSE_MS = 200;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let pause;

/** Shows what the form's fields ask for, under its address. @param {HTMLFormElement} form */
function search(form) {
  const wanted = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string" && value) wanted.append(name, value);
  const query = wanted.toString();
  history.replaceState(null, "", form.getAttribute("action") + (query && `?${query}`));
  refresh();
}

/** The filter field; created if the page has rows but no field. */
export function filterField() {
  const own = document.getElementById("filter") ?? document.getElementById("log-search");
  if (own || !document.querySelector("[data-filter]")) return /** @type {HTMLInputElement | null} */ (own);
  const place = document.querySelector(".heading .beside");
  if (!place) return null;
  const field = document.createElement("input");
  Object.assign(field, { id: "filter", type: "search", placeholder: "Filter", autocomplete: "off" });
  field.setAttribute("aria-label", "Filter this page");
  field.setAttribute("data-own-key", "filter");
  place.append(field);
  return field;
}

export function filterRows() {
  const apply = () => {
    const field = /** @type {HTMLInputElement | null} */ (document.getElementById("filter"));
    const words = (field?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll("[data-filter] [data-row]")) {
      const text = words.length ? (row.textContent ?? "").toLowerCase() : "";
      row.classList.toggle("filtered", !words.every((word) => text.includes(word)));
    }
  };
  document.addEventListener("input", (event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    const form = field.closest?.("form[data-search]");
    if (field.id === "filter" && !form) apply();
    if (!(form instanceof HTMLFormElement)) return;
    clearTimeout(pause);
    pause = setTimeout(() => search(form), field.matches("select") ? 0 : PAUSE_MS);
  });
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (!form.matches("[data-search]")) return;
    event.preventDefault();
    clearTimeout(pause);
    search(form);
  });
  document.addEventListener("change", (event) => {
    const field = /** @type {HTMLElement} */ (event.target);
    if (field.matches(".filters:not([data-search]) select")) /** @type {HTMLSelectElement} */ (field).form?.requestSubmit();
  });
  return apply;
}
