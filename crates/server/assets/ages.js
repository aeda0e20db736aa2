// Keeps ages ("3 min") current without asking the server.

const EVERY_MS = 15_000;

/** The same words the server uses. @param {number} ms */
export function span(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return two(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  return two(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}

/** @param {number} large @param {string} unit @param {number} small @param {string} smallUnit */
function two(large, unit, small, smallUnit) {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** How a moment is told: how old it is, how long ago it was, or how long until it comes. @type {Record<string, (ms: number) => string>} */
const WORDS = {
  old: span,
  ago: (ms) => (ms < 1000 ? "just now" : `${span(ms)} ago`),
  left: (ms) => span(-ms),
};

export function keepAges() {
  setInterval(() => {
    if (document.hidden) return;
    for (const time of document.querySelectorAll("time[data-age]")) {
      const words = WORDS[time.getAttribute("data-age") ?? ""] ?? span;
      const text = words(Date.now() - Date.parse(time.getAttribute("datetime") ?? ""));
      if (time.textContent !== text) time.textContent = text;
    }
  }, EVERY_MS);
}
