import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { World } from '../../simulator/world.ts';
import { ApplianceError } from '../../src/appliance/errors.ts';
import { type Farm, isHttp } from '../../src/appliance/farm.ts';
import { safeFarmName } from '../../src/appliance/safe-farm-name.ts';
import { backendsCollector, type FarmBackends } from '../../src/collectors/backends.ts';
import type { CollectContext, PerFarmCollector } from '../../src/collectors/collector.ts';
import { farmConfigCollector } from '../../src/collectors/farm-config.ts';
import { farmsCollector } from '../../src/collectors/farms.ts';
import { createSlots } from '../../src/lib/slots.ts';
import { FarmReadPlanner } from '../../src/scheduler/farm-read-planner.ts';
import { ApplianceState } from '../../src/state/appliance-state.ts';
import { plainVip } from './poller.ts';
import { farmChange, farmChanges, worldOf } from './random-farms.ts';
import { simulatedApi } from './simulated-api.ts';

const life = { maxStaleMs: 300_000, lifeMs: 300_000, isWhole: true } as const;

/** Reads farms as the scheduler does, at moments that a test chooses. */
function givenReadings(world: World) {
  const { read } = simulatedApi(world);
  const known = new ApplianceState({
    appliance: 'lb',
    collectors: new Map(
      [farmsCollector, backendsCollector, farmConfigCollector].map((collector) => [collector.name, collector]),
    ),
    watches: () => true,
    maxBytes: 1e8,
    listeners: [],
    now: () => Date.now(),
  });
  const knownFarms = new FarmReadPlanner(known);
  const context: CollectContext = {
    read,
    watches: () => true,
    now: () => Date.now(),
    elapsedNow: known.elapsedNow,
    labels: {},
    intervalMs: 30_000,
    fresh: (collector, farm) => known.reading(collector, farm)?.data,
    changedAtElapsedMs: () => undefined,
    // As a summary that was read just now would say.
    safeFarmName: ({ name }) => Promise.resolve(safeFarmName(name, world.farms.get(name)?.profile)),
    signal: new AbortController().signal,
    probing: { settings: plainVip, inSlot: createSlots(1) },
    get facts() {
      return known.facts;
    },
  };

  /** Resolves to what the appliance says of a farm now; undefined if it refuses. */
  async function askFor<Data>(collector: PerFarmCollector<Data>, farm: Farm): Promise<Data | undefined> {
    if (!collector.covers(farm)) return undefined;
    try {
      const collectFarm = await collector.begin(context);
      return await collectFarm(farm, context);
    } catch (error) {
      if (error instanceof ApplianceError) return undefined;
      throw error;
    }
  }

  async function readFarm(collector: PerFarmCollector, farm: Farm): Promise<void> {
    const data = await askFor(collector, farm);
    if (data !== undefined)
      known.put({ collector, farm: farm.name, data, askedAtElapsedMs: known.elapsedNow(), ...life });
  }

  const listed = (): readonly Farm[] => known.facts.farms ?? [];

  return {
    listed,
    reading: (farm: string): FarmBackends | undefined => known.reading(backendsCollector, farm)?.data,
    isKnown: (farm: string): boolean => knownFarms.areStatesKnown({ collector: backendsCollector.name, farm }),
    now: async (farm: Farm) => await askFor(backendsCollector, farm),
    /**
     * Reads the words of all farms, and at once the farms whose words changed, unless those calls
     * `areLost`; returns the farms that were read.
     */
    async words({ areLost = false } = {}): Promise<readonly string[]> {
      const data = await farmsCollector.collect(context);
      const changes = known.put({
        collector: farmsCollector,
        farm: undefined,
        data,
        askedAtElapsedMs: known.elapsedNow(),
        ...life,
      });
      if (areLost) return [];
      for (const farm of listed().filter(({ name }) => changes.changedFarms.includes(name))) {
        await readFarm(backendsCollector, farm);
        if (changes.newFarms.includes(farm.name)) await readFarm(farmConfigCollector, farm);
      }
      return changes.changedFarms;
    },
    /** Reads the backends of the farms whose words do not imply their states; returns these farms. */
    async needed(): Promise<readonly string[]> {
      const job = { collector: backendsCollector, isUrgent: false, intervalMs: 60_000, maxStaleMs: 300_000, runs: 0 };
      const { needed } = knownFarms.plan(job, listed());
      for (const farm of needed) await readFarm(backendsCollector, farm);
      return needed.map(({ name }) => name);
    },
    async allBackends(): Promise<void> {
      for (const farm of listed()) await readFarm(backendsCollector, farm);
    },
    async configs(): Promise<void> {
      for (const farm of listed()) await readFarm(farmConfigCollector, farm);
    },
  };
}

type Step = 'words' | 'words alone' | 'needed' | 'all backends' | 'configs' | 'change';

/** Steps of a history: what the exporter reads, and what happens meanwhile on the appliance. */
const step = fc.record({
  step: fc.constantFrom<Step>(
    'words',
    'words alone',
    'needed',
    'all backends',
    'configs',
    'change',
    'change',
    'change',
  ),
  change: farmChange,
});

/**
 * A random appliance with a random history. After each list of words, what is shown of each farm is
 * what its appliance says at that moment. One thing no word tells: that somebody has changed the
 * list of backends, and left no restart waiting; it is seen when the list is read.
 */
export const shownIsSaid = fc.asyncProperty(
  fc.constantFrom<World['product']>('relianoid', 'skudonet', 'zevenet'),
  fc.array(step, { minLength: 3, maxLength: 15 }),
  async (product, history) => {
    const world = worldOf(product);
    const make = farmChanges(world);
    const readings = givenReadings(world);
    /** Farms whose list was changed since it was read. */
    const changedLists = new Set<string>();
    await readings.words();
    await readings.allBackends();
    await readings.configs();

    for (const { step: kind, change } of history) {
      if (kind === 'change') {
        const before = listsOf(world);
        make(change);
        for (const [farm, list] of listsOf(world)) if (before.get(farm) !== list) changedLists.add(farm);
        continue;
      }
      if (kind === 'all backends') {
        await readings.allBackends();
        changedLists.clear();
      }
      if (kind === 'configs') {
        await readings.configs();
        // Its configuration lists the backends of an HTTP farm.
        for (const { name, profile } of readings.listed()) if (isHttp(profile)) changedLists.delete(name);
      }
      const profiles = profilesOf(readings.listed());
      for (const farm of await readings.words({ areLost: kind === 'words alone' })) changedLists.delete(farm);
      // The words tell of another profile.
      for (const [farm, profile] of profilesOf(readings.listed()))
        if (kind !== 'words alone' && profiles.get(farm) !== profile) changedLists.delete(farm);
      if (kind === 'needed') for (const farm of await readings.needed()) changedLists.delete(farm);
      await expectTrue(readings, changedLists);
    }
  },
);

/** Returns the list of backends of each farm as a text, by the names of farms. */
function listsOf({ farms: all }: World): ReadonlyMap<string, string> {
  return new Map(
    [...all.values()].map((farm) => {
      const services = 'services' in farm ? farm.services : [{ id: '', backends: farm.backends }];
      const list = services.flatMap(({ id, backends: each }) => each.map(({ ip }) => `${id} ${ip}`));
      return [farm.name, list.join()];
    }),
  );
}

function profilesOf(list: readonly Farm[]): ReadonlyMap<string, string> {
  return new Map(list.map(({ name, profile }) => [name, profile]));
}

async function expectTrue(readings: ReturnType<typeof givenReadings>, changedLists: ReadonlySet<string>) {
  for (const farm of readings.listed().filter(({ name }) => readings.isKnown(name))) {
    const shown = statesOf(readings.reading(farm.name));
    const said = statesOf(await readings.now(farm));
    if (!changedLists.has(farm.name)) expect(shown, farm.name).toEqual(said);
    else for (const [backend, state] of said) expect(state, `${farm.name} ${backend}`).toBe('up');
  }
}

/** Returns the states of backends by service and backend. */
function statesOf(reading: FarmBackends | undefined): ReadonlyMap<string, string> {
  return new Map((reading?.backends ?? []).map(({ service, backend, state }) => [`${service} ${backend}`, state]));
}
