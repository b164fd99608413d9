import { sleep } from '../../src/lib/time.ts';
import { until } from '../../test/support/until.ts';
import { usageOf } from '../process-usage.ts';
import type { ClientReport } from './client-process.ts';
import { adminToken } from './configuration.ts';
import { atLeast, type Finding, none } from './finding.ts';
import { describe } from './hanging-part.ts';
import { punctualityOf } from './punctuality.ts';
import { breakAtRandom } from './random-faults.ts';
import type { Stage } from './stage.ts';
import { memoryGrowth } from './memory.ts';

/** The time after which the listener has noticed that a client left. */
const calmWithinMs = 150_000;

/** Until the end of the soak, all but the control group break at random while clients misbehave. */
export async function faultPart(stage: Stage): Promise<readonly Finding[]> {
  const { options, pace, plan, random, fleet, clients, exporter, watch, waits } = stage;
  const before = usageOf(exporter.pid);
  watch.follow(plan.control);
  const fromMs = Date.now();
  const halfMs = options.minutes * 30_000;
  const untilMs = Math.max(stage.startedAtMs + 2 * halfMs, fromMs + halfMs / 2);
  const over = AbortSignal.any([options.signal, AbortSignal.timeout(untilMs - fromMs)]);
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
  await sleep(pace.cycleMs, options.signal);
  await watch.look();

  return [
    ...describe('faults', 'control group', punctualityOf(plan.control, watch.calls, { fromMs, toMs, pace, waits })),
    ...memoryGrowth('faults', watch.measured, { fromMs: Math.max(fromMs, toMs - halfMs), toMs }),
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
