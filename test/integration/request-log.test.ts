import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Secret } from '../../src/lib/secret.ts';
import { receiveStreams } from '../../src/request-log/receiver.ts';
import { makeAuthority } from '../support/authority.ts';
import { logged, loggedByZproxy } from '../support/logged-request.ts';
import { valueOf } from '../support/samples.ts';
import { farms, givenRequestLog } from './given-request-log.ts';
import { until } from '../support/until.ts';

const header = '<134>Nov 26 04:17:34 lb pound: ';
const line = header + logged({});
const counted = (text: string) => `${text.length} ${text}`;

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function datagrams(port: number, texts: readonly string[]): Promise<void> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  for (const text of texts) await new Promise<unknown>((resolve) => socket.send(text, port, '127.0.0.1', resolve));
}

it('the request log counts lines from datagrams and from both kinds of framing', async () => {
  const { port, counts, has } = await givenRequestLog();
  await datagrams(port(0), [line, `${line}\n`, 'x'.repeat(9_000)]);
  const socket = await connected(port(1));
  socket.write(`${line}\n${counted(line)}`);

  await counts(4);
  await has('zlb_request_log_lines_total', { result: 'too_long' }, 1);
});

it.each([
  ['binary data', '\0\xff\xfe\n', 'malformed'],
  ['an endless line', `<${'x'.repeat(9_000)}\n`, 'too_long'],
  ['half a frame', '500 <134>', 'malformed'],
  ['another program', '<134>Nov 26 04:17:34 lb sshd: x\n', 'other'],
  ['half a line about a request', `${line.slice(0, 150)}\n`, 'unreadable'],
  ['a forged status', `${header}${logged({ agent: logged({ code: '503' }) })}\n`, 'ambiguous'],
])('the request log counts %s by its reason, and continues', async (_, sent, result) => {
  const { port, counts, has } = await givenRequestLog();
  const socket = await connected(port(1));
  socket.end(Buffer.from(sent, 'latin1'));
  await has('zlb_request_log_lines_total', { result }, 1);

  (await connected(port(1))).write(`${line}\n`);
  await counts(1);
});

it.each([
  ['TCP', 1],
  ['UDP', 0],
] as const)(
  'the request log counts lines that arrive by %s before the first farm list under their names',
  async (_, index) => {
    const { port, has, known, page, counts } = await givenRequestLog();
    known.farms = undefined;
    const texts = [line, line, line, '<1>the end'];
    if (index === 1) (await connected(port(1))).write(texts.map((text) => `${text}\n`).join(''));
    else await datagrams(port(0), texts);
    await has('zlb_request_log_lines_total', { result: 'other' }, 1);
    expect(await page()).not.toContain('zlb_requests_total{');

    known.farms = farms;
    await counts(3);
    await has('zlb_request_log_lines_total', { result: 'answer' }, 3);
    await has('zlb_request_log_lines_total', { result: 'early' }, 0);
  },
);

it('the request log counts the first requests of a new farm, service and backend under their names', async () => {
  const { port, has, known, page } = await givenRequestLog();
  const socket = await connected(port(1));
  const ofNewFarm = header + logged({ farm: 'news', service: 'web', backend: '10.0.0.9:80' });
  const late = header + logged({ backend: '10.0.0.2:80' });
  socket.write(`${`${ofNewFarm}\n${late}\n`.repeat(5)}<1>the end\n`);
  await has('zlb_request_log_lines_total', { result: 'other' }, 1);
  expect(await page()).not.toContain('farm="unknown"');
  known.farms = [{ name: 'shop', backends: [{ service: 'front', backend: '10.0.0.2:80' }] }, { name: 'news' }];
  await has('zlb_requests_total', { farm: 'shop', backend: '10.0.0.2:80', code: '2xx' }, 5);

  known.farms = [{ name: 'news', backends: [{ service: 'web', backend: '10.0.0.9:80' }] }];
  await has('zlb_requests_total', { farm: 'news', service: 'web', backend: '10.0.0.9:80', code: '2xx' }, 5);
  expect(await page()).not.toContain('unknown"');
});

it('the request log buffers by TCP only what can wait for the first farm list, and loses nothing', async () => {
  const { port, known, counts, page, has } = await givenRequestLog();
  known.farms = undefined;
  const many = 12_000;
  (await connected(port(1))).write(`${`${line}\n`.repeat(9_999)}<1>nearly full\n${`${line}\n`.repeat(many - 9_999)}`);
  await has('zlb_request_log_lines_total', { result: 'other' }, 1);
  expect(await page()).not.toContain('zlb_requests_total{');

  known.farms = farms;
  await counts(many);
  await has('zlb_request_log_lines_total', { result: 'early' }, 0);
});

it('the request log refuses senders that are not addresses of an appliance', async () => {
  const appliances = [{ name: 'lb', from: ['192.0.2.1'], objectives: [] }];
  const { port, has, page } = await givenRequestLog({ appliances });
  await datagrams(port(0), [line]);
  const socket = await connected(port(1));
  await once(socket.resume(), 'close');

  await has('zlb_exporter_request_log_refused_total', { reason: 'sender' }, 2);
  expect(await page()).not.toContain('zlb_requests_total{');
});

it('the request log reads TLS lines of a client with a valid certificate, and counts and logs other clients', async () => {
  const authority = makeAuthority();
  const { cert, key } = authority.issue('IP:127.0.0.1');
  const tls = { cert, key: new Secret(key), clientCa: authority.cert };
  const { port, counts, has, logged } = await givenRequestLog({ receiver: { listenTcp: '127.0.0.1:0', tls } });
  const to = (identity: object) => {
    const socket = connectTls({ port: port(0), host: '127.0.0.1', ca: authority.cert, ...identity });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).write(`${line}\n`);
  };

  const past = { notBefore: new Date(0), notAfter: new Date(1) };
  const flawed = [past, { notBefore: new Date(Date.now() + 86_400_000) }, { usages: ['serverAuth'] as const }];
  to({});
  for (const flaw of flawed) to(authority.issueFlawed(flaw));
  to(makeAuthority('another').issue());
  await has('zlb_exporter_request_log_refused_total', { reason: 'tls' }, 5);
  expect(logged.join('')).toContain('its certificate is not valid under client_ca (CERT_HAS_EXPIRED)');
  const client = authority.issue();
  to({ cert: client.cert, key: client.key });

  await counts(1);
});

it('the request log counts a refused sender once, also by TLS', async () => {
  const authority = makeAuthority();
  const { cert, key } = authority.issue('IP:127.0.0.1');
  const receiver = { listenTcp: '127.0.0.1:0', tls: { cert, key: new Secret(key) } };
  const { port, has, page } = await givenRequestLog({ receiver, appliances: [] });
  await once((await connected(port(0))).resume(), 'close');
  await once((await connected(port(0))).resume(), 'close');

  await has('zlb_exporter_request_log_refused_total', { reason: 'sender' }, 2);
  expect(valueOf(await page(), 'zlb_exporter_request_log_refused_total', { reason: 'tls' })).toBe(0);
});

it.each([
  ['other lines', '<1>\n', 'other'],
  ['malformed lines', 'a\n', 'malformed'],
  ['empty lines', '\n', 'empty'],
])('the request log reads no more %s by many connections than by one', async (_, text, result) => {
  const { port, page } = await givenRequestLog();
  const sockets = await Promise.all(Array.from({ length: 10 }, () => connected(port(1))));
  const startMs = performance.now();
  for (const socket of sockets) socket.write(text.repeat(50_000));
  const read = await until(
    async () => valueOf(await page(), 'zlb_request_log_lines_total', { result }) ?? 0,
    (value) => value > 0,
  );
  const slots = Math.ceil((performance.now() - startMs) / 100) + 1;
  expect(read).toBeLessThanOrEqual(slots * 2_500);
});

it('the request log closes an idle connection, and keeps one that has sent a line before', async () => {
  const lines: string[] = [];
  const refusals: string[] = [];
  const sender = {
    line: (line: string) => void lines.push(line),
    fault: () => undefined,
    charge: () => undefined,
    takesNoMore: false,
  };
  const sink = { consumerFor: () => sender, countRefusal: (reason: string) => void refusals.push(reason) };
  const patience = { firstBytesMs: 10_000, idleMs: 3_600_000 };
  const receiver = await receiveStreams('127.0.0.1:0', undefined, sink, patience);
  onTestFinished(() => receiver.close());
  const port = Number(receiver.address.split(':').at(-1));

  const talking = connect(port, '127.0.0.1');
  talking.write('<13>first\n');
  await until(
    () => lines.length,
    (count) => count === 1,
  );
  await once(connect(port, '127.0.0.1').resume(), 'close');
  expect(refusals).toEqual(['idle']);
  talking.end('<13>second\n');
  await once(talking.resume(), 'close');

  expect(lines).toEqual(['<13>first', '<13>second']);
});

it('the request log leaves connections for others when one sender takes all that it can', async () => {
  const appliances = ['greedy', 'lb'].map((name, index) => ({ name, from: [`127.0.0.${index + 1}`], objectives: [] }));
  const { port, has, counts } = await givenRequestLog({ appliances });
  for (let count = 0; count < 300; count += 1) (await connected(port(1))).on('error', () => undefined);
  await has('zlb_exporter_request_log_refused_total', { reason: 'share' }, 284);
  await has('zlb_exporter_request_log_refused_total', { reason: 'connections' }, 0);

  const other = connect({ port: port(1), host: '127.0.0.1', localAddress: '127.0.0.2' });
  onTestFinished(() => void other.destroy());
  other.write(`${line}\n`);
  await counts(1);
});

it('the request log leaves what it cannot read in time with a TCP sender, and loses nothing', async () => {
  const { port, counts, has } = await givenRequestLog();
  const socket = await connected(port(1));
  const lines = 20_000;
  socket.write(`${line}\n`.repeat(lines));

  await counts(lines);
  await has('zlb_request_log_lines_total', { result: 'answer' }, lines);
});

it('the request log does not show what a client sent', async () => {
  const canaries = {
    host: 'canary-host',
    user: 'canary-user',
    request: 'GET /canary HTTP/1.1',
    referrer: 'canary-ref',
    agent: 'canary-agent',
  };
  const { port, counts, page } = await givenRequestLog();
  (await connected(port(1))).write(`${header}${logged(canaries)}\n`);
  await counts(1);

  expect(await page()).not.toMatch(/canary|192\.0\.2\.77/);
});

it('the request log reads on when a reload keeps its address, and keeps the counts', async () => {
  const { log, settings, port, counts } = await givenRequestLog();
  const socket = await connected(port(1));
  socket.write(`${line}\n`);
  await counts(1);

  (await log.prepare(structuredClone(settings))).commit();
  socket.write(`${line}\n`);

  await counts(2);
});

it('the request log applies a reload to an open connection, and closes one whose sender is removed', async () => {
  const { log, settings, port, has } = await givenRequestLog();
  const socket = await connected(port(1));
  const closed = once(socket.resume(), 'close');
  const objectives = [{ farm: 'shop', availabilityRatio: 0.99 }];
  (await log.prepare({ ...settings, appliances: [{ name: 'lb', from: ['127.0.0.1'], objectives }] })).commit();
  socket.write(`${line}\n`);
  await has('zlb_objective_requests_total', { farm: 'shop' }, 1);

  (await log.prepare({ ...settings, appliances: [] })).commit();
  socket.write(`${line}\n`);
  await has('zlb_exporter_request_log_refused_total', { reason: 'sender' }, 1);
  await closed;
});

it('the request log keeps all counts when a reload changes an objective or buckets, or is discarded', async () => {
  const { log, settings, port, page, counts } = await givenRequestLog();
  (await connected(port(1))).write(`${line}\n`);
  await counts(1);
  const appliances = [{ name: 'lb', from: ['127.0.0.1'], objectives: [{ farm: 'shop', availabilityRatio: 0.99 }] }];

  await (await log.prepare({ ...settings, appliances: [] })).discard?.();
  await counts(1);
  (await log.prepare({ ...settings, buckets: [50], appliances })).commit();

  await counts(1);
  expect(await page()).toContain('zlb_objective_missed_total{appliance="lb",farm="shop",objective="availability"} 0');
  (await log.prepare({ ...settings, buckets: [50] })).commit();
  await counts(1);
  expect(await page()).not.toContain('zlb_objective_missed_total{');
});

it('the request log is silent after an hour without a request, but not after the first one', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { log, port, counts } = await givenRequestLog();
  const socket = await connected(port(1));
  const other = '<14>Nov 28 18:13:34 lb zproxy: JSON object encoding successful';
  const silent = [log.isEmpty('lb')];

  socket.write(`${other}\n`);
  vi.advanceTimersByTime(3_600_000);
  silent.push(log.isEmpty('lb'));
  socket.write(`<14>Nov 28 18:13:34 lb zproxy: ${loggedByZproxy({})}\n`);
  await counts(1);

  expect([...silent, log.isEmpty('lb')]).toEqual([false, true, false]);
});

it('the request log uses new certificates on the same address, and closes the connections before them', async () => {
  const authority = makeAuthority();
  const { cert, key } = authority.issue('IP:127.0.0.1');
  const { log, settings, port, counts } = await givenRequestLog();
  const socket = await connected(port(1));
  const closed = once(socket.resume(), 'close');

  const tls = { cert, key: new Secret(key) };
  (await log.prepare({ ...settings, receiver: { ...settings.receiver, tls } })).commit();

  await closed;
  const secure = connectTls({ port: port(1), host: '127.0.0.1', ca: authority.cert });
  onTestFinished(() => void secure.destroy());
  secure.on('error', () => undefined).write(`${line}\n`);
  await counts(1);
});

it('the request log shows its counts again when the store has dropped them', async () => {
  const { log, store, port, counts } = await givenRequestLog();
  (await connected(port(1))).write(`${line}\n`);
  await counts(1);
  store.arrange(['lb'], new Set(['lb']));

  log.publish();

  await counts(1);
});

it.each([
  ['listenUdp', 'requests.listen_udp', 0],
  ['listenTcp', 'requests.listen_tcp', 1],
] as const)(
  'the request log reports for %s that its address is in use, and continues at the old one',
  async (key, setting, index) => {
    const { log, settings, port, counts } = await givenRequestLog();
    const other = await givenRequestLog();
    const taken = { ...settings, receiver: { [key]: `127.0.0.1:${other.port(index)}` } };

    await expect(log.prepare(taken)).rejects.toMatchObject({ setting });

    (await connected(port(1))).write(`${line}\n`);
    await counts(1);
  },
);

it('the request log receives datagrams at an address given by name', async () => {
  const { port, counts } = await givenRequestLog({ receiver: { listenUdp: 'localhost:0' } });
  await datagrams(port(0), [line]);
  await counts(1);
});
