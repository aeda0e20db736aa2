// Keeps unsent text across reloads.

const PREFIX = "baton-draft-";

/** @param {Element} field */
const nameOf = (field) => PREFIX + field.getAttribute("data-draft");

/** @param {Element} field */
export function clearDraft(field) {
  sessionStorage.removeItem(nameOf(field));
  /** @type {HTMLTextAreaElement} */ (field).value = "";
}

export function keepDrafts() {
  document.addEventListener("input", (event) => {
    const field = /** @type {HTMLTextAreaElement} */ (event.target);
    if (!field.hasAttribute?.("data-draft")) return;
    if (field.value) sessionStorage.setItem(nameOf(field), field.value);
    else sessionStorage.removeItem(nameOf(field));
  });
  return () => {
    for (const field of document.querySelectorAll("textarea[data-draft]")) {
      const kept = sessionStorage.getItem(nameOf(field));
      const area = /** @type {HTMLTextAreaElement} */ (field);
      if (kept && !area.value) area.value = kept;
    }
    showLate();
  };
}

/** A question was answered elsewhere while an answer was being typed here: show the text. */
function showLate() {
  for (const card of document.querySelectorAll(".question.closed[data-question]")) {
    const name = PREFIX + card.getAttribute("data-question");
    const kept = sessionStorage.getItem(name);
    if (!kept || card.querySelector("[data-own-key]")) continue;
    const note = document.createElement("p");
    note.className = "muted";
    note.setAttribute("data-own-key", "late");
    note.textContent = `Draft: ${kept}`;
    card.append(note);
    sessionStorage.removeItem(name);
  }
}
