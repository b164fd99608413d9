import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Mood } from './appliance-worlds.ts';

/** The pages of the appliances, at `/probe?target=NAME`, and that of the exporter. */
export interface FleetPages {
  /** `host:port`. */
  readonly address: string;
  readonly series: number;
  close(): void;
}

interface Line {
  readonly series: string;
  valueAt(seconds: number): string;
}

export const scrapeSeconds = 15;
const placeholder = 'appliance="lb"';

/** Serves the page of one appliance under many names, with counters and times that move. */
export async function startFleetPages(page: string, names: readonly string[], mood: Mood): Promise<FleetPages> {
  const startSeconds = Math.floor(Date.now() / 1_000);
  const lines = [...page.matchAll(/^([a-z]\w*(?:\{.*\})?) (\S+)$/gm)].map(
    ([, series = '', value = '']): Line => ({ series, valueAt: courseOf(series, value, mood, startSeconds) }),
  );
  const own = lines.filter(({ series }) => !series.includes(placeholder));
  const ofAppliance = lines.filter(({ series }) => series.includes(placeholder));
  const scraped = new Set<string>();
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? '', 'http://localhost').searchParams.get('target');
    const now = Math.floor(Date.now() / 1_000);
    const shown = (name === null ? own : ofAppliance).map(({ series, valueAt }) => `${series} ${valueAt(now)}\n`);
    // The first scrape brings an hour of what the rules have recorded.
    if (name !== null && !scraped.has(name)) shown.unshift(...pastOf(ofAppliance, now, mood));
    scraped.add(name ?? '');
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(shown.join('').replaceAll(placeholder, `appliance="${name}"`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    series: own.length + names.length * ofAppliance.length,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** On a bad day no client can connect, and no reading of any collector is newer than a day. */
function courseOf(series: string, value: string, mood: Mood, startSeconds: number): Line['valueAt'] {
  const bad = mood === 'bad';
  if (bad && /^zlb_(farm_reachable|collector_success)\{/.test(series)) return () => '0';
  if (/^zlb_collector_last_(success|attempt)_/.test(series)) return (seconds) => String(seconds - (bad ? 86_400 : 10));
  if (value !== '0' && /^zlb_\w+_total\{/.test(series))
    return (seconds) => String(Number(value) + Math.floor((seconds - startSeconds) / scrapeSeconds));
  return () => value;
}

/** Recordings of a series: their first time and their step. */
const recordings: readonly {
  readonly of: RegExp;
  readonly as: string;
  readonly drop?: RegExp;
  readonly stepSeconds: number;
  readonly fromSeconds: number;
  readonly only?: Mood;
}[] = [
  { of: /^zlb_up\{/, as: 'appliance:zlb_farm_status:seen', stepSeconds: 15, fromSeconds: 3_600 },
  {
    of: /^zlb_farm_status\{.*status="up"/,
    as: 'farm:zlb_farm_status:ran',
    drop: /,?status="up"/,
    stepSeconds: 60,
    fromSeconds: 900,
  },
  { of: /^zlb_farm_reachable\{/, as: 'farm:zlb_farm_reachable:ok', stepSeconds: 300, fromSeconds: 3_600 },
  {
    of: /^zlb_farm_status\{.*status="critical"/,
    as: 'farm:zlb_farm_status:down',
    stepSeconds: 15,
    fromSeconds: 3_600,
    only: 'bad',
  },
  {
    of: /^zlb_backend_status\{.*status="down"/,
    as: 'backend:zlb_backend_status:down',
    drop: /,?status="down"/,
    stepSeconds: 60,
    fromSeconds: 900,
    only: 'bad',
  },
];

function pastOf(lines: readonly Line[], now: number, mood: Mood): readonly string[] {
  return recordings
    .filter(({ only = mood }) => only === mood)
    .flatMap(({ of, as, drop = /$^/, stepSeconds, fromSeconds }) => {
      const steps = Array.from(
        { length: fromSeconds / stepSeconds - 1 },
        (_, index) => now - fromSeconds + index * stepSeconds,
      );
      return lines
        .filter(({ series }) => of.test(series))
        .flatMap(({ series }) => {
          const recorded = series.replace(/^\w+/, as).replace(drop, '');
          return steps.map((at) => `${recorded} ${as.endsWith(':down') ? now - fromSeconds : at} ${at}000\n`);
        });
    });
}
