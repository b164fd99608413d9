import { expect, it } from 'vitest';
import { backendsCollector } from '../../../src/collectors/backends.ts';
import { vipCollector } from '../../../src/collectors/vip.ts';
import { createJob } from '../../../src/scheduler/job.ts';
import { Refresh, Repeats } from '../../../src/scheduler/refresh.ts';
import { keptBytes } from '../../support/kept-memory.ts';

function givenRuns() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { begun, endNext: () => ends.shift()?.(), run };
}

/** Lets everything happen that waits for nothing else. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('a refresh waits for the current run, because it may have read before the change', async () => {
  const { begun, endNext, run } = givenRuns();
  const repeats = new Repeats();
  const current = run('current')();

  void repeats.after(current, 'farms', run('again'));
  await settled();
  expect(begun).toEqual(['current']);

  endNext();
  await settled();
  expect(begun).toEqual(['current', 'again']);
});

it('a refresh combines the requests before a run into one run', async () => {
  const { begun, endNext, run } = givenRuns();
  const repeats = new Repeats();
  const current = run('current')();

  const requests = [1, 2, 3].map((count) => repeats.after(current, 'farms', run(`request ${count}`)));
  endNext();
  await settled();
  endNext();
  await Promise.all(requests);

  expect(begun).toEqual(['current', 'request 1']);
});

it('a refresh runs once more for a request during its run', async () => {
  const { begun, endNext, run } = givenRuns();
  const repeats = new Repeats();

  void repeats.after(undefined, 'farms', run('first'));
  await settled();
  void repeats.after(undefined, 'farms', run('second'));
  void repeats.after(undefined, 'farms', run('third'));
  await settled();
  expect(begun).toEqual(['first']);

  endNext();
  await settled();
  expect(begun).toEqual(['first', 'second']);
});

it('a refresh reads 20 of the farms that change at once, because a longer queue would block the loop', async () => {
  const { begun, run } = givenRuns();
  const { name, schedule, maxStaleMs } = backendsCollector;
  const job = createJob(
    { collector: backendsCollector, schedule, maxStaleMs },
    { appliance: 'lb', rank: 0, intervalMs: 60_000, jitterRatio: 0.1 },
  );
  const refresh = new Refresh({
    jobs: new Map([[name, job]]),
    run: () => Promise.resolve(),
    beginAgain: () => Promise.resolve(),
    runFarm: (_, farm) => run(farm)(),
  });

  for (let index = 0; index < 100; index += 1) void refresh.readFarm(`shop-${index}`, false);
  await settled();

  expect(begun).toEqual(Array.from({ length: 20 }, (_, index) => `shop-${index}`));
});

it('a refresh probes the changed farms at once, and all of them again in the next scheduled run', async () => {
  const job = createJob(
    { collector: vipCollector, schedule: vipCollector.schedule, maxStaleMs: vipCollector.maxStaleMs },
    { appliance: 'lb', rank: 0, intervalMs: 60_000, jitterRatio: 0.1 },
  );
  const probed: unknown[] = [];
  const refresh = new Refresh({
    jobs: new Map([[vipCollector.name, job]]),
    run: async (_, only) => void probed.push(only),
    beginAgain: () => Promise.resolve(),
    runFarm: () => Promise.resolve(),
  });

  await refresh.readFarm('shop', false);

  expect(probed).toEqual([new Set(['shop'])]);
});

it('a refresh keeps no names of changed farms if nothing probes them', async () => {
  const nothing = (): Promise<void> => Promise.resolve();
  const refresh = new Refresh({ jobs: new Map(), run: nothing, beginAgain: nothing, runFarm: nothing });

  const kept = await keptBytes(async () => {
    for (let index = 0; index < 20_000; index += 1) await refresh.readFarm(`${index}-${'n'.repeat(200)}`, true);
  });

  expect(kept).toBeLessThan(1_000_000);
});
