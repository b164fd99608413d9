import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ResponseLimits,
  defaultLimits,
  limitUnfinished,
  TooManyReadersError,
} from '../../src/server/unfinished-responses.ts';
import { negotiate } from '../../src/server/negotiate.ts';
import { gauge } from '../../src/metrics/family.ts';
import { fillRegistry } from '../../src/metrics/render.ts';
import { createMetricsStore } from '../../src/metrics/store.ts';
import { textOf } from '../support/store-text.ts';
import { until } from '../support/until.ts';

const number = gauge('zlb_number', 'A number (nothing).', ['line']);

/** A page of 40,000 lines of some 400 bytes: more than the buffers of sockets take. */
const store = createMetricsStore([number]);
store.arrange(['lb']);
for (let part = 0; part < 40; part += 1)
  store.put(
    'lb',
    String(part),
    fillRegistry('lb', (emit) => {
      for (let line = 0; line < 1_000; line += 1)
        emit.sample(number, { line: String(1_000 * part + line).padStart(370, '0') }, 1);
    }),
  );
const pageBytes = Buffer.byteLength(await textOf(store));

it('a long response of any path counts as unfinished, and is sent in full', async () => {
  const { url, bodies } = await given({ maxUnfinished: 1 });
  const reader = await slowReader(`${url}/text`);

  expect((await fetch(`${url}/text`)).status).toBe(503);
  expect((await fetch(`${url}/short`)).status).toBe(200);
  await reader.rest();
  expect(reader.body().toString()).toBe(bodies.long);
});

it('readers of one path do not block those of another, even from the same address', async () => {
  const { url, bodies } = await given({ maxUnfinished: 3 });
  await Promise.all([slowReader(`${url}/text`), slowReader(`${url}/text`), slowReader(`${url}/text`)]);

  expect((await fetch(`${url}/text`)).status).toBe(503);
  expect(await (await fetch(`${url}/other`)).text()).toBe(bodies.long);
});

it('a reader that disconnects during rendering frees its slot', async () => {
  const { url, lines } = await given({ maxUnfinished: 1 });
  const leaving = connect(Number(new URL(url).port), '127.0.0.1');
  leaving.end('GET /once-it-has-left HTTP/1.1\r\nhost: exporter\r\n\r\n');
  leaving.destroySoon();
  await once(leaving, 'close');
  await until(
    async () => (await fetch(`${url}/left`)).text(),
    (left) => left === '1',
  );

  expect((await fetch(url)).status).toBe(200);
  expect(lines).toEqual([]);
});

describe('clients that do not read', () => {
  it('are refused beyond the limit, with a Retry-After', async () => {
    const { url } = await given({ maxUnfinished: 3 });
    const readers = await Promise.all([slowReader(url), slowReader(url), slowReader(url)]);

    const refused = await fetch(url);
    readers[0]?.destroy();
    await until(
      async () => (await fetch(url, { method: 'HEAD' })).status,
      (status) => status === 200,
    );

    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.text()).toMatch(/^3 pages are being sent and not read\./);
  });

  it('are refused when their expositions would fill the memory', async () => {
    const { url } = await given();
    const limited = await given({ maxUnfinishedBytes: 2 * pageBytes });
    await slowReader(limited.url);
    // To compress takes memory beside the page.
    expect((await fetch(limited.url, { headers: { 'accept-encoding': 'zstd' } })).status).toBe(503);
    await slowReader(limited.url);

    expect((await fetch(limited.url)).status).toBe(503);
    expect((await fetch(url)).status).toBe(200);
  });

  it('are cut off for new clients after the scrape timeout, the oldest first', async () => {
    const { url, lines } = await given({ maxUnfinished: 2, evictableAfterMs: 0 });
    const oldest = await slowReader(url);
    const newer = await slowReader(url);

    const next = await fetch(url, { headers: { 'accept-encoding': 'identity' } });

    expect((await next.arrayBuffer()).byteLength).toBe(pageBytes);
    expect(await oldest.rest()).toBeLessThan(pageBytes);
    expect(await newer.rest()).toBe(pageBytes);
    expect(lines.join('')).toContain('a reader that is too slow for its page was cut off');
  });

  it('are cut off at once for other clients when they hold most of the slots', async () => {
    const { url, lines } = await given({ maxUnfinished: 3 });
    const [oldest] = await Promise.all(Array.from({ length: 3 }, () => slowReader(url, '127.0.0.2')));

    const scrape = await fetch(url, { headers: { 'accept-encoding': 'identity' } });

    expect(scrape.status).toBe(200);
    expect((await scrape.arrayBuffer()).byteLength).toBe(pageBytes);
    expect(await oldest?.rest()).toBeLessThan(pageBytes);
    expect(lines.join('')).toContain('127.0.0.2');
  });

  it('are cut off after the limit, even without other clients', async () => {
    const { url, lines } = await given({ maxDurationMs: 50 });

    const reader = await slowReader(url);
    await until(
      () => lines.length,
      (count) => count > 0,
    );

    expect(await reader.rest()).toBeLessThan(pageBytes);
  });

  it('share one copy of the exposition', async () => {
    const { url } = await given();
    const before = process.memoryUsage().arrayBuffers;

    await Promise.all(Array.from({ length: 10 }, () => slowReader(url)));

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(pageBytes);
  });
});

async function given(limits: Partial<ResponseLimits> = {}) {
  const lines: string[] = [];
  const app = fastify({ forceCloseConnections: true });
  const log = pino({}, { write: (line) => lines.push(line) });
  const answers = limitUnfinished(app, log, {
    ...defaultLimits,
    evictableAfterMs: 120_000,
    maxDurationMs: 120_000,
    ...limits,
  });
  app.setErrorHandler((error, _request, reply) =>
    error instanceof TooManyReadersError ? reply.code(503).header('retry-after', '5').send(error.message) : error,
  );
  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const form = negotiate(request.headers);
    if (form.encoding !== 'identity') reply.header('content-encoding', form.encoding);
    return answers.send(request, reply, {
      contents: (await store.exposition(form)).finish(''),
      isZstd: form.encoding === 'zstd',
    });
  }
  app.get('/', send);
  let left = 0;
  app.get('/once-it-has-left', async (request, reply) => {
    await once(reply.raw, 'close');
    await send(request, reply);
    left += 1;
  });
  const bodies = { long: 'text '.repeat(2_000_000), short: 'text '.repeat(10_000) };
  app.get('/text', (_request, reply) => reply.send(bodies.long));
  app.get('/other', (_request, reply) => reply.send(bodies.long));
  app.get('/short', (_request, reply) => reply.send(bodies.short));
  app.get('/left', () => String(left));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  return { url, lines, bodies };
}

/** Asks for the page, plain, and reads nothing but the beginning of the answer. */
async function slowReader(url: string, from = '127.0.0.1') {
  const { hostname, port, pathname } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), localAddress: from });
  onTestFinished(() => void socket.destroy());
  const received: Buffer[] = [];
  socket.on('data', (data: Buffer) => received.push(data));
  // A connection that is cut off ends in an error.
  socket.on('error', () => undefined);
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  const body = () => {
    const whole = Buffer.concat(received);
    return whole.subarray(whole.indexOf('\r\n\r\n') + 4);
  };
  return {
    destroy: () => socket.destroy(),
    body,
    /** Reads on to the end; resolves with the bytes of the body that arrived in all. */
    async rest() {
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      await closed;
      return body().length;
    },
  };
}
