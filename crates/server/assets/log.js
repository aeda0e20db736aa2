// The log viewer. Only visible lines are in the DOM; the rest is text in memory.

import { pieces } from "./ansi.js";

const LINE_PX = 18;
/** Lines rendered above and below the visible ones. */
const MARGIN = 30;
/** The tallest element browsers lay out reliably; longer logs are scaled. */
const HEIGHT_MAX = 8_000_000;
/** Delay before a retry. */
const AGAIN_MS = 2000;

const VOICES = /** @type {Record<string, string>} */ ({ out: "out", err: "err", rep: "rep", "***": "own" });

/** @type {Viewer | null} */
let viewer = null;

/** @param {Record<string, (button: HTMLElement) => void>} deeds */
export function showLog(deeds) {
  deeds["log-next"] = () => viewer?.step(1);
  deeds["log-previous"] = () => viewer?.step(-1);
  return () => {
    const place = document.getElementById("log");
    if (viewer?.place === place) return;
    viewer?.stop();
    viewer = place ? new Viewer(place) : null;
  };
}

class Viewer {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {string[]} */
    this.lines = [];
    this.rest = "";
    this.from = 0;
    this.isStopped = false;
    /** @type {number[]} */
    this.matches = [];
    this.match = -1;
    this.wanted = "";
    this.isDrawing = false;
    this.decoder = new TextDecoder();
    this.space = document.createElement("div");
    this.space.className = "space";
    this.shown = document.createElement("div");
    this.shown.className = "lines";
    this.space.append(this.shown);
    place.replaceChildren(this.space);
    place.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.follow = /** @type {HTMLInputElement | null} */ (document.getElementById("log-follow"));
    this.field = /** @type {HTMLInputElement | null} */ (document.getElementById("log-search"));
    this.field?.addEventListener("input", () => this.search(this.field?.value ?? ""));
    this.field?.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    });
    new ResizeObserver(() => this.draw()).observe(place);
    this.read();
  }

  stop() {
    this.isStopped = true;
  }

  /** Reads to the end, then follows while the attempt runs. */
  async read() {
    let isLive = true;
    while (isLive && !this.isStopped) {
      // Browsers limit connections per server; hidden tabs do not hold one.
      const isAway = document.hidden;
      try {
        const answer = await fetch(`${this.place.dataset.source}&from=${this.from}${isAway ? "" : "&wait=1"}`);
        if (!answer.ok) throw new Error(String(answer.status));
        const bytes = await answer.arrayBuffer();
        this.from += bytes.byteLength;
        if (bytes.byteLength) this.add(this.decoder.decode(bytes, { stream: true }));
        else isLive = answer.headers.get("x-baton-live") === "true";
        if (isLive && isAway && !bytes.byteLength) await shown();
      } catch {
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
    if (this.lines.length === 0) this.place.textContent = "No output.";
    this.place.setAttribute("data-own-read", String(this.lines.length));
  }

  /** @param {string} text */
  add(text) {
    const parts = (this.rest + text).split("\n");
    this.rest = parts.pop() ?? "";
    const before = this.lines.length;
    for (const part of parts) this.lines.push(part);
    if (this.wanted) this.look(before);
    const size = document.getElementById("log-size");
    if (size) size.textContent = `${this.lines.length.toLocaleString()} lines`;
    this.space.style.height = `${Math.min(this.lines.length * LINE_PX, HEIGHT_MAX)}px`;
    if (this.follow?.checked) this.place.scrollTop = this.place.scrollHeight;
    this.draw();
  }

  /** Pixels of the log per pixel of the element. */
  scale() {
    const [whole, room] = [this.lines.length * LINE_PX - this.place.clientHeight, Math.min(this.lines.length * LINE_PX, HEIGHT_MAX) - this.place.clientHeight];
    return room > 0 ? Math.max(whole / room, 1) : 1;
  }

  scrolled() {
    const isAtEnd = this.place.scrollTop + this.place.clientHeight >= this.place.scrollHeight - LINE_PX;
    // Scrolling up stops following; scrolling to the end resumes it.
    if (this.follow && !this.isJumping) this.follow.checked = isAtEnd;
    this.draw();
  }

  draw() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      this.paint();
    });
  }

  paint() {
    const top = this.place.scrollTop * this.scale();
    const first = Math.max(Math.floor(top / LINE_PX) - MARGIN, 0);
    const last = Math.min(Math.ceil((top + this.place.clientHeight) / LINE_PX) + MARGIN, this.lines.length);
    const rows = document.createDocumentFragment();
    for (let index = first; index < last; index += 1) rows.append(this.line(index));
    this.shown.replaceChildren(rows);
    this.shown.style.transform = `translateY(${first * LINE_PX - top + this.place.scrollTop}px)`;
  }

  /** @param {number} index */
  line(index) {
    const text = this.lines[index];
    const row = document.createElement("div");
    const found = /^(\S+T(\S{12})\S*) (out|err|rep|\*\*\*) ?(.*)$/.exec(text);
    row.className = `line ${found ? VOICES[found[3]] : ""}`;
    if (this.wanted && text.toLowerCase().includes(this.wanted)) row.classList.add(this.matches[this.match] === index ? "at-match" : "match");
    if (found) {
      row.append(span("at", found[2].slice(0, 8)), span("who", found[3] === "***" ? "own" : found[3]));
      row.title = found[1];
    }
    for (const piece of pieces(found ? found[4] : text)) row.append(piece.class ? span(piece.class, piece.text) : piece.text);
    return row;
  }

  /** @param {string} text */
  search(text) {
    this.wanted = text.toLowerCase();
    [this.matches, this.match] = [[], -1];
    if (this.wanted) this.look(0);
    if (this.matches.length) this.step(1);
    this.tell();
    this.draw();
  }

  /** @param {number} from */
  look(from) {
    for (let index = from; index < this.lines.length; index += 1) {
      if (this.lines[index].toLowerCase().includes(this.wanted)) this.matches.push(index);
    }
    this.tell();
  }

  tell() {
    const place = document.getElementById("log-matches");
    if (place) place.textContent = this.wanted ? (this.matches.length ? `${this.match + 1} of ${this.matches.length}` : "not found") : "";
  }

  /** @param {number} by */
  step(by) {
    const count = this.matches.length;
    if (!count) return;
    this.match = (this.match + by + count) % count;
    if (this.follow) this.follow.checked = false;
    this.isJumping = true;
    this.place.scrollTop = (this.matches[this.match] * LINE_PX - this.place.clientHeight / 2) / this.scale();
    requestAnimationFrame(() => requestAnimationFrame(() => (this.isJumping = false)));
    this.tell();
    this.draw();
  }
}

/** @param {string} name @param {string} text */
function span(name, text) {
  const made = document.createElement("span");
  made.className = name;
  made.textContent = text;
  return made;
}

/** Resolves when the page becomes visible. */
function shown() {
  return new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}
