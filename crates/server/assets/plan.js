// The editor of a plan: rows are moved, added and removed on the page, and kept across a reload until they are sent. The
// same buttons work without scripts, as round trips.

const STORED = "baton-plan-";
const FIELDS = ["title", "description", "after", "priority", "criteria", "verification"];

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

/** @param {HTMLFormElement} form */
const rows = (form) => [...form.querySelectorAll("fieldset")];

/** @param {Element} row @param {string} name */
const field = (row, name) => /** @type {Field} */ (row.querySelector(`[name^="${name}-"]`));

/** Numbers the rows as they stand. @param {HTMLFormElement} form @param {number[]} order the old number of each, 0 for a new one @param {number} before how many there were */
function renumber(form, order, before) {
  rows(form).forEach((row, index) => {
    const number = index + 1;
    for (const name of FIELDS) {
      const input = field(row, name);
      row.querySelector(`label[for="${input.id}"]`)?.setAttribute("for", `${name}-${number}`);
      input.id = input.name = `${name}-${number}`;
    }
    const legend = row.querySelector("legend");
    if (legend) legend.textContent = `Task ${number}`;
    for (const button of row.querySelectorAll("button[name=change]")) {
      button.setAttribute("value", `${button.getAttribute("value")?.split("-")[0]}-${number}`);
      button.setAttribute("aria-label", (button.getAttribute("aria-label") ?? "").replace(/\d+$/, String(number)));
    }
    const after = /** @type {HTMLInputElement} */ (field(row, "after"));
    after.value = after.value.split(/[ ,]+/).filter(Boolean).flatMap((word) => {
      const old = Number(word);
      if (!Number.isInteger(old) || old < 1 || old > before) return [word];
      const at = order.indexOf(old);
      return at < 0 ? [] : [String(at + 1)];
    }).join(", ");
  });
}

/** @param {HTMLFormElement} form */
function add(form) {
  const all = rows(form);
  const last = all.at(-1);
  if (!last || all.length >= Number(form.dataset.itemsMax)) return null;
  const row = /** @type {HTMLFieldSetElement} */ (last.cloneNode(true));
  for (const name of FIELDS) field(row, name).value = "";
  last.after(row);
  return row;
}

/** @param {HTMLFormElement} form @param {HTMLElement} button */
function step(form, button) {
  const all = rows(form);
  const row = button.closest("fieldset");
  const word = button.getAttribute("value")?.split("-")[0];
  /** @type {Map<Element, number>} */
  const old = new Map(all.map((each, index) => [each, index + 1]));
  if (word === "add") add(form);
  else if (row && word === "up") row.previousElementSibling?.matches("fieldset") && row.previousElementSibling.before(row);
  else if (row && word === "down") row.nextElementSibling?.matches("fieldset") && row.nextElementSibling.after(row);
  else if (row && word === "remove") {
    if (all.length === 1) add(form);
    row.remove();
  }
  renumber(form, rows(form).map((each) => old.get(each) ?? 0), all.length);
  keep(form);
  const next = word === "add" ? field(/** @type {Element} */ (rows(form).at(-1)), "title") : row?.isConnected ? button : field(rows(form)[0], "title");
  next.focus();
}

/** @param {HTMLFormElement} form */
const read = (form) => rows(form).map((row) => Object.fromEntries(FIELDS.map((name) => [name, field(row, name).value])));

/** @param {HTMLFormElement} form */
function keep(form) {
  sessionStorage.setItem(STORED + form.dataset.plan, JSON.stringify(read(form)));
}

/** Puts back what was typed before a reload. @param {HTMLFormElement} form */
function restore(form) {
  const text = sessionStorage.getItem(STORED + form.dataset.plan);
  if (!text || text === JSON.stringify(read(form))) return;
  /** @type {Record<string, string>[]} */
  const kept = JSON.parse(text);
  while (rows(form).length < kept.length && add(form));
  for (const extra of rows(form).slice(kept.length)) extra.remove();
  rows(form).forEach((row, index) => {
    for (const name of FIELDS) field(row, name).value = kept[index]?.[name] ?? "";
  });
  renumber(form, kept.map((_, index) => index + 1), kept.length);
  const details = form.closest("details");
  if (details) details.open = true;
}

export function editPlans() {
  document.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest?.("form[data-plan] button[name=change]");
    const form = button?.closest("form");
    if (!(button instanceof HTMLElement) || !form) return;
    event.preventDefault();
    step(form, button);
  });
  document.addEventListener("input", (event) => {
    const form = /** @type {HTMLElement} */ (event.target).closest?.("form[data-plan]");
    if (form instanceof HTMLFormElement) keep(form);
  });
  document.addEventListener("baton:sent", (event) => {
    const form = /** @type {CustomEvent} */ (event).detail;
    if (!form.matches("form[data-plan]")) return;
    sessionStorage.removeItem(STORED + form.dataset.plan);
    // A fresh one comes with the answer.
    form.closest("details")?.remove();
  });
  return () => {
    for (const form of document.querySelectorAll("form[data-plan]:not([data-own-plan])")) {
      form.setAttribute("data-own-plan", "");
      restore(/** @type {HTMLFormElement} */ (form));
    }
  };
}
