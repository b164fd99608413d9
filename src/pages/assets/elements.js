// Finds the elements that a page is made with.

/**
 * Returns the element with an id; throws if the page has none.
 * @param {string} id
 */
export function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * Returns the input field with an id; throws if the page has none.
 * @param {string} id
 */
export function inputField(id) {
  const found = element(id);
  if (found instanceof HTMLInputElement) return found;
  throw new Error(`#${id} is not an input field`);
}
