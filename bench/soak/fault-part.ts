import type { Fault } from '../../simulator/faults.ts';
import { sleep } from '../../src/lib/time.ts';
import { until } from '../../test/support/until.ts';
import { usageOf } from '../measure.ts';
import type { Random } from '../random.ts';
import { adminKeyOf, apiKeyOf } from './canaries.ts';
import type { ClientReport } from './client-process.ts';
import { adminToken } from './configuration.ts';
import { atLeast, type Finding, handlesLeft, maxHandlesLeft, none } from './finding.ts';
import { memoryGrowth } from './memory.ts';
import { aboutPunctuality, punctualityOf } from './punctuality.ts';
import type { Stage } from './stage.ts';

/** The time after which the listener has noticed that a client left. */
const calmWithinMs = 150_000;

/** Until the end of the soak, all but the control group break at random while clients misbehave. */
export async function faultPart(stage: Stage): Promise<readonly Finding[]> {
  const { options, pace, plan, clients, exporter, watch, waits } = stage;
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
  const [faults] = await Promise.all([breakAtRandom(stage, over), watch.keepLooking(options.scrapeEveryMs, over)]);
  const toMs = Date.now();
  const report = await clients.ask('finish', undefined);
  await sleep(pace.cycleMs, options.signal);
  await watch.look();

  return [
    ...aboutPunctuality(
      'faults',
      'control group',
      punctualityOf(plan.control, watch.calls, { fromMs, toMs, pace, waits }),
    ),
    ...memoryGrowth('faults', watch.measured, { fromMs: Math.max(fromMs, toMs - halfMs), toMs }),
    await handlesAfterwards(stage, before.handles),
    ...aboutFaults(faults),
    ...aboutClients(report),
  ];
}

/** Once the clients are gone, so is what was opened for them. */
async function handlesAfterwards({ exporter }: Stage, before: number): Promise<Finding> {
  const after = await until(
    () => usageOf(exporter.pid).handles,
    (handles) => handles <= before + maxHandlesLeft,
    calmWithinMs,
  ).catch(() => usageOf(exporter.pid).handles);
  return handlesLeft('faults', before, after);
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

/** One of each kind; what it says of an appliance repeats the keys. */
const faults: { readonly [Kind in Fault['kind']]: (random: Random, appliance: string) => Fault } = {
  refuse: () => ({ kind: 'refuse' }),
  hang: () => ({ kind: 'hang' }),
  slow_body: (random) => ({ kind: 'slow_body', bytesPerSecond: random.between(20, 20_000) }),
  cut: () => ({ kind: 'cut' }),
  truncated: () => ({ kind: 'truncated' }),
  html: (random) => ({ kind: 'html', status: random.pick([200, 404, 500, 502, 503]) }),
  status: (random, appliance) => ({
    kind: 'status',
    status: random.pick([400, 401, 402, 403, 404, 405, 406, 409, 410, 418, 429, 500, 501, 503, 504, 599]),
    ...(random.share() < 0.5 && { body: complaint(appliance) }),
  }),
  wrong_types: () => ({ kind: 'wrong_types' }),
  huge_body: (random) => ({ kind: 'huge_body', bytes: random.pick([100_000, 1_000_000, 12_000_000]) }),
  expired_tls: () => ({ kind: 'expired_tls' }),
  clock_skew: (random) => ({ kind: 'clock_skew', seconds: Math.round(random.between(-90_000, 90_000)) }),
  redirect: (_, appliance) => ({ kind: 'redirect', location: `https://127.0.0.1:1/?key=${apiKeyOf(appliance)}` }),
};

const kinds = Object.keys(faults) as readonly Fault['kind'][];

const routes = [
  '*',
  'GET /stats/farms',
  'GET /stats/farms/{farmname}',
  'GET /stats',
  'GET /farms/{farmname}',
  'GET /farms/modules/summary',
  'GET /certificates',
  'GET /system/version',
  'GET /certificates/activation/info',
  'GET /interfaces',
] as const;

/**
 * Breaks and heals each appliance at random until the signal aborts; resolves to how often each
 * kind came.
 */
async function breakAtRandom(
  { fleet, plan, random, pace: { cycleMs } }: Stage,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>(kinds.map((kind) => [kind, 0]));
  let deck: readonly Fault['kind'][] = [];

  /** From a shuffled deck, so that even a short soak sees all of them. */
  function draw(): Fault['kind'] {
    if (deck.length === 0) deck = random.shuffle(kinds);
    const [first, ...rest] = deck;
    deck = rest;
    return first ?? random.pick(kinds);
  }

  async function trouble(name: string): Promise<void> {
    // Not a single one that never works: what has never been up cannot be wrongly up.
    await sleep(random.between(0, 2 * cycleMs), signal);
    for (;;) {
      const kind = draw();
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      await fleet.fail([name], random.share() < 0.6 ? '*' : random.pick(routes), faults[kind](random, name));
      // Some so long that nothing is known any more.
      const [shortest, longest] = random.share() < 0.25 ? [4, 12] : [0.2, 3];
      await sleep(random.between(shortest, longest) * cycleMs, signal);
      if (random.share() < 0.3) continue;
      await fleet.heal([name]);
      await sleep(random.between(0, 3) * cycleMs, signal);
    }
  }

  await Promise.all(
    plan.faulty.map((name) =>
      trouble(name).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      }),
    ),
  );
  await fleet.heal(plan.faulty);
  return counts;
}

/** A refusal in the API's own form that repeats what it should not. */
function complaint(appliance: string): unknown {
  const message = `The key ${apiKeyOf(appliance)} is not good enough; ${adminKeyOf(appliance)} would be.`;
  return { error: 'true', description: apiKeyOf(appliance), message };
}
