// Renders one operation: its description, fields and responses, and the response to a try.

import { code, make, fragment } from './make.js';
import { shapeOf } from './shape.js';

/** @import { Content, Operation, Parameter, Resolve } from '../docs-types.js' */
/** @typedef {{ readonly base: string, readonly resolve: Resolve, readonly token: () => string }} Gateway */

const json = 'application/json';
/** Longer responses are cut off. */
const maxShown = 50_000;

/**
 * @param {Operation} operation
 * @param {Gateway} gateway
 */
export function contentOf(operation, gateway) {
  const { parameters, requestBody, description, responses } = operation;
  const result = make('div', { class: 'result', role: 'status' });
  const form = make(
    'form',
    { autocomplete: 'off' },
    make('div', { class: 'fields' }, parameters.map((each) => field(each, operation))),
    requestBody && bodyFields(requestBody.content, operation, gateway),
    make('p', { class: 'buttons' }, make('button', {}, 'Send')),
    result,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    result.replaceChildren('It is being answered.');
    void send(form, operation, gateway).then((shown) => result.replaceChildren(shown));
  });
  return fragment(description && prose(description), form, responseList(responses, gateway));
}

/**
 * @param {Parameter} parameter
 * @param {Operation} operation
 */
function field({ name, in: place, required, description, schema }, { operationId }) {
  const id = `${operationId}-${name}`;
  const words = [place === 'header' ? 'header' : place === 'query' ? 'query' : undefined, required ? 'required' : undefined];
  const help = description && make('div', { id: `${id}-help`, class: 'faint' }, prose(description));
  const attributes = { id, name: `${place} ${name}`, required, 'aria-describedby': description && `${id}-help` };
  const remark = make('span', { class: 'faint' }, ` ${words.filter(Boolean).join(', ')}`);
  const isSwitch = schema.enum?.length === 1;
  // Readers of the documentation do not mean to change anything.
  const input = isSwitch
    ? make('input', { ...attributes, type: 'checkbox', value: String(schema.enum?.[0]), checked: name === 'X-Dry-Run' })
    : schema.enum
      ? make('select', attributes, ['', ...schema.enum].map((each) => make('option', { value: String(each), selected: name === 'dry_run' && each === 'true' }, String(each) || ' ')))
      : make('input', { ...attributes, type: 'text', autocapitalize: 'off', spellcheck: 'false' });
  const label = make('label', { for: id }, make('b', {}, name), remark);
  return make('div', { class: isSwitch ? 'switch' : '' }, isSwitch ? [input, label] : [label, input], help);
}

/**
 * @param {Content} content
 * @param {Operation} operation
 * @param {Gateway} gateway
 */
function bodyFields(content, { operationId }, { resolve }) {
  const id = `${operationId}-body`;
  const [type = json] = Object.keys(content);
  const schema = content[type]?.schema;
  const isJson = type === json;
  return make(
    'div',
    {},
    make('label', { for: id }, make('b', {}, 'Body'), make('span', { class: 'faint' }, ` ${type}`)),
    isJson ? make('textarea', { id, name: 'body', rows: '4', spellcheck: 'false' }, '{}') : make('input', { id, name: 'body', type: 'file' }),
    isJson && schema && shape('Shape of the body', shapeOf(schema, resolve)),
  );
}

/**
 * @param {string} title
 * @param {string} text
 */
function shape(title, text) {
  return make('details', {}, make('summary', {}, title), code(text));
}

/**
 * @param {Operation['responses']} responses
 * @param {Gateway} gateway
 */
function responseList(responses, { resolve }) {
  const rows = Object.entries(responses).map(([status, given]) => {
    const { description, content = {} } = resolve(given);
    const shapes = Object.entries(content).map(([type, { schema }]) => schema && status < '300' && shape(type, shapeOf(schema, resolve)));
    return [make('dt', {}, status), make('dd', {}, prose(description), shapes)];
  });
  return make('details', {}, make('summary', {}, 'Answers'), make('dl', { class: 'answers' }, rows));
}

/**
 * Sends the form; resolves to the rendered response.
 * @param {HTMLFormElement} form
 * @param {Operation} operation
 * @param {Gateway} gateway
 */
async function send(form, operation, gateway) {
  const { url, headers, body } = requestOf(form, operation, gateway);
  const beganAtMs = performance.now();
  try {
    const response = await fetch(url, {
      method: operation.method,
      headers,
      body,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
    const content = await response.blob();
    const took = `${Math.round(performance.now() - beganAtMs)} ms`;
    const line = make('p', {}, make('b', {}, `${operation.method} ${url.pathname}${url.search}: ${response.status}`), ` after ${took}`);
    const [, file] = /filename="?([^";]+)/.exec(response.headers.get('content-disposition') ?? '') ?? [];
    if (file !== undefined) return fragment(line, make('p', {}, make('a', { href: URL.createObjectURL(content), download: file }, `Save ${file}`)));
    const shown = code(readable(await content.text()));
    // Lets the keyboard scroll it.
    shown.tabIndex = 0;
    return fragment(line, shown);
  } catch (error) {
    return make('p', { class: 'refused' }, `No response: ${String(error)}`);
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {Operation} operation
 * @param {Gateway} gateway
 */
function requestOf(form, { method, path, parameters, requestBody }, { base, token }) {
  const given = new FormData(form);
  const headers = new Headers();
  if (token() !== '') headers.set('authorization', `Bearer ${token()}`);
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place, schema, 'x-rest': isRest } of parameters) {
    const field = given.get(`${place} ${name}`);
    const value = typeof field === 'string' ? field : '';
    if (place === 'path') filled = filled.replace(`{${name}}`, isRest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value));
    else if (value === '') continue;
    else if (place === 'header') headers.set(name, encodeURIComponent(value).replaceAll('%20', ' '));
    else if (schema.type === 'object') for (const [own, each] of new URLSearchParams(value)) query.append(own, each);
    else query.append(name, value);
  }
  const url = new URL(base + filled.slice(1));
  url.search = query.toString();
  const [type] = Object.keys(requestBody?.content ?? {});
  if (type === undefined || method === 'GET') return { url, headers };
  headers.set('content-type', type);
  return { url, headers, body: given.get('body') };
}

/**
 * Formats JSON for people, and shortens any text.
 * @param {string} text
 */
function readable(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    // Plain text, or the lines of a running change.
  }
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}\n… ${shown.length - maxShown} more characters` : shown;
}

/**
 * Renders the sentences of the document: paragraphs, `code`, and tables.
 * @param {string} text
 */
export function prose(text) {
  return fragment(
    text.trim().split(/\n{2,}/).map((part) => (part.startsWith('|') ? table(part) : make('p', {}, inline(part)))),
  );
}

/**
 * @param {string} text
 */
function inline(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? make('code', {}, part) : part));
}

/**
 * @param {string} text
 */
function table(text) {
  const [head = [], , ...rows] = text.split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
  return make(
    'table',
    {},
    make('thead', {}, make('tr', {}, head.map((cell) => make('th', { scope: 'col' }, cell)))),
    make('tbody', {}, rows.map(([first = '', ...cells]) =>
      make('tr', {}, make('th', { scope: 'row' }, inline(first)), cells.map((cell, index) => make('td', { 'data-label': head[index + 1] }, inline(cell)))),
    )),
  );
}
