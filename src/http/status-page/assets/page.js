// Keeps the page as the exporter has it: asks for it every two seconds, and changes only what differs, so that focus,
// scroll position, what is open and what is typed stay as they are. Without it the page is complete, and stands still.

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
let answeredAtMs = Date.now();
let visibleSinceMs = Date.now();
/** The exporter's clock minus ours: ages are told by its clock. */
let offsetMs = 0;
let timer;
let asking;
/** The address of what is shown. */
let shown = address();

// Asking

function address() {
  return location.pathname + location.search;
}

async function ask() {
  clearTimeout(timer);
  asking?.abort();
  const own = new AbortController();
  asking = own;
  const asked = address();
  try {
    const answer = await fetch(asked, {
      headers: tag === undefined ? {} : { 'if-none-match': tag },
      signal: AbortSignal.any([own.signal, AbortSignal.timeout(patienceMs)]),
      cache: 'no-store',
    });
    if (answer.status !== 304 && answer.status !== 200 && answer.status !== 404) throw new Error(refusal(answer.status));
    const text = answer.status === 304 ? undefined : await answer.text();
    if (own.signal.aborted || asked !== address()) return;
    setClock(answer.headers.get('date'));
    if (text !== undefined) show(text, answer.headers.get('etag') ?? undefined);
    answered();
  } catch (error) {
    if (own.signal.aborted) return;
    silent(error instanceof Error && error.message.startsWith('It ') ? error.message : '');
  }
  timer = setTimeout(ask, document.hidden ? everyHiddenMs : everyMs);
}

/** The header is cut to the second: a difference of less is none. */
function setClock(date) {
  const differenceMs = Date.parse(date ?? '') - Date.now();
  if (Math.abs(differenceMs - offsetMs) > 1_500) offsetMs = differenceMs;
}

function refusal(status) {
  if (status === 401) return 'It wants the password again: load this page anew.';
  if (status === 429) return 'It refuses so many requests.';
  return `It answers with status ${status}.`;
}

function answered() {
  answeredAtMs = Date.now();
  alarm.hidden = true;
  document.body.classList.remove('silent');
  live.classList.add('running');
  live.firstElementChild.textContent = `Live · ${time(new Date(), { second: '2-digit' })}`;
  tell();
}

function silent(because) {
  const since = time(new Date(answeredAtMs), { second: '2-digit' });
  const words = `No answer from the exporter since ${since}; what you see is old. ${because}`.trim();
  if (alarm.textContent !== words) alarm.textContent = words;
  alarm.hidden = false;
  document.body.classList.add('silent');
  live.classList.remove('running');
  live.firstElementChild.textContent = `Old · ${since}`;
}

// Showing

function show(text, newTag) {
  const next = new DOMParser().parseFromString(text, 'text/html');
  // Another version of the exporter: its script and its style may be others too.
  if (next.documentElement.dataset.build !== build) {
    location.reload();
    return;
  }
  tag = newTag;
  document.title = next.title;
  const icon = document.getElementById('icon');
  const nextIcon = next.getElementById('icon').getAttribute('href');
  if (icon.getAttribute('href') !== nextIcon) icon.setAttribute('href', nextIcon);
  highlights = shown === address();
  shown = address();
  matchChildren(main, next.getElementById('main'));
}

/** Whether what comes is new, and not just another view. */
let highlights = false;

function match(node, next) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== next.data) node.data = next.data;
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  const isSameTime = node.localName === 'time' && node.dateTime === next.dateTime;
  // Whoever opened or closed it keeps it so, until what is in it becomes right or wrong.
  const keepsOpen = node.localName === 'details' && node.dataset.open === next.dataset.open;
  for (const name of node.getAttributeNames())
    if (!next.hasAttribute(name) && !(keepsOpen && name === 'open')) node.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (node.getAttribute(name) !== value && !(keepsOpen && name === 'open') && !(isSameTime && name === 'title'))
      node.setAttribute(name, value);
  if (!isSameTime) matchChildren(node, next);
}

/** Children with a key, or an id, keep their element wherever they move. */
function matchChildren(parent, nextParent) {
  const keyed = new Map();
  for (const child of parent.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  const wanted = new Set([...nextParent.children].map(keyOf));
  let place = parent.firstChild;
  for (const next of nextParent.childNodes) {
    // What goes is in nobody's place.
    while (place && keyOf(place) && !wanted.has(keyOf(place))) place = removed(place);
    const key = keyOf(next);
    const known = key ? keyed.get(key) : isAlike(place, next) ? place : undefined;
    if (!known) {
      const arrived = document.importNode(next, true);
      parent.insertBefore(arrived, place);
      if (key && highlights && arrived.matches('li, tr')) arrived.classList.add('arrived');
    } else {
      if (known === place) place = place.nextSibling;
      else parent.insertBefore(known, place);
      match(known, next);
    }
  }
  while (place) place = removed(place);
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

// Times, in the reader's zone

function time(date, more = {}) {
  return date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false, ...more });
}

function clock(date) {
  const isToday = date.toDateString() === new Date().toDateString();
  if (isToday) return time(date, { second: '2-digit' });
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })} ${time(date)}`;
}

function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** Which time a title tells; to write one is slow, and they stay the same. */
const titled = new WeakMap();
const exact = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'long' });

function tell() {
  for (const element of main.querySelectorAll('time[data-show]')) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    const isAge = element.dataset.show === 'age';
    if (isAge) say(element, span(Date.now() + offsetMs - date.getTime()));
    if (titled.get(element) === element.dateTime) continue;
    titled.set(element, element.dateTime);
    if (!isAge) say(element, clock(date));
    element.title = exact.format(date);
  }
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Searching

let typing;

function search() {
  const text = field.value.trim();
  if (text === '' && !new URLSearchParams(location.search).has('q')) return;
  const next = text === '' ? location.pathname : `${location.pathname}?${new URLSearchParams({ q: text })}`;
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

// Beginning

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
document.getElementById('zone').textContent = `Times are in ${zone}.`;
document.addEventListener('visibilitychange', () => {
  visibleSinceMs = Date.now();
  if (!document.hidden) void ask();
});
addEventListener('online', () => void ask());
addEventListener('offline', () => silent(''));
setInterval(() => {
  tell();
  if (!document.hidden && Date.now() - Math.max(answeredAtMs, visibleSinceMs) > oldAfterMs) silent('');
}, 1_000);
void ask();
