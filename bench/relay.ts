import { type GatewayServers, startGatewayServers } from './gateway.ts';
import type { Call, Load, LoadGenerator, Round } from './load.ts';
import { inTurn, percentile } from './measure.ts';
import { compare, type Result } from './results.ts';

/** What people and existing clients ask for first, of 200 farms: about 20 kB each. As many at a time as this gateway is told to let pass. */
const lists: Load = {
  calls: [
    { method: 'GET', path: '/farms' },
    { method: 'GET', path: '/stats/farms' },
  ],
  count: 200,
  atATime: 4,
};
/** The shortest there are. The simulated appliance has next to nothing to do for them, so that they show what a relay costs. */
const shortReads: Load = {
  calls: [
    { method: 'GET', path: '/farms/farm-0001/status' },
    { method: 'GET', path: '/system/version' },
  ],
  count: 500,
  atATime: 4,
};
/** Without a guard, which would ask the appliance first. The gateway sends changes one by one. */
const write: Call = { method: 'POST', path: '/system/language', body: JSON.stringify({ language: 'en' }) };
const writes: Load = { calls: [write], count: 100, atATime: 1 };
const rounds = 25;

/** What calls cost that go through the gateway of an exporter, with the synced audit lines of writes; beside it the same to the appliance itself. */
export async function relayResults(): Promise<Result[]> {
  const servers = await startGatewayServers(lists.atATime);
  try {
    await requireSameAnswers(servers);
    return [
      ...(await compareRounds(servers, 'lists', lists, goals)),
      ...(await compareRounds(servers, 'short reads', shortReads, {})),
      ...(await bareRelay(servers, 'lists', lists)),
      ...(await bareRelay(servers, 'short reads', shortReads)),
      ...(await compareRounds(servers, 'audited writes', writes, {})),
    ];
  } finally {
    await servers.close();
  }
}

interface Goals {
  readonly perSecond?: { readonly atLeast: number };
  readonly p99?: { readonly atMost: number };
}

const goals: Goals = { perSecond: { atLeast: 0.6 }, p99: { atMost: 2 } };

async function compareRounds(
  { gateway, direct }: GatewayServers,
  what: string,
  load: Load,
  goals: Goals,
): Promise<Result[]> {
  const round = (generator: LoadGenerator) => () => generator.round(load);
  const [ours = [], reference = []] = await inTurn(rounds, [round(gateway), round(direct)]);
  const medians = (value: (taken: Round) => number) => ({
    ours: percentile(ours.map(value), 0.5),
    reference: percentile(reference.map(value), 0.5),
  });
  const name = (measure: string) =>
    `${what} through the gateway, ${load.atATime} at a time: ${measure} (reference: direct calls)`;
  return [
    compare({
      name: name('throughput'),
      unit: 'calls/s',
      ...medians(({ perSecond }) => perSecond),
      ...(goals.perSecond ? { goal: goals.perSecond } : {}),
    }),
    compare({ name: name('median'), unit: 'ms', ...medians(({ p50Ms }) => p50Ms) }),
    compare({
      name: name('99th percentile'),
      unit: 'ms',
      ...medians(({ p99Ms }) => p99Ms),
      ...(goals.p99 ? { goal: goals.p99 } : {}),
    }),
  ];
}

/** How far any relay is from direct calls here; the gateway can be no nearer. */
async function bareRelay({ bare, direct }: GatewayServers, what: string, load: Load): Promise<Result[]> {
  const round = (generator: LoadGenerator) => () => generator.round(load);
  const [ours = [], reference = []] = await inTurn(rounds, [round(bare), round(direct)]);
  const median = (taken: readonly Round[]) =>
    percentile(
      taken.map(({ perSecond }) => perSecond),
      0.5,
    );
  const name = `${what} through a bare relay, ${load.atATime} at a time: throughput (reference: direct calls)`;
  return [compare({ name, unit: 'calls/s', ours: median(ours), reference: median(reference) })];
}

async function requireSameAnswers({ gateway, direct }: GatewayServers): Promise<void> {
  for (const call of [...lists.calls, ...shortReads.calls, write]) {
    const [ours, theirs] = [await gateway.once(call), await direct.once(call)];
    if (ours !== theirs) throw new Error(`${call.method} ${call.path} is answered otherwise by the gateway: ${ours}`);
  }
}
