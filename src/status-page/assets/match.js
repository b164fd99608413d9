// Updates a page by changing only what differs.

/**
 * Makes the children of an element like those of another. A child with a key or an id keeps its
 * element wherever it moves; calls `onArrival` with new ones. An element that a reader opened or
 * closed stays so until `data-open` changes.
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
      if (key) onArrival(arrived);
    } else {
      if (known === place) place = place.nextSibling;
      else parent.insertBefore(known, place);
      match(known, next, onArrival);
    }
  }
  while (place) place = removed(place);
}

function match(node, next, onArrival) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== next.data) node.data = next.data;
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  // The page shows it in the zone of the reader.
  const isSameTime = node.localName === 'time' && node.dateTime === next.dateTime;
  const keepsOpen = node.localName === 'details' && node.dataset.open === next.dataset.open;
  const isKept = (name) => (keepsOpen && name === 'open') || (isSameTime && name === 'title');
  for (const name of node.getAttributeNames())
    if (!next.hasAttribute(name) && !isKept(name)) node.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (node.getAttribute(name) !== value && !isKept(name)) node.setAttribute(name, value);
  if (!isSameTime) matchChildren(node, next, onArrival);
}

function removed(node) {
  const after = node.nextSibling;
  node.remove();
  return after;
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.dataset?.key || node.id || undefined : undefined;
}

function isAlike(node, next) {
  return node && !keyOf(node) && node.nodeType === next.nodeType && node.nodeName === next.nodeName;
}
