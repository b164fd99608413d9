import { ownText } from './own-text.ts';

/** Compares every counter with its value in the scrape before. */
export interface CounterWatch {
  /** Takes the next page; returns what fell, and what was lost of the appliances that are there. */
  next(page: string, isThere: (appliance: string) => boolean): readonly string[];
  /** The series that were compared at least once. */
  readonly compared: number;
}

/** Buckets and sums of histograms count as well. */
export function createCounterWatch(): CounterWatch {
  const known = new Map<string, number>();
  const compared = new Set<string>();

  return {
    get compared() {
      return compared.size;
    },
    next(page, isThere) {
      const now = new Map(countersIn(page));
      const problems: string[] = [];
      for (const [series, value] of now) {
        const before = known.get(series);
        if (before !== undefined && !compared.has(series)) compared.add(ownText(series));
        if (before !== undefined && value < before) problems.push(`${series} fell from ${before} to ${value}`);
        known.set(before === undefined ? ownText(series) : series, value);
      }
      for (const series of known.keys()) {
        if (now.has(series)) continue;
        const appliance = applianceOf(series);
        // Who comes back begins anew; what an appliance counts itself goes with its reading.
        if (appliance !== undefined && !isThere(appliance)) known.delete(series);
        else if (!series.startsWith('zlb_interface_')) problems.push(`${series} is gone`);
      }
      return problems;
    },
  };
}

/** The appliance of a series as it is written. */
export function applianceOf(series: string): string | undefined {
  return /[{,]appliance="([^"]*)"/.exec(series)?.[1];
}

function* countersIn(page: string): Generator<readonly [series: string, value: number]> {
  let counts = false;
  for (const line of page.split('\n')) {
    if (line.startsWith('# TYPE ')) counts = line.endsWith(' counter') || line.endsWith(' histogram');
    else if (counts && line !== '' && !line.startsWith('#')) {
      const end = line.lastIndexOf(' ');
      yield [line.slice(0, end), Number(line.slice(end + 1))];
    }
  }
}
