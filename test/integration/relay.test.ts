import { getEventListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BasePaths } from '../../src/appliance/base-paths.ts';
import { createRelay, type Relay } from '../../src/appliance/relay.ts';
import { HostResolver } from '../../src/lib/host-resolver.ts';
import { Secret } from '../../src/lib/secret.ts';
import { type HttpsServer, startHttpsServer, startTlsServer } from '../support/tls-server.ts';
import { untilIs } from '../support/until.ts';

const key = 'Canary0Key0Canary';
const pollingKey = 'CanaryOfPolling';
const patient = new AbortController().signal;

function givenRelay(
  { url, material }: Pick<HttpsServer, 'url' | 'material'>,
  {
    timeoutMs = 5_000,
    keys = [key, pollingKey],
    basePaths,
  }: { timeoutMs?: number; keys?: readonly string[]; basePaths?: BasePaths } = {},
): Relay {
  const [apiKey = '', otherKey = ''] = keys;
  const relay = createRelay({
    url,
    tls: { fingerprintSha256: material.fingerprintSha256, insecureSkipVerify: false },
    apiKey: new Secret(apiKey),
    otherKey: new Secret(otherKey),
    keyHeader: 'auto',
    resolver: new HostResolver(),
    timeoutMs,
    maxConnections: 2,
    bodyBytes: 100_000,
    basePaths,
  });
  onTestFinished(() => relay.close());
  return relay;
}

/** A web server with the API under one path, and a page of its own everywhere else. */
function apiUnder(base: string) {
  return (response: ServerResponse, request: IncomingMessage): void => {
    const here = request.url?.startsWith(`${base}/`) ?? false;
    response
      .writeHead(here ? 200 : 404, { 'content-type': here ? 'application/json' : 'text/html' })
      .end(here ? `{"path":"${request.url}"}` : '<html>no</html>');
  };
}

const pathsOf = ({ requests }: HttpsServer) => requests.map(({ method, url }) => `${method} ${url}`);

it('an idle connection is closed soon, although the appliance offers to keep it for a minute', async () => {
  const server = await startHttpsServer((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'keep-alive': 'timeout=60' }).end('{}');
  });
  const relay = givenRelay(server);
  const closed = Promise.withResolvers<number>();

  await relay.send({ method: 'GET', path: '/farms', signal: patient });
  const idleSinceMs = performance.now();
  server.requests.at(-1)?.socket.once('close', () => closed.resolve(performance.now() - idleSinceMs));

  expect(await closed.promise).toBeLessThan(30_000);
});

it.each([
  { lines: ['Content-Length: 2', 'Content-Length: 2'] },
  { lines: ['Content-Length: 2', 'Transfer-Encoding: chunked'] },
  { lines: ['Content-Length : 2'] },
])('a response with $lines is malformed', async ({ lines }) => {
  const server = await startHttpsServer(
    ({ socket }) => void socket?.end(['HTTP/1.1 200 OK', ...lines, '', '{}'].join('\r\n')),
  );
  const url = new URL('/zapi/v4.0/zapi.cgi', server.url);

  const sent = givenRelay({ ...server, url }).send({ method: 'PUT', path: '/farms/shop', signal: patient });

  await expect(sent).rejects.toMatchObject({ reason: 'malformed', message: expect.stringContaining('HTTP/1.1') });
  expect(server.requests).toHaveLength(1);
});

describe('the base path of the API', () => {
  it('is found by a read, so that a write is sent once', async () => {
    const server = await startHttpsServer(apiUnder('/zapi/v4.0/zapi.cgi'));
    const relay = givenRelay(server);

    const { status, body } = await relay.send({ method: 'DELETE', path: '/farms/shop', signal: patient });

    expect([status, (body as Buffer).toString()]).toEqual([200, '{"path":"/zapi/v4.0/zapi.cgi/farms/shop"}']);
    expect(pathsOf(server)).toEqual([
      'GET /api/v4.0/api.cgi/system/version',
      'GET /zapi/v4.0/zapi.cgi/system/version',
      'DELETE /zapi/v4.0/zapi.cgi/farms/shop',
    ]);
  });

  it('is cached, and searched for again after an upgrade moved it', async () => {
    let base = '/zapi/v4.0/zapi.cgi';
    const server = await startHttpsServer((response, request) => apiUnder(base)(response, request));
    const relay = givenRelay(server);
    const send = async () => {
      const { status } = await relay.send({ method: 'PUT', path: '/farms/shop', signal: patient });
      return status;
    };
    await send();
    await send();
    base = '/api/v4.0/api.cgi';

    expect([await send(), await send()]).toEqual([404, 200]);
    expect(pathsOf(server).filter((path) => path.startsWith('PUT'))).toHaveLength(4);
    expect(relay.urlOf('/farms/shop')).toBe(`${server.url.origin}/api/v4.0/api.cgi/farms/shop`);
  });

  it('is shared between connections to an appliance, and forgotten when it is gone', async () => {
    let base = '/zapi/v4.0/zapi.cgi';
    const server = await startHttpsServer((response, request) => apiUnder(base)(response, request));
    const basePaths = new BasePaths();
    basePaths.judge(server.url, base, { status: 200, mediaType: 'application/json' });
    const relay = givenRelay(server, { basePaths });
    const send = async () => (await relay.send({ method: 'PUT', path: '/farms/shop', signal: patient })).status;

    expect(await send()).toBe(200);
    expect(pathsOf(server)).toEqual(['PUT /zapi/v4.0/zapi.cgi/farms/shop']);
    base = '/api/v4.0/api.cgi';

    expect([await send(), await send()]).toEqual([404, 200]);
    expect(basePaths.known(server.url)).toBe(base);
  });

  it('has its own error when another server responds', async () => {
    const relay = givenRelay(await startHttpsServer(apiUnder('/elsewhere')));

    const sending = relay.send({ method: 'PUT', path: '/farms/shop', signal: patient });

    await expect(sending).rejects.toMatchObject({ reason: 'not_found' });
  });
});

describe('a relayed response', () => {
  it('keeps no chunk extensions in memory, however long they are', async () => {
    const chunk = `12c;${'e'.repeat(10_000)}\r\n${'x'.repeat(300)}\r\n`;
    const server = await startHttpsServer((response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      response.socket?.write(`${chunk.repeat(330)}0\r\n\r\n`);
    });
    // Too short to be masked, which would copy each part.
    const relay = givenRelay(server, { keys: ['short', 'other'] });

    const { body } = await relay.send({ method: 'GET', path: '/farms', signal: patient });
    const parts: Buffer[] = [];
    for await (const part of body as Readable) parts.push(part as Buffer);

    const buffers = new Set(parts.map(({ buffer }) => buffer));
    expect(parts.reduce((sum, { length }) => sum + length, 0)).toBe(99_000);
    expect([...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(250_000);
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 90_000])('passes completely with %i bytes', async (bytes) => {
    const content = Buffer.from(Array.from({ length: bytes }, (_, index) => index % 251));
    const server = await startHttpsServer((response) => {
      response.writeHead(200, { 'content-type': 'application/x-download' });
      for (let at = 0; at < bytes; at += 7_000) response.write(content.subarray(at, at + 7_000));
      response.end();
    });
    const relay = givenRelay({ ...server, url: new URL('/api/v4.0/api.cgi', server.url) });

    const { body } = await relay.send({ method: 'GET', path: '/system/support', signal: patient });

    expect(Buffer.isBuffer(body)).toBe(bytes <= 65_536);
    expect((Buffer.isBuffer(body) ? body : await buffer(body)).equals(content)).toBe(true);
  });

  it('is an error when it is cut, and not a response', async () => {
    const server = await startHttpsServer((response, request) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{"a":');
      setImmediate(() => request.socket.destroy());
    });
    const relay = givenRelay({ ...server, url: new URL('/api/v4.0/api.cgi', server.url) });

    const sending = relay.send({ method: 'PUT', path: '/farms/shop', signal: patient });

    await expect(sending).rejects.toMatchObject({ reason: 'connect' });
  });
});

it.each([
  ['a short', 10],
  ['a long', 80_000],
])('a relay redacts both keys of the appliance in %s response', async (_, length) => {
  const sent = `${'x'.repeat(length)}${key}-${pollingKey}`;
  const server = await startHttpsServer((response) => response.writeHead(200).end(sent));
  const relay = givenRelay({ ...server, url: new URL('/api/v4.0/api.cgi', server.url) });

  const { body } = await relay.send({ method: 'GET', path: '/farms', signal: patient });

  const received = (Buffer.isBuffer(body) ? body : await buffer(body)).toString();
  expect(received.slice(length)).toBe(`${'*'.repeat(key.length)}-${'*'.repeat(pollingKey.length)}`);
});

it('a relay leaves no listener on a long-lived signal', async () => {
  const server = await startHttpsServer((response, { url }) => {
    if (url?.endsWith('/cut')) response.destroy();
    else response.writeHead(200).end(Buffer.alloc(url?.endsWith('/long') ? 80_000 : 10));
  });
  const relay = givenRelay({ ...server, url: new URL('/api/v4.0/api.cgi', server.url) });
  const { signal } = new AbortController();

  await relay.send({ method: 'GET', path: '/short', signal });
  await relay.send({ method: 'GET', path: '/cut', signal }).catch(() => undefined);
  const { body } = await relay.send({ method: 'GET', path: '/long', signal });
  const during = getEventListeners(signal, 'abort').length;
  await buffer(body as Readable);

  expect(during).toBe(1);
  await untilIs(() => getEventListeners(signal, 'abort').length, 0);
});

describe('a call that fails', () => {
  it('is not retried when the connection closes without a response', async () => {
    const server = await startHttpsServer((response, request) => {
      if (request.method === 'PUT') return request.socket.destroy();
      apiUnder('/api/v4.0/api.cgi')(response, request);
    });
    const relay = givenRelay(server);

    const sending = relay.send({ method: 'PUT', path: '/farms/shop', signal: patient });

    await expect(sending).rejects.toMatchObject({ reason: 'connect' });
    expect(pathsOf(server).filter((path) => path.startsWith('PUT'))).toHaveLength(1);
  });

  it('reports a timeout, and closes the connection', async () => {
    const server = await startTlsServer((socket) => void socket.resume());
    const relay = givenRelay({ ...server, url: new URL('/api/v4.0/api.cgi', server.url) }, { timeoutMs: 2_000 });

    const sending = relay.send({ method: 'PUT', path: '/farms/shop', signal: patient });

    await expect(sending).rejects.toMatchObject({ reason: 'timeout', message: 'no answer within 2 s' });
    await untilIs(() => server.open, 0);
  });

  it('makes the next calls open new connections, because after a failover old ones look open and are dead', async () => {
    const waiting: ServerResponse[] = [];
    const server = await startHttpsServer((response) => void waiting.push(response));
    const relay = givenRelay({ ...server, url: new URL('/api/v4.0/api.cgi', server.url) });
    const call = () => relay.send({ method: 'GET', path: '/farms', signal: patient });
    const callTwice = async () => {
      const both = [call(), call()];
      await untilIs(() => waiting.length, 2);
      for (const response of waiting.splice(0)) response.end('{}');
      await Promise.all(both);
    };
    await callTwice();

    const failing = call();
    await untilIs(() => waiting.length, 1);
    waiting.pop()?.destroy();
    await expect(failing).rejects.toMatchObject({ reason: 'connect' });
    await callTwice();

    expect(server.accepted).toBeGreaterThanOrEqual(4);
  });

  it('closes the connection when its caller stops reading', async () => {
    const server = await startHttpsServer((response) => {
      response.writeHead(200, { 'content-type': 'application/x-download' }).write(Buffer.alloc(100_000));
    });
    const relay = givenRelay({ ...server, url: new URL('/api/v4.0/api.cgi', server.url) });
    const { body } = await relay.send({ method: 'GET', path: '/system/support', signal: patient });

    (body as Readable).destroy();

    await untilIs(() => server.open, 0);
  });
});
