// Keeps the page up to date: requests it every two seconds, and changes only what differs (match.js).
// Focus, scroll position, opened parts and typed texts stay. Without this script, the page is complete.

import { element, inputField } from './elements.js';
import { matchChildren } from './match.js';
import { clockOffset, updateTimes, timeOfDay } from './times.js';

const intervalMs = 2_000;
const hiddenIntervalMs = 15_000;
const timeoutMs = 4_000;
/** After this time the page is stale: the machine slept, or its timers stopped. */
const staleAfterMs = 10_000;
const typingMs = 150;

const main = element('main');
const live = element('live');
const alarm = element('alarm');
const field = inputField('search');
const clock = element('live-clock');
const build = document.documentElement.dataset.build;

/** @type {string | undefined} */
let etag;
let { title } = document;
let answeredAtMs = Date.now();
let visibleSinceMs = Date.now();
/** The exporter's clock minus ours, for ages. */
let offsetMs = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {AbortController | undefined} */
let pending;
/** The URL of the content on the page. */
let shown = address();

function address() {
  return location.pathname + location.search;
}

/** Requests the page; aborts the previous request. */
async function poll() {
  clearTimeout(timer);
  pending?.abort();
  const controller = new AbortController();
  pending = controller;
  try {
    await update(controller.signal);
  } catch {
    if (!controller.signal.aborted) showStale('');
  }
  if (!controller.signal.aborted) timer = setTimeout(poll, document.hidden ? hiddenIntervalMs : intervalMs);
}

/**
 * @param {AbortSignal} signal
 */
async function update(signal) {
  // An absolute URL: `fetch` rejects a relative one if the URL of the page has user and password.
  const response = await fetch(location.origin + address(), {
    headers: etag === undefined ? {} : { 'if-none-match': etag },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    cache: 'no-store',
  });
  if (![200, 304, 404].includes(response.status)) return showStale(refusal(response.status));
  const next = response.status === 304 ? undefined : new DOMParser().parseFromString(await response.text(), 'text/html');
  signal.throwIfAborted();
  // An error page of a proxy does not have this script, and would end the updates.
  if (next && next.documentElement.dataset.build === undefined)
    return showStale('Something else responds in its place. If that lasts, reload this page.');
  offsetMs = clockOffset(response.headers.get('date'), offsetMs);
  if (next) show(next, response.headers.get('etag') ?? undefined);
  return showLive();
}

/**
 * @param {number} status
 */
function refusal(status) {
  if (status === 401) return 'It wants the password again: reload this page.';
  if (status === 429) return 'It refuses so many requests.';
  return `It responds with status ${status}.`;
}

function showLive() {
  answeredAtMs = Date.now();
  document.title = title;
  alarm.hidden = true;
  document.body.classList.remove('stale');
  live.classList.add('running');
  clock.textContent = `Live · ${timeOfDay(new Date(), { second: '2-digit' })}`;
  updateTimes(main, Date.now() + offsetMs);
}

/**
 * @param {string} because
 */
function showStale(because) {
  const since = timeOfDay(new Date(answeredAtMs), { second: '2-digit' });
  const words = `No response from the exporter since ${since}; what you see is old. ${because}`.trim();
  if (alarm.textContent !== words) alarm.textContent = words;
  alarm.hidden = false;
  document.title = `No response · ${title}`;
  document.body.classList.add('stale');
  live.classList.remove('running');
  clock.textContent = `Old · ${since}`;
}

/**
 * @param {Document} next
 * @param {string | undefined} newEtag
 */
function show(next, newEtag) {
  // Another version of the exporter may have other scripts and styles.
  if (next.documentElement.dataset.build !== build) {
    location.reload();
    return;
  }
  etag = newEtag;
  title = next.title;
  const icon = element('icon');
  const nextIcon = next.getElementById('icon')?.getAttribute('href');
  if (nextIcon && icon.getAttribute('href') !== nextIcon) icon.setAttribute('href', nextIcon);
  // New rows are only marked in the same view.
  const isSameView = shown === address();
  shown = address();
  const focused = document.activeElement;
  matchChildren(main, next.getElementById('main') ?? main, (arrived) => {
    if (isSameView && arrived.matches('li, tr')) arrived.classList.add('arrived');
  });
  // A moved element has lost the focus.
  if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
let beforeSearch = location.pathname;

function search() {
  const text = field.value.trim();
  const isSearching = new URLSearchParams(location.search).has('q');
  if (text === '' && !isSearching) return;
  if (!isSearching) beforeSearch = address();
  const next = text === '' ? beforeSearch : `${location.pathname}?${new URLSearchParams({ q: text })}`;
  if (next === address()) return;
  history.replaceState(null, '', next);
  etag = undefined;
  void poll();
}

field.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(search, typingMs);
});
field.form?.addEventListener('submit', (event) => {
  event.preventDefault();
  clearTimeout(typing);
  search();
});
field.form?.querySelector('button')?.setAttribute('hidden', '');

document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && document.activeElement !== field) {
    event.preventDefault();
    field.select();
    field.focus();
  } else if (event.key === 'Escape' && document.activeElement === field) {
    field.value = '';
    clearTimeout(typing);
    search();
    field.blur();
  }
});

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
element('zone').textContent = `Times are in ${zone}.`;
document.addEventListener('visibilitychange', () => {
  visibleSinceMs = Date.now();
  if (!document.hidden) void poll();
});
addEventListener('online', () => void poll());
addEventListener('offline', () => showStale(''));
setInterval(() => {
  updateTimes(main, Date.now() + offsetMs);
  if (!document.hidden && Date.now() - Math.max(answeredAtMs, visibleSinceMs) > staleAfterMs) showStale('');
}, 1_000);
void poll();
