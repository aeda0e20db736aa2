// Live updates. Each event lists the ids it concerns; if the page shows one of them, it fetches its live part and
// applies the differences.

import { morph } from "./morph.js";
import { notify, toast } from "./notices.js";
import { leave, listen } from "./stream.js";

/** Events within this time cause one update. */
const GATHER_MS = 50;
/** Shortest interval between updates. */
const EVERY_MS = 250;
/** Longest time updates wait while the pointer is down, so that nothing moves under a click or selection. */
const PRESSED_MS = 5000;

let seq = "0";
/** The last announced number of things that wait. */
let waiting = "";
let isDue = false;
let isAsking = false;
let askedAt = 0;
/** When the pointer went down; 0 while it is up. */
let pressedAt = 0;

export const main = () => /** @type {HTMLElement} */ (document.getElementById("main"));

export function follow() {
  seq = main().dataset.seq ?? "0";
  waiting = main().dataset.waiting ?? "";
  const listener = { seq: () => seq, heard, line, behind: refresh };
  listen(listener);
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    listen(listener);
    refresh();
  });
  window.addEventListener("pagehide", leave);
  window.addEventListener("pointerdown", () => (pressedAt = Date.now()), true);
  for (const up of ["pointerup", "pointercancel", "blur"]) window.addEventListener(up, () => (pressedAt = 0), true);
}

/** @param {string} text @param {boolean} isOff */
function line(text, isOff) {
  const place = document.getElementById("line");
  if (!place || place.textContent === text) return;
  place.textContent = text;
  place.classList.toggle("off", isOff);
  // The foot may be out of sight.
  const away = document.getElementById("away");
  if (away) away.hidden = !isOff;
}

/** @param {string} id @param {import("./stream.js").News} news */
function heard(id, news) {
  if (Number(id) > Number(seq)) seq = id;
  if (news.event === "turns" && !document.querySelector("[data-turns]")) return;
  if (news.event === "landing" && !document.querySelector("[data-landing]")) return;
  if (news.notice) notify(news.notice);
  const about = (main().dataset.about ?? "").split(" ").filter(Boolean);
  const concerns = about.length === 0 || news.about.some((each) => about.includes(each)) || news.event.startsWith("question_") || news.event === "services";
  if (concerns) refresh();
}

/** Schedules one update for all events so far. */
export function refresh() {
  if (isDue) return;
  isDue = true;
  const rest = Math.max(GATHER_MS, askedAt + EVERY_MS - Date.now());
  setTimeout(ask, rest);
}

async function ask() {
  if (isAsking) {
    setTimeout(ask, GATHER_MS);
    return;
  }
  isDue = false;
  isAsking = true;
  askedAt = Date.now();
  try {
    const answer = await fetch(location.href, { headers: headers() });
    if (answer.ok) {
      const html = await answer.text();
      await released();
      take(html);
    } else if (answer.status === 401) location.reload();
  } catch {
    // The server is unreachable. The stream reconnects and reports what was missed.
  } finally {
    isAsking = false;
  }
}

async function released() {
  while (Date.now() - pressedAt < PRESSED_MS) await new Promise((go) => setTimeout(go, GATHER_MS));
}

/** Asks for the live part only, and lists the questions shown. */
export function headers() {
  const shown = [...document.querySelectorAll("#questions [data-question]")].map((card) => card.getAttribute("data-question"));
  return { "x-baton-fragment": "1", "x-baton-shown": shown.slice(0, 200).join(",") };
}

/** Says how much waits to those who cannot see it change. @param {string} count */
function tell(count) {
  if (count === waiting) return;
  waiting = count;
  const place = document.getElementById("told");
  if (place) place.textContent = count === "0" ? "Nothing waits for you." : count === "1" ? "1 thing waits for you." : `${count} things wait for you.`;
}

/** Takes over what differs. @param {string} html */
export function take(html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  for (const id of ["nav", "main"]) {
    const [old, next] = [document.getElementById(id), fresh.content.querySelector(`#${id}`)];
    if (old && next) morph(old, next);
  }
  const { waiting: count = "0", title = "" } = main().dataset;
  tell(count);
  document.title = `${count === "0" ? "" : `(${count}) `}${title} · Baton`;
  const icon = /** @type {HTMLLinkElement | null} */ (document.getElementById("icon"));
  if (icon && !icon.href.endsWith(`/badge/${count}.svg`)) icon.href = `/badge/${count}.svg`;
  document.dispatchEvent(new CustomEvent("baton:changed"));
}

export { toast };
