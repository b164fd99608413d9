// Shows changes, and lets people decide on them. The token stays in a variable of this file. gateway.js
// sends the requests, view.js renders a session, make.js creates elements.

import { element, inputField } from './elements.js';
import { gatewayFor, Refusal, NoResponseError } from './gateway.js';
import { visibleText } from './make.js';
import { matchChildren } from './match.js';
import { clockOffset, span, updateTimes, timeOfDay } from './times.js';
import { isUnderWay, isWaiting, page, wordOf } from './view.js';

/** @import { Awaited, ChangeOnPage, NotProposed, Problem, Session } from '../console-types.js' */

const intervalMs = 3_000;
const busyIntervalMs = 1_000;
/** After this time the page is stale: the machine slept, or its timers stopped. */
const staleAfterMs = 12_000;

const signIn = element('sign-in');
const field = inputField('token');
const tokenRefused = element('token-refused');
const content = element('content');
const signOutButton = element('sign-out');
const linked = element('linked');
const alarm = element('alarm');
const news = element('news');
const live = element('live');
const clock = element('live-clock');
const icon = element('icon');

/**
 * What the gateway returned for the token; undefined without one.
 * @type {Session | undefined}
 */
let session;
/**
 * Aborts the requests of the last token; responses for an earlier one are ignored.
 */
let newest = new AbortController();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let visibleSinceMs = Date.now();

function chosen() {
  return /^#(ch-[a-z0-9-]+)$/.exec(location.hash)?.[1];
}

/** The alert in the link of a notification: `#alert=NAME&appliance=NAME&object=FARM_OR_FILE`. */
function alertInAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const [alert, appliance, object] = ['alert', 'appliance', 'object'].map((word) => words.get(word) ?? '');
  // Anybody may have written the URL: texts of it are not shown.
  const name = [alert, object, appliance].filter((word) => /^[\w.:*-]{1,100}$/.test(word)).join(', ');
  return /^\w{1,100}$/.test(alert) ? { alert, appliance, object, name } : undefined;
}

/**
 * Opens the proposal of the alert in the URL as soon as it exists.
 * @param {Session} current
 */
function followAlert(current) {
  const awaited = alertInAddress();
  current.awaited = awaited;
  if (!awaited) return;
  current.ofAwaited = current.changes
    .filter((change) => isOf(awaited, change))
    .toSorted((a, b) => (a.created < b.created ? 1 : -1));
  current.cannotPropose = current.notProposed.find((each) => isOf(awaited, each));
  const proposal = current.ofAwaited.find(isWaiting);
  if (proposal) location.replace(`#${proposal.id}`);
}

/**
 * @param {Awaited} wanted
 * @param {ChangeOnPage | NotProposed} candidate
 */
function isOf(wanted, { alerts, appliance, parameters }) {
  const names = Object.values(parameters);
  return (
    alerts.some(({ name }) => name === wanted.alert) &&
    (!wanted.appliance || wanted.appliance === appliance) &&
    (!wanted.object || names.length === 0 || names.includes(wanted.object))
  );
}

/**
 * @param {string} token
 * @param {AbortController} controller
 */
async function start(token, controller) {
  const gateway = gatewayFor(token, controller.signal);
  const begun = /** @type {Session} */ ({
    gateway,
    selected: chosen(),
    nowMs: Date.now(),
    offsetMs: 0,
  });
  await read(begun);
  controller.signal.throwIfAborted();
  session = begun;
  field.value = '';
  tokenRefused.textContent = '';
  followAlert(begun);
  render();
  focusContent();
  schedule();
}

/**
 * Reads everything that is shown.
 * @param {Session} into
 */
async function read(into) {
  const { read: get } = into.gateway;
  const { selected } = into;
  const [me, freeze, list, opened] = await Promise.all([
    get('whoami'),
    get('freeze'),
    get('changes'),
    selected === undefined ? undefined : get(`changes/${selected}`).catch(refusalOf),
  ]);
  into.offsetMs = clockOffset(list.date, into.offsetMs);
  into.me = me.content;
  into.freeze = freeze.content;
  announceStates(into.changes, list.content.changes);
  into.changes = list.content.changes;
  into.notProposed = list.content.not_proposed;
  into.answeredAtMs = Date.now();
  into.isStale = false;
  // The user may have chosen another change meanwhile.
  if (selected === into.selected) open(into, opened);
}

/**
 * @param {unknown} error
 */
function refusalOf(error) {
  if (error instanceof Refusal && error.code === 'unknown_change') return error;
  throw error;
}

/**
 * @param {Session} into
 * @param {{ content: ChangeOnPage } | Refusal | undefined} response
 */
function open(into, response) {
  into.openRefusal = response instanceof Refusal ? response : undefined;
  into.opened = response instanceof Refusal ? undefined : response?.content;
  if (!into.opened) return;
  // Only a plan that the user saw is approved.
  into.looked ??= into.opened.digest;
  into.renewed = into.looked !== into.opened.digest;
}

/**
 * Announces changes of state to screen readers.
 * @param {readonly ChangeOnPage[] | undefined} before
 * @param {readonly ChangeOnPage[]} changes
 */
function announceStates(before, changes) {
  if (!before) return;
  const states = new Map(before.map(({ id, state }) => [id, state]));
  const changed = changes.filter(({ id, state }) => states.get(id) !== state);
  if (changed.length === 0) return;
  news.textContent = visibleText(changed.map(({ title, appliance, state }) => `${title} on ${appliance}: ${wordOf(state)}.`).join(' '));
}

/** Reads again after the read under way, which may have begun before a change. */
async function poll() {
  clearTimeout(timer);
  const current = session;
  if (!current) return;
  current.reading = (current.reading ?? Promise.resolve()).then(() => refresh(current));
  await current.reading;
}

/**
 * @param {Session} current
 */
async function refresh(current) {
  if (current !== session) return;
  try {
    await read(current);
  } catch (error) {
    if (current !== session) return;
    if (error instanceof Refusal && [401, 403].includes(error.status)) {
      signOut(`${error.message} ${error.remedy}`);
      return;
    }
    current.isStale = true;
  }
  if (current !== session) return;
  followAlert(current);
  render();
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (document.hidden || !session) return;
  timer = setTimeout(poll, session.changes.some(isUnderWay) ? busyIntervalMs : intervalMs);
}

function render() {
  const waiting = session?.changes.filter(isWaiting).length ?? 0;
  signIn.hidden = session !== undefined;
  const { name } = alertInAddress() ?? {};
  linked.textContent = name === undefined ? '' : `Sign in to see the repair of ${name}.`;
  content.hidden = session === undefined;
  signOutButton.hidden = session === undefined;
  if (session) {
    session.nowMs = Date.now() + session.offsetMs;
    session.isStale ||= Date.now() - Math.max(session.answeredAtMs, visibleSinceMs) > staleAfterMs;
  }
  matchChildren(content, session ? page(session) : document.createDocumentFragment(), () => undefined);
  if (session) updateTimes(content, session.nowMs);
  document.title = waiting === 0 ? 'Changes' : `(${waiting}) Changes`;
  const level = session === undefined || session.isStale ? 'unknown' : waiting > 0 ? 'warning' : 'well';
  const href = `./console/${level}.svg`;
  if (icon.getAttribute('href') !== href) icon.setAttribute('href', href);
  renderConnection();
}

function renderConnection() {
  const { isStale, answeredAtMs = 0 } = session ?? {};
  const at = timeOfDay(new Date(answeredAtMs), { second: '2-digit' });
  const words = isStale ? `No response from the gateway since ${at}. What you see is of that time.` : '';
  if (alarm.textContent !== words) alarm.textContent = words;
  alarm.hidden = !isStale;
  document.body.classList.toggle('stale', isStale === true);
  live.classList.toggle('running', session !== undefined && !isStale);
  clock.textContent = session ? (isStale ? `${span(Date.now() - answeredAtMs)} old` : `Live · ${at}`) : '';
}

function focusContent() {
  (document.getElementById('chosen') ?? document.getElementById('waiting-count'))?.focus();
}

/**
 * @param {string} why
 */
function signOut(why) {
  newest.abort();
  session = undefined;
  clearTimeout(timer);
  field.value = '';
  news.textContent = '';
  tokenRefused.textContent = why;
  render();
  field.focus();
}

/**
 * @param {string} word
 * @param {string} id
 * @param {string} reason
 */
async function decide(word, id, reason) {
  const current = session;
  if (!current) return;
  current.refusal = undefined;
  current.missing = word !== 'cancel' && reason === '';
  if (!current.missing) current.busy = word;
  render();
  if (current.missing) {
    document.getElementById(`reason-${id}`)?.focus();
    return;
  }
  const body = { ...(reason === '' ? {} : { reason }), ...(word === 'approve' ? { digest: current.looked } : {}) };
  const refusal = await current.gateway.send(`changes/${id}/${word}`, body).then(() => undefined, toRefusal);
  if (current !== session) return;
  current.busy = undefined;
  if (current.selected === id) current.refusal = refusal;
  await poll();
  // The button that had the focus may be gone.
  if (current === session && current.selected === id && document.activeElement === document.body) focusContent();
}

/**
 * @param {unknown} error
 */
function toRefusal(error) {
  if (error instanceof Refusal) return error;
  if (!(error instanceof NoResponseError)) throw error;
  return {
    title: 'The gateway did not respond',
    message: `It is not known whether it received the request. ${error.message}`,
    remedy: 'Check the state of the change before you try again.',
  };
}

signIn.addEventListener('submit', (event) => {
  event.preventDefault();
  const token = field.value.trim();
  field.value = '';
  // Other characters cannot be part of a header.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    signOut('That is not a token: it has characters that no token has.');
    return;
  }
  tokenRefused.textContent = '';
  newest.abort();
  newest = new AbortController();
  const controller = newest;
  start(token, controller).catch((error) => {
    if (controller.signal.aborted) return;
    if (error instanceof Refusal) signOut(`${error.message} ${error.status === 401 ? 'Type or paste the whole token again.' : error.remedy}`);
    else signOut(`The gateway does not answer. ${error.message}`);
  });
});

signOutButton.addEventListener('click', () => signOut('You are signed out, and the token is forgotten.'));

content.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!session?.opened || session.busy) return;
  const { submitter } = event;
  if (!(submitter instanceof HTMLButtonElement)) return;
  const reason = content.querySelector('textarea')?.value.trim() ?? '';
  void decide(submitter.value, session.opened.id, reason);
});

content.addEventListener('click', (event) => {
  if (!(event.target instanceof HTMLElement) || event.target.dataset.action !== 'looked') return;
  if (!session?.opened) return;
  session.looked = session.opened.digest;
  session.renewed = false;
  session.refusal = undefined;
  render();
  document.getElementById(`reason-${session.opened.id}`)?.focus();
});

addEventListener('hashchange', () => {
  if (!session) return render();
  Object.assign(session, {
    selected: chosen(),
    opened: undefined,
    openRefusal: undefined,
    looked: undefined,
    renewed: false,
    refusal: undefined,
    missing: false,
  });
  followAlert(session);
  render();
  focusContent();
  void poll();
});

document.addEventListener('visibilitychange', () => {
  visibleSinceMs = Date.now();
  if (!document.hidden) void poll();
});
addEventListener('online', () => void poll());
// After a return by the browser's history, the token must be typed again.
addEventListener('pagehide', () => signOut(''));
setInterval(() => {
  if (session && !document.hidden) render();
}, 1_000);
render();
field.focus();
