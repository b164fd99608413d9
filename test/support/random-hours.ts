import * as fc from 'fast-check';
import { expect, vi } from 'vitest';
import { connectTo, defaultPolling, type Trouble } from '../../bench/load/appliance.ts';
import { endHang } from '../../simulator/hung-proxy.ts';
import { killL4Daemon, restoreL4Farms } from '../../simulator/l4-daemon.ts';
import { type Farm, farmStatus, shownStatus } from '../../simulator/world-farms.ts';
import type { World } from '../../simulator/world.ts';
import { createPoller, createStoreFor } from './poller.ts';
import { type FarmChange, farmChange, farmChanges, worldOf } from './random-farms.ts';
import { textOf } from './store-text.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
const lookEveryMs = 5 * secondMs;

/**
 * The oldest word of an appliance that answers: the words of all farms come each 30 seconds, and
 * the states of a farm that is not up each minute, early in one run and late in the next.
 */
const freshMs = 2 * minuteMs;
/** The same of a backend that somebody removed while its farm went on saying `up` (docs/metrics.md). */
const oldListMs = 95 * minuteMs;

/**
 * What `unknown` may be older: the list of farms says that a farm is stopped, and may itself be as
 * old as its `max_stale` when the backends are read.
 */
const oldFarmListMs = 5 * minuteMs;

/** What may go wrong with the appliance itself. */
const faults = [
  'proxy hangs',
  'proxy answers',
  'daemon dies',
  'daemon starts',
  'silent',
  'refuses',
  'answers',
] as const;
type Fault = (typeof faults)[number];

type Happening = { readonly change: FarmChange } | { readonly fault: Fault; readonly farm: number };

const changes: fc.Arbitrary<Happening> = fc.record({ change: farmChange });
const anything: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: changes },
  { weight: 1, arbitrary: fc.record({ fault: fc.constantFrom(...faults), farm: fc.nat(7) }) },
);

/** A history of so many simulated minutes, in which something happens each 40 seconds on average. */
function history(minutes: number, happening: fc.Arbitrary<Happening>) {
  const count = Math.round((minutes * minuteMs) / (40 * secondMs));
  const waits = fc.record({ afterMs: fc.integer({ min: 0, max: 80 * secondMs }), happening });
  return fc.array(waits, { minLength: count, maxLength: count, size: 'max' });
}

const product = fc.constantFrom<World['product']>('relianoid', 'skudonet', 'zevenet');

/**
 * A whole poller, by the default settings, on an appliance whose farms change at random: each state
 * of a backend on the page is one that the appliance said within the age that is promised, and a
 * backend that is not up is shown.
 */
export const calmHours = (minutes: number) =>
  fc.asyncProperty(product, history(minutes, changes), (each, happenings) => watch(each, happenings));

/**
 * The same on one whose proxies hang, whose daemon dies, and that does not answer at times: no state
 * is older than `max_stale`, or two rounds or intervals, if the page says that these are longer.
 */
export const troubledHours = (minutes: number) =>
  fc.asyncProperty(product, history(minutes, anything), (each, happenings) => watch(each, happenings, promisedMs));

/** Returns how old a state may be by what a page says. */
function promisedMs(page: string): number {
  const seconds = ['interval', 'round'].map((name) =>
    Number(
      new RegExp(`^zlb_collector_${name}_seconds\\{[^}]*collector="backends"[^}]*\\} (\\S+)$`, 'm').exec(page)?.[1],
    ),
  );
  return Math.max(300, ...seconds.map((value) => 2 * (value || 0))) * secondMs + lookEveryMs;
}

async function watch(
  ofProduct: World['product'],
  happenings: readonly { readonly afterMs: number; readonly happening: Happening }[],
  oldestMs?: (page: string) => number,
): Promise<void> {
  vi.useFakeTimers({ now: new Date('2026-11-20T21:00:00.500Z') });
  const world = worldOf(ofProduct);
  let trouble: Trouble = {};
  const { connect } = connectTo(world, () => trouble);
  const store = createStoreFor('lb');
  const poller = createPoller({ name: 'lb', store, polling: defaultPolling, connect });
  const said = sayings(world);
  const change = farmChanges(world);
  poller.start();
  try {
    await until(2 * minuteMs);
    for (const { afterMs, happening } of happenings) {
      await until(afterMs);
      said.listen();
      if ('change' in happening) change(happening.change);
      else trouble = cause(world, happening, trouble);
      said.listen();
    }
  } finally {
    const closed = poller.close();
    await vi.runOnlyPendingTimersAsync();
    await closed;
    vi.useRealTimers();
  }

  async function until(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= lookEveryMs) {
      await vi.advanceTimersByTimeAsync(Math.min(leftMs, lookEveryMs));
      poller.expire();
      const page = await textOf(store);
      said.listen();
      expect(said.wrongIn(page, oldestMs?.(page) ?? freshMs), 'shown, and not said for so long').toEqual([]);
      if (!oldestMs) expect(said.missingIn(page, freshMs), 'said, and not shown').toEqual([]);
    }
  }
}

/** Makes the appliance fail, or ends a failure; returns what it does to all calls from now on. */
function cause(world: World, { fault, farm }: { readonly fault: Fault; readonly farm: number }, now: Trouble): Trouble {
  const all = [...world.farms.values()].filter(({ profile }) => profile === 'http');
  const picked = all[farm % Math.max(1, all.length)];
  switch (fault) {
    case 'proxy hangs':
      if (picked) picked.runState = 'hung';
      return now;
    case 'proxy answers':
      for (const each of all) endHang(each);
      return now;
    case 'daemon dies':
      killL4Daemon(world, { pidFileStays: farm % 2 === 0 });
      return now;
    case 'daemon starts':
      restoreL4Farms(world);
      return now;
    case 'silent':
      return { isSilent: true };
    case 'refuses':
      return { refusesWith: 500 };
    case 'answers':
      return {};
  }
}

/** Keeps what an appliance would have said of each backend, had it been asked at any moment. */
function sayings(world: World) {
  /** When each state of each backend was last true. */
  const lastMs = new Map<string, number>();
  /** Since when a backend is down or in maintenance without a break. */
  const badSinceMs = new Map<string, number>();
  /** When each farm last said `up` or `down`, by both. */
  const wordMs = new Map<string, number>();
  let listed: ReadonlySet<string> = new Set();

  /** Returns true for a backend that was removed while its farm went on saying `up`. */
  const isOfOldList = ({ farm, backend, state }: ShownState): boolean =>
    state === 'up' && !listed.has(backend) && ageOf(wordMs.get(`${farm} up`)) <= freshMs;

  return {
    /** Called before and after each change, and at each look. */
    listen(): void {
      const nowMs = performance.now();
      const farms = [...world.farms.values()];
      const all = farms.flatMap(statesIn);
      for (const farm of farms) wordMs.set(`${farm.name} ${farmStatus(farm)}`, nowMs);
      for (const { backend, state } of all) lastMs.set(`${backend} ${state}`, nowMs);
      listed = new Set(all.map(({ backend }) => backend));
      const bad = new Set(all.filter(isBad).map(({ backend, state }) => `${backend} ${state}`));
      for (const key of badSinceMs.keys()) if (!bad.has(key)) badSinceMs.delete(key);
      for (const key of bad) if (!badSinceMs.has(key)) badSinceMs.set(key, nowMs);
    },
    /** Returns what a page shows, and the appliance has not said for so long. */
    wrongIn(page: string, oldestMs: number): readonly string[] {
      return shownIn(page).flatMap((each) => {
        const key = `${each.backend} ${each.state}`;
        // While a farm says that it is stopped, nobody knows more.
        const isUnknown = each.state === 'unknown';
        const ageMs = ageOf(isUnknown ? wordMs.get(`${each.farm} down`) : lastMs.get(key));
        const limitMs = isOfOldList(each) ? oldListMs : oldestMs + (isUnknown ? oldFarmListMs : 0);
        return ageMs <= limitMs ? [] : [`${key}: ${Math.round(ageMs / secondMs)} s`];
      });
    },
    /** Returns what the appliance has said for so long, and a page does not show. */
    missingIn(page: string, oldestMs: number): readonly string[] {
      const shown = new Set(shownIn(page).map(({ backend, state }) => `${backend} ${state}`));
      return [...badSinceMs].flatMap(([key, sinceMs]) => (ageOf(sinceMs) <= oldestMs || shown.has(key) ? [] : [key]));
    },
  };
}

function ageOf(momentMs: number | undefined): number {
  return performance.now() - (momentMs ?? Number.NEGATIVE_INFINITY);
}

interface SaidState {
  readonly farm: Farm;
  /** The farm, the service and the address. */
  readonly backend: string;
  readonly state: string;
}

function isBad({ farm, state }: SaidState): boolean {
  return (state === 'down' || state === 'maintenance') && farmStatus(farm) !== 'down' && farm.runState !== 'hung';
}

/** Returns the states that an appliance says of the backends of a farm. */
function statesIn(farm: Farm): readonly SaidState[] {
  if (farm.profile !== 'http' && farm.profile !== 'l4xnat') return [];
  const services = farm.profile === 'http' ? farm.services : [{ id: '', backends: farm.backends }];
  const isListed = farm.profile === 'l4xnat' || (farm.running && farm.runState !== 'hung');
  return services.flatMap(({ id, backends }) =>
    (isListed ? backends : []).map(({ ip, port, status }) => ({
      farm,
      backend: `${farm.name} ${id} ${ip}:${port}`,
      state: shownStatus(status),
    })),
  );
}

interface ShownState {
  readonly farm: string;
  readonly backend: string;
  readonly state: string;
}

const statusLine =
  /^zlb_backend_status\{appliance="lb",farm="(?<farm>[^"]*)",service="(?<service>[^"]*)",backend="(?<address>[^"]*)",status="(?<state>[^"]*)"\} 1$/gm;

function shownIn(page: string): readonly ShownState[] {
  return [...page.matchAll(statusLine)].map(
    ({ groups: { farm = '', service = '', address = '', state = '' } = {} }) => ({
      farm,
      backend: `${farm} ${service} ${address}`,
      state,
    }),
  );
}
