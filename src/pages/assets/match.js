// Updates a page by changing only what differs.

/**
 * Makes the children of an element like those of another. A child with a key or an id keeps its
 * element wherever it moves; calls `onArrival` with new ones. An element that a reader opened or
 * closed stays so until `data-open` changes.
 * @param {ParentNode & Node} parent
 * @param {ParentNode & Node} nextParent
 * @param {(arrived: Element) => void} onArrival
 */
export function matchChildren(parent, nextParent, onArrival) {
  const keyed = new Map();
  for (const child of parent.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  const wanted = new Set([...nextParent.children].map(keyOf));
  let place = parent.firstChild;
  for (const next of nextParent.childNodes) {
    // Removed first, so that the next one needs no move.
    while (place && keyOf(place) && !wanted.has(keyOf(place))) place = removed(place);
    const key = keyOf(next);
    const known = key ? keyed.get(key) : isAlike(place, next) ? place : undefined;
    // A second child with the same key is a new one.
    keyed.delete(key);
    if (!known) {
      const arrived = document.importNode(next, true);
      parent.insertBefore(arrived, place);
      if (arrived instanceof Element && key) onArrival(arrived);
    } else {
      if (known === place) place = known.nextSibling;
      else parent.insertBefore(known, place);
      match(known, next, onArrival);
    }
  }
  while (place) place = removed(place);
}

/**
 * @param {Node} node
 * @param {Node} next
 * @param {(arrived: Element) => void} onArrival
 */
function match(node, next, onArrival) {
  if (node instanceof Text && next instanceof Text) {
    if (node.data !== next.data) node.data = next.data;
    return;
  }
  if (!(node instanceof Element && next instanceof Element)) return;
  /** @param {string} name */
  const isSame = (name) => node.getAttribute(name) === next.getAttribute(name);
  // The page shows it in the zone of the reader.
  const isSameTime = node.localName === 'time' && isSame('datetime');
  const keepsOpen = node.localName === 'details' && isSame('data-open');
  /** @param {string} name */
  const isKept = (name) => (keepsOpen && name === 'open') || (isSameTime && name === 'title');
  for (const name of node.getAttributeNames())
    if (!next.hasAttribute(name) && !isKept(name)) node.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (!isSame(name) && !isKept(name)) node.setAttribute(name, value);
  if (!isSameTime) matchChildren(node, next, onArrival);
}

/**
 * @param {ChildNode} node
 */
function removed(node) {
  const after = node.nextSibling;
  node.remove();
  return after;
}

/**
 * @param {Node} node
 */
function keyOf(node) {
  return node instanceof Element ? node.getAttribute('data-key') || node.id || undefined : undefined;
}

/**
 * @param {Node | null} node
 * @param {Node} next
 */
function isAlike(node, next) {
  return node && !keyOf(node) && node.nodeType === next.nodeType && node.nodeName === next.nodeName;
}
