// Selecting several rows of a list: how many are selected, all at once, and a range with Shift.

/** The box that was clicked last. @type {HTMLInputElement | null} */
let last = null;

const boxes = () => /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll(".list input[name=task]")]);

function count() {
  const form = document.querySelector("[data-bulk]");
  if (!form) return;
  const chosen = boxes().filter((box) => box.checked).length;
  form.toggleAttribute("data-own-some", chosen > 0);
  const place = form.querySelector("#selected");
  const text = chosen ? `${chosen} selected` : "";
  if (place && place.textContent !== text) place.textContent = text;
  const all = /** @type {HTMLInputElement | null} */ (form.querySelector("[data-all]"));
  if (all) all.checked = chosen > 0 && chosen === boxes().length;
}

export function selectRows() {
  document.addEventListener("click", (event) => {
    const box = /** @type {HTMLElement} */ (event.target);
    if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
    if (box.matches("[data-all]")) for (const each of boxes()) each.checked = box.checked;
    else if (box.matches(".list input[name=task]")) {
      const all = boxes();
      const [from, to] = [last ? all.indexOf(last) : -1, all.indexOf(box)];
      if (event.shiftKey && from >= 0) for (const each of all.slice(Math.min(from, to), Math.max(from, to) + 1)) each.checked = box.checked;
      last = box;
    }
    count();
  });
  document.addEventListener("baton:sent", () => setTimeout(count));
  return count;
}
