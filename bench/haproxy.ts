import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startProgram } from '../scripts/stack/program.ts';
import { until } from '../test/support/until.ts';
import { freePort } from '../test/support/free-port.ts';
import { medians } from './measure.ts';
import { seriesOf } from './references.ts';
import { compare, type Result } from './results.ts';
import { createScraper, type Scraper } from './scraper.ts';

export const haproxyExporter = 'prometheus-haproxy-exporter';

const serversAProxy = 10;
/** Series that it shows of a proxy with so many servers. */
const seriesAProxy = 354;
const columns = 62;
const rounds = 3;
const atMost = 1 / 8;

/**
 * Times scrapes of our exporter beside Debian's exporter for HAProxy with as many series, which
 * asks, parses and renders at each scrape. HAProxy is a file here.
 */
export async function haproxyResults(ours: Scraper, series: number): Promise<Result[]> {
  const statistics = await serveStatistics(Math.round(series / seriesAProxy));
  const address = `127.0.0.1:${await freePort()}`;
  const program = await startProgram({
    name: 'the exporter for HAProxy',
    command: haproxyExporter,
    args: [`--web.listen-address=${address}`, `--haproxy.scrape-uri=${statistics.url}`, '--haproxy.timeout=30s'],
    remedy: 'install Debian’s package prometheus-haproxy-exporter',
  });
  const theirs = createScraper(`http://${address}`);
  const theirSeries = await until(
    async () =>
      seriesOf(
        await theirs.scrape('plain').then(
          ({ body }) => body.toString(),
          () => '',
        ),
      ),
    (count) => count > 0,
    20_000,
  );
  const results: Result[] = [];
  for (const encoding of ['plain', 'gzip'] as const) {
    const [mine, reference] = await medians(rounds, [() => ours.time(encoding), () => theirs.time(encoding)]);
    const [count, theirCount] = [series, theirSeries].map((each) => each.toLocaleString('en'));
    const name = `page of ${count} series, ${encoding} (prometheus-haproxy-exporter with ${theirCount})`;
    results.push(compare({ name, unit: 'ms', ours: mine, reference, atMost }));
  }
  theirs.close();
  await program.stop();
  statistics.close();
  return results;
}

/** Serves HAProxy's statistics as CSV, of so many proxies with ten servers each. */
async function serveStatistics(proxies: number): Promise<{ readonly url: string; close(): void }> {
  const lines = Array.from({ length: proxies }, (_, proxy) => [
    ...Array.from({ length: serversAProxy }, (_unused, server) =>
      csvLine(`farm-${proxy}`, `server-${server}`, 2, proxy * serversAProxy + server),
    ),
    csvLine(`farm-${proxy}`, 'BACKEND', 1, proxy),
  ]);
  const body = Buffer.from(`# pxname,svname\n${lines.flat().join(',\n')},\n`);
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/haproxy?stats;csv`, close: () => server.close() };
}

function csvLine(proxy: string, server: string, type: number, number: number): string {
  const named = new Map<number, string | number>([
    [17, 'UP'],
    [32, type],
    [36, 'L4OK'],
  ]);
  const numbers = Array.from({ length: columns - 2 }, (_, index) => {
    const column = index + 2;
    return named.get(column) ?? (number * 7 + column * 13) % 1_000;
  });
  return [proxy, server, ...numbers].join(',');
}
