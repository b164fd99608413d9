// Keeps the page as the exporter has it: asks for it every two seconds, and changes only what differs, so that focus,
// scroll position, what is open and what is typed stay as they are. Without it the page is complete, and stands still.

import { matchChildren } from './match.js';
import { clockOffset, tellTimes, timeOfDay } from './times.js';

const everyMs = 2_000;
const everyHiddenMs = 15_000;
const patienceMs = 4_000;
/** A machine that slept, or timers that stood still: what is shown is not of now. */
const oldAfterMs = 10_000;
const typingMs = 150;

const main = document.getElementById('main');
const live = document.getElementById('live');
const alarm = document.getElementById('alarm');
const field = document.getElementById('search');
const build = document.documentElement.dataset.build;

let tag;
let { title } = document;
let answeredAtMs = Date.now();
let visibleSinceMs = Date.now();
/** The exporter's clock minus ours: ages are told by its clock. */
let offsetMs = 0;
let timer;
let asking;
/** The address of what is shown. */
let shown = address();

function address() {
  return location.pathname + location.search;
}

/** Whoever asks anew needs no answer to what was asked before. */
async function ask() {
  clearTimeout(timer);
  asking?.abort();
  const own = new AbortController();
  asking = own;
  try {
    await update(own.signal);
  } catch {
    if (!own.signal.aborted) silent('');
  }
  if (!own.signal.aborted) timer = setTimeout(ask, document.hidden ? everyHiddenMs : everyMs);
}

async function update(signal) {
  // Where the address of the page holds a user and a password, one that is relative to it may not be fetched.
  const answer = await fetch(location.origin + address(), {
    headers: tag === undefined ? {} : { 'if-none-match': tag },
    signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
    cache: 'no-store',
  });
  if (![200, 304, 404].includes(answer.status)) return silent(refusal(answer.status));
  const next = answer.status === 304 ? undefined : new DOMParser().parseFromString(await answer.text(), 'text/html');
  signal.throwIfAborted();
  // A proxy's own page; to load that would be to lose this one for good.
  if (next && next.documentElement.dataset.build === undefined)
    return silent('Something else answers in its place. If that lasts, load this page anew.');
  offsetMs = clockOffset(answer.headers.get('date'), offsetMs);
  if (next) show(next, answer.headers.get('etag') ?? undefined);
  return answered();
}

function refusal(status) {
  if (status === 401) return 'It wants the password again: load this page anew.';
  if (status === 429) return 'It refuses so many requests.';
  return `It answers with status ${status}.`;
}

function answered() {
  answeredAtMs = Date.now();
  document.title = title;
  alarm.hidden = true;
  document.body.classList.remove('silent');
  live.classList.add('running');
  live.firstElementChild.textContent = `Live · ${timeOfDay(new Date(), { second: '2-digit' })}`;
  tellTimes(main, Date.now() + offsetMs);
}

function silent(because) {
  const since = timeOfDay(new Date(answeredAtMs), { second: '2-digit' });
  const words = `No answer from the exporter since ${since}; what you see is old. ${because}`.trim();
  if (alarm.textContent !== words) alarm.textContent = words;
  alarm.hidden = false;
  document.title = `No answer · ${title}`;
  document.body.classList.add('silent');
  live.classList.remove('running');
  live.firstElementChild.textContent = `Old · ${since}`;
}

function show(next, newTag) {
  // Another version of the exporter: its script and its style may be others too.
  if (next.documentElement.dataset.build !== build) {
    location.reload();
    return;
  }
  tag = newTag;
  title = next.title;
  const icon = document.getElementById('icon');
  const nextIcon = next.getElementById('icon').getAttribute('href');
  if (icon.getAttribute('href') !== nextIcon) icon.setAttribute('href', nextIcon);
  // What comes with another view is nothing that happened.
  const isNews = shown === address();
  shown = address();
  matchChildren(main, next.getElementById('main'), (arrived) => {
    if (isNews && arrived.matches('li, tr')) arrived.classList.add('arrived');
  });
}

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
  tag = undefined;
  void ask();
}

field.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(search, typingMs);
});
field.form.addEventListener('submit', (event) => {
  event.preventDefault();
  clearTimeout(typing);
  search();
});
field.form.querySelector('button').hidden = true;

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
document.getElementById('zone').textContent = `Times are in ${zone}.`;
document.addEventListener('visibilitychange', () => {
  visibleSinceMs = Date.now();
  if (!document.hidden) void ask();
});
addEventListener('online', () => void ask());
addEventListener('offline', () => silent(''));
setInterval(() => {
  tellTimes(main, Date.now() + offsetMs);
  if (!document.hidden && Date.now() - Math.max(answeredAtMs, visibleSinceMs) > oldAfterMs) silent('');
}, 1_000);
void ask();
