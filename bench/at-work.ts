import { setTimeout as pause } from 'node:timers/promises';
import type { Exporter } from './exporter.ts';
import { percentile, usageOf } from './measure.ts';
import { loopResolutionMs, startIdleLoop } from './references.ts';
import { createScraper, type Encoding } from './scraper.ts';

/** The load of an exporter that polls a fleet, by its own metrics and by the kernel. */
export interface AtWork {
  readonly scrapeMs: Readonly<Partial<Record<Encoding, number>>>;
  /** CPU seconds per second. */
  readonly cpuRatio: number;
  /** The worst of all stretches between two scrapes. */
  readonly loopDelayMs: LoopDelay;
  /** The same of a process that does nothing meanwhile: what the machine costs. */
  readonly idleLoopDelayMs: LoopDelay;
  /** Since its start. */
  readonly maxResidentMb: number;
}

export interface LoopDelay {
  readonly p99: number;
  readonly max: number;
}

export interface AtWorkParts {
  readonly exporter: Exporter;
  /** One of its appliances. */
  readonly appliance: string;
  readonly encodings: readonly Encoding[];
  /** Scrapes of each encoding. */
  readonly scrapes: number;
  readonly everyMs: number;
}

/** Scrapes now and then, as Prometheus does. */
export async function watchAtWork({ exporter, appliance, encodings, scrapes, everyMs }: AtWorkParts): Promise<AtWork> {
  const scraper = createScraper(exporter.url);
  const idle = await startIdleLoop();
  const tookMs = encodings.map((encoding) => ({ encoding, values: [] as number[] }));
  const startedAtMs = performance.now();
  // prom-client starts to measure the delay again at each scrape.
  const before = await readProcess(exporter, appliance);
  await idle.delay();
  const seen: (ProcessMetrics & { readonly idle: LoopDelay })[] = [];
  for (let round = 0; round < scrapes; round += 1)
    for (const { encoding, values } of tookMs) {
      await pause(everyMs);
      values.push(await scraper.time(encoding));
      seen.push({ ...(await readProcess(exporter, appliance)), idle: await idle.delay() });
    }
  scraper.close();
  await idle.stop();
  const seconds = (performance.now() - startedAtMs) / 1_000;
  return {
    scrapeMs: Object.fromEntries(tookMs.map(({ encoding, values }) => [encoding, percentile(values, 0.5)])),
    cpuRatio: ((seen.at(-1)?.cpuSeconds ?? Number.NaN) - before.cpuSeconds) / seconds,
    loopDelayMs: {
      p99: Math.max(...seen.map(({ loopP99Ms }) => loopP99Ms)),
      max: Math.max(...seen.map(({ loopMaxMs }) => loopMaxMs)),
    },
    idleLoopDelayMs: {
      p99: Math.max(...seen.map(({ idle: { p99 } }) => p99)),
      max: Math.max(...seen.map(({ idle: { max } }) => max)),
    },
    maxResidentMb: usageOf(exporter.pid).maxResidentBytes / 1e6,
  };
}

/** Resolves once a schedule of so many seconds has begun since then, in Unix milliseconds. */
export async function firstTick(seconds: number, sinceMs: number): Promise<void> {
  const everyMs = seconds * 1_000;
  await pause(Math.max(0, Math.ceil(sinceMs / everyMs) * everyMs - Date.now()));
}

interface ProcessMetrics {
  readonly cpuSeconds: number;
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
}

/** Reads them from a short page; within a second of a scrape they are what that scrape had. */
async function readProcess({ url }: Exporter, appliance: string): Promise<ProcessMetrics> {
  const page = await (await fetch(`${url}/metrics?appliance=${appliance}`)).text();
  const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]);
  const delayMs = (name: string): number => Math.max(0, value(name) * 1_000 - loopResolutionMs);
  return {
    cpuSeconds: value('process_cpu_seconds_total'),
    loopP99Ms: delayMs('nodejs_eventloop_lag_p99_seconds'),
    loopMaxMs: delayMs('nodejs_eventloop_lag_max_seconds'),
  };
}
