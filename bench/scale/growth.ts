import { writeFileSync } from 'node:fs';
import { absolute, compare, inColumns, type Result } from '../results.ts';
import { type AtWork, watchAtWork } from './at-work.ts';
import { type Line, svgPlot, textPlot } from './plot.ts';

const perAppliance = { farms: 5, backendsPerFarm: 10 } as const;
/** Half a minute: as long as the shortest schedule, so that every appliance had its turn in it. */
const rareScrapes = 12;
const fleets = [
  { appliances: 1, rounds: 60 },
  { appliances: 10, rounds: 60 },
  { appliances: 100, rounds: 60 },
  { appliances: 1_000, rounds: 24 },
] as const;

interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly of: (atWork: AtWork) => number;
  /** The same of node:http that sends the same bytes. */
  readonly reference?: (atWork: AtWork) => number;
}

const growing: readonly Measure[] = [
  { name: 'resident memory', unit: 'MB', of: ({ highestRssBytes }) => highestRssBytes / 1e6 },
  { name: 'CPU', unit: 'ms/s', of: ({ usual }) => usual.cpuShare * 1_000 },
  {
    name: 'scrape, plain',
    unit: 'ms',
    of: ({ times }) => times.plain.ours.p50,
    // A hundred megabytes no longer fit into any cache, so that sending them alone grows faster than they do.
    reference: ({ times }) => times.plain.fixed.p50,
  },
  { name: 'scrape, gzip', unit: 'ms', of: ({ times }) => times.gzip.ours.p50 },
];
const others: readonly Measure[] = [
  { name: 'series', unit: '', of: ({ series }) => series },
  { name: 'heap', unit: 'MB', of: ({ usual }) => usual.heapBytes / 1e6 },
  { name: 'plain p99', unit: 'ms', of: ({ times }) => times.plain.ours.p99 },
  { name: 'gzip p99', unit: 'ms', of: ({ times }) => times.gzip.ours.p99 },
  { name: 'loop delay p99', unit: 'ms', of: ({ loopDelayMs }) => loopDelayMs.p99 },
];

/** Growth by the factor by which the fleet grows has the exponent 1; noise is some hundredths of it. */
const linear = 1.05;

/** From one appliance to a thousand; prints a table and a plot, and writes the plot beside the results. */
export async function growthResults(): Promise<Result[]> {
  const taken: AtWork[] = [];
  for (const { appliances, rounds } of fleets) {
    const size = { appliances, ...perAppliance };
    const { atWork } = await watchAtWork({ size, rareScrapes, rounds }, () => Promise.resolve());
    taken.push(atWork);
  }
  console.log(`${growthTable(taken)}\n`);
  const lines = growing.map(({ name, unit, of }): Line => ({ name: `${name}, ${unit}`, points: points(taken, of) }));
  console.log(`${textPlot(lines)}\n`);
  writeFileSync(new URL('../growth.svg', import.meta.url), svgPlot('appliances', lines));
  return growing.map((measure) => growthOf(measure, taken));
}

function growthOf({ name, of, reference }: Measure, taken: readonly AtWork[]): Result {
  const grown = `growth from 100 to 1,000 appliances × ${perAppliance.farms} farms × ${perAppliance.backendsPerFarm} backends: ${name} (1 is linear)`;
  const value = lastExponent(points(taken, of));
  return reference
    ? compare({
        name: `${grown} (reference: node:http sends the same bytes, or linear where that grows less)`,
        unit: 'exponent',
        ours: value,
        reference: Math.max(1, lastExponent(points(taken, reference))),
        goal: { atMost: linear },
      })
    : absolute({ name: grown, unit: 'exponent', value, atMost: linear });
}

function points(taken: readonly AtWork[], of: Measure['of']): Line['points'] {
  return taken.map((atWork) => [atWork.size.appliances, of(atWork)]);
}

/** Of the last step, where what one appliance costs no longer hides behind what the process costs. */
function lastExponent(points: Line['points']): number {
  const [[x0, y0], [x1, y1]] = points.slice(-2) as [[number, number], [number, number]];
  return Math.log(y1 / y0) / Math.log(x1 / x0);
}

function growthTable(taken: readonly AtWork[]): string {
  const measures = [...others, ...growing];
  return inColumns([
    ['appliances', ...measures.map(({ name, unit }) => (unit === '' ? name : `${name}, ${unit}`))],
    ...taken.map((atWork) => [
      atWork.size.appliances.toLocaleString('en'),
      ...measures.map(({ of }) => Number(of(atWork).toPrecision(3)).toLocaleString('en')),
    ]),
  ]);
}
