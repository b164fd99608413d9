import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Sample, seriesOf } from './exporter-page.ts';
import { type Remembered, type Span, timesIn } from './history.ts';
import type { Story } from './story.ts';

/**
 * The servers that Prometheus uses: the page of every appliance, the exporter's own, and an
 * Alertmanager that only listens.
 */
export interface Targets {
  /** `host:port`. */
  readonly address: string;
  readonly series: number;
  close(): void;
}

interface TargetsParts {
  readonly appliances: readonly string[];
  readonly samples: readonly Sample[];
  readonly story: Story;
  readonly recent: RecentPast;
}

/**
 * The recent past that Prometheus has in memory: the first scrape of a page brings it, as samples
 * with timestamps.
 */
export interface RecentPast {
  readonly past: readonly Remembered[];
  readonly span: Span;
}

/** Serves the same appliance many times, as `/probe?target=NAME`, with numbers that move. */
export async function startTargets({ appliances, samples, story, recent }: TargetsParts): Promise<Targets> {
  const [own, ofAppliance] = [false, true].map((is) => samples.filter((sample) => sample.ofAppliance === is));
  const pageOf = (appliance: string, shown: readonly Sample[] = []) => createPage(shown, appliance, story, recent);
  const pages = new Map([
    ['', pageOf('', own)],
    ...appliances.map((name) => [name, pageOf(name, ofAppliance)] as const),
  ]);
  const server = createServer((request, response) => {
    request.resume();
    const target = new URL(request.url ?? '', 'http://localhost').searchParams.get('target') ?? '';
    // A POST is for the Alertmanager.
    const page = request.method === 'POST' ? () => [] : pages.get(target);
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    for (const piece of page?.(Math.floor(Date.now() / 1_000)) ?? []) response.write(piece);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    series: (own?.length ?? 0) + appliances.length * (ofAppliance?.length ?? 0),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Page = (seconds: number) => readonly (string | Buffer)[];

/** Constant samples are rendered once. */
function createPage(samples: readonly Sample[], appliance: string, story: Story, recent: RecentPast): Page {
  const now = Math.floor(Date.now() / 1_000);
  const lines = samples.map((sample, index) => {
    const course = story.present(sample, index);
    const moves = [15, 60].some((seconds) => course(now + seconds) !== course(now));
    return { series: `${seriesOf(sample, appliance)} `, course, moves };
  });
  const still = lines.filter(({ moves }) => !moves).map(({ series, course }) => `${series}${course(now)}\n`);
  const moving = lines.filter(({ moves }) => moves);
  const fixed = Buffer.from(still.join(''));
  let scraped = false;
  return (seconds) => {
    const before = scraped ? [] : recentLines(recent, appliance);
    scraped = true;
    return [...before, fixed, moving.map(({ series, course }) => `${series}${course(seconds)}\n`).join('')];
  };
}

function recentLines({ past, span }: RecentPast, appliance: string): readonly string[] {
  return past
    .filter(({ sample }) => sample.ofAppliance === (appliance !== ''))
    .map((each) => {
      const series = seriesOf(each.sample, appliance);
      return timesIn(each, span)
        .map((at) => `${series} ${each.course(at)} ${at}000\n`)
        .join('');
    });
}
