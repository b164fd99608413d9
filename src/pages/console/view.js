// Renders the page from the responses of the gateway.

import { code, fragment, levelIcon, make, mark, timeElement } from './make.js';
import { span } from './times.js';

/**
 * @import { Attributes, Awaited, ChangeOnPage, Child, Freeze } from '../console-types.js'
 * @import { Me, Problem, Session, Step } from '../console-types.js'
 */

const maxLately = 20;

/** From the smallest to the greatest. */
const risks = ['read', 'secret', 'reversible', 'disruptive', 'destructive'];

/** @type {Readonly<Record<string, readonly [level: string, word: string]>>} */
const states = {
  proposed: ['warning', 'proposed'],
  pending: ['warning', 'waits'],
  approved: ['paused', 'approved'],
  executing: ['paused', 'being carried out'],
  done: ['well', 'done'],
  failed: ['critical', 'failed'],
  uncertain: ['unknown', 'outcome not known'],
  denied: ['paused', 'denied'],
  cancelled: ['paused', 'cancelled'],
  expired: ['paused', 'expired'],
  withdrawn: ['paused', 'withdrawn'],
};

/**
 * @param {Pick<ChangeOnPage, 'decision'>} change
 */
export function isWaiting({ decision }) {
  return decision === null;
}

/**
 * @param {Pick<ChangeOnPage, 'decision' | 'outcome'>} change
 */
export function isUnderWay({ decision, outcome }) {
  return outcome === null && (decision?.what === 'approved' || decision?.what === 'started');
}

/**
 * @param {string} state
 */
export function wordOf(state) {
  return states[state]?.[1] ?? state;
}

/**
 * @param {Pick<ChangeOnPage, 'state'>} change
 */
function stateOf({ state }) {
  return mark(states[state]?.[0] ?? 'unknown', wordOf(state));
}

/**
 * Renders the page for the holder of a token.
 * @param {Session} session
 */
export function page(session) {
  const waiting = session.changes.filter(isWaiting).toSorted((a, b) => (a.expires < b.expires ? -1 : 1));
  return fragment(
    make('div', { class: session.selected !== undefined && 'only-wide' }, summary(waiting.length, session)),
    session.freeze.frozen && frozen(session.freeze),
    session.awaited && awaited(session.awaited, session),
    make(
      'div',
      { id: 'columns', class: session.selected === undefined ? 'console' : 'console chosen' },
      make('div', { id: 'lists' }, lists(waiting, session), token(session.me)),
      session.selected !== undefined && make('div', { id: 'detail' }, detail(session.selected, session)),
    ),
  );
}

/**
 * @param {number} count
 * @param {Session} session
 */
function summary(count, { me }) {
  const level = count === 0 ? 'well' : 'warning';
  const word = count === 0 ? 'No change waits' : count === 1 ? '1 change waits' : `${count} changes wait`;
  return make(
    'div',
    { id: 'summary', class: `overall-status ${level}` },
    levelIcon(level),
    make(
      'div',
      {},
      make('h1', { id: 'waiting-count', tabindex: '-1' }, `${word} for a decision`),
      make('p', {}, `You are ${me.principal}, ${me.role}. ${me.approver ? 'You may' : 'You may not'} approve changes.`),
    ),
  );
}

/**
 * Renders sentences in a box, with the icon of a level.
 * @param {string} level
 * @param {Attributes} attributes
 * @param {Child[]} sentences
 */
function notice(level, attributes, ...sentences) {
  return make('div', { class: `notice ${level}`, ...attributes }, levelIcon(level), make('div', {}, sentences));
}

/**
 * @param {string} text
 */
function bold(text) {
  return make('b', {}, text);
}

/**
 * @param {Freeze} freeze
 */
function frozen({ by, since, reason }) {
  return notice('warning', { id: 'frozen' }, bold('All changes are frozen'), `, by ${by} since `, timeElement(since, 'clock'), `: ${reason}`);
}

/**
 * @param {Awaited} alert
 * @param {Session} session
 */
function awaited({ name }, { ofAwaited: [last], cannotPropose }) {
  return make(
    'div',
    { id: 'awaited', class: 'notice' },
    make(
      'div',
      {},
      make('p', {}, bold(`No repair of ${name} waits for a decision.`), ' It opens here as soon as there is one.'),
      cannotPropose
        ? make('p', {}, bold('It cannot be proposed. '), cannotPropose.because)
        : make('p', {}, 'A repair is proposed only if it can help. If none comes within a minute, follow the runbook of the alert.'),
      last && make('p', {}, 'The last one: ', make('a', { href: `#${last.id}` }, last.title), ' ', stateOf(last), ', ', ending(last)),
    ),
  );
}

/**
 * @param {readonly ChangeOnPage[]} waiting
 * @param {Session} session
 */
function lists(waiting, session) {
  const underWay = session.changes.filter(isUnderWay);
  const decided = session.changes
    .filter((change) => !isWaiting(change) && !isUnderWay(change))
    .toSorted((a, b) => (endedAt(a) < endedAt(b) ? 1 : -1))
    .slice(0, maxLately);
  return [
    panel('waiting', 'Wait for a decision', waiting.length === 0 ? nothing('None waits.') : changes(waiting, session)),
    underWay.length > 0 && panel('under-way', 'Under way', changes(underWay, session)),
    panel('lately', 'Lately', decided.length === 0 ? nothing('Nothing yet.') : changes(decided, session)),
  ];
}

/**
 * @param {string} id
 * @param {string} title
 * @param {Child[]} children
 */
function panel(id, title, ...children) {
  return make('section', { id, class: 'panel', 'aria-labelledby': `${id}-title` }, [
    make('h2', { id: `${id}-title` }, title),
    ...children,
  ]);
}

/**
 * @param {string} text
 */
function nothing(text) {
  return make('p', { class: 'faint' }, text);
}

/**
 * @param {ChangeOnPage} change
 */
function endedAt({ created, decision, outcome }) {
  return outcome?.at ?? decision?.at ?? created;
}

/**
 * @param {readonly ChangeOnPage[]} list
 * @param {Session} session
 */
function changes(list, session) {
  return make(
    'ul',
    { class: 'change-list' },
    list.map((change) => {
      const { id, title, appliance } = change;
      const link = { href: `#${id}`, 'aria-current': id === session.selected && 'true' };
      return make(
        'li',
        { 'data-key': id },
        make('a', link, title),
        make('p', {}, stateOf(change), ` on ${appliance}`),
        make('p', { class: 'faint' }, isWaiting(change) ? [origin(change), ' · expires ', expiry(change, session)] : ending(change)),
      );
    }),
  );
}

/**
 * @param {ChangeOnPage} change
 */
function origin({ alerts: [alert], requested_by: requester, created }) {
  return [alert ? `alert ${alert.name}` : `asked by ${requester}`, ' ', timeElement(created, 'age'), ' ago'];
}

/**
 * @param {ChangeOnPage} change
 * @param {Session} session
 */
function expiry({ expires }, { nowMs }) {
  const leftMs = Date.parse(expires) - nowMs;
  return leftMs > 0 ? `in ${span(leftMs)}` : 'its time is over';
}

/**
 * @param {ChangeOnPage} change
 */
function ending({ decision, outcome }) {
  const last = outcome?.lines.at(-1);
  return [
    decision && [`${decision.what}${decision.by === '-' ? '' : ` by ${decision.by}`} `, timeElement(decision.at, 'age'), ' ago'],
    last && make('span', { class: 'line' }, last),
  ];
}

/**
 * @param {Me} me
 */
function token({ principal, person, role, appliances, expires, approver, ...rest }) {
  const approves = rest.self_approval ? 'yes, also what you ask for yourself' : 'yes, what others ask for';
  return panel(
    'token-facts',
    'Your token',
    definitionList([
      ['Name', person === undefined || person === principal ? principal : `${principal}, of ${person}`],
      ['Role', role],
      ['Appliances', appliances.join(', ')],
      ['Valid', expires === null ? 'without an end' : ['until ', timeElement(expires, 'clock')]],
      ['Approves', approver ? approves : 'no: it has no approver: true in admin.tokens'],
      rest.break_glass && ['In an emergency', 'may send at once what needs approval'],
    ]),
  );
}

/**
 * @param {readonly (readonly [string, Child] | false | undefined)[]} pairs
 */
function definitionList(pairs) {
  return make(
    'dl',
    { class: 'facts-list' },
    pairs.map((pair) => pair && make('div', {}, make('dt', {}, pair[0]), make('dd', {}, pair[1]))),
  );
}

/**
 * Renders the chosen change, or a note that it is loading or does not exist.
 * @param {string} selected
 * @param {Session} session
 */
function detail(selected, session) {
  const { opened, openRefusal } = session;
  const back = make('p', { class: 'back only-narrow' }, make('a', { href: '#' }, 'All changes'));
  /**
   * @param {string} title
   * @param {Child[]} children
   */
  const titled = (title, ...children) =>
    make('section', { 'data-key': selected, class: 'panel', 'aria-labelledby': 'chosen' }, [
      back,
      make('h2', { id: 'chosen', tabindex: '-1' }, title),
      ...children,
    ]);
  if (openRefusal) return titled(selected, refused(openRefusal));
  if (opened === undefined) return titled(selected, nothing('It is being read.'));
  return titled(
    opened.title,
    make('p', { id: 'standing' }, stateOf(opened), ` on ${opened.appliance}`),
    make('p', { id: 'why' }, why(opened)),
    outcomeOf(opened),
    about(opened, session),
    plan(opened, session),
    isWaiting(opened) && decision(opened, session),
  );
}

/**
 * @param {ChangeOnPage} change
 */
function why({ alerts: [alert], reason }) {
  if (!alert) return reason ?? 'No reason was given.';
  return [bold(alert.name), ' since ', timeElement(alert.since, 'clock'), alert.summary && `: ${alert.summary}`];
}

/**
 * @param {ChangeOnPage} change
 * @param {Session} session
 */
function about(change, session) {
  const { requested_by: requester, force, created, expires } = change;
  return definitionList([
    ['Asked by', [`${requester}, `, timeElement(created, 'clock'), ' (', timeElement(created, 'age'), ' ago)']],
    isWaiting(change) && ['Expires', [timeElement(expires, 'clock'), ` (${expiry(change, session)})`]],
    force && ['Forced', 'yes: guards that refuse are overridden'],
    ['Change', change.id],
  ]);
}

/**
 * Renders the decision and its outcome.
 * @param {ChangeOnPage} change
 */
function outcomeOf({ alerts: [alert], state, decision: decided, outcome }) {
  if (!decided && !outcome) return undefined;
  const hint = { uncertain: 'It is not known whether a call was carried out: look at the object.' }[state];
  const alertEnds = state === 'done' && alert && 'The alert ends once Prometheus has seen it, often after one to five minutes.';
  return make(
    'section',
    { id: 'became', 'aria-labelledby': 'became-title' },
    make('h3', { id: 'became-title' }, 'What became of it'),
    decided &&
      make('p', {}, `${decided.what}${decided.by === '-' ? '' : ` by ${decided.by}`} `, timeElement(decided.at, 'clock'), decided.reason && `: ${decided.reason}`),
    outcome && make('ul', { class: 'lines' }, outcome.lines.map((line) => make('li', {}, line))),
    outcome?.code && make('p', { class: 'faint' }, 'Code: ', make('code', {}, outcome.code)),
    alertEnds && make('p', { class: 'faint' }, alertEnds),
    hint && notice('warning', {}, hint),
  );
}

/**
 * @param {ChangeOnPage} change
 * @param {Session} session
 */
function plan({ id, plan: { facts: sentences, steps }, digest, decision }, { renewed }) {
  return make(
    'section',
    { id: `plan-${id}`, 'aria-labelledby': 'plan-title' },
    make('h3', { id: 'plan-title' }, 'The plan'),
    renewed && isWaiting({ decision }) && renewal(),
    make('p', {}, `Highest risk: ${highestRisk(steps)}.`),
    sentences.length > 0 && make('ul', { class: 'lines' }, sentences.map((sentence) => make('li', {}, sentence))),
    make('ol', { class: 'steps' }, steps.map(step)),
    make('p', { class: 'digest faint' }, 'Digest: you approve exactly this plan. ', make('code', {}, digest)),
  );
}

/**
 * @param {readonly Step[]} steps
 */
function highestRisk(steps) {
  const levels = steps.map(({ call }) => risks.indexOf(call?.risk ?? ''));
  const highest = Math.max(...levels);
  return highest < 0 ? 'none' : `${risks[highest]}, in step ${levels.indexOf(highest) + 1}`;
}

function renewal() {
  return notice(
    'warning',
    { id: 'renewal', role: 'alert' },
    make('p', {}, bold('The plan has changed. '), 'This is the new one; nothing was sent.'),
    make('p', {}, make('button', { type: 'button', 'data-action': 'looked' }, 'I have read the new plan')),
  );
}

/**
 * @param {Step} step
 * @param {number} index
 */
function step({ title, call, findings, because, current, way_back: back }, index) {
  return make(
    'li',
    {},
    make('p', { class: 'step' }, bold(title), call ? make('span', { class: 'chip' }, `risk: ${call.risk}`) : ' changes nothing'),
    call && make('p', { class: 'call' }, make('code', {}, `${call.method} ${call.url}`)),
    call && call.body !== null && call.body !== undefined && code(call.body),
    findings.map(({ guard, severity, message, remedy }) => {
      const level = severity === 'warning' ? 'warning' : 'critical';
      return notice(level, {}, bold(severity), ` ${message} ${remedy} `, make('code', {}, guard));
    }),
    because.map((reason) => notice('critical', {}, bold('Would be refused'), ` ${reason}`)),
    current &&
      make(
        'details',
        { 'data-key': `current-${index}` },
        make('summary', {}, `The object when this plan was made (${current.operation})`),
        code(current.body),
      ),
    back &&
      make(
        'details',
        { 'data-key': `back-${index}` },
        make('summary', {}, 'What a failure leaves is taken back with some of these'),
        back.map(({ method, url }) => make('p', { class: 'call' }, make('code', {}, `${method} ${url}`))),
      ),
  );
}

/**
 * @param {Problem} problem
 */
function refused({ title, message, remedy }) {
  const lines = [bold(title), message, remedy];
  return notice(
    'critical',
    { role: 'alert', id: 'refused' },
    lines.map((line) => make('p', {}, line)),
  );
}

/**
 * @param {ChangeOnPage} change
 * @param {Session} session
 */
function decision(change, session) {
  const { id, may, cannot_approve: hindrance } = change;
  const { refusal, missing, busy, renewed, isStale } = session;
  const denies = may.includes('deny');
  // One button that ends it is enough.
  const cancels = !denies && may.includes('cancel');
  /**
   * @param {string} word
   * @param {string} text
   */
  const button = (word, text) => make('button', { value: word, class: word, disabled: isStale || busy !== undefined }, text);
  const buttons = [
    may.includes('approve') && !renewed && button('approve', busy === 'approve' ? 'Looking again, then approving…' : 'Approve and carry out'),
    denies && button('deny', 'Deny'),
    cancels && button('cancel', 'Cancel the change'),
  ].filter(Boolean);
  return make(
    'form',
    { id: `decide-${id}`, class: 'decide', novalidate: true, 'aria-labelledby': 'decide-title' },
    make('h3', { id: 'decide-title' }, 'Your decision'),
    refusal && refused(refusal),
    hindrance && make('p', { id: 'hindrance', class: 'faint' }, `You cannot approve it. ${hindrance}`),
    buttons.length > 0 && [
      make('p', {}, make('label', { for: `reason-${id}` }, cancels ? 'Your reason, if you have one, for the audit' : 'Your reason (required), for the audit')),
      make('textarea', {
        id: `reason-${id}`,
        rows: '2',
        maxlength: '500',
        'aria-invalid': missing && 'true',
        'aria-describedby': missing && 'reason-missing',
      }),
      missing && make('p', { id: 'reason-missing', class: 'refused', role: 'alert' }, 'Say why first.'),
      make('p', { class: 'buttons' }, buttons),
    ],
  );
}
