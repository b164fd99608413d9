import type { FarmTime } from '../../history/farm-times.ts';
import type { History } from '../../history/history.ts';
import { dayMs, inTime, span } from '../../lib/time.ts';
import { html, joinMarkup, type Markup } from '../html.ts';
import { utcTime } from '../times.ts';
import { maxHistoryWaitMs } from './find-events.ts';
import { emptyNote, panel, table } from './section.ts';

const hourMs = 3_600_000;
/** Times are rounded down to this, so that the page stays the same for as long while nothing happens. */
const roundingMs = 300_000;
/** The size of a bar in the SVG. */
const [barWidth, barHeight] = [10, 40];
/** Makes the shortest outage visible. */
const minOutageHeight = 6;

const strips = [
  { id: 'day', title: 'Last 24 hours', spanMs: hourMs, count: 24 },
  { id: 'month', title: 'Last 30 days', spanMs: dayMs, count: 30 },
] as const;

/** A period, up to now. */
interface Period {
  readonly fromMs: number;
  readonly up: number;
  readonly down: number;
  readonly maintenance: number;
  readonly unknown: number;
}

/** Reads how long a farm was up, down and in maintenance; undefined if the history does not answer in time. */
export async function findUptime(
  history: Pick<History, 'timesOf'>,
  appliance: string,
  farm: string,
): Promise<readonly FarmTime[] | undefined> {
  try {
    return await inTime(history.timesOf(appliance, farm), maxHistoryWaitMs, () => new Error('late'));
  } catch {
    return undefined;
  }
}

/**
 * Renders the uptime of a farm: a bar for each hour of a day and each day of a month, with patterns
 * instead of colours alone, and the same as text.
 */
export function uptimePanel(times: readonly FarmTime[] | undefined, atMs: number): Markup {
  const nowMs = Math.floor(atMs / roundingMs) * roundingMs;
  if (!times) return panel('uptime', 'Uptime', emptyNote('The history does not answer now.'));
  return panel('uptime', 'Uptime', [
    ...strips.map((strip) => stripMarkup(strip, periodsOf(strip, times, nowMs))),
    html`<p class="note legend">${joinMarkup(
      (['up', 'down', 'maintenance', 'unknown'] as const).map(
        (word) =>
          html`<span><svg class="strip-key" aria-hidden="true" viewBox="0 0 10 10">${patterns(`key-${word}`)}${barSegment(`key-${word}`, word, 0, 0, 10, 10)}</svg> ${word}</span>`,
      ),
      ' ',
    )}</p>
<p class="note">By the states that the appliance reported. Unknown: it was not asked, or did not answer.</p>`,
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
    // Time after `nowMs`, or counted twice after the clock was set back.
    const excess = Math.max(0, up + down + maintenance - lengthMs);
    return {
      fromMs,
      up: Math.max(0, up - excess),
      down,
      maintenance,
      unknown: Math.max(0, lengthMs - up - down - maintenance),
    };
  });
}

function stripMarkup({ id, title, spanMs, count }: (typeof strips)[number], periods: readonly Period[]): Markup {
  const total = (word: 'up' | 'down' | 'maintenance' | 'unknown'): number =>
    periods.reduce((sum, period) => sum + period[word], 0);
  const [up, down, maintenance] = [total('up'), total('down'), total('maintenance')];
  const served = up + down;
  const share = served === 0 ? 'nothing is known' : `up ${percent(up, served)} of the known ${span(served)}`;
  const details = [
    share,
    down > 0 && `down ${span(down)}`,
    maintenance > 0 && `in maintenance ${span(maintenance)}`,
    total('unknown') >= 60_000 && `unknown ${span(total('unknown'))}`,
  ].filter((detail) => detail !== false);
  const label = `${title}: ${details.join(', ')}`;
  return html`<h3 class="strip-title">${title}: <span>${details.join(', ')}</span></h3>
<svg class="strip" role="img" aria-label="${label}" viewBox="0 0 ${count * barWidth} ${barHeight}" preserveAspectRatio="none">${patterns(id)}${periods.map((period, index) => bar(id, period, index))}</svg>
<details data-open="no"><summary>${title} as a table</summary>${table(
    'strip-table',
    [spanMs === dayMs ? 'Day (UTC)' : 'Hour (UTC)', 'Up', 'Down', 'Maintenance', 'Unknown'],
    periods.toReversed(),
    periodRow,
  )}</details>`;
}

/** Rounds down, so that 100 % means no outage. */
function percent(part: number, whole: number): string {
  return `${part === whole ? '100' : (Math.floor((part / whole) * 100_000) / 1_000).toFixed(3)} %`;
}

function periodRow({ fromMs, up, down, maintenance, unknown }: Period): Markup {
  const cell = (word: string, ms: number): Markup =>
    html`<td data-label="${word}" class="number">${ms === 0 ? '0' : span(ms)}</td>`;
  return html`<tr data-key="${fromMs}"><th scope="row">${periodText(fromMs)}</th>${cell('Up', up)}${cell('Down', down)}${cell('Maintenance', maintenance)}${cell('Unknown', unknown)}</tr>`;
}

function periodText(fromMs: number): string {
  return (utcTime(fromMs) ?? '').slice(0, fromMs % dayMs === 0 ? 10 : 16);
}

function bar(strip: string, period: Period, index: number): Markup {
  const { fromMs } = period;
  const words = (['down', 'maintenance', 'up', 'unknown'] as const).filter((word) => period[word] > 0);
  // Not the length of the period: time after `nowMs` is in its parts.
  const wholeMs = words.reduce((sum, word) => sum + period[word], 0);
  const shares = words.map((word) => {
    const height = (period[word] / wholeMs) * barHeight;
    return { word, height: word === 'down' ? Math.max(height, minOutageHeight) : height };
  });
  const all = shares.reduce((sum, { height }) => sum + height, 0);
  let top = 0;
  const parts = shares.map(({ word, height }) => {
    const scaled = (height / all) * barHeight;
    top += scaled;
    return barSegment(strip, word, index * barWidth + 1, top - scaled, barWidth - 2, scaled);
  });
  const text = words.map((word) => `${word} ${span(period[word])}`).join(', ');
  return html`<g><title>${periodText(fromMs)} UTC: ${text || 'has just begun'}</title>${parts}</g>`;
}

function barSegment(strip: string, word: string, x: number, y: number, width: number, height: number): Markup {
  const fill = word === 'down' || word === 'maintenance' ? `url(#strip-${strip}-${word})` : '';
  return html`<rect class="${word}" x="${x}" y="${y.toFixed(1)}" width="${width}" height="${height.toFixed(1)}"${fill && html` fill="${fill}"`}/>`;
}

function patterns(strip: string): Markup {
  return html`<defs><pattern id="strip-${strip}-down" width="3" height="3" patternUnits="userSpaceOnUse"><rect class="ground" width="3" height="3"/><path class="cross" d="M0 0L3 3M3 0L0 3"/></pattern>
<pattern id="strip-${strip}-maintenance" width="4" height="5" patternUnits="userSpaceOnUse"><rect class="ground" width="4" height="5"/><rect class="stripe" width="4" height="2"/></pattern></defs>`;
}
