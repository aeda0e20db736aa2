// Opens decisions as dialogs over the page.

import { toast } from "./notices.js";

const sheet = () => /** @type {HTMLDialogElement} */ (document.getElementById("sheet"));

export function openSheets() {
  document.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const link = target.closest?.("a[data-sheet]");
    if (link instanceof HTMLAnchorElement && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      open(link.href, link.dataset.sheet !== "away");
    } else if (target.closest?.("dialog [data-close]")) {
      event.preventDefault();
      target.closest("dialog")?.close();
    } else if (target instanceof HTMLDialogElement && target.id !== "palette") {
      target.close();
    }
  });
}

/** @param {string} address @param {boolean} comesBack whether its form leads to the page below it */
async function open(address, comesBack) {
  try {
    const answer = await fetch(address, { headers: { "x-baton-fragment": "1" } });
    const page = document.createElement("template");
    page.innerHTML = await answer.text();
    const body = page.content.querySelector(".sheet");
    if (!body) {
      location.assign(address);
      return;
    }
    if (comesBack) for (const form of body.querySelectorAll("form")) form.append(comeBack());
    sheet().replaceChildren(body);
    sheet().showModal();
  } catch {
    toast("Cannot reach the server.", true);
  }
}

/** A dialog's form redirects to the page below it. */
function comeBack() {
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: "next", value: location.pathname + location.search });
  return field;
}
