// Creates elements from texts. Nothing here parses markup, so that no text becomes markup.

/**
 * Matches invisible and bidirectional characters, by which a name could pass for another one.
 */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/**
 * @param {unknown} value
 */
export function visibleText(value) {
  return String(value).replace(unseen, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/**
 * Creates an element; undefined, null, false and empty attributes and children are left out.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {import('../console-types.js').Attributes} attributes
 * @param {import('../console-types.js').Child[]} children
 */
export function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? '' : value);
  made.append(...nodesOf(children));
  return made;
}

/**
 * @param {import('../console-types.js').Child[]} children
 */
export function fragment(...children) {
  const made = document.createDocumentFragment();
  made.append(...nodesOf(children));
  return made;
}

/**
 * @param {readonly import('../console-types.js').Child[]} children
 * @returns {(Node | string)[]}
 */
function nodesOf(children) {
  return children.flatMap((child) => {
    if (child instanceof Node) return [child];
    if (isList(child)) return nodesOf(child);
    return child === undefined || child === null || child === false || child === '' ? [] : [visibleText(child)];
  });
}

/**
 * @param {import('../console-types.js').Child} child
 * @returns {child is readonly import('../console-types.js').Child[]}
 */
function isList(child) {
  return Array.isArray(child);
}

/**
 * Creates an icon; screen readers get the word beside it.
 * @param {string} level
 */
export function levelIcon(level) {
  const space = 'http://www.w3.org/2000/svg';
  const made = document.createElementNS(space, 'svg');
  made.setAttribute('class', 'icon');
  made.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(space, 'use');
  use.setAttribute('href', `#icon-${level}`);
  made.append(use);
  return made;
}

/**
 * @param {string} level
 * @param {string} word
 */
export function mark(level, word) {
  return make('span', { class: `state ${level}` }, levelIcon(level), word);
}

/**
 * Renders a date as an age or a time; an invalid date as it is.
 * @param {string} date
 * @param {'age' | 'clock'} show
 */
export function timeElement(date, show) {
  if (Number.isNaN(Date.parse(date))) return visibleText(date);
  return make('time', { datetime: date, 'data-show': show });
}

/**
 * Formats JSON for people.
 * @param {unknown} value
 */
export function code(value) {
  return make('pre', {}, make('code', {}, typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)));
}
