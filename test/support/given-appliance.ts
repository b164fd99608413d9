import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';
import type { VipSettings } from '../../src/collectors/collector.ts';
import { farmsWithoutTcp } from '../../simulator/world-farms.ts';
import { vipCollector } from '../../src/collectors/vip.ts';
import { actOnFarm, simulatedKey } from './simulated-farms.ts';
import { createTestPoller, plainVip, polled, scheduled } from './poller.ts';

/**
 * A simulated appliance with a poller on it, whose clock the test moves; `runs` are the collectors
 * that have run.
 */
export async function givenAppliance(
  world: World,
  options: {
    runs?: readonly string[];
    apiKey?: string;
    /** Adds the collector vip, for all farms unless `l4Only` is among its settings. */
    vip?: Partial<VipSettings>;
    /** Lets the farms listen, and leads the collector vip to them. */
    farmsListen?: boolean;
    watches?: (farm: string) => boolean;
  } = {},
) {
  const clock = { offsetMs: 0 };
  const now = (): number => Date.now() + clock.offsetMs;
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const appliance = await startSimulatedAppliance({
    world,
    apiKey: simulatedKey,
    farmsListen: options.farmsListen ?? false,
  });
  const farms = appliance.farms && {
    connectTo: appliance.farms.addresses,
    networks: ['192.0.2.0/24', '127.0.0.1'],
    udpFarms: farmsWithoutTcp(world.farms.values()),
  };
  const vipSettings = options.vip ?? farms;
  const watched = createTestPoller(appliance, {
    apiKey: options.apiKey ?? simulatedKey,
    bodyBytes: 500_000,
    parts: {
      now,
      log,
      polling: {
        timeoutMs: 20_000,
        maxConcurrentPerAppliance: 1,
        maxBusyRatio: 1,
        routineBusyRatio: 1,
        jitterRatio: 0,
      },
      ...(vipSettings && { vip: { ...plainVip, ...vipSettings }, collectors: scheduled([...polled, vipCollector]) }),
      ...(options.watches && { watches: options.watches }),
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
    changed: watched.poller.refresh.bind(watched.poller),
    page: () => watched.page(),
    describe: () => watched.poller.status(),
    act: (farm: string, action: 'start' | 'stop' | 'restart') => actOnFarm(appliance, farm, action),
    pass: (ms: number) => {
      clock.offsetMs += ms;
    },
  };
}
