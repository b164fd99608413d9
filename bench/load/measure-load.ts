import { createWorld } from '../../simulator/world-creation.ts';
import { killL4Daemon } from '../../simulator/l4-daemon.ts';
import { farmguardian, httpBackend, httpFarm, l4Backend, l4Farm, service } from '../../simulator/world-parts.ts';
import type { World } from '../../simulator/world.ts';
import { type BackendState, type Farm, farmStatus } from '../../simulator/world-farms.ts';
import { createPoller, createStoreFor } from '../../test/support/poller.ts';
import { textOf } from '../../test/support/store-text.ts';
import { connectTo, defaultPolling, type MadeCall } from './appliance.ts';
import { simulateClock } from './clock.ts';

/** The fleet to simulate. */
export interface LoadInput {
  readonly farms: number;
  /** The part of the farms in which a backend is down all the time. */
  readonly troubled: number;
  /** How often a backend of a farm dies, at moments spread over a minute, and comes back. */
  readonly deaths: number;
  /** True for an exporter that takes the states of a farm that is up from its word. */
  readonly byWord: boolean;
  readonly fault: Fault;
}

/** The trouble of the appliance all the time, also while backends die. */
export interface Fault {
  readonly hungProxies?: number;
  /** True if a third of the farms are L4 farms whose daemon is dead, and backends of these die. */
  readonly isDaemonDead?: boolean;
  /** True if each farm of which a backend dies waits for a restart. */
  readonly needRestart?: boolean;
}

/** What polling one appliance by default costs it, and how old what it shows is. */
export interface MeasuredLoad {
  readonly callsPerMinute: number;
  /** Time that calls take, and of it the time in which the appliance works. */
  readonly secondsPerMinute: number;
  readonly workSecondsPerMinute: number;
  /** Seconds since the appliance said the states that are shown: of backends that are up. */
  readonly ageOfStates: Spread;
  /** Seconds since the list of backends of each farm was read, by any call that has it. */
  readonly ageOfLists: Spread;
  /** Seconds from the death of a backend until it is shown. */
  readonly deathToSample: Spread;
  /** Calls per minute by route. */
  readonly routes: Readonly<Record<string, number>>;
}

interface Spread {
  readonly median: number;
  readonly p95: number;
  readonly longest: number;
}

const minuteMs = 60_000;
const warmUpMinutes = 60;
const measuredMinutes = 60;
const backendsPerFarm = 3;
const apart = { deathMs: 150_000, backAfterMs: 120_000, lookEveryMs: 500 } as const;
/** From then on a death is looked for less often, and in the end not any more. */
const late = { afterMs: 120_000, lookEveryMs: 5_000, endMs: 20 * minuteMs } as const;

/** Simulates an hour after an hour of polling by the default settings. */
async function measureLoad({ farms, troubled, deaths, byWord, fault }: LoadInput): Promise<MeasuredLoad> {
  const clock = simulateClock(Date.parse('2026-11-20T21:00:00.500Z'));
  const world = worldOf(farms, Math.max(troubled > 0 ? 1 : 0, Math.round(farms * troubled)), fault);
  const { connect, calls } = connectTo(world);
  const store = createStoreFor('lb');
  const poller = createPoller({ name: 'lb', store, polling: defaultPolling, connect });
  poller.start();
  await clock.advance(warmUpMinutes * minuteMs);
  const startedMs = performance.now();
  const ages: FarmAges[] = [];
  while (performance.now() - startedMs < measuredMinutes * minuteMs) {
    await clock.advance(5_000);
    ages.push(...agesOf(world, calls, byWord));
  }
  const made = calls.filter(({ atMs }) => atMs > startedMs);
  const perMinute = (of: (call: (typeof made)[number]) => number): number =>
    made.reduce((sum, call) => sum + of(call), 0) / measuredMinutes;
  const deathToSample = await watchDeaths(deaths);
  await poller.close();
  return {
    callsPerMinute: perMinute(() => 1),
    secondsPerMinute: perMinute(({ seconds }) => seconds),
    workSecondsPerMinute: perMinute(({ workSeconds }) => workSeconds),
    ageOfStates: spreadOf(ages.map(({ ofStates }) => ofStates)),
    ageOfLists: spreadOf(ages.map(({ ofList }) => ofList)),
    deathToSample: spreadOf(deathToSample),
    routes: Object.fromEntries(
      [...Map.groupBy(made, ({ route }) => route)].map(([route, those]) => [route, those.length / measuredMinutes]),
    ),
  };

  /** Returns the seconds after which each death was shown. */
  async function watchDeaths(count: number): Promise<readonly number[]> {
    const healthy = [...world.farms.values()].slice(-count);
    if (fault.needRestart) for (const farm of healthy) farm.needsRestart = true;
    const seconds: number[] = [];
    for (let death = 0; death < count; death += 1) {
      const farm = healthy[death % healthy.length];
      const backend = farm && backendOf(farm);
      if (!backend) continue;
      await clock.advance(apart.deathMs);
      const momentMs = (death / count) * minuteMs;
      await clock.advance((momentMs - (performance.now() % minuteMs) + minuteMs) % minuteMs);
      backend.status = 'down';
      seconds.push(await untilShown(farm.name));
      await clock.advance(apart.backAfterMs);
      backend.status = 'up';
    }
    return seconds;
  }

  async function untilShown(farm: string): Promise<number> {
    const diedMs = performance.now();
    const line = new RegExp(`^zlb_backend_status\\{[^}]*farm="${farm}"[^}]*status="down"\\} 1$`, 'm');
    let passedMs = 0;
    do {
      await clock.advance(passedMs < late.afterMs ? apart.lookEveryMs : late.lookEveryMs);
      poller.expire();
      passedMs = performance.now() - diedMs;
    } while (!line.test(await textOf(store)) && passedMs < late.endMs);
    return passedMs / 1_000;
  }
}

/** An appliance with HTTP farms, of which the first ones have a backend that is down. */
function worldOf(farms: number, troubled: number, { hungProxies = 0, isDaemonDead = false }: Fault): World {
  const addressOf = (farm: number, index: number) => `10.${farm % 200}.${Math.floor(farm / 200)}.${index + 1}`;
  const all = Array.from({ length: backendsPerFarm }, (_, index) => index);
  const farmOf = (number: number): Farm => {
    const place = { name: `farm-${number}`, vip: '192.0.2.80', vport: String(10_000 + number) };
    if (isDaemonDead && number >= (2 * farms) / 3) {
      const backends = all.map((index) => l4Backend(index, addressOf(number, index), 8080));
      return l4Farm({ ...place, farmguardian: 'check_tcp', backends });
    }
    const stateOf = (index: number) => (number < troubled && index === 0 ? 'down' : 'up');
    const backends = all.map((index) =>
      httpBackend(index, addressOf(number, index), 8080, { status: stateOf(index), established: 5 }),
    );
    const isHung = number >= troubled && number < troubled + hungProxies;
    return httpFarm({ ...place, services: [service('main', { backends })], ...(isHung && { runState: 'hung' }) });
  };
  const world = createWorld({
    farms: new Map(Array.from({ length: farms }, (_, number) => [`farm-${number}`, farmOf(number)])),
    farmguardians: new Map([['check_tcp', farmguardian('check_tcp')]]),
  });
  if (isDaemonDead) killL4Daemon(world, { pidFileStays: true });
  return world;
}

function backendOf(farm: Farm): { status: BackendState } | undefined {
  return 'services' in farm ? farm.services[0]?.backends[0] : farm.backends[0];
}

/** Seconds since the appliance said something of the backends of a farm. */
interface FarmAges {
  readonly ofStates: number;
  readonly ofList: number;
}

const readsOfLists = ['GET /stats/farms/{farmname}', 'GET /farms/{farmname}'];

function agesOf({ farms }: World, calls: readonly MadeCall[], byWord: boolean): readonly FarmAges[] {
  const nowMs = performance.now();
  const stated = new Map<string, number>();
  const listed = new Map<string, number>();
  let wordsMs = Number.NEGATIVE_INFINITY;
  for (const { route, path, atMs } of calls) {
    const farm = path.slice(path.lastIndexOf('/') + 1);
    if (route === 'GET /stats/farms/{farmname}') stated.set(farm, atMs);
    if (readsOfLists.includes(route)) listed.set(farm, atMs);
    if (route === 'GET /farms') wordsMs = atMs;
  }
  return [...farms.values()].map((farm) => {
    const readMs = stated.get(farm.name) ?? Number.NEGATIVE_INFINITY;
    const saidMs = byWord && farmStatus(farm) === 'up' ? Math.max(readMs, wordsMs) : readMs;
    const listMs = listed.get(farm.name) ?? Number.NEGATIVE_INFINITY;
    return { ofStates: (nowMs - saidMs) / 1_000, ofList: (nowMs - listMs) / 1_000 };
  });
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { median: at(0.5), p95: at(0.95), longest: sorted.at(-1) ?? Number.NaN };
}

// The same file is the child process, whose clock it replaces: its first argument is the input.
if (import.meta.main) {
  const input = JSON.parse(process.argv[2] ?? '') as LoadInput;
  process.stdout.write(JSON.stringify(await measureLoad(input)));
}
