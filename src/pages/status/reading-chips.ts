import { levelIcon } from '../marks.ts';
import type { ApplianceStatus, CollectorStatus } from '../../state/status.ts';
import {
  asksAppliance,
  asksFarmByFarm,
  type Freshness,
  freshnessLevels,
  freshnessOf,
  isAnswering,
  isFreshOrUnsupported,
  reasonWords,
} from '../../state/freshness.ts';
import { html, type Markup, type Renderable } from '../html.ts';
import { age } from '../times.ts';

/** Renders how many readings are fresh, each one on request, and the others grouped by cause. */
export function readingSummary(status: ApplianceStatus, nowMs: number): Markup {
  const chips = status.collectors.map((collector) => ({ collector, freshness: freshnessOf(collector, nowMs) }));
  const expected = chips.filter(({ freshness }) => freshness !== 'unsupported').length;
  const fresh = chips.filter(({ freshness }) => freshness === 'fresh').length;
  const groups = Map.groupBy(
    chips.filter(({ freshness }) => !isFreshOrUnsupported(freshness)),
    // While an appliance does not answer, all failures have one cause.
    ({ freshness, collector }) => `${freshness} ${status.up === false ? '' : collector.failure?.reason}`,
  );
  return html`<details class="readings" data-key="readings"><summary>${fresh === expected ? `all ${fresh}` : `${fresh} of ${expected}`} fresh</summary>
${allReadingChips(status, nowMs)}</details>
${groups.size > 0 && html`<ul class="chips">${[...groups.values()].map((group) => html`<li>${groupChip(group, nowMs)}</li>`)}</ul>`}`;
}

function groupChip(group: readonly Chip[], nowMs: number): Markup {
  const [first] = group;
  if (first === undefined || group.length === 1) return html`${first && chip(first, nowMs, true)}`;
  const { collector, freshness } = first;
  return html`<span class="chip ${freshnessLevels[freshness]}">${levelIcon(freshnessLevels[freshness])}<b>${group.length} readings</b> ${chipText({ ...collector, name: '', lastSuccessMs: undefined }, freshness, nowMs)}</span>`;
}

export function allReadingChips(status: ApplianceStatus, nowMs: number): Markup {
  return html`<ul class="chips">${status.collectors.map(
    (collector) =>
      html`<li>${chip({ collector, freshness: freshnessOf(collector, nowMs) }, nowMs, isAnswering(status))}</li>`,
  )}</ul>`;
}

interface Chip {
  readonly collector: CollectorStatus;
  readonly freshness: Freshness;
}

function chip({ collector, freshness }: Chip, nowMs: number, isCurrent: boolean): Markup {
  const isGone = !isCurrent && freshness === 'fresh' && asksAppliance(collector);
  const level = isGone ? 'unknown' : freshnessLevels[freshness];
  return html`<span class="chip ${level}">${levelIcon(level)}<b>${collector.name.replaceAll('_', ' ')}</b> ${chipText(collector, freshness, nowMs)}</span>`;
}

function chipText({ name, lastSuccessMs, failure }: CollectorStatus, freshness: Freshness, nowMs: number): Renderable {
  const last = lastSuccessMs !== undefined && age(lastSuccessMs, nowMs);
  const some = asksFarmByFarm(name) && 'of some farms ';
  const because = failure && html`: ${reasonWords[failure.reason]}`;
  const lastRead = last && html`, last read ${last} ago`;
  switch (freshness) {
    case 'fresh':
      return last;
    case 'late':
      return html`late${because}${lastRead}`;
    case 'failing':
      return html`${some}failing${because}${lastRead}`;
    case 'stale':
      return html`${some}too old to be shown${because}${lastRead}`;
    case 'waiting':
      return html`not read yet${because}`;
    case 'unsupported':
      return 'not on this appliance';
  }
}
