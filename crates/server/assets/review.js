// The review of a diff: files that were looked at are folded, and no comment is lost by accepting.

const PREFIX = "baton-viewed-";

const name = () => PREFIX + (document.getElementById("diff")?.dataset.task ?? "");

/** @returns {Record<string, string>} The text of each file when it was looked at. */
function viewed() {
  try {
    return JSON.parse(sessionStorage.getItem(name()) ?? "{}");
  } catch {
    return {};
  }
}

/** What the file shows, briefly: a file that changed since has to be looked at again. @param {Element} file */
function digest(file) {
  let sum = 0;
  for (const code of file.querySelectorAll(".code")) for (const c of code.textContent ?? "") sum = (sum * 31 + (c.codePointAt(0) ?? 0)) | 0;
  return String(sum);
}

export function keepViewed() {
  document.addEventListener("change", (event) => {
    const box = /** @type {HTMLInputElement} */ (event.target);
    if (!box.matches?.("[data-viewed]")) return;
    const file = box.closest(".file");
    if (!file) return;
    const known = viewed();
    if (box.checked) known[box.dataset.viewed ?? ""] = digest(file);
    else delete known[box.dataset.viewed ?? ""];
    sessionStorage.setItem(name(), JSON.stringify(known));
    file.toggleAttribute("data-own-folded", box.checked);
  });
  document.addEventListener(
    "submit",
    (event) => {
      const form = /** @type {HTMLFormElement} */ (event.target);
      const unsent = document.querySelectorAll("#diff tr.comment textarea").length;
      const isAccept = form.closest(".review-bar") && form.id !== "reject";
      if (isAccept && unsent && !confirm("Accept without your comments? They would not be sent.")) {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    },
    true,
  );
  return () => {
    const known = viewed();
    for (const box of document.querySelectorAll("[data-viewed]")) {
      const file = box.closest(".file");
      if (!(box instanceof HTMLInputElement) || !file) continue;
      box.checked = known[box.dataset.viewed ?? ""] === digest(file);
      file.toggleAttribute("data-own-folded", box.checked);
    }
  };
}
