import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BasePaths } from '../../src/appliance/base-paths.ts';
import {
  type ApplianceClient,
  type CallReport,
  type ClientOptions,
  createApplianceClient,
  type UnreadableField,
} from '../../src/appliance/client.ts';
import type { ApplianceError, FailureReason } from '../../src/appliance/errors.ts';
import { HostResolver } from '../../src/lib/host-resolver.ts';
import { Secret } from '../../src/lib/secret.ts';
import { listening } from '../support/listening.ts';
import { type Listening, makeMaterial, startHttpsServer, startTlsServer } from '../support/tls-server.ts';
import { untilIs } from '../support/until.ts';
import type { TlsMaterial } from '../../simulator/tls.ts';

const canary = 'Canary0Key0Canary';
const patient = new AbortController().signal;
const reply = JSON.stringify({ description: 'Number of connections', params: { connections: 324 } });

function givenClient(
  { url, material }: Pick<Listening, 'url' | 'material'>,
  options: Partial<ClientOptions> = {},
): {
  client: ApplianceClient;
  reports: CallReport[];
  read: (signal?: AbortSignal, limitMs?: number) => Promise<unknown>;
} {
  const reports: CallReport[] = [];
  const client = createApplianceClient({
    url,
    tls: { fingerprintSha256: material.fingerprintSha256, insecureSkipVerify: false },
    apiKey: new Secret(canary),
    keyHeader: 'auto',
    resolver: new HostResolver(),
    timeoutMs: 30_000,
    maxConnections: 1,
    bodyBytes: 100_000,
    now: Date.now,
    onCall: (report) => reports.push(report),
    ...options,
  });
  onTestFinished(() => client.close());
  return {
    client,
    reports,
    read: (signal = patient, limitMs) => client.read('readConnectionStats', {}, signal, { limitMs }),
  };
}

function answerJson(response: ServerResponse, body = reply, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

function answerPage(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end('<html><body>no</body></html>');
}

async function failureOf(call: Promise<unknown>): Promise<ApplianceError> {
  return await call.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: ApplianceError) => error,
  );
}

const reasonsOf = (reports: readonly CallReport[]) => reports.map(({ code, reason }) => reason ?? code);

describe('the API key', () => {
  it.each([
    ['auto', { ZAPI_KEY: canary, API_KEY: canary }],
    ['ZAPI_KEY', { ZAPI_KEY: canary }],
    ['API_KEY', { API_KEY: canary }],
    ['ZAPI-KEY', { 'ZAPI-KEY': canary }],
    ['API-KEY', { 'API-KEY': canary }],
  ] as const)('is sent only in the header %s', async (keyHeader, expected) => {
    const server = await startHttpsServer((response) => answerJson(response));
    const { read } = givenClient(server, { keyHeader });

    await read();

    const [request] = server.requests;
    const pairs =
      request?.rawHeaders.flatMap((name, index, all) => (index % 2 === 0 ? [[name, all[index + 1]]] : [])) ?? [];
    expect(Object.fromEntries(pairs.filter(([, value]) => value === canary))).toEqual(expected);
    expect(request?.url).toBe('/api/v4.0/api.cgi/stats/system/connections');
  });

  it.each<[where: string, answer: (echo: string) => { status?: number; type?: string; body?: string }]>([
    [
      'the message of the appliance',
      (echo) => ({ status: 401, body: JSON.stringify({ message: `wrong key ${echo}` }) }),
    ],
    [
      'a message that is cut in the middle of it',
      (echo) => ({
        status: 400,
        body: JSON.stringify({ message: 'x'.repeat(240 - 'the appliance answered 400: '.length) + echo }),
      }),
    ],
    ['a body that is not JSON', (echo) => ({ body: echo })],
    ['the type of the body', (echo) => ({ type: `text/${echo}` })],
  ])('is redacted in an error when the appliance echoes it in %s', async (_, answer) => {
    const server = await startHttpsServer((response, request) => {
      const { status = 200, type = 'application/json', body = '{}' } = answer(String(request.headers.api_key));
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    const { read } = givenClient(server);

    const error = await failureOf(read());

    expect(inspect(error, { depth: null, showHidden: true }).toLowerCase()).not.toContain(
      canary.slice(0, 7).toLowerCase(),
    );
  });

  it('is redacted together with the key of the gateway, which is never sent', async () => {
    const body = `{"farms":[{"farmname":"${canary}","vip":"CanaryOfTheGateway"}]}`;
    const server = await startHttpsServer((response) => answerJson(response, body));
    const { client } = givenClient(server, { otherKey: new Secret('CanaryOfTheGateway') });

    await expect(client.read('listFarmStats', {}, patient)).resolves.toEqual({
      farms: [{ farmname: '[redacted]', vip: '[redacted]' }],
    });
    expect(JSON.stringify(server.requests.map(({ rawHeaders }) => rawHeaders))).not.toContain('CanaryOfTheGateway');
  });

  it('is redacted in an error when the server echoes the request instead of HTTP', async () => {
    const server = await startTlsServer((socket) => socket.pipe(socket));
    const { read } = givenClient(server);

    const error = await failureOf(read());

    expect(error.reason).toBe('malformed');
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain(canary);
  });
});

describe('the certificate of the appliance', () => {
  it('is verified against the configured name instead of the address', async () => {
    const server = await startHttpsServer((response) => answerJson(response), {
      material: makeMaterial({ name: 'lb.example.org' }),
    });
    const tls = { ca: server.material.cert, insecureSkipVerify: false };

    const right = givenClient(server, { tls: { ...tls, serverName: 'lb.example.org' } });
    const wrong = givenClient(server, { tls: { ...tls, serverName: 'lb.example.net' } });
    const none = givenClient(server, { tls });

    await expect(right.read()).resolves.toBeDefined();
    expect((await failureOf(wrong.read())).reason).toBe('tls');
    expect((await failureOf(none.read())).reason).toBe('tls');
  });

  it('is accepted with the pinned fingerprint alone', async () => {
    const server = await startHttpsServer((response) => answerJson(response), {
      material: makeMaterial({ name: 'elsewhere.example.org', expired: true }),
    });
    const { read } = givenClient(server);

    await expect(read()).resolves.toBeDefined();
  });

  it('closes the connection before any byte is sent when it does not match the pin', async () => {
    let received = 0;
    const server = await startTlsServer((socket) => socket.on('data', (bytes) => (received += bytes.length)));
    const pinned = 'ab'.repeat(32);
    const { read } = givenClient(server, { tls: { fingerprintSha256: pinned, insecureSkipVerify: false } });

    const error = await failureOf(read());
    await untilIs(() => server.open, 0);

    expect(error).toMatchObject({ reason: 'tls', status: undefined });
    expect(error.message).toContain(`expected SHA-256 fingerprint ${pinned}`);
    expect(error.message).toContain(server.material.fingerprintSha256);
    expect(server.accepted).toBe(1);
    expect(received).toBe(0);
  });

  it('is verified again on every new connection', async () => {
    const server = await startHttpsServer((response) => answerJson(response));
    const { read } = givenClient(server);
    await read();

    const other = makeMaterial();
    server.server.setSecureContext(other);
    server.hangUp();

    expect((await failureOf(read())).reason).toBe('tls');
    expect(server.requests).toHaveLength(1);
  });

  it.each<[what: string, make: () => TlsMaterial, trusted: boolean]>([
    ['no trusted authority issued it', () => makeMaterial(), false],
    ['it has expired', () => makeMaterial({ expired: true }), true],
    ['it is for another name', () => makeMaterial({ name: 'lb.example.org' }), true],
  ])('is refused with a remedy when %s, and accepted with insecure_skip_verify', async (_, make, trusted) => {
    const server = await startHttpsServer((response) => answerJson(response), { material: make() });
    const ca = trusted ? { ca: server.material.cert } : {};

    const strict = givenClient(server, { tls: { ...ca, insecureSkipVerify: false } });
    const blind = givenClient(server, { tls: { ...ca, insecureSkipVerify: true } });
    const error = await failureOf(strict.read());

    expect(error.reason).toBe('tls');
    expect(error.message).toMatch(/^GET \/stats\/system\/connections: .+; check tls\.ca_file, .*fingerprint/);
    expect(error.message).not.toContain('Node.js');
    expect(reasonsOf(strict.reports)).toEqual(['tls']);
    expect(server.requests).toHaveLength(0);
    await expect(blind.read()).resolves.toBeDefined();
  });
});

describe('the base path of the API', () => {
  /** A web server that knows the API's program under one path, which the test may move. */
  async function givenProgram(place: { path: string }) {
    const server = await startHttpsServer((response, { url = '' }) =>
      url.startsWith(`${place.path}/`) ? answerJson(response) : answerPage(response, 404),
    );
    return { server, asked: () => server.requests.map(({ url = '' }) => url.split('/stats')[0]) };
  }

  it('is found for an older release after a 404 of the web server, and cached', async () => {
    const { server, asked } = await givenProgram({ path: '/zapi/v4.0/zapi.cgi' });
    const { read, reports } = givenClient(server);

    await read();
    await read();

    expect(asked()).toEqual(['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi', '/zapi/v4.0/zapi.cgi']);
    expect(reports.map(({ code, authenticated, triesNextPath }) => [code, authenticated, triesNextPath])).toEqual([
      ['404', false, true],
      ['200', true, false],
      ['200', true, false],
    ]);
  });

  it('is found again after an upgrade moved it', async () => {
    const place = { path: '/zapi/v4.0/zapi.cgi' };
    const { server, asked } = await givenProgram(place);
    const { read } = givenClient(server);
    await read();

    place.path = '/api/v4.0/api.cgi';
    await read();
    await read();

    expect(asked().slice(2)).toEqual(['/zapi/v4.0/zapi.cgi', '/api/v4.0/api.cgi', '/api/v4.0/api.cgi']);
  });

  it('is shared, so that another connection does not search for it', async () => {
    const { server, asked } = await givenProgram({ path: '/zapi/v4.0/zapi.cgi' });
    const basePaths = new BasePaths();

    await givenClient(server, { basePaths }).read();
    await givenClient(server, { basePaths }).read();

    expect(asked()).toEqual(['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi', '/zapi/v4.0/zapi.cgi']);
  });

  it('is not searched for when the configuration names it', async () => {
    const { server, asked } = await givenProgram({ path: '/behind/a/proxy' });
    const right = givenClient(server, { url: new URL('/behind/a/proxy/', server.url) });
    const wrong = givenClient(server, { url: new URL('/api/v4.0/api.cgi', server.url) });

    await right.read();
    const error = await failureOf(wrong.read());

    expect(asked()).toEqual(['/behind/a/proxy', '/api/v4.0/api.cgi']);
    expect(error).toMatchObject({ reason: 'not_found', status: 404, routeMissing: false });
    expect(error.message).toContain('with a page of its web server, not of the API');
  });

  it('is not searched for again when the API itself reports a missing route', async () => {
    const body = JSON.stringify({ error: 'true', message: 'Request not found: /stats/system/connections' });
    const server = await startHttpsServer((response) => answerJson(response, body, 404));
    const { read } = givenClient(server);

    expect(await failureOf(read())).toMatchObject({ reason: 'not_found', routeMissing: true });
    expect(server.requests).toHaveLength(1);
  });
});

it.each([302, 308])('a redirect with %i is not followed, and the key is not sent elsewhere', async (status) => {
  const elsewhere = await startHttpsServer((response) => answerJson(response));
  const server = await startHttpsServer((response) =>
    response.writeHead(status, { location: `${elsewhere.url.href}api/v4.0/api.cgi/stats` }).end(),
  );
  const { read, reports } = givenClient(server);

  expect(await failureOf(read())).toMatchObject({ reason: 'malformed', status });
  expect(elsewhere.accepted).toBe(0);
  expect(reports).toMatchObject([{ code: status === 308 ? '3xx' : '302', authenticated: false }]);
});

describe('a network failure', () => {
  interface Trouble {
    readonly name: string;
    readonly trouble: (response: ServerResponse) => void;
    readonly reason: FailureReason;
    readonly says: RegExp;
    /** Whether the exchange itself was whole, so that the connection may serve again. */
    readonly isWhole?: true;
  }

  it.each<Trouble>([
    {
      name: 'no answer at all',
      trouble: () => undefined,
      reason: 'timeout',
      says: /no complete answer within [\d.]+ s; raise polling\.timeout/,
    },
    {
      name: 'a body that trickles past the deadline',
      trouble(response) {
        response.writeHead(200, { 'content-type': 'application/json' });
        const dripping = setInterval(() => response.write(' '), 50);
        response.once('close', () => clearInterval(dripping));
      },
      reason: 'timeout',
      says: /within [\d.]+ s/,
    },
    {
      name: 'a connection that is cut before an answer',
      trouble: (response) => response.destroy(),
      reason: 'connect',
      says: /; check that the address, the port/,
    },
    {
      name: 'a connection that is cut in the middle of a body of known length',
      trouble(response) {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length });
        response.write(reply.slice(0, 20), () => response.destroy());
      },
      reason: 'connect',
      says: /; check that/,
    },
    {
      name: 'a body of known length that is too long',
      trouble: (response) => answerJson(response, ' '.repeat(100_001)),
      reason: 'oversize',
      says: /; raise limits\.body_bytes/,
    },
    {
      name: 'a chunked body that has no end',
      trouble(response) {
        response.writeHead(200, { 'content-type': 'application/json' });
        const flood = (): void => {
          while (!response.destroyed && response.write(' '.repeat(16_384)));
        };
        response.on('drain', flood);
        flood();
      },
      reason: 'oversize',
      says: /; raise limits\.body_bytes/,
    },
    {
      name: 'a body in chunks of one byte, long before its limit in bytes',
      trouble(response) {
        response.writeHead(200, { 'content-type': 'application/json' });
        for (let count = 0; count < 1_000; count += 1) response.write(' ');
      },
      reason: 'oversize',
      says: /; raise limits\.body_bytes/,
    },
    {
      name: 'headers that have no end',
      trouble: (response) => answerJson(response.setHeader('x-long', 'x'.repeat(100_000))),
      reason: 'malformed',
      says: /Headers Overflow Error$/,
    },
    ...Object.entries({
      'two lengths': [['Content-Length: 2', 'Content-Length: 2'], /its headers break HTTP\/1\.1: two lengths, /],
      'two different lengths': [['Content-Length: 2', 'Content-Length: 9'], /its headers break .*: two lengths, /],
      'a length that is not a number of bytes': [
        ['Content-Length: 99999999999999999999'],
        /a length that is not a number/,
      ],
      'a length before chunks': [
        ['Content-Length: 2', 'Transfer-Encoding: chunked'],
        /its headers break .*, a length beside Transfer-Encoding, /,
      ],
      'a length after chunks': [
        ['Transfer-Encoding: chunked', 'Content-Length: 2'],
        /\(Content-Length can't be present with Transfer-Encoding\)$/,
      ],
      'a blank before a colon': [['Content-Length : 2'], /\(Invalid header field char\)$/],
      'a blank before a colon behind its length': [['Content-Length: 2', 'Server : x'], /a malformed line behind/],
      'a compression': [
        ['Content-Length: 2', 'Content-Encoding: gzip'],
        /the answer is compressed \(gzip\), which nobody asked for$/,
      ],
      'a compression of the connection': [
        ['Transfer-Encoding: gzip'],
        /the answer is compressed \(gzip\), which nobody asked for$/,
      ],
    } satisfies Record<string, [string[], RegExp]>).map(
      ([name, [lines, says]]): Trouble => ({
        name: `an answer with ${name}`,
        trouble: ({ socket }) =>
          void socket?.end(['HTTP/1.1 200 OK', 'Content-Type: application/json', ...lines, '', '{}'].join('\r\n')),
        reason: 'malformed',
        says,
      }),
    ),
    {
      name: 'an answer that is only interim',
      trouble: ({ socket }) => void socket?.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      reason: 'malformed',
      says: /it sent an interim answer, 100 or 101, that nobody asked for$/,
    },
    {
      name: 'a page of HTML',
      trouble: (response) => answerPage(response, 200),
      reason: 'malformed',
      says: /expected application\/json, got text\/html$/,
      isWhole: true,
    },
  ])('$name is reported as $reason, and the next call succeeds', async ({ trouble, reason, says, isWhole = false }) => {
    let troubled = true;
    const server = await startHttpsServer((response) => (troubled ? trouble(response) : answerJson(response)));
    const { read, reports } = givenClient(server, reason === 'timeout' ? { timeoutMs: 400 } : {});

    const error = await failureOf(read());
    troubled = false;
    const next = await read();

    expect(error).toMatchObject({ reason, endpoint: '/stats/system/connections' });
    expect(error.message).toMatch(/^GET \/stats\/system\/connections: /);
    expect(error.message).toMatch(says);
    expect(next).toMatchObject({ params: { connections: 324 } });
    expect(reports.map((report) => report.reason)).toEqual([reason, undefined]);
    expect(server.accepted, 'connections').toBe(isWhole ? 1 : 2);
    await untilIs(() => server.open, 1);
  });

  it('does not mention polling.timeout when the call has another limit', async () => {
    const server = await startHttpsServer(() => undefined);
    const { read } = givenClient(server);

    const error = await failureOf(read(patient, 300));

    expect(error.message).toMatch(/no complete answer within 0\.3 s$/);
  });

  it('is reported as a timeout when the server never finishes the handshake', async () => {
    const silent = createTcpServer(() => undefined);
    const url = new URL(`https://127.0.0.1:${await listening(silent)}`);
    const { read } = givenClient({ url, material: makeMaterial() }, { timeoutMs: 300 });

    expect((await failureOf(read())).reason).toBe('timeout');
  });

  it('is reported as a name that does not resolve when the DNS lookup hangs', async () => {
    const resolver = new HostResolver({ lookup: () => new Promise(() => undefined) });
    const { read } = givenClient(
      { url: new URL('https://lb-1.test:444'), material: makeMaterial() },
      { timeoutMs: 500, resolver },
    );

    const { reason, message } = await failureOf(read());

    expect(reason).toBe('connect');
    expect(message).toBe(
      'GET /stats/system/connections: its name lb-1.test does not resolve: no answer of the name server within 0.45 s; check the name and the name servers of this machine, or write the address in its place',
    );
  });

  it('does not affect another running call', async () => {
    const waiting: ServerResponse[] = [];
    const server = await startHttpsServer((response, { url = '' }) =>
      url.endsWith('/connections') ? waiting.push(response) : response.destroy(),
    );
    const { client, read } = givenClient(server, { maxConnections: 2 });

    const slow = read();
    await untilIs(() => waiting.length, 1);
    const failed = await failureOf(client.read('readStats', {}, patient));
    waiting.forEach((response) => answerJson(response));

    expect(failed.reason).toBe('connect');
    await expect(slow).resolves.toMatchObject({ params: { connections: 324 } });
  });
});

describe('the connection', () => {
  it('uses the addresses of a name, and the last known ones while it does not resolve', async () => {
    const server = await startHttpsServer((response) => answerJson(response));
    let asked = 0;
    const lookup = async () => {
      asked += 1;
      if (asked > 1) throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const resolver = new HostResolver({ lookup });
    const url = new URL(`https://lb-1.test:${server.url.port}`);
    const first = givenClient({ ...server, url }, { resolver });
    const second = givenClient({ ...server, url }, { resolver });

    await first.read();

    await expect(second.read()).resolves.toMatchObject({ params: { connections: 324 } });
    expect(asked).toBe(2);
    expect(server.requests.map(({ headers }) => headers.host)).toEqual([url.host, url.host]);
  });

  it('is replaced after a call without a response, because others may look open and be dead', async () => {
    const waiting: ServerResponse[] = [];
    const server = await startHttpsServer((response, { url = '' }) => {
      if (url.endsWith('/connections')) waiting.push(response);
    });
    const { client, read } = givenClient(server, { maxConnections: 2 });
    const both = [read(), read()];
    await untilIs(() => waiting.length, 2);
    for (const response of waiting.splice(0)) answerJson(response);
    await Promise.all(both);

    const failed = await failureOf(client.read('readStats', {}, patient, { limitMs: 50 }));
    const next = read();
    await untilIs(() => waiting.length, 1);
    for (const response of waiting) answerJson(response);
    await next;

    expect(failed.reason).toBe('timeout');
    expect(server.accepted).toBe(3);
  });

  it('is reopened without a failed call after the server closed an idle one', async () => {
    const server = await startHttpsServer((response) => answerJson(response));
    const { read, reports } = givenClient(server);

    for (let call = 1; call <= 20; call += 1) {
      await read();
      server.hangUp();
      // Now and then the client has seen the end before its next call, and now and then it has not.
      if (call % 2 === 0) {
        await untilIs(() => server.open, 0);
      }
    }

    expect(reasonsOf(reports)).toEqual(Array.from({ length: 20 }, () => '200'));
  });

  it('causes no failed call when it ends while it is reused', async () => {
    let answered = 0;
    const server = await startHttpsServer((response, { socket }) => {
      answered += 1;
      if (answered % 2 === 0 && server.accepted === 1) return void socket.destroy();
      answerJson(response);
    });
    const { read, reports } = givenClient(server);

    await read();
    await read();

    expect(reasonsOf(reports)).toEqual(['200', '200']);
    expect(server.accepted).toBe(2);
  });

  it.each<[what: string, end: (response: ServerResponse) => void, requests: number]>([
    ['is retried once when it is cut before the response', (response) => response.destroy(), 3],
    [
      'is not retried when it is cut in the middle of a response',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': 99 })
          .write('{', () => response.destroy()),
      2,
    ],
  ])('%s', async (_, end, requests) => {
    const server = await startHttpsServer((response) => {
      if (server.requests.length === 1) answerJson(response);
      else end(response);
    });
    const { read, reports } = givenClient(server);

    await read();
    await failureOf(read());

    expect(server.requests).toHaveLength(requests);
    expect(reasonsOf(reports)).toEqual(['200', 'connect']);
  });
});

describe('an abort', () => {
  it('cancels the call and closes the connection when it comes from the caller', async () => {
    const server = await startHttpsServer(() => undefined);
    const { read, reports } = givenClient(server);
    const caller = new AbortController();

    const call = failureOf(read(caller.signal));
    await untilIs(() => server.requests.length, 1);
    caller.abort();

    expect((await call).reason).toBe('cancelled');
    expect(reasonsOf(reports)).toEqual(['cancelled']);
    await untilIs(() => server.open, 0);
  });

  it('is reported as a timeout when it comes after the deadline of the caller', async () => {
    const server = await startHttpsServer(() => undefined);
    const { read } = givenClient(server);

    const error = await failureOf(read(AbortSignal.timeout(100)));

    expect(error.reason).toBe('timeout');
  });

  it('sends nothing when it comes before the call', async () => {
    const server = await startHttpsServer((response) => answerJson(response));
    const { read } = givenClient(server);

    expect((await failureOf(read(AbortSignal.abort()))).reason).toBe('cancelled');
    expect(server.requests).toHaveLength(0);
  });

  it('ends a call that waits for a connection at once, and the call is not sent later', async () => {
    const server = await startHttpsServer((response) => answerJson(response));
    const held: Socket[] = [];
    const between = createTcpServer((socket) => {
      // An action of the other side on a connection is not a failure here.
      held.push(socket.on('error', () => undefined));
    });
    const url = new URL(`https://127.0.0.1:${await listening(between)}`);
    const { read } = givenClient({ url, material: server.material });
    const caller = new AbortController();

    const call = failureOf(read(caller.signal));
    await untilIs(() => held.length, 1);
    caller.abort();
    const outcome = await Promise.race([call, yieldToEventLoop('still waiting')]);
    const [waiting] = held;
    const through = connect(Number(server.url.port), '127.0.0.1').on('error', () => undefined);
    waiting?.pipe(through).pipe(waiting);
    if (waiting) await once(waiting, 'close');

    expect(outcome).toMatchObject({ reason: 'cancelled' });
    expect(server.accepted).toBe(1);
    expect(server.requests).toEqual([]);
  });

  it('ends a running call when it comes from the client itself, and opens no connection later', async () => {
    const server = await startHttpsServer(() => undefined);
    const { client, read } = givenClient(server);

    const call = failureOf(read());
    await untilIs(() => server.requests.length, 1);
    await client.close();

    expect((await call).reason).toBe('connect');
    expect((await failureOf(read())).reason).toBe('connect');
    expect(server.accepted).toBe(1);
    await untilIs(() => server.open, 0);
  });
});

describe('the clock of the appliance', () => {
  const now = Date.UTC(2026, 10, 20, 21, 0, 0, 400);
  const dated = (second: number) => new Date(now + second * 1_000).toUTCString();

  it('is compared with the last Date header, if that can be a date of today', async () => {
    const cases: readonly (readonly [dates: readonly string[], offset: number | undefined])[] = [
      [[], undefined],
      [['soon'], undefined],
      // Within the second that the header can show.
      [[dated(0)], 0],
      [[dated(3_600)], 3_600.1],
      [[dated(-7_200)], -7_199.9],
      // No clock shows these.
      [['Fri, 31 Dec 9999 23:59:59 GMT'], undefined],
      [[new Date(0).toUTCString()], undefined],
      // The program and the web server send one each.
      [[dated(-60), dated(0)], 0],
    ];
    let sent: readonly string[] = [];
    const server = await startHttpsServer((response) => {
      response.sendDate = false;
      const headers = sent.flatMap((date) => ['Date', date]);
      response.writeHead(200, ['Content-Type', 'application/json', ...headers]).end(reply);
    });
    const { read, reports } = givenClient(server, { now: () => now });

    for (const [dates] of cases) {
      sent = dates;
      await read();
    }

    expect(reports.map(({ clockOffsetSeconds }) => clockOffsetSeconds)).toEqual(cases.map(([, offset]) => offset));
  });

  it('counts as correct unless a slow response proves the opposite', async () => {
    const clock = { ms: now };
    const server = await startHttpsServer((response) => {
      response.sendDate = false;
      clock.ms += 20_000;
      response.writeHead(200, { 'content-type': 'application/json', date: dated(7) }).end(reply);
    });
    const { read, reports } = givenClient(server, { now: () => clock.ms });

    await read();

    expect(reports[0]?.clockOffsetSeconds).toBe(0);
  });
});

// test/unit/appliance/response.test.ts has every status and every kind of body.
it('a refusal carries the message of the appliance in one line, is counted, and is not retried', async () => {
  const body = JSON.stringify({ description: 'A call', error: 'true', message: 'Nobody\r\nis at home' });
  const server = await startHttpsServer((response) => answerJson(response, body, 403));
  const { read, reports } = givenClient(server);

  const error = await failureOf(read());

  expect(error).toMatchObject({ reason: 'forbidden', status: 403 });
  expect(error.message).toBe('GET /stats/system/connections: the appliance answered 403: Nobody is at home');
  expect(reports).toMatchObject([{ code: '403', reason: 'forbidden', authenticated: true }]);
  expect(server.requests).toHaveLength(1);
});

describe('a response with malformed rows', () => {
  const body = `{"farms":[{"farmname":"f","established":1},{"farmname":"b","established":"${canary}"},{"status":"up"}]}`;

  it('keeps all other rows, and reports what it skipped, without the key', async () => {
    const { client } = givenClient(await startHttpsServer((response) => answerJson(response, body)));
    const lost: UnreadableField[] = [];

    const reply = await client.read('listFarmStats', {}, patient, { onUnreadable: (found) => lost.push(...found) });

    expect(reply).toMatchObject({
      farms: [
        { farmname: 'f', established: 1 },
        { farmname: 'b', established: null },
      ],
    });
    expect(lost).toEqual([
      { endpoint: '/stats/farms', field: 'established', count: 1, example: '"[redacted]"' },
      { endpoint: '/stats/farms', field: 'farmname', count: 1, example: '{"status":"up"}' },
    ]);
  });

  it('is malformed for a caller that decides by it', async () => {
    const { client } = givenClient(await startHttpsServer((response) => answerJson(response, body)));

    expect((await failureOf(client.read('listFarmStats', {}, patient))).reason).toBe('malformed');
  });
});

it('a name that would change the route sends no request', async () => {
  const server = await startHttpsServer((response) => answerJson(response));
  const { client, reports } = givenClient(server);

  for (const farmname of ['', '..', 'shop/actions', 'shop\n']) {
    const error = await failureOf(client.read('readFarmStatus', { farmname }, patient));
    expect(error).toMatchObject({ reason: 'bad_request', endpoint: '/farms/{farmname}/status' });
  }

  expect(server.accepted).toBe(0);
  expect(reports).toEqual([]);
});

it('the expiry of the API certificate is reported, also for a pinned one', async () => {
  const server = await startHttpsServer((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(reply),
  );
  const { read, reports } = givenClient(server);

  await read();

  const { validToDate } = new X509Certificate(server.material.cert);
  expect(reports[0]?.certificate?.notAfterSeconds).toBe(validToDate.getTime() / 1_000);
});
