import { execFile } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { job, type Sample, seriesOf } from './exporter-page.ts';
import { type LookBack, matches } from './measured-rules.ts';
import { type Course, scrapeSeconds, type Story } from './story.ts';

/** A sample with what it showed, and how often Prometheus kept it. */
export interface PastSample {
  readonly sample: Sample;
  readonly course: Course;
  readonly stepSeconds: number;
}

export interface Span {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** A sample that somebody looks back at, and when. */
export interface Remembered extends PastSample {
  readonly spans: readonly Span[];
}

/** As long as a block of Prometheus. */
const blockSeconds = 7_200;
/** The benchmark goes on for a while, and what it looks back at moves with it. */
const lastsSeconds = 300;
const promtoolsAtATime = 2;

/** Creates the past that every rule needs at this moment. */
export function remember(
  samples: readonly PastSample[],
  lookBacks: readonly LookBack[],
  nowSeconds: number,
): readonly Remembered[] {
  // `up` is one series per target: its past costs nothing.
  const known = new Set(['up', ...samples.map(({ sample }) => sample.metric)]);
  for (const { metric } of lookBacks)
    if (!known.has(metric)) throw new Error(`a rule looks back at ${metric}, which has no past here; give it one`);
  return samples
    .map((past) => ({ ...past, spans: spansOf(past.sample, lookBacks, nowSeconds) }))
    .filter(({ spans }) => spans.length > 0);
}

/** When a sample was kept within a span, in Unix seconds. */
export function timesIn({ spans, stepSeconds }: Remembered, within: Span): readonly number[] {
  return spans.flatMap((span) => {
    const from = Math.ceil(Math.max(span.fromSeconds, within.fromSeconds) / stepSeconds) * stepSeconds;
    const count = Math.ceil((Math.min(span.toSeconds, within.toSeconds) - from) / stepSeconds);
    return Array.from({ length: Math.max(0, count) }, (_, index) => from + index * stepSeconds);
  });
}

/** Writes a span of the past as blocks of Prometheus. */
export async function writeBlocks(
  folder: string,
  span: Span,
  past: readonly Remembered[],
  appliances: readonly string[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const running = new Set<Promise<void>>();
  for (const window of windowsOf(span)) {
    const file = join(folder, `${window.fromSeconds}.openmetrics`);
    const samples = writeWindow(file, window, past, appliances);
    const block = toBlock(file, folder, samples).finally(() => running.delete(block));
    running.add(block);
    if (running.size >= promtoolsAtATime) await Promise.race(running);
  }
  await Promise.all(running);
}

/** One block's samples as OpenMetrics, a series after the other; returns how many there are. */
function writeWindow(file: string, window: Span, past: readonly Remembered[], appliances: readonly string[]): number {
  const descriptor = openSync(file, 'w');
  let samples = 0;
  for (const each of past) {
    const shown = timesIn(each, window).map((at) => ` ${each.course(at)} ${at}\n`);
    if (shown.length === 0) continue;
    for (const appliance of each.sample.ofAppliance ? appliances : ['']) {
      const series = seriesOf(each.sample, appliance, 'stored');
      writeSync(descriptor, shown.map((text) => series + text).join(''));
      samples += shown.length;
    }
  }
  writeSync(descriptor, '# EOF\n');
  closeSync(descriptor);
  return samples;
}

async function toBlock(file: string, folder: string, samples: number): Promise<void> {
  if (samples > 0)
    await promisify(execFile)('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', file, folder]);
  rmSync(file);
}

/** When a series is looked back at; what overlaps is one. */
function spansOf({ metric, labels }: Sample, lookBacks: readonly LookBack[], nowSeconds: number): readonly Span[] {
  const spans = lookBacks
    .filter((each) => each.metric === metric && matches(each.matchers, { ...labels, job }))
    .map(({ fromSeconds, toSeconds }) => ({
      fromSeconds: nowSeconds - fromSeconds,
      toSeconds: nowSeconds - toSeconds + lastsSeconds,
    }))
    .toSorted((a, b) => a.fromSeconds - b.fromSeconds);
  return spans.reduce<Span[]>((joined, span) => {
    const last = joined.at(-1);
    if (!last || last.toSeconds < span.fromSeconds) return [...joined, span];
    return [...joined.slice(0, -1), { ...last, toSeconds: Math.max(last.toSeconds, span.toSeconds) }];
  }, []);
}

function windowsOf({ fromSeconds, toSeconds }: Span): readonly Span[] {
  const first = Math.floor(fromSeconds / blockSeconds) * blockSeconds;
  return Array.from({ length: Math.ceil((toSeconds - first) / blockSeconds) }, (_, index) => ({
    fromSeconds: Math.max(fromSeconds, first + index * blockSeconds),
    toSeconds: Math.min(toSeconds, first + (index + 1) * blockSeconds),
  }));
}

/**
 * Returns the stored samples of Prometheus: scraped ones, and those recorded by rules that need the
 * past.
 */
export function pastSamples(samples: readonly Sample[], story: Story): readonly PastSample[] {
  return samples.flatMap((sample, index): PastSample[] => {
    const scraped = { sample, course: story.past(sample, index), stepSeconds: scrapeSeconds };
    const { status, ...labels } = sample.labels;
    const recorded = (metric: string, parts: Partial<PastSample>) => ({
      ...scraped,
      ...parts,
      sample: { ...sample, metric, labels },
    });
    switch (sample.metric) {
      case 'zlb_farm_established_connections':
        return [scraped, recorded('farm:zlb_farm_established_connections:min5m', { stepSeconds: 300 })];
      case 'zlb_farm_status':
        if (status !== 'down') return [scraped];
        return [
          scraped,
          recorded('farm:zlb_farm_stopped:min5m', { stepSeconds: 300 }),
          recorded('farm:zlb_farm_stopped:min1d', { stepSeconds: 300 }),
        ];
      case 'zlb_farm_reachable':
        return [
          scraped,
          recorded('farm:zlb_farm_reachable:max5m', { stepSeconds: 300 }),
          recorded('farm:zlb_farm_reachable:max1d', { stepSeconds: 300 }),
        ];
      case 'zlb_interface_up':
        return [
          scraped,
          recorded('interface:zlb_interface_up:max5m', { stepSeconds: 300 }),
          recorded('interface:zlb_interface_up:max1d', { stepSeconds: 300 }),
        ];
      case 'zlb_packages_pending':
        return [scraped, recorded('appliance:zlb_packages_pending:min5m', { stepSeconds: 300 })];
      case 'zlb_backend_status':
        if (status !== 'maintenance' || sample.value !== '1') return [scraped];
        return [scraped, recorded('backend:zlb_backend_maintenance:last5m', { stepSeconds: 300 })];
      default:
        return [scraped];
    }
  });
}
