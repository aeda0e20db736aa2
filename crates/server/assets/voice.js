// Dictation, if the browser supports speech recognition.

import { toast } from "./notices.js";

const Recognition = /** @type {any} */ (window).SpeechRecognition ?? /** @type {any} */ (window).webkitSpeechRecognition;

/** @type {any} */
let listening = null;

/** @param {Record<string, (button: HTMLElement) => void>} deeds */
export function offerVoice(deeds) {
  deeds.voice = (button) => {
    if (listening) listening.stop();
    else listen(button);
  };
  return () => {
    if (!Recognition) return;
    for (const button of document.querySelectorAll("[data-do=voice]")) /** @type {HTMLElement} */ (button).hidden = false;
  };
}

/** @param {HTMLElement} button */
function listen(button) {
  const area = button.closest("form")?.querySelector("textarea");
  if (!area) return;
  const before = area.value;
  listening = new Recognition();
  Object.assign(listening, { lang: navigator.language, continuous: true, interimResults: true });
  listening.onresult = (/** @type {any} */ event) => {
    const heard = [...event.results].map((result) => result[0].transcript).join("");
    area.value = [before, heard.trim()].filter(Boolean).join(" ");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };
  listening.onerror = (/** @type {any} */ event) => toast(`Nothing was heard (${event.error}).`, true);
  listening.onend = () => {
    listening = null;
    button.textContent = "Dictate";
    area.focus();
  };
  listening.start();
  button.textContent = "Stop";
}
