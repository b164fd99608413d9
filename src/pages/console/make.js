// Makes elements of texts. Nothing here reads markup, so that a name cannot become any.

/**
 * Characters that are not seen, or turn the order of others round: a name must not pass for another
 * one.
 */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/**
 * @param {unknown} value
 */
export function plain(value) {
  return String(value).replace(unseen, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/**
 * Makes an element; attributes and children that are undefined, null, false or empty are left out.
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
export function together(...children) {
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
    return child === undefined || child === null || child === false || child === '' ? [] : [plain(child)];
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
 * A sign by shape and colour; the word beside it is for those who do not see it.
 * @param {string} level
 */
export function sign(level) {
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
  return make('span', { class: `state ${level}` }, sign(level), word);
}

/**
 * A moment, told as an age or as a clock has it; without a valid date, what came in its place.
 * @param {string} date
 * @param {'age' | 'clock'} show
 */
export function moment(date, show) {
  if (Number.isNaN(Date.parse(date))) return plain(date);
  return make('time', { datetime: date, 'data-show': show });
}

/**
 * JSON as people read it.
 * @param {unknown} value
 */
export function code(value) {
  return make('pre', {}, make('code', {}, typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)));
}
