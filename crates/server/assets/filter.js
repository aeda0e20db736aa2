// Hides rows that do not contain the typed text. On the board, Enter searches on the server.

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
    if (/** @type {HTMLElement} */ (event.target).id === "filter") apply();
  });
  document.addEventListener("change", (event) => {
    const field = /** @type {HTMLElement} */ (event.target);
    if (field.matches(".filters select")) /** @type {HTMLSelectElement} */ (field).form?.requestSubmit();
  });
  return apply;
}
