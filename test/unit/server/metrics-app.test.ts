import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetricsApp, maxExpositionsAtOnce, type MetricsAppParts } from '../../../src/server/metrics-app.ts';
import { createWebAccess } from '../../../src/server/web-access.ts';
import { openToAll } from '../../../src/server/web-policy.ts';
import { counter, gauge } from '../../../src/metrics/family.ts';
import { fillRegistry } from '../../../src/metrics/render.ts';
import type { Exposition } from '../../../src/metrics/exposition.ts';
import { createSelfMetrics } from '../../../src/metrics/self.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import type { ApplianceStatus } from '../../../src/state/status.ts';
import type { Fleet } from '../../../src/scheduler/fleet.ts';
import { collectorStatus, unknownAppliance } from '../../support/fleet-status.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { untilIs } from '../../support/until.ts';

const up = gauge('zlb_up', 'Whether it answers (any call).');
const calls = counter('zlb_calls_total', 'Calls (this exporter).');
const openmetrics = { accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5' };

describe('GET /metrics', () => {
  it("has every appliance and the exporter's own metrics in Prometheus text", async () => {
    const response = await get(givenApp(), '/metrics');

    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-length': String(response.rawPayload.length),
      'cache-control': 'no-store',
      vary: 'accept, accept-encoding',
      'x-content-type-options': 'nosniff',
    });
    expect(response.headers).not.toHaveProperty('content-encoding');
    expect(appliancesIn(response.payload)).toEqual(['lb-1', 'lb-2', 'lb-3']);
    expect(parseExposition(response.payload, 'text').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['zlb_up', 'zlb_calls_total', 'process_cpu_seconds_total', 'zlb_exporter_build_info']),
    );
  });

  it('is OpenMetrics for clients that prefer it, including the last line', async () => {
    const response = await get(givenApp(), '/metrics', openmetrics);

    expect(response.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(parseExposition(response.payload, 'openmetrics').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['zlb_up', 'zlb_calls', 'process_cpu_seconds', 'zlb_exporter_build_info']),
    );
  });

  it.each([
    ['Prometheus text', {}, 'gzip', 'gzip', gunzipSync],
    ['OpenMetrics', openmetrics, 'gzip', 'gzip', gunzipSync],
    ['Prometheus text for a client that names zstd', {}, 'zstd, gzip', 'zstd', zstdDecompressSync],
  ] as const)('is the same when compressed: %s', async (_, headers, accepted, encoding, decompress) => {
    const app = givenApp();

    const plain = await get(app, '/metrics', headers);
    const compressed = await get(app, '/metrics', { ...headers, 'accept-encoding': accepted });

    expect(compressed.headers).toMatchObject({
      'content-encoding': encoding,
      // The page with zstd is compressed while it is sent.
      ...(encoding === 'gzip' && { 'content-length': String(compressed.rawPayload.length) }),
    });
    expect(withoutProcess(decompress(compressed.rawPayload).toString())).toBe(withoutProcess(plain.payload));
  });

  it('contains only the named appliances', async () => {
    const response = await get(givenApp(), '/metrics?appliance=lb-3&appliance=lb-1');

    expect(appliancesIn(response.payload)).toEqual(['lb-1', 'lb-3']);
    expect(response.payload).toContain('zlb_exporter_build_info');
  });

  it('is served before the first reading', async () => {
    const response = await get(givenApp({ readings: false }), '/metrics');

    expect(response.statusCode).toBe(200);
    expect(response.payload).not.toContain('zlb_up');
  });

  it('has no body for HEAD', async () => {
    const response = await givenApp().inject({ method: 'HEAD', url: '/metrics' });

    expect(response.statusCode).toBe(200);
    expect(response.payload).toBe('');
  });
});

describe('GET /probe', () => {
  it("has one appliance, without the exporter's own metrics", async () => {
    const response = await get(givenApp(), '/probe?target=lb-2');

    expect(response.payload).toBe(
      '# HELP zlb_up Whether it answers (any call).\n# TYPE zlb_up gauge\nzlb_up{appliance="lb-2"} 1\n' +
        '# HELP zlb_calls_total Calls (this exporter).\n# TYPE zlb_calls_total counter\nzlb_calls_total{appliance="lb-2"} 2\n',
    );
  });

  it.each(['/probe', '/probe?target=lb-1&target=lb-2'])('answers 400 for %s', async (url) => {
    expect((await get(givenApp(), url)).statusCode).toBe(400);
  });
});

describe('the appliance in a query', () => {
  const data = ['/metrics?appliance=lb-1&appliance=', '/probe?target=', '/api/status?appliance=lb-1&appliance='];

  const none = ['lb-9', '', 'LB-1', '__proto__', '192.0.2.1', 'https://192.0.2.1:444', 'http://169.254.169.254/latest'];

  it.each(none)('is unknown for %j, because only configured names count', async (name) => {
    for (const url of data) {
      const response = await get(givenApp(), url + encodeURIComponent(name));

      expect(response.statusCode, url).toBe(404);
      expect(response.payload, url).toBe(
        'No appliance of that name is configured; / lists the names. An address is not a name.\n',
      );
    }
  });

  it('is named with its shard if it belongs to another shard', async () => {
    for (const url of [...data, '/?appliance=']) {
      const response = await get(givenApp(), `${url}lb-4`);

      expect(response.statusCode, url).toBe(404);
      expect(response.payload, url).toContain('That appliance belongs to shard 2; ask the exporter that runs with');
    }
  });
});

describe('GET /sd', () => {
  it('has one target per appliance, at the address of the request', async () => {
    const response = await get(givenApp(), '/sd', { host: 'exporter.example:9444' });

    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.json()).toHaveLength(3);
    expect(response.json()[0]).toEqual({
      targets: ['exporter.example:9444'],
      labels: {
        site: 'paris',
        __metrics_path__: '/probe',
        __param_target: 'lb-1',
        __param_labels: 'target',
        __scheme__: 'http',
        instance: 'lb-1',
        exporter: 'exporter.example:9444',
      },
    });
  });

  it.each(['192.0.2.1:9444', '[2001:db8::1]:9444', 'localhost'])('accepts the address %s', async (host) => {
    expect((await get(givenApp(), '/sd', { host })).json()[0].targets).toEqual([host]);
  });

  it.each(['a b', 'user@host', 'host/path', '<script>', 'ho"st', 'host,other', 'x'.repeat(262)])(
    'answers 400 to the Host header %j',
    async (host) => {
      const response = await get(givenApp(), '/sd', { host });

      expect(response.statusCode).toBe(400);
      expect(response.payload).toBe('The Host header names no address.\n');
    },
  );
});

describe('GET /', () => {
  it('shows for each appliance whether it responds', async () => {
    const statuses = [
      ...threeStatuses(),
      unknownAppliance({ name: 'lb-4', up: true, deactivated: true }),
      unknownAppliance({
        name: 'lb-5',
        up: false,
        collectors: [collectorStatus({ name: 'farms', ok: false, failure: { reason: 'unauthorized', sinceMs: 0 } })],
      }),
    ];
    const { payload } = await get(givenApp({ statuses }), '/');
    const states = [...payload.matchAll(/<tr data-key="([^"]+)">.*?data-label="State">.*?<\/svg>([^<]*)/gs)];

    expect(Object.fromEntries(states.map(([, name = '', state]) => [name, state]))).toEqual({
      'lb-1': 'answers',
      'lb-2': 'no answer',
      'lb-3': 'not asked yet',
      'lb-4': 'deactivated',
      'lb-5': 'refuses the key',
    });
  });

  it('shows the address of the gateway while it is on', async () => {
    const state = { ready: true, adminUrl: 'http://127.0.0.1:9445' };

    expect((await get(givenApp({ state }), '/')).payload).toContain('href="http://127.0.0.1:9445/docs"');
    expect((await get(givenApp(), '/')).payload).toContain('The admin gateway is off.');
  });
});

it('GET /-/healthy is healthy when the exporter listens, and /-/ready after the first run of every collector', async () => {
  const state = { ready: false };
  const app = givenApp({ state });

  expect(await statusOf(app, '/-/healthy')).toBe(200);
  expect(await statusOf(app, '/-/ready')).toBe(503);
  state.ready = true;
  expect(await statusOf(app, '/-/ready')).toBe(200);
});

describe('the metrics listener', () => {
  it.each([
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'].map((method) => [method, 'application/json']),
    ...['json', ';', 'application/json; charset'].map((type) => ['POST', type]),
  ])('refuses %s everywhere, with the allowed methods, also for a body of the type %s', async (method, type) => {
    const app = givenApp();

    for (const url of ['/', '/metrics', '/probe?target=lb-1', '/sd', '/api/status', '/-/healthy', '/-/ready']) {
      const response = await app.inject({
        // The types of the injector name fewer methods than a client can send.
        method: method as 'POST',
        url,
        headers: { 'content-type': type },
        payload: 'no JSON',
      });
      expect(response.statusCode, url).toBe(405);
      expect(response.headers, url).toMatchObject({
        allow: 'GET, HEAD',
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
      });
      expect(response.payload).toBe('Only GET and HEAD are allowed here.\n');
    }
  });

  it('explains how to enable reloading by HTTP', async () => {
    const answer = await givenApp().inject({ method: 'POST', url: '/-/reload' });

    expect([answer.statusCode, answer.payload]).toEqual([
      403,
      'Reloading by HTTP is off. Start with --web.enable-lifecycle, or send SIGHUP.\n',
    ]);
  });

  it.each([
    ['no type', {}, ''],
    ['the type that `curl -d` and wget send', { 'content-type': 'application/x-www-form-urlencoded' }, ''],
    ['a type that says one thing and a body that says another', { 'content-type': 'application/json' }, '{'],
    ['a type that nobody knows', { 'content-type': 'x/y' }, 'anything'],
  ])('reloads with any body: %s', async (_, headers, payload) => {
    const app = givenApp({ reload: async () => ({ value: 'no appliance differs' }) });

    const answer = await app.inject({ method: 'POST', url: '/-/reload', headers, payload });

    expect([answer.statusCode, answer.payload]).toEqual([200, 'Reloaded: no appliance differs.\n']);
  });

  it.each([
    ['of another origin', { origin: 'http://other.example' }],
    ['whose name was made to mean this address', { origin: 'http://evil.example:9444', host: 'evil.example:9444' }],
    ['that keeps its origin to itself', { origin: 'null' }],
    ['as newer browsers mark them', { 'sec-fetch-site': 'same-origin' }],
  ])('does not reload for a web page %s', async (_, headers) => {
    let asked = 0;
    const app = givenApp({
      async reload() {
        asked += 1;
        return { value: '' };
      },
    });

    expect((await app.inject({ method: 'POST', url: '/-/reload', headers })).statusCode).toBe(403);
    expect(asked).toBe(0);
  });

  it.each(['/', '/metrics', '/probe?target=lb-1', '/sd', '/api/status', '/-/healthy', '/-/ready', '/none', '/%zz'])(
    'forbids caching: %s',
    async (url) => {
      expect((await get(givenApp(), url)).headers).toMatchObject({ 'cache-control': 'no-store' });
    },
  );

  it.each(['/%zz', '/metrics%', '/%c0%ae'])('answers 400 in plain words to the malformed path %s', async (url) => {
    const response = await get(givenApp(), url);

    expect(response.statusCode).toBe(400);
    expect(response.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect(response.payload).toBe('The path has a malformed percent-encoding.\n');
  });

  it.each(['/nothing', '/metrics/', '/METRICS', '//metrics', '/%2e%2e/etc/passwd', '/-/reload/'])(
    'answers 404 to %s without repeating it',
    async (url) => {
      const response = await get(givenApp(), url);

      expect(response.statusCode).toBe(404);
      expect(response.payload).toBe('Not found. Try / or /metrics.\n');
    },
  );

  it('says where the pages of the gateway are, or that it is off', async () => {
    const state = { ready: true, adminUrl: 'http://127.0.0.1:9445' };

    const on = await get(givenApp({ state }), '/console/');
    const off = await get(givenApp(), '/docs');

    expect(on.payload).toBe('Not found. /console is a page of the gateway: http://127.0.0.1:9445/console\n');
    expect(off.payload).toBe('Not found. /docs is a page of the gateway, which is off.\n');
  });

  it('logs an internal error, and responds without details', async () => {
    const lines: string[] = [];
    const app = givenApp({ log: lines, statuses: new Error('the key is 1234') });

    const response = await get(app, '/');

    expect(response.statusCode).toBe(500);
    expect(response.payload).toBe('Internal error, see the log.\n');
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ level: 50, path: '/', msg: 'request failed' });
  });

  it('logs why the history cannot be read', async () => {
    const lines: string[] = [];
    const app = givenApp({ log: lines, findEvents: () => Promise.reject(new Error('the disk is gone')) });

    const response = await app.inject('/api/history');

    expect(response.statusCode).toBe(503);
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({
      level: 50,
      msg: 'history cannot be read',
      err: { message: 'the disk is gone' },
    });
  });

  it('writes one line for many callers while the history cannot be read', async () => {
    const lines: string[] = [];
    const app = givenApp({ log: lines, findEvents: () => Promise.reject(new Error('the disk is gone')) });

    for (let caller = 0; caller < 10; caller += 1) await app.inject('/api/history');

    expect(lines).toHaveLength(1);
  });

  it.each<[query: string, says: string]>([
    ...['1e999', 'Infinity', '-1', '0', '1001', '1e2', '0x10', '1.0', '01', '', 'many', '99999999999999999999'].map(
      (limit): [string, string] => [`limit=${limit}`, 'limit is a whole number from 1 to 1000.'],
    ),
    ...['', '1', '1.2.3', '1e3.1', 'x.y', '1.-1'].map((before): [string, string] => [
      `before=${before}`,
      'before is the next of an answer.',
    ]),
    [`since=${'9'.repeat(400)}d`, 'since is a duration, such as 2h, or a moment in ISO 8601.'],
    ['limit=5&limit=6', 'querystring/limit must be string'],
  ])('explains the error in a history query with %s', async (query, says) => {
    const lines: string[] = [];

    const response = await givenApp({ log: lines }).inject(`/api/history?${query}`);

    expect([response.statusCode, response.body]).toEqual([400, `${says}\n`]);
    expect(lines).toEqual([]);
  });

  it('lists the kinds of events to a caller that requests another one', async () => {
    const response = await givenApp().inject('/api/history?kind=state&kind=states');

    expect(response.statusCode).toBe(400);
    expect(response.body).toBe('kind is one of configuration, state, change, reload, start, restart.\n');
  });
});

describe('the pages of single appliances', () => {
  it('are rendered a few at a time, and not for readers that have left', async () => {
    const made: PromiseWithResolvers<Exposition>[] = [];
    const page: Fleet['exposition'] = () => {
      made.push(Promise.withResolvers());
      return made.at(-1)!.promise;
    };
    const app = givenApp({ page });
    const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
    const first = Array.from({ length: maxExpositionsAtOnce }, () => get(app, '/probe?target=lb-1'));
    const leaver = connect(port, '127.0.0.1').on('error', () => undefined);
    leaver.write('GET /probe?target=lb-1 HTTP/1.1\r\nHost: x\r\n\r\n');
    const [socket] = (await once(app.server, 'connection')) as [Socket];
    await once(app.server, 'request');
    leaver.destroy();
    await once(socket, 'close');
    const last = get(app, '/metrics?appliance=lb-1&appliance=lb-2');
    const madeAtFirst = made.length;

    for (let index = 0; index <= maxExpositionsAtOnce; index += 1) {
      await untilIs(() => made.length > index, true);
      made[index]!.resolve({ finish: (end) => [Buffer.from(end)] });
    }
    const answers = await Promise.all([...first, last]);

    expect(madeAtFirst).toBe(maxExpositionsAtOnce);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
    expect(made).toHaveLength(maxExpositionsAtOnce + 1);
  });
});

interface Given {
  readonly readings?: boolean;
  readonly state?: { ready: boolean; adminUrl?: string };
  readonly statuses?: readonly ApplianceStatus[] | Error;
  readonly log?: string[];
  readonly reload?: MetricsAppParts['reload'];
  readonly findEvents?: () => Promise<string>;
  readonly page?: Fleet['exposition'];
}

function givenApp({
  readings = true,
  state = { ready: true },
  statuses = threeStatuses(),
  log: lines = [],
  reload,
  findEvents = () => Promise.resolve('{"events":[]}'),
  page,
}: Given = {}): FastifyInstance {
  const names = ['lb-1', 'lb-2', 'lb-3'];
  const store = createMetricsStore([up, calls]);
  store.arrange(names);
  for (const name of readings ? names : []) {
    const reading = fillRegistry(name, (emit) => {
      emit.sample(up, {}, 1);
      emit.sample(calls, {}, 2);
    });
    store.put(name, 'key', reading);
  }
  const fleet: Fleet = {
    appliances: names.map((name) => ({ name, labels: { site: 'paris' } })),
    watches: (appliance) => names.includes(appliance),
    exposition: page ?? ((form, appliances) => store.exposition(form, appliances)),
    get isReady() {
      return state.ready;
    },
    status() {
      if (statuses instanceof Error) throw statuses;
      return { appliances: statuses, transitions: [] };
    },
    transitions: [],
    statusOf(appliance) {
      if (statuses instanceof Error) throw statuses;
      return statuses.find(({ name }) => name === appliance);
    },
    refresh: () => undefined,
  };
  const build = { version: '1.2.3', revision: 'abc', nodeVersion: 'v24.0.0' };
  const log = pino({}, { write: (line) => lines.push(line) });
  const app = createMetricsApp({
    fleet,
    shardWatching: (name) => (name === 'lb-4' ? 2 : undefined),
    self: createSelfMetrics(build),
    build,
    adminUrl: () => state.adminUrl,
    reload,
    shard: () => undefined,
    isDemonstration: false,
    withCommandName: (text) => text,
    lastMinuteOf: () => undefined,
    twinOf: () => undefined,
    history: {
      find: () => Promise.resolve({ events: [] }),
      findText: findEvents,
      timesOf: () => Promise.resolve([]),
    },
    access: createWebAccess({ policy: openToAll, log }),
    log,
    now: Date.now,
  });
  onTestFinished(() => app.close());
  return app;
}

function threeStatuses(): ApplianceStatus[] {
  return [
    unknownAppliance({ name: 'lb-1', up: true }),
    unknownAppliance({
      name: 'lb-2',
      up: false,
      collectors: [collectorStatus({ name: 'farms', ok: false, lastSuccessMs: undefined })],
    }),
    unknownAppliance({ name: 'lb-3' }),
  ];
}

function get(
  app: FastifyInstance,
  url: string,
  headers: InjectOptions['headers'] = {},
): Promise<LightMyRequestResponse> {
  return app.inject({ method: 'GET', url, headers });
}

async function statusOf(app: FastifyInstance, url: string): Promise<number> {
  return (await get(app, url)).statusCode;
}

/** The appliances with a zlb_up on the page, in their order. */
function appliancesIn(page: string): string[] {
  return [...page.matchAll(/^zlb_up\{appliance="(.*)"\} 1$/gm)].map(([, name]) => name ?? '');
}

/** Returns a page without the metrics of the process, which differ between scrapes. */
function withoutProcess(page: string): string {
  return page.replaceAll(/^(?:# \w+ )?(?:process|nodejs)_.*\n/gm, '');
}
