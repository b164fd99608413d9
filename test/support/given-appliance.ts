import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { startSimulatedAppliance } from '../../src/simulator/server.ts';
import type { World } from '../../src/simulator/world.ts';
import { createTestPoller } from './poller.ts';

export const minuteMs = 60_000;

/** A simulated appliance with a poller on it, whose clock the test moves; `runs` are the collectors that have run. */
export async function givenAppliance(
  world: World,
  options: { runs?: readonly string[]; apiKey?: string; maxSeries?: number; compact?: boolean } = {},
) {
  const clock = { offsetMs: 0 };
  const now = (): number => Date.now() + clock.offsetMs;
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const appliance = await startSimulatedAppliance({ world, apiKey: 'canary-key' });
  const watched = createTestPoller(appliance, {
    apiKey: options.apiKey ?? 'canary-key',
    bodyBytes: 500_000,
    parts: {
      now,
      log,
      polling: { timeoutMs: 1_000, maxConcurrentPerAppliance: 1, maxBusyRatio: 1, jitterRatio: 0 },
      ...(options.compact === undefined ? {} : { compact: options.compact }),
      ...(options.maxSeries === undefined ? {} : { maxSeries: options.maxSeries }),
    },
  });
  onTestFinished(async () => {
    await watched.close();
    await appliance.close();
  });
  for (const collector of options.runs ?? []) await watched.poller.run(collector);
  return {
    appliance,
    world,
    logged,
    poll: (collector: string) => watched.poller.run(collector),
    page: () => watched.page(),
    describe: () => watched.poller.describe(),
    pass: (ms: number) => {
      clock.offsetMs += ms;
    },
  };
}
