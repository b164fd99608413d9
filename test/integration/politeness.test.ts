import { expect, it, onTestFinished, vi } from 'vitest';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { largeWorld } from '../../simulator/scenes/sizes.ts';
import { endpoints } from '../../src/appliance/api/table.ts';
import { passTime } from '../support/pass-time.ts';
import { createTestPoller } from '../support/poller.ts';

const hourMs = 3_600_000;
const maxBusyRatio = 0.25;

it('an hour of a hundred farms takes one call at a time, within the load share, far below naive polling', async () => {
  vi.useFakeTimers({
    now: new Date('2026-11-20T21:00:00.500Z'),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });

  const appliance = await startSimulatedAppliance({
    world: largeWorld({ farms: 100, backendsPerFarm: 10 }),
    apiKey: 'key',
    latency: 'realistic',
    now: Date.now,
  });
  const watched = createTestPoller(appliance, {
    apiKey: 'key',
    parts: {
      polling: {
        timeoutMs: 20_000,
        maxConcurrentPerAppliance: 1,
        maxBusyRatio,
        routineBusyRatio: 0.03,
        jitterRatio: 0.1,
      },
    },
  });
  onTestFinished(async () => {
    vi.useRealTimers();

    await watched.close();
    await appliance.close();
  });

  const startedAt = Date.now();
  watched.poller.start();
  await passTime(startedAt + hourMs, () => watched.outstanding === appliance.sleeping);

  const calls = appliance.requests.filter(({ endedAt }) => endedAt !== undefined);
  const endsAt = startedAt + hourMs;
  // As the budget counts them: in the second for which it measures its CPU, the appliance sleeps.
  const { route: statsRoute, sleepsMs: statsSleepsMs } = endpoints.readStats;
  const sleepsMs = (route: string): number => (route === statsRoute ? statsSleepsMs : 0);
  const busyMs = calls.reduce(
    (sum, { route, startedAt: begins, endedAt = begins }) =>
      sum + Math.max(0, Math.min(endedAt, endsAt) - begins - sleepsMs(route)),
    0,
  );
  const share = busyMs / hourMs;
  const perMinute = calls.length / 60;
  // The same reads, each every 30 s: the whole-appliance calls and the two per farm.
  const whole = new Set(calls.map(({ route }) => route).filter((route) => !route.includes('{')));
  const naivePerMinute = (whole.size + 2 * 100) * 2;

  expect(Math.max(...appliance.requests.map(({ concurrent }) => concurrent))).toBe(1);
  expect(share).toBeLessThanOrEqual(maxBusyRatio);
  expect(perMinute).toBeLessThan(naivePerMinute / 4);
  const farmLists = calls.filter(({ route }) => route === 'GET /farms').map(({ startedAt: begins }) => begins);
  const [_beginning, ...gaps] = farmLists.slice(1).map((at, index) => at - (farmLists[index] ?? 0));
  expect(Math.max(...gaps), 'farm status keeps its schedule, but for jitter and a call before it').toBeLessThan(40_000);
  const page = await watched.page();
  expect(page.match(/^zlb_backend_info\{/gm)).toHaveLength(1_000);
  expect(page.match(/^zlb_collector_errors_total\{.* [1-9].*$/gm), 'nobody waits in vain').toBeNull();
  expect(page, 'backends in a few times their interval').toMatch(
    /^zlb_collector_interval_seconds\{.*collector="backends"\} (?:60|120|180)$/m,
  );
  expect(page).toMatch(/^zlb_up\{appliance="lb-test"\} 1$/m);
});
