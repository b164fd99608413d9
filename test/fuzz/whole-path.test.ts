import type { ServerResponse } from 'node:http';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { collectorFamilies } from '../../src/collectors/registry.ts';
import { isRecord } from '../../src/lib/check.ts';
import { createMetricsStore } from '../../src/metrics/store.ts';
import { pollerFamilies } from '../../src/scheduler/poller-metrics.ts';
import type { ApplianceStatus } from '../../src/state/status.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { fuzzing } from '../support/fuzz.ts';
import { createTestPoller, polled } from '../support/poller.ts';
import { type ReplayServer, startReplayServer } from '../support/replay-server.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';
import { textOf } from '../support/store-text.ts';
import { damageJson, damages } from './damaged-json.ts';

type Alter = (body: Buffer, path: string, response: ServerResponse) => Buffer;

const enabled = polled.map(({ name }) => name);

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
  fc.uint8Array({ maxLength: 200 }).map(
    (bytes): Alter =>
      () =>
        Buffer.from(bytes),
  ),
);

/** An answer of the damaged appliance. */
interface Sent {
  readonly path: string;
  readonly text: string;
}

const spoiltAppliance = fc.record({
  spoil: spoiling,
  every: fc.integer({ min: 1, max: 5 }),
  from: fc.nat({ max: 12 }),
});

it('an appliance that sends damaged bodies loses at most its own readings, and nothing is invented', async () => {
  const sound = await startReplayServer();
  const current: { alter: Alter } = { alter: (body) => body };
  const spoilt = await startReplayServer({ alter: (...answer) => current.alter(...answer) });
  const untouched = linesOf(await pageAfterRun(sound, sound, []), 'lb-sound');
  expect(untouched.length).toBeGreaterThan(100);

  await fc.assert(
    fc.asyncProperty(spoiltAppliance, async ({ spoil, every, from }) => {
      const sent: Sent[] = [];
      let count = from;
      current.alter = (body, path, response) => {
        count += 1;
        const altered = count % every === 0 ? spoil(body, path, response) : body;
        sent.push({ path, text: altered.toString() });
        return altered;
      };

      const page = await pageAfterRun(sound, spoilt, enabled);

      expect(linesOf(page, 'lb-sound')).toEqual(untouched);
      expectNothingMadeUp(page, sent);
    }),
    fuzzing('wholePaths'),
  );
});

/**
 * Returns the page of one healthy appliance and another on which collectors were run; both formats
 * of it can be read, and the status says the same.
 */
async function pageAfterRun(sound: ReplayServer, spoilt: ReplayServer, runs: readonly string[]): Promise<string> {
  const store = createMetricsStore([...collectorFamilies, ...pollerFamilies]);
  store.arrange(['lb-sound', 'lb-spoilt']);
  const pollerOf = (name: string, server: ReplayServer) =>
    createTestPoller(server, { apiKey: server.apiKey, parts: { name, store } });
  const [healthy, damaged] = [pollerOf('lb-sound', sound), pollerOf('lb-spoilt', spoilt)];
  try {
    for (const collector of ['farms', 'certificates']) await healthy.poller.run(collector);
    for (const collector of runs) await damaged.poller.run(collector);
    const page = await damaged.page();
    parseExposition(page, 'text');
    parseExposition(`${await textOf(store, 'openmetrics')}# EOF\n`, 'openmetrics');
    for (const { poller } of [healthy, damaged]) expectSameAsMetrics(poller.status(), page);
    return page;
  } finally {
    await Promise.all([healthy.close(), damaged.close()]);
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
 * by a list, or an answer about it alone, that says so.
 */
function expectNothingMadeUp(page: string, sent: readonly Sent[]): void {
  const bodies = sent.map(({ text }) => parsed(text));
  const couldProve = bodies.some(isRecord) || sent.some(({ text }) => /Not After|BEGIN CERTIFICATE/.test(text));
  if (!couldProve) expect(valueOf(page, 'zlb_up', { appliance: 'lb-spoilt' }) ?? 0).toBe(0);
  const saidUp = new Set([
    ...bodies
      .flatMap(farmsIn)
      .filter(isUp)
      .map(({ farmname }) => String(farmname)),
    // The state of one farm, which is in the path.
    ...sent.flatMap(({ path, text }) => {
      const body = parsed(text);
      const own = isRecord(body) && isRecord(body.params) && isUp(body.params);
      return own ? (/\/farms\/([^/?]+)\/status/.exec(path)?.[1] ?? []) : [];
    }),
  ]);
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
