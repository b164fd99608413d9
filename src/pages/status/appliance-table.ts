import type { ApplianceHealth, Counts } from '../../state/health.ts';
import { type Level, levelOfState } from '../../state/level.ts';
import { stateMark } from '../marks.ts';
import type { ApplianceStatus } from '../../state/status.ts';
import { isAnswering, refusesKey } from '../../state/freshness.ts';
import { html, type Markup } from '../html.ts';
import { readingSummary } from './reading-chips.ts';
import { addressMarkup, applianceLink, table } from './section.ts';

export function applianceTable(appliances: readonly ApplianceHealth[], nowMs: number): Markup {
  const columns = ['Appliance', 'State', 'Wrong', 'Farms up', 'Product', 'Readings'];
  return table('appliances', columns, appliances, (health) => applianceRow(health, nowMs));
}

function applianceRow(health: ApplianceHealth, nowMs: number): Markup {
  const { status, problems } = health;
  const { name, hostname, labels } = status;
  const remarks = [hostname !== undefined && hostname !== name && hostname, ...Object.values(labels)]
    .filter(Boolean)
    .map((remark) => html`<bdi>${remark}</bdi> · `);
  return html`<tr data-key="${name}">
<th scope="row">${applianceLink(name)} <small>${remarks}${webInterface(status)}</small></th>
<td data-label="State">${applianceState(status)}</td>
<td data-label="Wrong">${problemCounts(problems.map(({ level }) => level))}</td>
<td data-label="Farms up">${farmsUp(health)}</td>
<td data-label="Product">${releaseOf(status)}</td>
<td data-label="Readings">${readingSummary(status, nowMs)}</td></tr>`;
}

/** Renders the address of the appliance as a link to its web interface. */
export function webInterface({ url }: ApplianceStatus): Markup {
  const { hostname, port } = new URL(url);
  return html`<a href="${url}" title="Web interface" rel="noreferrer">${addressMarkup(hostname, port)}</a>`;
}

/** Renders the state of the appliance itself. */
export function applianceState(status: ApplianceStatus): Markup {
  const { up, deactivated } = status;
  if (up === undefined) return stateMark('unknown', 'not asked yet');
  if (refusesKey(status)) return stateMark('warning', 'refuses the key');
  if (!up) return stateMark('warning', 'no answer');
  return deactivated
    ? stateMark(levelOfState('activation', 'deactivated'), 'deactivated')
    : stateMark('well', 'answers');
}

/** Renders product, release and edition, as far as they are known. */
export function releaseOf({ product, version, edition }: ApplianceStatus): Markup | string {
  const known = [product, version, edition].filter(Boolean);
  return known.length > 0 ? known.join(' ') : html`<span class="faint">unknown</span>`;
}

export function farmsUp({ status, farmStates }: ApplianceHealth): Markup {
  return status.farms === undefined
    ? html`<span class="faint">unknown</span>`
    : farmsUpIn(farmStates, isAnswering(status));
}

/** Renders how many farms are up, of those that are known. */
export function farmsUpIn(states: Counts<string>, isCurrent = true): Markup {
  const count = [...states.values()].reduce((sum, each) => sum + each, 0);
  if (count === 0) return html`<span class="faint">no farms</span>`;
  const upText = isCurrent ? '' : 'was ';
  return html`<span class="number${isCurrent ? '' : ' faint'}">${upText}${(states.get('up') ?? 0).toLocaleString('en')} <span class="faint">of ${count.toLocaleString('en')}</span></span>`;
}

function problemCounts(levels: readonly Level[]): Markup {
  const critical = levels.filter((level) => level === 'critical').length;
  const warnings = levels.length - critical;
  if (levels.length === 0) return html`<span class="faint">nothing</span>`;
  return html`${critical > 0 && stateMark('critical', `${critical} critical`)} ${warnings > 0 && stateMark('warning', `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`)}`;
}
