// One stream of events for all the tabs of a browser: it allows few connections to one server, and each stream holds one.
// Whoever has the lock has the stream, and hands on what it hears; when that tab goes, the next one takes over. Where a
// browser has no locks, each tab has a stream of its own.

/** @typedef {{ event: string, about: string[], notice?: { title: string, text: string, address: string } }} News */
/**
 * @typedef {object} Listener
 * @property {() => string} seq the number of the last event this tab knows of
 * @property {(id: string, news: News) => void} heard
 * @property {() => void} behind something may have been missed
 * @property {(text: string, isOff: boolean) => void} line how the connection is
 */

const NAME = "baton-live";
/** After the stream was refused, how long until it is tried again; doubled up to the second. */
const AGAIN_MS = [1000, 15_000];

/** @type {Listener} */
let listener;
/** @type {EventSource | null} */
let source = null;
/** @type {BroadcastChannel | null} */
let others = null;
/** Gives the lock back, or stops waiting for it. @type {AbortController | null} */
let turn = null;
let wait = AGAIN_MS[0];
/** How the connection is, for tabs that come later. */
let state = { text: "", isOff: false };

/** @param {Listener} wanted */
export function listen(wanted) {
  listener = wanted;
  if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
    open();
    return;
  }
  others = new BroadcastChannel(NAME);
  others.onmessage = ({ data }) => (source ? asked(data) : told(data));
  others.postMessage({ ask: true });
  const { signal } = (turn = new AbortController());
  const until = new Promise((done) => signal.addEventListener("abort", done));
  // Refused when this tab goes before its turn came.
  navigator.locks.request(NAME, { signal }, () => (open(), until)).catch(() => {});
}

/** Lets the next tab have it. */
export function leave() {
  source?.close();
  source = null;
  others?.close();
  others = null;
  turn?.abort();
  turn = null;
}

function open() {
  source?.close();
  source = new EventSource(`/live?after=${listener.seq()}`);
  const mine = source;
  source.onopen = () => {
    wait = AGAIN_MS[0];
    say("live", false);
  };
  source.onmessage = (event) => {
    // What is not in the history has no number; the browser repeats the last one.
    const news = /** @type {News} */ (JSON.parse(event.data));
    listener.heard(event.lastEventId, news);
    others?.postMessage({ id: event.lastEventId, news });
  };
  source.onerror = () => {
    say("connection lost; trying again…", true);
    // While it is connecting, the browser tries by itself. A refusal is final for it, not for us.
    if (mine.readyState !== EventSource.CLOSED) return;
    setTimeout(() => source === mine && open(), wait);
    wait = Math.min(wait * 2, AGAIN_MS[1]);
  };
}

/** @param {string} text @param {boolean} isOff */
function say(text, isOff) {
  state = { text, isOff };
  listener.line(text, isOff);
  others?.postMessage({ state, seq: listener.seq() });
}

/** A tab wants to know how it is. @param {{ ask?: boolean }} message */
function asked(message) {
  if (message.ask) others?.postMessage({ state, seq: listener.seq() });
}

/** @param {{ id?: string, news?: News, state?: { text: string, isOff: boolean }, seq?: string }} message */
function told(message) {
  if (message.news) listener.heard(message.id ?? "", message.news);
  if (!message.state) return;
  listener.line(message.state.text, message.state.isOff);
  // It was told of more than this tab was, before this tab listened.
  if (Number(message.seq) > Number(listener.seq())) listener.behind();
}
