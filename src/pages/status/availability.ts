import type { FarmTime } from '../../history/farm-times.ts';
import type { History } from '../../history/history.ts';
import { dayMs, inTime, span } from '../../lib/time.ts';
import { html, joined, type Markup } from '../html.ts';
import { utcTime } from '../times.ts';
import { emptyNote, panel, table } from './section.ts';

/** A page waits no longer for a disk. */
const patienceMs = 1_000;
const hourMs = 3_600_000;
/** A page stays the same for so long while nothing happens. */
const betweenPagesMs = 300_000;
/** The size of a bar in its drawing. */
const [barWidth, barHeight] = [10, 40];
/** An outage is seen, however short it is. */
const minHeight = 6;

const strips = [
  { id: 'day', title: 'Last 24 hours', spanMs: hourMs, count: 24 },
  { id: 'month', title: 'Last 30 days', spanMs: dayMs, count: 30 },
] as const;

/** A period, as far as it is over; what is in none of the three is unknown. */
interface Period {
  readonly fromMs: number;
  readonly lengthMs: number;
  readonly up: number;
  readonly down: number;
  readonly maintenance: number;
  readonly unknown: number;
}

/** Reads how long a farm was up, down and in maintenance; undefined where the history does not answer soon. */
export async function findTimes(
  history: Pick<History, 'timesOf'>,
  appliance: string,
  farm: string,
): Promise<readonly FarmTime[] | undefined> {
  try {
    return await inTime(history.timesOf(appliance, farm), patienceMs, () => new Error('late'));
  } catch {
    return undefined;
  }
}

/**
 * Renders when a farm was up, as status pages do: a bar for each hour of a day, and for each day of
 * a month. Bars differ by their patterns, and the same is there as text.
 */
export function availabilityPanel(times: readonly FarmTime[] | undefined, atMs: number): Markup {
  const nowMs = Math.floor(atMs / betweenPagesMs) * betweenPagesMs;
  if (!times) return panel('availability', 'Availability', emptyNote('The history gives no answer now.'));
  return panel('availability', 'Availability', [
    ...strips.map((strip) => stripOf(strip, periodsOf(strip, times, nowMs))),
    html`<p class="note legend">${joined(
      (['up', 'down', 'maintenance', 'unknown'] as const).map(
        (word) =>
          html`<span><svg class="strip-key" aria-hidden="true" viewBox="0 0 10 10">${patterns(`key-${word}`)}${part(`key-${word}`, word, 0, 0, 10, 10)}</svg> ${word}</span>`,
      ),
      ' ',
    )}</p>
<p class="note">As the appliance words its state. Unknown: it was not asked, or gave no answer.</p>`,
  ]);
}

function periodsOf(
  { spanMs, count }: (typeof strips)[number],
  times: readonly FarmTime[],
  nowMs: number,
): readonly Period[] {
  const known = new Map(times.filter((each) => each.spanMs === spanMs).map((each) => [each.fromMs, each]));
  const lastMs = Math.floor(nowMs / spanMs) * spanMs;
  return Array.from({ length: count }, (_, index) => {
    const fromMs = lastMs - (count - 1 - index) * spanMs;
    const lengthMs = Math.min(spanMs, nowMs - fromMs);
    const { up = 0, down = 0, maintenance = 0 } = known.get(fromMs) ?? {};
    // What is newer, and what was counted twice since a clock was set back.
    const excess = Math.max(0, up + down + maintenance - lengthMs);
    return {
      fromMs,
      lengthMs,
      up: Math.max(0, up - excess),
      down,
      maintenance,
      unknown: Math.max(0, lengthMs - up - down - maintenance),
    };
  });
}

function stripOf({ id, title, spanMs, count }: (typeof strips)[number], periods: readonly Period[]): Markup {
  const total = (word: 'up' | 'down' | 'maintenance' | 'unknown'): number =>
    periods.reduce((sum, period) => sum + period[word], 0);
  const [up, down, maintenance] = [total('up'), total('down'), total('maintenance')];
  const served = up + down;
  const share = served === 0 ? 'nothing is known' : `up ${percent(up, served)} of ${span(served)} that are known`;
  const facts = [
    share,
    down > 0 && `down ${span(down)}`,
    maintenance > 0 && `in maintenance ${span(maintenance)}`,
    total('unknown') >= 60_000 && `unknown ${span(total('unknown'))}`,
  ].filter((fact) => fact !== false);
  const label = `${title}: ${facts.join(', ')}`;
  return html`<h3 class="strip-title">${title}: <span>${facts.join(', ')}</span></h3>
<svg class="strip" role="img" aria-label="${label}" viewBox="0 0 ${count * barWidth} ${barHeight}" preserveAspectRatio="none">${patterns(id)}${periods.map((period, index) => bar(id, period, index))}</svg>
<details data-open="no"><summary>${title} as a table</summary>${table(
    'strip-table',
    [spanMs === dayMs ? 'Day (UTC)' : 'Hour (UTC)', 'Up', 'Down', 'Maintenance', 'Unknown'],
    periods.toReversed(),
    rowOf,
  )}</details>`;
}

/** Rounds down: 100 % are no outage at all. */
function percent(part: number, whole: number): string {
  return `${part === whole ? '100' : (Math.floor((part / whole) * 100_000) / 1_000).toFixed(3)} %`;
}

function rowOf({ fromMs, up, down, maintenance, unknown }: Period): Markup {
  const cell = (word: string, ms: number): Markup =>
    html`<td data-label="${word}" class="number">${ms === 0 ? '0' : span(ms)}</td>`;
  return html`<tr data-key="${fromMs}"><th scope="row">${periodText(fromMs)}</th>${cell('Up', up)}${cell('Down', down)}${cell('Maintenance', maintenance)}${cell('Unknown', unknown)}</tr>`;
}

function periodText(fromMs: number): string {
  return (utcTime(fromMs) ?? '').slice(0, fromMs % dayMs === 0 ? 10 : 16);
}

function bar(strip: string, period: Period, index: number): Markup {
  const { fromMs, lengthMs } = period;
  const words = (['down', 'maintenance', 'up', 'unknown'] as const).filter((word) => period[word] > 0);
  const shares = words.map((word) => {
    const height = (period[word] / lengthMs) * barHeight;
    return { word, height: word === 'down' ? Math.max(height, minHeight) : height };
  });
  const all = shares.reduce((sum, { height }) => sum + height, 0);
  let top = 0;
  const parts = shares.map(({ word, height }) => {
    const scaled = (height / all) * barHeight;
    top += scaled;
    return part(strip, word, index * barWidth + 1, top - scaled, barWidth - 2, scaled);
  });
  const text = words.map((word) => `${word} ${span(period[word])}`).join(', ');
  return html`<g><title>${periodText(fromMs)} UTC: ${text || 'has just begun'}</title>${parts}</g>`;
}

function part(strip: string, word: string, x: number, y: number, width: number, height: number): Markup {
  const fill = word === 'down' || word === 'maintenance' ? `url(#strip-${strip}-${word})` : '';
  return html`<rect class="${word}" x="${x}" y="${y.toFixed(1)}" width="${width}" height="${height.toFixed(1)}"${fill && html` fill="${fill}"`}/>`;
}

/** Patterns tell the states apart without colours. */
function patterns(strip: string): Markup {
  return html`<defs><pattern id="strip-${strip}-down" width="3" height="3" patternUnits="userSpaceOnUse"><rect class="ground" width="3" height="3"/><path class="cross" d="M0 0L3 3M3 0L0 3"/></pattern>
<pattern id="strip-${strip}-maintenance" width="4" height="5" patternUnits="userSpaceOnUse"><rect class="ground" width="4" height="5"/><rect class="stripe" width="4" height="2"/></pattern></defs>`;
}
