// Toasts on the page, and desktop notifications while it is hidden.

const SHOWN_MS = 8000;

/** @param {string} text @param {boolean} [isBad] @param {number} [shown] */
export function toast(text, isBad = false, shown = SHOWN_MS) {
  const place = document.getElementById("toasts");
  if (!place) return null;
  const line = document.createElement("p");
  line.className = isBad ? "toast bad" : "toast";
  line.textContent = text;
  place.append(line);
  setTimeout(() => line.remove(), Math.max(0, shown));
  return line;
}

const isPossible = "Notification" in window;

/** @param {{ title: string, text: string, address: string }} notice */
export function notify(notice) {
  if (!isPossible || Notification.permission !== "granted" || !document.hidden) return;
  // One tag per address: several open tabs show it once.
  const shown = new Notification(notice.title, { body: notice.text, tag: notice.address, icon: "/badge/0.svg" });
  shown.onclick = () => {
    window.focus();
    location.assign(notice.address);
    shown.close();
  };
}

/** @param {Record<string, (button: HTMLElement) => void>} deeds */
export function offerNotices(deeds) {
  const button = document.querySelector("[data-do=notify]");
  if (!(button instanceof HTMLElement) || !isPossible || Notification.permission !== "default") return;
  button.hidden = false;
  deeds.notify = async () => {
    const answer = await Notification.requestPermission();
    button.hidden = answer !== "default";
    toast(answer === "granted" ? "Notifications are on." : "Notifications are off.");
  };
}
