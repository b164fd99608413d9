import type { ServerResponse } from 'node:http';
import * as fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { collectorFamilies, collectors } from '../../src/collectors/registry.ts';
import { createMetricsApp } from '../../src/web/metrics-app.ts';
import { createWebAccess } from '../../src/web/web-access.ts';
import { openToAll } from '../../src/web/web-policy.ts';
import { isRecord } from '../../src/lib/check.ts';
import { createMetricsStore } from '../../src/metrics/store.ts';
import { createSelfMetrics } from '../../src/metrics/self.ts';
import { FleetPoller } from '../../src/poller/fleet.ts';
import { ownFamilies } from '../../src/poller/collector-statistics.ts';
import type { ApplianceStatus, FleetStatus } from '../../src/status/status.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { fuzzing } from '../support/fuzz.ts';
import { createTestPoller } from '../support/poller.ts';
import { feed, isThere } from '../support/programs.ts';
import { hasRecordings, ownRecordings, sharedRecordings } from '../support/recordings.ts';
import { type ReplayServer, startReplayServer } from '../support/replay-server.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';
import { damageJson, damages } from './damaged-json.ts';
import { edited } from './edited-text.ts';

type Alter = (body: Buffer, path: string, response: ServerResponse) => Buffer;

const build = { version: '0', revision: '0', nodeVersion: process.version };
const formats = [
  ['text', 'text/plain'],
  ['openmetrics', 'application/openmetrics-text;version=1.0.0'],
] as const;
const enabled = collectors.filter((collector) => collector.enabled).map(({ name }) => name);

/** One way to spoil the bodies of an appliance. */
const spoiling: fc.Arbitrary<Alter> = fc.oneof(
  {
    weight: 6,
    arbitrary: damages.map(
      (list): Alter =>
        (body) =>
          Buffer.from(damageJson(body.toString(), list)),
    ),
  },
  fc.array(fc.nat(), { minLength: 1, maxLength: 8 }).map(
    (bits): Alter =>
      (body) =>
        flipped(body, bits),
  ),
  fc.double({ min: 0, max: 0.99, noNaN: true }).map(
    (share): Alter =>
      (body) =>
        body.subarray(0, body.length * share),
  ),
  fc.nat().map(
    (length): Alter =>
      (body, _path, response) => {
        response.write(body.subarray(0, length % body.length));
        response.destroy();
        return Buffer.alloc(0);
      },
  ),
  edited('{"params":[],"farms":[{"farmname":"a","status":"up"}]}').map(
    (text): Alter =>
      () =>
        Buffer.from(text),
  ),
  fc.uint8Array({ maxLength: 200 }).map(
    (bytes): Alter =>
      () =>
        Buffer.from(bytes),
  ),
  fc.constantFrom<BufferEncoding>('utf16le', 'base64', 'hex').map(
    (encoding): Alter =>
      (body) =>
        encoding === 'utf16le' ? Buffer.from(body.toString(), encoding) : Buffer.from(body.toString(encoding)),
  ),
);

const spoiltAppliance = fc.record({
  spoil: spoiling,
  every: fc.integer({ min: 1, max: 5 }),
  from: fc.nat({ max: 12 }),
});

describe.each([
  ['in this clone', ownRecordings],
  ['in full', sharedRecordings],
])('an appliance that sends damaged bodies, from the recordings %s', (_, directory) => {
  it.skipIf(!hasRecordings(directory))(
    'costs its own readings at most, and nothing is made up',
    async () => {
      const sound = await startReplayServer({ directory });
      const current: { alter: Alter } = { alter: (body) => body };
      const spoilt = await startReplayServer({ directory, alter: (...answer) => current.alter(...answer) });
      const untouched = await pagesAfterRun(sound, sound, async () => undefined);
      expect(linesOf(untouched.get('text') ?? '', 'lb-sound').length).toBeGreaterThan(100);
      const { numRuns = 0, ...parameters } = fuzzing('wholePaths');

      await fc.assert(
        fc.asyncProperty(spoiltAppliance, async ({ spoil, every, from }) => {
          const sent: string[] = [];
          let count = from;
          current.alter = (body, path, response) => {
            count += 1;
            const altered = count % every === 0 ? spoil(body, path, response) : body;
            sent.push(altered.toString());
            return altered;
          };

          const pages = await pagesAfterRun(sound, spoilt, async (run) => {
            for (const collector of enabled) await run(collector);
          });

          for (const [format, page] of pages) {
            expect(() => parseExposition(page, format)).not.toThrow();
            expect(linesOf(page, 'lb-sound')).toEqual(linesOf(untouched.get(format) ?? '', 'lb-sound'));
          }
          expectNothingMadeUp(pages.get('text') ?? '', sent);
        }),
        { ...parameters, numRuns: numRuns / 2 },
      );
    },
    120_000,
  );
});

it('an appliance that suddenly lists 2,500 farms with giant names loses what does not fit under its limit of series, and the page is one that promtool takes', async () => {
  const sound = await startReplayServer();
  const farms = Array.from({ length: 2_500 }, (_, index) => ({
    farmname: `"${'ü\\'.repeat(100)}\u2028${index}`,
    status: 'down',
    established: index,
  }));
  const spoilt = await startReplayServer({
    alter: (body, path) => (path === '/stats/farms' ? Buffer.from(JSON.stringify({ farms })) : body),
  });

  const pages = await pagesAfterRun(sound, spoilt, (run) => run('farms'), 12_500);

  const text = pages.get('text') ?? '';
  for (const [format, page] of pages) expect(() => parseExposition(page, format)).not.toThrow();
  expect(seriesOf(text, 'zlb_farm_established_connections', { appliance: 'lb-spoilt' })).toHaveLength(2_500);
  expect(seriesOf(text, 'zlb_farm_status', { appliance: 'lb-spoilt' })).toEqual([]);
  expect(valueOf(text, 'zlb_up', { appliance: 'lb-spoilt' })).toBe(1);
  if (isThere('promtool')) {
    const { status, stdout, stderr } = feed('promtool', ['check', 'metrics'], Buffer.from(text));
    expect({ status, stdout: stdout.toString(), stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  }
});

/**
 * Returns `/metrics` in both formats, for one healthy appliance and another on which collectors
 * were run.
 */
async function pagesAfterRun(
  sound: ReplayServer,
  spoilt: ReplayServer,
  poll: (run: (collector: string) => Promise<void>) => Promise<void>,
  maxSeries = 50_000,
): Promise<ReadonlyMap<'text' | 'openmetrics', string>> {
  const names = ['lb-sound', 'lb-spoilt'];
  const store = createMetricsStore([...collectorFamilies, ...ownFamilies]);
  store.arrange(names);
  const watched = [sound, spoilt].map((server, index) =>
    createTestPoller(server, {
      apiKey: server.apiKey,
      timeoutMs: 5_000,
      parts: { name: names[index] ?? '', store, maxSeries },
    }),
  );
  const pollers = watched.map(({ poller }) => poller);
  const fleet = new FleetPoller({
    store,
    createPoller: ({ index }: { readonly index: number; readonly name: string; readonly labels: {} }) =>
      pollers[index]!,
    isSame: () => true,
    isSameMachine: () => true,
  });
  await fleet.watch(names.map((name, index) => ({ name, index, labels: {} })));
  const log = pino({ level: 'silent' });
  const app = createMetricsApp({
    fleet,
    shardWatching: () => undefined,
    lastMinuteOf: () => undefined,
    self: createSelfMetrics(build),
    build,
    adminUrl: () => undefined,
    shard: () => undefined,
    isDemonstration: false,
    spoken: (text) => text,
    access: createWebAccess({ policy: openToAll, log }),
    log,
    now: Date.now,
  });
  try {
    await pollers[0]?.run('farms');
    await pollers[0]?.run('certificates');
    await poll((collector) => pollers[1]?.run(collector) ?? Promise.resolve());
    const pages = new Map<'text' | 'openmetrics', string>();
    for (const [format, accept] of formats) {
      const { statusCode, payload } = await app.inject({ url: '/metrics', headers: { accept } });
      expect(statusCode).toBe(200);
      pages.set(format, payload);
    }
    const status = await app.inject({ url: '/api/status' });
    const { appliances } = JSON.parse(status.payload, (_, value: unknown) => value ?? undefined) as FleetStatus;
    for (const each of appliances) expectSameAsMetrics(each, pages.get('text') ?? '');
    return pages;
  } finally {
    await Promise.all([...watched.map((each) => each.close()), app.close()]);
  }
}

/** Returns the lines that do not depend on the time of day or the speed of this machine. */
function linesOf(page: string, appliance: string): readonly string[] {
  return page
    .split('\n')
    .filter((line) => line.includes(`{appliance="${appliance}"`))
    .filter((line) => !/^zlb_(api_call|api_request|appliance_clock|collector_(duration|last)|\w*seconds)/.test(line));
}

/**
 * Looked at with the bodies alone: an appliance is up only by an answer that could prove it, a farm
 * by a list that says so.
 */
function expectNothingMadeUp(page: string, sent: readonly string[]): void {
  const bodies = sent.map(parsed);
  const couldProve = bodies.some(isRecord) || sent.some((text) => /Not After|BEGIN CERTIFICATE/.test(text));
  if (!couldProve) expect(valueOf(page, 'zlb_up', { appliance: 'lb-spoilt' }) ?? 0).toBe(0);
  const saidUp = new Set(
    bodies
      .flatMap(farmsIn)
      .filter(isUp)
      .map(({ farmname }) => String(farmname)),
  );
  const farms = seriesOf(page, 'zlb_farm_status', { appliance: 'lb-spoilt', status: 'up' })
    .map((line) => /farm="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? '')
    .filter((farm) => /^[\w-]+$/.test(farm));
  for (const farm of farms) {
    const isShownUp = stateOf(page, 'zlb_farm_status', { appliance: 'lb-spoilt', farm }) === 'up';
    if (isShownUp) expect(saidUp).toContain(farm);
  }
}

/** Compares names that are shown unchanged; for a farm that is listed twice, the first counts. */
function expectSameAsMetrics({ name: appliance, up, farms = [] }: ApplianceStatus, page: string): void {
  expect(up === undefined ? undefined : Number(up)).toBe(valueOf(page, 'zlb_up', { appliance }));
  const plain = farms.filter(({ name }) => /^[\w-]{1,64}$/.test(name)).toReversed();
  for (const [farm, { state, backends }] of new Map(plain.map((each) => [each.name, each]))) {
    expect(state).toBe(stateOf(page, 'zlb_farm_status', { appliance, farm }));
    if (backends === undefined) expect(seriesOf(page, 'zlb_backend_status', { appliance, farm })).toEqual([]);
  }
}

function farmsIn(body: unknown): readonly Record<string, unknown>[] {
  if (!isRecord(body)) return [];
  return [body.farms, body.params].flatMap((list: unknown) => (Array.isArray(list) ? list : [])).filter(isRecord);
}

function isUp({ status }: Record<string, unknown>): boolean {
  return typeof status === 'string' && status.trim() === 'up';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function flipped(body: Buffer, bits: readonly number[]): Buffer {
  const copy = Buffer.from(body);
  for (const bit of bits) {
    const at = (bit >> 3) % copy.length;
    copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7));
  }
  return copy;
}
