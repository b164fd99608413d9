import type { ReadFrom } from '../src/collectors/collector.ts';
import { backends } from '../src/collectors/backends.ts';
import { farms } from '../src/collectors/farms.ts';
import { collectorFamilies } from '../src/collectors/registry.ts';
import { writeReading } from '../src/collectors/rows.ts';
import type { Emit } from '../src/metrics/samples.ts';
import { createMetricsStore, type MetricsStore } from '../src/metrics/store.ts';
import type { Origin } from '../src/monitor/origin.ts';
import { createReadingStore, type ReadingStore } from '../src/monitor/reading-store.ts';

/** 40 appliances of 2,501 series: one, and 20 L4 farms (10 series each, and 5 about their backends) of 11 backends (10 each). */
export const fleetSize = { appliances: 40, farms: 20, backends: 11, seriesPerAppliance: 2_501 } as const;

/** What one appliance's collectors made of its answers: one reading of all farms, and one for the backends of each. */
export type Readings = readonly { readonly origin: Origin; readonly write: (emit: Emit) => void }[];

/** The appliances of the benchmarks. The same calls give the same numbers in every process. */
export interface Fleet {
  readonly appliances: readonly string[];
  readonly store: MetricsStore;
  /** The next readings of an appliance, with other numbers than the last ones. */
  collect(appliance: string): Promise<Readings>;
  /** Renders, compresses and shows them, as a poller does. */
  take(appliance: string, readings: Readings): void;
}

/** Resolves once each appliance has its first readings. */
export async function createFleet(): Promise<Fleet> {
  const appliances = numbered('lb', fleetSize.appliances);
  const store = createMetricsStore(collectorFamilies);
  store.arrange(appliances);
  const shelves = new Map(appliances.map((appliance) => [appliance, createFullShelf(appliance, store)]));
  const random = createRandom();

  const fleet: Fleet = {
    appliances,
    store,
    async collect(appliance) {
      const context = {
        read: answers(appliances.indexOf(appliance), random),
        facts: noFacts,
        watches: () => true,
        now: Date.now,
        labels: {},
      };
      const list = await farms.collect(context);
      const collectFarm = await backends.begin(context);
      const ofFarms = list.farms.map(async ({ name, profile, state }) => ({
        origin: { collector: backends.name, farm: name },
        write: writeReading(backends.families, await collectFarm({ name, profile, status: state }, context), full),
      }));
      const ofList = { origin: { collector: farms.name }, write: writeReading(farms.families, list, full) };
      return [ofList, ...(await Promise.all(ofFarms))];
    },
    take(appliance, readings) {
      for (const { origin, write } of readings)
        shelves
          .get(appliance)
          ?.put(origin, { write, data: undefined, sinceMs: undefined, takenAtMs: 0, ...neverStale });
    },
  };
  for (const appliance of appliances) {
    fleet.take(appliance, await fleet.collect(appliance));
    const series = store.series(appliance);
    if (series !== fleetSize.seriesPerAppliance) throw new Error(`${appliance} has ${series} series`);
  }
  return fleet;
}

const full = { compact: false } as const;

const noFacts = {
  farms: undefined,
  edition: undefined,
  version: undefined,
  licensed: undefined,
  activationEndSeconds: undefined,
};

const neverStale = { maxStaleMs: Number.POSITIVE_INFINITY, extendedMs: Number.POSITIVE_INFINITY };

function createFullShelf(appliance: string, store: MetricsStore): ReadingStore {
  const refuse = (what: string): never => {
    throw new Error(`the benchmark's page lost series: ${what}`);
  };
  return createReadingStore({
    appliance,
    stored: new Map(),
    store,
    maxSeries: 50_000,
    priority: () => 0,
    isExtended: () => true,
    onDropped: refuse,
    onUnknownState: refuse,
  });
}

/** The appliance's side of the two calls that the collectors make. */
function answers(appliance: number, random: (below: number) => number): ReadFrom {
  const farmNames = numbered('shop', fleetSize.farms);
  const listFarmStats = () => ({
    farms: farmNames.map((farmname, farm) => ({
      farmname,
      profile: 'l4xnat',
      status: random(50) === 0 ? 'problem' : 'up',
      vip: `192.0.2.${farm + 1}`,
      vport: '443',
      established: random(20_000),
      pending: random(200),
    })),
  });
  const readFarmStats = (farmname: string) => ({
    total_sessions: random(1_000),
    backends: Array.from({ length: fleetSize.backends }, (_, backend) => ({
      id: String(backend),
      ip: `10.${appliance}.${farmNames.indexOf(farmname)}.${backend + 10}`,
      port: '8080',
      status: random(20) === 0 ? 'down' : 'up',
      established: random(2_000),
      pending: random(20),
      max_conns: 10_000,
      weight: 1 + random(5),
      priority: 1,
    })),
  });
  const read = (key: string, params: { readonly farmname?: string }) =>
    Promise.resolve(key === 'listFarmStats' ? listFarmStats() : readFarmStats(params.farmname ?? ''));
  return read as ReadFrom;
}

function numbered(word: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${word}-${String(index + 1).padStart(2, '0')}`);
}

/** Lehmer's generator, so that the parent knows the page that its child serves. */
function createRandom(): (below: number) => number {
  let state = 20_261_120;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
