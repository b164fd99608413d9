// Makes what is on the page what it should be by changing only what differs.

/**
 * Children with a key, or an id, keep their element wherever they move; `onArrival` is told of those that are new. What a
 * reader opened or closed stays so, until `data-open` says otherwise than before.
 */
export function matchChildren(parent, nextParent, onArrival) {
  const keyed = new Map();
  for (const child of parent.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  const wanted = new Set([...nextParent.children].map(keyOf));
  let place = parent.firstChild;
  for (const next of nextParent.childNodes) {
    // What goes is in nobody's place.
    while (place && keyOf(place) && !wanted.has(keyOf(place))) place = removed(place);
    const key = keyOf(next);
    const known = key ? keyed.get(key) : isAlike(place, next) ? place : undefined;
    // Of two things of one name each is told.
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
  // Told in the reader's zone by now.
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
