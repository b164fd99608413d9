import type { TwinStatus } from '../../history/twin-watch.ts';
import { failoverSentence, neverCompared, type TwinDifference } from '../../history/twins.ts';
import { plural } from '../../lib/text.ts';
import { html, type Markup, type Renderable } from '../html.ts';
import { applianceLink, emptyNote, panel, table } from './section.ts';

const maxDifferences = 100;

/** Renders the differences between an appliance and its twin; false without a twin. */
export function twinPanel(appliance: string, twin: TwinStatus | undefined): Renderable {
  if (!twin) return false;
  const { name, comparison } = twin;
  const heading = html`Twin ${applianceLink(name)}`;
  if (!comparison) return panel('twin', heading, emptyNote('Not compared now: one of the two was not read.'));
  const { differences, unknown } = comparison;
  const columns = ['A failover', html`<bdi>${appliance}</bdi>`, html`<bdi>${name}</bdi>`];
  const rest = differences.length - maxDifferences;
  return panel('twin', html`${heading}: ${plural(differences.length, 'difference')}`, [
    differences.length > 0 &&
      table('twins', columns, differences.slice(0, maxDifferences), (each) => differenceRow(each, name)),
    rest > 0 && html`<p class="note">And ${rest} more; <code>/api/status</code> has the first 1,000.</p>`,
    unknown.size > 0 && html`<p class="note">Not known of both: ${[...unknown].join(', ')}.</p>`,
    html`<p class="note">Never compared: ${neverCompared.join('; ')}.</p>`,
  ]);
}

function differenceRow(difference: TwinDifference, twin: string): Markup {
  const { object, farm, service, name, setting, here, there } = difference;
  return html`<tr data-key="${[object, farm, service, name, setting].join(' ')}"><th scope="row"><bdi>${failoverSentence(difference, twin)}</bdi></th>
<td data-label="Here">${valueText(here)}</td><td data-label="On its twin">${valueText(there)}</td></tr>`;
}

function valueText(value: string | undefined): Markup {
  if (value === undefined) return html`<span class="faint">not there</span>`;
  return value === '' ? html`<span class="faint">not set</span>` : html`<bdi>${value}</bdi>`;
}
