// Comments on lines of a diff, collected into the rejection reason.

/** @typedef {{ file: string, line: string, code: string, text: string }} Comment */

const PREFIX = "baton-comments-";

export function commentOnLines() {
  document.addEventListener("baton:sent", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.id === "reject") sessionStorage.removeItem(name());
  });
  document.addEventListener("click", (event) => {
    const row = /** @type {HTMLElement} */ (event.target).closest?.("#diff[data-commentable] tr[data-line]");
    if (row instanceof HTMLTableRowElement && !getSelection()?.toString()) open(row, "").focus();
  });
  return () => {
    const diff = document.getElementById("diff");
    if (!diff?.hasAttribute("data-commentable") || diff.hasAttribute("data-own-ready")) return;
    diff.setAttribute("data-own-ready", "");
    for (const row of diff.querySelectorAll("tr[data-line]")) button(/** @type {HTMLTableRowElement} */ (row));
    for (const comment of kept()) {
      const row = find(diff, comment);
      if (row) open(row, comment.text);
    }
    gather();
  };
}

/** The number of a line is a button, for those who use keys. @param {HTMLTableRowElement} row */
function button(row) {
  // The new number, or the old one where the line is gone.
  const numbers = [...row.querySelectorAll(".number")].filter((each) => each.textContent);
  const cell = numbers.at(-1);
  if (!cell) return;
  const number = cell.textContent ?? "";
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = number;
  made.setAttribute("aria-label", `Comment on line ${number}`);
  cell.replaceChildren(made);
}

/** @param {Element} diff @param {Comment} comment */
function find(diff, comment) {
  const file = [...diff.querySelectorAll("[data-file]")].find((each) => each.getAttribute("data-file") === comment.file);
  const rows = [...(file?.querySelectorAll("tr[data-line]") ?? [])];
  const row = rows.find((each) => each.getAttribute("data-line") === comment.line && code(each) === comment.code);
  return row instanceof HTMLTableRowElement ? row : null;
}

/** @param {Element} row */
const code = (row) => [...row.querySelectorAll(".code")].filter((each) => each.textContent).at(-1)?.textContent?.slice(1) ?? "";

/** @param {HTMLTableRowElement} row @param {string} text */
function open(row, text) {
  const next = row.nextElementSibling;
  const known = next?.matches("tr.comment") ? next.querySelector("textarea") : null;
  if (known) return known;
  const made = document.createElement("tr");
  made.className = "comment";
  made.setAttribute("data-own-key", "comment");
  const cell = made.insertCell();
  cell.colSpan = row.cells.length;
  const area = document.createElement("textarea");
  Object.assign(area, { rows: 2, value: text, placeholder: "Comment on this line; it is added to the reason below." });
  area.setAttribute("aria-label", `Comment on line ${row.dataset.line}`);
  area.addEventListener("input", gather);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !area.value.trim()) made.remove();
  });
  cell.append(area);
  row.after(made);
  return area;
}

/** @returns {Comment[]} */
function written() {
  return [...document.querySelectorAll("#diff tr.comment")].flatMap((row) => {
    const line = row.previousElementSibling;
    const text = row.querySelector("textarea")?.value.trim() ?? "";
    const file = row.closest("[data-file]")?.getAttribute("data-file") ?? "";
    return text && line ? [{ file, line: line.getAttribute("data-line") ?? "", code: code(line), text }] : [];
  });
}

const name = () => PREFIX + (document.getElementById("diff")?.dataset.task ?? "");

/** @returns {Comment[]} */
function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(name()) ?? "[]");
  } catch {
    return [];
  }
}

/** Writes the comments into the reason, below the typed text. */
function gather() {
  const area = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("reject-reason"));
  if (!area) return;
  const comments = written();
  sessionStorage.setItem(name(), JSON.stringify(comments));
  const count = document.getElementById("comments-count");
  if (count) count.textContent = comments.length === 0 ? "Click a line to comment on it." : comments.length === 1 ? "1 comment." : `${comments.length} comments.`;
  const own = area.value.split("\n\nOn the changes:\n")[0].replace(/^On the changes:\n[\s\S]*$/, "");
  const lines = comments.map(({ file, line, code, text }) => `- ${file}:${line} \`${code.trim()}\`: ${text}`);
  if (!lines.length) {
    if (area.value !== own) area.value = own;
    return;
  }
  area.value = [own, `On the changes:\n${lines.join("\n")}`].filter(Boolean).join("\n\n");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}
