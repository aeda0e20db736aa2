// One event stream for all tabs of a browser, because browsers limit connections per server. The tab that holds the lock
// owns the stream and forwards events; when it closes, the next tab takes over. Without the Locks API each tab has its own
// stream.

/** @typedef {{ event: string, about: string[], notice?: { title: string, text: string, address: string } }} News */
/**
 * @typedef {object} Listener
 * @property {() => string} seq sequence number of the last event this tab knows
 * @property {(id: string, news: News) => void} heard
 * @property {() => void} behind something may have been missed
 * @property {(text: string, isOff: boolean) => void} line connection state
 */

const NAME = "baton-live";
/** Delay before reconnecting; doubled up to the second value. */
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
/** Connection state, for tabs that open later. */
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
  // Rejected when this tab closes first.
  navigator.locks.request(NAME, { signal }, () => (open(), until)).catch(() => {});
}

/** Releases the lock. */
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
    // Messages without an id repeat the last one.
    const news = /** @type {News} */ (JSON.parse(event.data));
    listener.heard(event.lastEventId, news);
    others?.postMessage({ id: event.lastEventId, news });
  };
  source.onerror = () => {
    say("connection lost; trying again…", true);
    // The browser reconnects by itself, except after an HTTP error; then we do.
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
  // The owner is ahead of this tab.
  if (Number(message.seq) > Number(listener.seq())) listener.behind();
}
