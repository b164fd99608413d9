import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { startProgram } from '../../scripts/stack/program.ts';
import { freeAddress } from '../free-address.ts';
import { inTurn, percentile } from '../measure.ts';
import { compare, type Result } from '../results.ts';
import { createScraper, type Encoding, type Scraper } from '../scraper.ts';
import { seriesOf } from './at-work.ts';

export const haproxyExporter = 'prometheus-haproxy-exporter';

/** Of each server it shows so many series, and about as many of its proxy. */
const seriesAServer = 31;
const serversAProxy = 10;
const rounds = 7;
const patienceMs = 20_000;

/** A scrape of ours beside one of the exporter for HAProxy, which asks, parses and renders at each scrape; HAProxy is a file here. */
export async function againstHaproxyExporter(ours: Scraper, series: number): Promise<Result[]> {
  const statistics = await serveStatistics(Math.round(series / (seriesAServer * (serversAProxy + 1))));
  const address = await freeAddress();
  const program = await startProgram({
    name: 'the exporter for HAProxy',
    command: haproxyExporter,
    args: [
      `--web.listen-address=${address}`,
      `--haproxy.scrape-uri=${statistics.url}/haproxy?stats;csv`,
      '--haproxy.timeout=30s',
    ],
    remedy: 'install Debian’s package prometheus-haproxy-exporter',
  });
  const theirs = createScraper(`http://${address}`);
  try {
    const theirSeries = seriesOf(await firstPage(theirs));
    const results: Result[] = [];
    for (const encoding of ['plain', 'gzip'] satisfies Encoding[]) {
      const [mine = [], other = []] = await inTurn(rounds, [() => ours.time(encoding), () => theirs.time(encoding)]);
      results.push(
        compare({
          name: `scrape of ${series.toLocaleString('en')} series, ${encoding} (reference: prometheus-haproxy-exporter with ${theirSeries.toLocaleString('en')})`,
          unit: 'ms',
          ours: percentile(mine, 0.5),
          reference: percentile(other, 0.5),
          goal: { atMost: 0.05 },
        }),
      );
    }
    return results;
  } finally {
    theirs.close();
    await program.stop();
    statistics.close();
  }
}

async function firstPage(scraper: Scraper): Promise<Buffer> {
  const startedAtMs = performance.now();
  for (;;) {
    try {
      return (await scraper.scrape('plain')).body;
    } catch (error) {
      if (performance.now() - startedAtMs > patienceMs) throw error;
      await pause(100);
    }
  }
}

/** HAProxy's statistics as its page `;csv` has them, of so many proxies with ten servers each. */
async function serveStatistics(proxies: number): Promise<{ readonly url: string; close(): void }> {
  const columns = 62;
  const row = (proxy: string, server: string, type: number, number: number) =>
    [
      proxy,
      server,
      ...Array.from({ length: columns - 2 }, (_, index) => {
        const column = index + 2;
        if (column === 17) return 'UP';
        if (column === 32) return type;
        if (column === 36) return 'L4OK';
        return (number * 7 + column * 13) % 1_000;
      }),
    ].join(',');
  const lines = Array.from({ length: proxies }, (_, proxy) => [
    ...Array.from({ length: serversAProxy }, (_unused, server) =>
      row(`farm-${proxy}`, `server-${server}`, 2, proxy * serversAProxy + server),
    ),
    row(`farm-${proxy}`, 'BACKEND', 1, proxy),
  ]);
  const body = Buffer.from(`# pxname,svname\n${lines.flat().join(',\n')},\n`);
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
