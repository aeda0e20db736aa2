// Entry point. Pages work without scripts; with them they update live and have keyboard shortcuts.

import { keepAges } from "./ages.js";
import { selectRows } from "./bulk.js";
import { commentOnLines } from "./comments.js";
import { openSheets } from "./dialogs.js";
import { keepDrafts } from "./drafts.js";
import { filterRows } from "./filter.js";
import { offerFiles, postForms } from "./forms.js";
import { followKeys } from "./keys.js";
import { follow } from "./live.js";
import { showLog } from "./log.js";
import { offerNotices } from "./notices.js";
import { offerPalette } from "./palette.js";
import { editPlans } from "./plan.js";
import { keepViewed } from "./review.js";
import { stayAtEnd } from "./thread.js";
import { choose, keepDecisions, openFirst } from "./undo.js";
import { offerVoice } from "./voice.js";

/** What a `data-do` button does. @type {Record<string, (button: HTMLElement) => void>} */
const deeds = {
  theme: switchTheme,
  keys: () => /** @type {HTMLDialogElement} */ (document.getElementById("keys")).showModal(),
};

function switchTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try {
    localStorage.setItem("baton-theme", root.dataset.theme);
  } catch {
    // Without storage the choice lasts for this page only.
  }
}

document.addEventListener("click", (event) => {
  const row = /** @type {HTMLElement} */ (event.target).closest?.(".waiting [data-row]");
  if (row && !(/** @type {HTMLElement} */ (event.target).closest("a, button, textarea, input, summary"))) choose(row);
  const button = /** @type {HTMLElement} */ (event.target).closest?.("[data-do]");
  if (button instanceof HTMLElement) deeds[button.dataset.do ?? ""]?.(button);
});

// Runs again whenever the page was patched.
const again = [keepDrafts(), filterRows(), selectRows(), commentOnLines(), keepViewed(), offerFiles(), offerVoice(deeds), showLog(deeds), stayAtEnd(), openFirst(), editPlans()];
for (const part of again) part();
document.addEventListener("baton:changed", () => again.forEach((part) => part()));

keepAges();
openSheets();
postForms();
offerPalette(deeds);
offerNotices(deeds);
followKeys();
follow();
keepDecisions();
