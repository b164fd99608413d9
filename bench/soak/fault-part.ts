import { sleep } from '../../src/lib/sleep.ts';
import { until } from '../../test/support/until.ts';
import type { ClientCalls, ClientReport } from './client-process.ts';
import { adminToken } from './configuration.ts';
import { atLeast, type Finding, none } from './finding.ts';
import { describe } from './hanging-part.ts';
import { punctualityOf } from './punctuality.ts';
import { breakAtRandom } from './random-faults.ts';
import type { Stage } from './stage.ts';
import { flatness } from './flatness.ts';
import { usageOf } from './usage.ts';
import { startWorker } from './worker.ts';

/** The share of the part that only warms up. */
const warmUpShare = 0.15;
/** What a client that held its connection leaves behind until the listener notices. */
const calmWithinMs = 150_000;

/** All but the control group break at random while clients misbehave. */
export async function faultPart(stage: Stage): Promise<readonly Finding[]> {
  const { options, pace, plan, random, fleet, exporter, watch, waits } = stage;
  const before = usageOf(exporter.pid);
  watch.follow(plan.control);
  const fromMs = Date.now();
  const over = AbortSignal.any([options.signal, AbortSignal.timeout(options.minutes * 60_000)]);
  const clients = startWorker<ClientCalls>(new URL('client-process.ts', import.meta.url));
  await clients.ask('start', {
    metricsUrl: exporter.metricsUrl,
    adminUrl: exporter.adminUrl,
    scrapeHeaders: Object.entries(stage.configuration.scrapeHeaders)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(''),
    token: adminToken,
    appliances: plan.faulty,
    herd: options.herd,
    seed: options.seed,
    atATime: options.clients,
    secrets: stage.secrets,
  });
  const [faults] = await Promise.all([
    breakAtRandom({ fleet, names: plan.faulty, random, cycleMs: pace.cycleMs, signal: over }),
    watch.keepLooking(options.scrapeEveryMs, over),
  ]);
  const toMs = Date.now();
  const report = await clients.ask('finish', undefined);
  await clients.stop();
  await sleep(pace.cycleMs, options.signal);
  await watch.look();

  const stretch = { fromMs: fromMs + warmUpShare * (toMs - fromMs), toMs };
  return [
    ...describe('faults', 'control group', punctualityOf(plan.control, watch.calls, { fromMs, toMs, pace, waits })),
    ...flatness('faults', watch.measured, stretch),
    await handlesAfterwards(stage, before.handles),
    ...aboutFaults(faults),
    ...aboutClients(report),
  ];
}

/** Once the clients are gone, so is what was opened for them. */
async function handlesAfterwards({ exporter }: Stage, before: number): Promise<Finding> {
  const allowed = before + 20;
  const after = await until(
    () => usageOf(exporter.pid).handles,
    (handles) => handles <= allowed,
    calmWithinMs,
  ).catch(() => usageOf(exporter.pid).handles);
  return {
    part: 'faults',
    name: 'open handles afterwards',
    value: `${after}, ${before} before`,
    goal: 'at most 20 more',
    holds: after <= allowed,
  };
}

function aboutFaults(counts: ReadonlyMap<string, number>): readonly Finding[] {
  const [rarest = 0] = [...counts.values()].sort((a, b) => a - b);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [atLeast('faults', 'faults', total, 1), atLeast('faults', 'faults of the rarest kind', rarest, 1)];
}

function aboutClients({ counts, statuses, leaks }: ClientReport): readonly Finding[] {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    atLeast('faults', 'bad clients', total, 1),
    { part: 'faults', name: 'what they were answered', value: JSON.stringify(statuses) },
    none('faults', 'secrets in answers to clients', leaks),
  ];
}
