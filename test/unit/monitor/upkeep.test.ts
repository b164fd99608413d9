import { afterEach, expect, it, vi } from 'vitest';
import { createUpkeep } from '../../../src/monitor/upkeep.ts';
import { until } from '../../support/until.ts';

afterEach(() => vi.useRealTimers());

it('does all steps again and again, with a pause after each time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let times = 0;
  const upkeep = createUpkeep(function* steps() {
    times += 1;
    yield;
  });

  upkeep.start();
  expect(times).toBe(1);
  await vi.advanceTimersByTimeAsync(5_000);
  await upkeep.close();
  const atClose = times;
  await vi.advanceTimersByTimeAsync(5_000);

  expect(atClose).toBeGreaterThan(5);
  expect(times).toBe(atClose);
});

it('lets everything else have its turn while there is much to do, and closes in the middle of it', async () => {
  let steps = 0;
  let turns = 0;
  const upkeep = createUpkeep(function* endless() {
    for (;;) {
      steps += 1;
      yield;
    }
  });

  upkeep.start();
  await until(
    async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return (turns += 1);
    },
    (count) => count > 20,
  );
  await upkeep.close();

  expect(steps).toBeGreaterThan(20);
});

it('is done once more at a request, and once for all who ask meanwhile', async () => {
  let times = 0;
  const upkeep = createUpkeep(function* steps() {
    times += 1;
    for (const endMs = performance.now() + 5; performance.now() < endMs; ) yield;
  });

  await Promise.all([upkeep.once(), upkeep.once()]);
  const together = times;
  await upkeep.once();
  await upkeep.close();

  expect([together, times]).toEqual([1, 2]);
});
