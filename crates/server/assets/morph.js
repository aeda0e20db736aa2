// Morphs an element into another, touching only what differs. Keeps focus, selection, unsent text, open details and
// scroll positions.

/** @param {Element} old @param {Element} fresh */
export function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old instanceof HTMLElement && old.dataset.keep && old.dataset.keep === fresh.getAttribute("data-keep")) return;
  attributes(old, fresh);
  if (old instanceof HTMLTextAreaElement) return;
  children(old, fresh);
}

/** Attributes that are the person's, once the element is on the page. @param {Element} element @param {string} name */
function isTheirs(element, name) {
  if (name === "open") return element instanceof HTMLDetailsElement;
  return (name === "value" || name === "checked") && element instanceof HTMLInputElement;
}

/** @param {Element} old @param {Element} fresh */
function attributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isTheirs(old, name) && !isScripts(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !isTheirs(old, name)) old.setAttribute(name, value);
  }
}

/** Attributes the script itself sets. @param {string} name */
function isScripts(name) {
  return name.startsWith("data-own-") || name === "tabindex";
}

/** What makes a child the same child after a change. @param {Node} node */
function key(node) {
  if (!(node instanceof Element)) return null;
  return node.id || node.getAttribute("data-own-key") || null;
}

/** @param {Node} a @param {Node} b */
function alike(a, b) {
  if (a.nodeType !== b.nodeType) return false;
  return !(a instanceof Element && b instanceof Element) || (a.tagName === b.tagName && key(a) === key(b));
}

/** Moves a child without losing its state, where the browser can. @param {Element} parent @param {Node} node @param {Node | null} before */
function place(parent, node, before) {
  const moving = /** @type {any} */ (parent);
  if (node.parentNode === parent && typeof moving.moveBefore === "function") moving.moveBefore(node, before);
  else parent.insertBefore(node, before);
}

/** @param {Element} old @param {Element} fresh */
function children(old, fresh) {
  const wanted = new Set([...fresh.children].map(key).filter(Boolean));
  // Remove first, so that remaining nodes need not move.
  for (const child of [...old.children]) {
    const own = key(child);
    if (own && !wanted.has(own) && !child.hasAttribute("data-own-key")) child.remove();
  }
  const known = new Map([...old.children].map((child) => [key(child), child]));
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    while (at instanceof Element && at.hasAttribute("data-own-key")) at = at.nextSibling;
    const own = key(next);
    const match = own ? known.get(own) : at && alike(at, next) ? at : null;
    if (!match) {
      old.insertBefore(next, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else place(old, match, at);
    if (match instanceof Element && next instanceof Element) morph(match, next);
    else if (match.nodeValue !== next.nodeValue) match.nodeValue = next.nodeValue;
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    if (!(gone instanceof Element && gone.hasAttribute("data-own-key"))) gone.remove();
  }
}
