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
    if (name !== null && !scraped.has(name)) shown.unshift(...pastOf(page, now));
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

/** Maps recordings to the lines that they are of: the labels that stay, and the one that is new. */
const recordings: readonly (readonly [name: string, of: RegExp, stepSeconds: number, label?: string])[] = [
  ['appliance:zlb_up:answered', /^zlb_up\{(.*)\} /gm, 15],
  ['appliance:zlb_farm_status:seen', /^zlb_up\{(.*)\} /gm, 15],
  ['appliance:zlb_farm_status:served', /^zlb_up\{(.*)\} /gm, 15],
  ['farm:zlb_farm_status:ran', /^zlb_farm_status\{(.*),status="up"\} /gm, 60],
  ['farm:zlb_farm_status:ran1d', /^zlb_farm_status\{(.*),status="up"\} /gm, 300],
  ['farm:zlb_farm_status:listed', /^zlb_farm_status\{(.*),status="up"\} /gm, 300],
  ['farm:zlb_farm_reachable:ok', /^zlb_farm_reachable\{(.*)\} /gm, 300],
  ['interface:zlb_interface_up:used', /^zlb_interface_up\{(.*)\} /gm, 300],
  ['farm:zlb_farm_status:down', /^zlb_farm_status\{(.*status="critical")\} 1$/gm, 15],
  ['object:zlb_down:since', /^zlb_farm_status\{(.*status="critical")\} 1$/gm, 60, 'object="farm"'],
  ['object:zlb_down:since', /^zlb_backend_status\{(.*status="down")\} 1$/gm, 60, 'object="backend"'],
  ['object:zlb_down:since', /^zlb_interface_up\{(.*)\} 0$/gm, 60, 'object="interface"'],
];
/** Prometheus takes no samples that are older, beside those of now. */
const pastSeconds = 3_600;

/**
 * Returns what the rules recorded until now; the value is a time: since when, or when last. While a
 * farm is down, they record no outage of its backends.
 */
function pastOf(page: string, now: number): readonly string[] {
  const begin = now - pastSeconds;
  const farmsDown = [...page.matchAll(/^zlb_farm_status\{.*(farm="[^"]*").*status="critical"\} 1$/gm)].map(
    ([, farm = '']) => farm,
  );
  return recordings.flatMap(([name, of, stepSeconds, label]) => {
    const times = Array.from({ length: pastSeconds / stepSeconds - 1 }, (_, index) => begin + index * stepSeconds);
    const isSince = /:(down|since)$/.test(name);
    const found = [...page.matchAll(of)].filter(
      ([, labels = '']) => label !== 'object="backend"' || !farmsDown.some((farm) => labels.includes(farm)),
    );
    return found.flatMap(([, labels]) =>
      times.map((at) => `${name}{${[labels, label].filter(Boolean).join()}} ${isSince ? begin : at} ${at}000\n`),
    );
  });
}
