// Ctrl K: the command palette for pages and tasks.

/** @typedef {{ text: string, hint: string, address: string }} Entry */

const WAIT_MS = 120;

/** @type {Entry[]} */
let entries = [];
let at = 0;
let asked = 0;

const dialog = () => /** @type {HTMLDialogElement} */ (document.getElementById("palette"));

export function openPalette() {
  const box = dialog();
  if (box.open) return;
  if (!box.firstElementChild) build(box);
  const field = /** @type {HTMLInputElement} */ (box.querySelector("input"));
  field.value = "";
  box.showModal();
  find("");
}

/** @param {Record<string, (button: HTMLElement) => void>} deeds */
export function offerPalette(deeds) {
  deeds.palette = openPalette;
}

/** @param {HTMLDialogElement} box */
function build(box) {
  box.innerHTML =
    '<input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-label="Go to" placeholder="A task, a page…" autocomplete="off"><div id="palette-list" role="listbox" aria-label="Places"></div>';
  const field = /** @type {HTMLInputElement} */ (box.querySelector("input"));
  field.addEventListener("input", () => find(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      at = (at + (event.key === "ArrowDown" ? 1 : -1) + entries.length) % Math.max(entries.length, 1);
      draw();
      event.preventDefault();
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(entries[at]);
    }
  });
  box.addEventListener("click", (event) => {
    const option = /** @type {HTMLElement} */ (event.target).closest("[role=option]");
    if (option) go(entries[Number(option.id.split("-")[2])]);
    else if (event.target === box) box.close();
  });
}

/** @param {Entry | undefined} entry */
function go(entry) {
  if (!entry) return;
  dialog().close();
  location.assign(entry.address);
}

/** The pages first, then what the server finds. @param {string} text */
function find(text) {
  const wanted = text.trim().toLowerCase();
  const places = [...document.querySelectorAll("#nav ul a")].map((link) => ({
    text: link.querySelector(".word")?.textContent ?? "",
    hint: `g ${link.getAttribute("data-chord")}`,
    address: link.getAttribute("href") ?? "/",
  }));
  places.push({ text: "New task", hint: "", address: "/tasks/new" }, { text: "Keyboard shortcuts", hint: "?", address: "/help" });
  entries = places.filter((place) => place.text.toLowerCase().includes(wanted));
  at = 0;
  draw();
  const mine = ++asked;
  if (wanted) setTimeout(() => mine === asked && search(wanted, mine), WAIT_MS);
}

/** @param {string} wanted @param {number} mine */
async function search(wanted, mine) {
  try {
    const answer = await fetch(`/search?q=${encodeURIComponent(wanted)}`);
    const found = answer.ok ? await answer.json() : { entries: [] };
    if (mine !== asked) return;
    entries = [...entries, ...found.entries];
    draw();
  } catch {
    // Pages are still listed.
  }
}

function draw() {
  const list = dialog().querySelector("[role=listbox]");
  const field = dialog().querySelector("input");
  list?.replaceChildren(
    ...entries.map((entry, index) => {
      const option = document.createElement("div");
      option.id = `palette-option-${index}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", String(index === at));
      const hint = document.createElement("span");
      hint.className = "hint";
      hint.textContent = entry.hint;
      option.append(entry.text, hint);
      return option;
    }),
  );
  field?.setAttribute("aria-activedescendant", `palette-option-${at}`);
  list?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
}
