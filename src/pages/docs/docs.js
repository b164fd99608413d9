// Shows, searches and tries the operations of the gateway. Typed values stay in the fields.

import { element, inputField } from './elements.js';
import { make } from './make.js';
import { contentOf, prose } from './operation.js';

/** @import { Operation, Parameter, Resolve } from '../docs-types.js' */

const base = location.origin + location.pathname.replace(/docs$/, '');
const token = inputField('token');
const filter = inputField('filter');
const list = element('operations');
const count = element('count');

const document_ = await (await fetch(`${base}docs/openapi.json`)).json();

/** @type {Resolve} */
function resolve(node) {
  if (!('$ref' in node)) return node;
  const keys = String(node.$ref).replace('#/', '').split('/');
  return keys.reduce((found, key) => found[key], document_);
}

/** @type {readonly Operation[]} */
const operations = Object.entries(document_.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({
    ...operation,
    method: verb.toUpperCase(),
    path,
    parameters: (operation.parameters ?? []).map((/** @type {Parameter} */ each) => resolve(each)),
  })),
);

element('about').append(prose(document_.info.description));
for (const [tag, ofTag] of Map.groupBy(operations, ({ tags: [tag = ''] }) => tag))
  list.append(
    make(
      'section',
      { class: 'panel', 'aria-labelledby': `tag-${tag}` },
      make('h2', { id: `tag-${tag}` }, tag),
      ofTag.map((operation) => operationItem(operation)),
    ),
  );
search();
openLinked();

/**
 * Renders a line that opens to the whole operation.
 * @param {Operation} operation
 */
function operationItem(operation) {
  const { operationId: id, method, path, summary } = operation;
  const risk = operation['x-risk'];
  const made = make(
    'details',
    { id, class: 'operation' },
    make(
      'summary',
      {},
      make('b', { class: 'verb' }, method),
      make('code', { class: 'path' }, path),
      make('span', { class: 'what' }, summary),
      make('span', { class: 'faint' }, id),
      risk && make('span', { class: `chip ${risk}` }, risk),
    ),
  );
  made.addEventListener('toggle', () => {
    if (!made.open) return;
    if (made.childElementCount === 1) made.append(contentOf(operation, { base, resolve, token: () => token.value.trim() }));
    if (location.hash !== `#${id}`) history.replaceState(null, '', `#${id}`);
  });
  return made;
}

/** Shows the operations that have all words of the search. */
function search() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const section of list.children) {
    let hits = 0;
    for (const each of section.querySelectorAll('details')) {
      const text = `${section.querySelector('h2')?.textContent} ${each.firstElementChild?.textContent}`.toLowerCase();
      each.hidden = !words.every((word) => text.includes(word));
      if (!each.hidden) hits += 1;
    }
    if (section instanceof HTMLElement) section.hidden = hits === 0;
    shown += hits;
  }
  count.textContent = words.length === 0 ? `${operations.length} operations` : `${shown} of ${operations.length} operations`;
}

/** Opens the operation in the URL. */
function openLinked() {
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(linked instanceof HTMLDetailsElement)) return;
  linked.open = true;
  linked.scrollIntoView();
}

filter.addEventListener('input', search);
element('search').addEventListener('submit', (event) => event.preventDefault());
element('sign-in').addEventListener('submit', (event) => event.preventDefault());
addEventListener('hashchange', openLinked);
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
  event.preventDefault();
  filter.focus();
});
// After a return by the browser's history, the token must be typed again.
addEventListener('pagehide', () => {
  token.value = '';
});
