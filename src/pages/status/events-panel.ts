import { stateLabel } from '../../lib/states.ts';
import {
  answeringState,
  type Difference,
  eventKinds,
  type FoundEvents,
  type HistoryEvent,
  outsideGateway,
} from '../../history/event.ts';
import { neverCompared } from '../../history/twins.ts';
import { isOneOf } from '../../lib/check.ts';
import { changeText, plural } from '../../lib/text.ts';
import { levelOfState } from '../../state/level.ts';
import { html, type Markup } from '../html.ts';
import { stateMark } from '../marks.ts';
import { clockTime } from '../times.ts';
import { applianceLink, backTo, emptyNote, listPage, panel, singlePanel } from './section.ts';
import { type EventFilter, linkTo, type View } from './view.ts';

/** The differences of an event that are shown before it is opened. */
const maxUnfolded = 3;
const periods = ['1h', '6h', '1d', '7d', '30d'];
const statefulObjects = ['farm', 'backend', 'certificate', 'activation', 'interface'] as const;

/** Renders the newest events, with links to changes in the console of the gateway at `adminUrl`. */
export function eventsPanel(filter: EventFilter, found: FoundEvents | undefined, adminUrl?: string, when = ''): Markup {
  const rows =
    found?.events.length === 0
      ? emptyNote(found.next === undefined ? 'No changes are known.' : 'No change is known among the newest events.')
      : eventList(found?.events, adminUrl, filter.appliance);
  const link = linkTo({ kind: 'events', list: 'changes', ...filter });
  return panel('changes', `What changed${when}`, [
    rows,
    lostNote(found),
    html`<p class="more"><a href="${link}">All changes, by kind and time</a></p>`,
  ]);
}

/** Renders all events of a view, with a form for another filter. */
export function eventsPage(
  view: Extract<View, { readonly kind: 'events' }>,
  found: FoundEvents | undefined,
  adminUrl?: string,
): Markup {
  const { appliance = '', farm = '', event = '', since = '' } = view;
  const events = found?.events;
  const render = (from: number, to: number): Markup => eventList(events?.slice(from, to), adminUrl);
  return html`${backTo(view.appliance)}
${singlePanel('changes', 'What changed', [
  html`<form class="filters" action="./" method="get"><input type="hidden" name="list" value="changes">
<label>Kind ${select('event', eventKinds, event)}</label>
<label>Appliance <input name="appliance" value="${appliance}"></label>
<label>Farm <input name="farm" value="${farm}"></label>
<label>Of the last ${select('since', [...new Set([...periods, ...(since ? [since] : [])])], since)}</label>
<button>Show</button></form>`,
  events ? listPage({ view, count: events.length, noun: 'event', render }) : eventList(events),
  lostNote(found),
  html`<p class="note">Not seen here, and so unknown: ${neverCompared.join('; ')}.</p>`,
  found?.next !== undefined &&
    html`<p class="note">These are the newest ones; there are more. Choose a kind, an appliance or a farm.</p>`,
])}`;
}

function lostNote({ lost = 0 }: Partial<FoundEvents> = {}): Markup | false {
  if (lost === 0) return false;
  const mark = stateMark('unknown', 'Changes may be missing');
  return html`<p class="note">${mark}: since its start, the exporter could not keep ${lost.toLocaleString('en')} readings or events; see its log.</p>`;
}

function select(name: string, values: readonly string[], chosen: string): Markup {
  return html`<select name="${name}">${['', ...values].map(
    (value) => html`<option value="${value}"${value === chosen && html` selected`}>${value || 'all'}</option>`,
  )}</select>`;
}

function eventList(events: readonly HistoryEvent[] | undefined, adminUrl?: string, onPageOf?: string): Markup {
  if (events) return html`<ol class="changes">${events.map((event) => eventItem(event, adminUrl, onPageOf))}</ol>`;
  const mark = stateMark('unknown', 'The history does not answer now');
  return html`<p class="note">${mark}: its disk hangs or fails; see the log of the exporter.</p>`;
}

function eventItem(event: HistoryEvent, adminUrl?: string, onPageOf?: string): Markup {
  const { id, appliance, farm, atMs, sinceMs, by, text, count, reversedMs } = event;
  const details = [
    by !== undefined && authorMarkup(by, adminUrl),
    count > 1 && plural(count, 'time'),
    sinceMs !== undefined && html`between ${clockTime(sinceMs)} and ${clockTime(atMs)}`,
    reversedMs !== undefined && html`the other way last at ${clockTime(reversedMs)}`,
    appliance === '' ? 'the exporter' : appliance !== onPageOf && applianceLink(appliance),
  ].filter((detail) => detail !== false);
  return html`<li data-key="${id}">${clockTime(atMs)}
<div>${text && html`<span class="change"><bdi>${text}</bdi>${farm !== '' && html` <span class="what">farm <b><bdi>${farm}</bdi></b></span>`}</span>`}${differenceRows(event)}<span class="facts">${details.map((detail) => html`<span>${detail}</span>`)}</span></div></li>`;
}

function differenceRows({ differences, unlisted = 0 }: HistoryEvent): Markup {
  const rows = differences.map(differenceItem);
  const folded = rows.slice(maxUnfolded);
  const rest = unlisted > 0 && html`<span class="change faint">and ${unlisted} more, which are not listed</span>`;
  return html`${rows.slice(0, maxUnfolded)}${
    folded.length > 0
      ? html`<details data-open="no"><summary>and ${folded.length + unlisted} more</summary>${folded}${rest}</details>`
      : rest
  }`;
}

function authorMarkup(by: string, adminUrl: string | undefined): Markup {
  const [, change] = /^change (ch-[a-z0-9-]+) by /.exec(by) ?? [];
  if (by === outsideGateway) return html`<bdi>made elsewhere, not through the gateway</bdi>`;
  if (change === undefined || adminUrl === undefined) return html`<bdi>${by}</bdi>`;
  return html`<a href="${`${adminUrl}/console#${change}`}"><bdi>${by}</bdi></a>`;
}

function differenceItem(difference: Difference): Markup {
  const { object, farm, service, name, setting, before = '', after = '' } = difference;
  const owners = [
    object !== 'service' && service && `service ${service}`,
    object !== 'farm' && farm && `farm ${farm}`,
  ].filter(Boolean);
  const ofAppliance = after === answeringState ? 'well' : 'critical';
  const level = isOneOf(statefulObjects, object) ? levelOfState(object, after) : ofAppliance;
  const change =
    setting === 'state'
      ? html`<span class="faint">${stateLabel(before)} →</span> ${stateMark(level, stateLabel(after))}`
      : html`<bdi>${changeText(setting, difference.before, difference.after)}</bdi>`;
  return html`<span class="change"><span class="what">${object} <b><bdi>${name}</bdi></b>${owners.length > 0 && html` of <bdi>${owners.join(', ')}</bdi>`}</span>
<span class="to">${change}</span></span>`;
}
