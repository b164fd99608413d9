import { sleep } from '../../src/lib/time.ts';
import type { Fault } from '../../simulator/faults.ts';
import { adminKeyOf, apiKeyOf } from './configuration.ts';
import type { Fleet } from './fleet.ts';
import type { Random } from './random.ts';

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

export interface FaultParts {
  readonly fleet: Fleet;
  readonly names: readonly string[];
  readonly random: Random;
  readonly cycleMs: number;
  readonly signal: AbortSignal;
}

/**
 * Breaks and heals each appliance at random until the signal aborts; resolves to how often each
 * kind came.
 */
export async function breakAtRandom({
  fleet,
  names,
  random,
  cycleMs,
  signal,
}: FaultParts): Promise<Map<string, number>> {
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
    names.map((name) =>
      trouble(name).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      }),
    ),
  );
  await fleet.heal(names);
  return counts;
}

/** A refusal in the API's own form that repeats what it should not. */
function complaint(appliance: string): unknown {
  const message = `The key ${apiKeyOf(appliance)} is not good enough; ${adminKeyOf(appliance)} would be.`;
  return { error: 'true', description: apiKeyOf(appliance), message };
}
