import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Gauge, Registry } from 'prom-client';
import { createScraper, type Encoding, type Scrape, type Scraper } from './scraper.ts';
import { answerCalls, startWorker } from './worker.ts';

/** A server in a process of its own that an exporter is compared with. */
export interface Reference {
  readonly scraper: Scraper;
  /** Resolves once the process has ended. */
  stop(): Promise<void>;
}

type Answers = Readonly<Record<Encoding, Scrape>>;
type Order = { readonly answers: Answers } | { readonly page: string };

/** Starts a node:http server that sends what the exporter sends at present, headers included. */
export async function startStaticServer(exporter: Scraper): Promise<Reference> {
  return await startReference({
    answers: { plain: await exporter.scrape('plain'), gzip: await exporter.scrape('gzip') },
  });
}

/** Starts a server that renders the series of a page with prom-client at each scrape. */
export async function startPromClient(page: string): Promise<Reference> {
  return await startReference({ page });
}

/** Returns a registry of prom-client with the series of a page; counters become gauges. */
export function registryOf(page: string): Registry {
  const registry = new Registry();
  const gauges = new Map<string, Gauge>();
  // The benchmark's label values have nothing to escape.
  for (const [, name = '', text = '', value] of page.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm)) {
    const labels = Object.fromEntries(
      [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', is = '']) => [label, is] as const),
    );
    let gauge = gauges.get(name);
    if (!gauge) {
      gauge = new Gauge({ name, help: 'The same series.', labelNames: Object.keys(labels), registers: [registry] });
      gauges.set(name, gauge);
    }
    gauge.set(labels, Number(value));
  }
  return registry;
}

/** Returns the number of sample lines of a page. */
export function seriesOf(page: string): number {
  return page.match(/^[^#\n]/gm)?.length ?? 0;
}

async function startReference(order: Order): Promise<Reference> {
  const worker = startWorker<{ serve: typeof serve }>(new URL(import.meta.url));
  const scraper = createScraper(await worker.ask('serve', order));
  return {
    scraper,
    async stop() {
      scraper.close();
      await worker.stop();
    },
  };
}

/** The timer with which Node.js measures the delay of the event loop is late by the delay. */
export const loopResolutionMs = 10;

/** Starts a process that does nothing, and measures the delay of its event loop since it was last asked. */
export async function startIdleLoop() {
  const worker = startWorker<{ delay: ReturnType<typeof createDelay> }>(new URL(import.meta.url));
  await worker.ask('delay', undefined);
  return { delay: () => worker.ask('delay', undefined), stop: () => worker.stop() };
}

/** Returns a function that returns the delays since its last call, in milliseconds. */
function createDelay() {
  const loop = monitorEventLoopDelay({ resolution: loopResolutionMs });
  loop.enable();
  const overResolution = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - loopResolutionMs);
  return () => {
    const found = { p99: overResolution(loop.percentile(99)), max: overResolution(loop.max) };
    loop.reset();
    return found;
  };
}

// The same file is the child process.
if (import.meta.main) answerCalls({ serve, delay: createDelay() });

/** Resolves to the URL of the server. */
async function serve(order: Order): Promise<string> {
  const server = createServer('page' in order ? await promClient(order.page) : fixedBytes(order.answers));
  // Other servers have their turns between two requests.
  server.keepAliveTimeout = 75_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function fixedBytes(answers: Answers): RequestListener {
  return (request, response) => {
    const { headers, body } = answers[request.headers['accept-encoding'] === 'gzip' ? 'gzip' : 'plain'];
    const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...own } = headers;
    response.writeHead(200, own).end(body);
  };
}

/** The metrics of a program that uses prom-client, compressed where that is asked for. */
async function promClient(page: string): Promise<RequestListener> {
  const registry = registryOf(page);
  const [ours, theirs] = [seriesOf(page), seriesOf(await registry.metrics())];
  if (ours !== theirs) throw new Error(`prom-client renders ${theirs} series, and not ${ours}`);
  const compress = promisify(gzip);
  async function answer(response: ServerResponse, isCompressed: boolean): Promise<void> {
    const text = await registry.metrics();
    if (isCompressed) response.writeHead(200, { 'content-encoding': 'gzip' }).end(await compress(text));
    else response.writeHead(200).end(text);
  }
  return ({ headers }, response) => void answer(response, headers['accept-encoding'] === 'gzip');
}
