import { busyWorld } from '../../simulator/scenes/busy.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { deactivatedWorld, expiringWorld } from '../../simulator/scenes/expiring.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';

/** The appliances of the examples: those of the demonstration, and that of README.md. */
const worlds = {
  'lb-paris': readmeWorld,
  'lb-paris-1': () => healthyPair()[0],
  'lb-paris-2': () => healthyPair()[1],
  'lb-madrid': busyWorld,
  'lb-berlin': expiringWorld,
  'lb-lisbon': deactivatedWorld,
} as const satisfies Readonly<Record<string, () => World>>;

export type Worlds = Readonly<Record<keyof typeof worlds, World>>;

export interface Appliances {
  /** By name. */
  readonly all: ReadonlyMap<string, SimulatedAppliance>;
  /** Puts all of them back to where they began. */
  reset(): Worlds;
  close(): Promise<void>;
}

export async function startAppliances(apiKey: string): Promise<Appliances> {
  const all = new Map(
    await Promise.all(
      Object.entries(worlds).map(
        async ([name, world]) => [name, await startSimulatedAppliance({ world: world(), apiKey })] as const,
      ),
    ),
  );

  function worldOf(name: keyof typeof worlds): World {
    const beginning = worlds[name]();
    Object.assign(beginning.users.get('root') ?? {}, { key: apiKey });
    return Object.assign(all.get(name)?.world ?? {}, beginning);
  }

  return {
    all,
    reset: () => ({
      'lb-paris': worldOf('lb-paris'),
      'lb-paris-1': worldOf('lb-paris-1'),
      'lb-paris-2': worldOf('lb-paris-2'),
      'lb-madrid': worldOf('lb-madrid'),
      'lb-berlin': worldOf('lb-berlin'),
      'lb-lisbon': worldOf('lb-lisbon'),
    }),
    async close() {
      await Promise.all([...all.values()].map((appliance) => appliance.close()));
    },
  };
}

function readmeWorld(): World {
  const world = busyWorld();
  const shop = world.farms.get('shop');
  const service = shop?.profile === 'http' ? shop.services[0] : undefined;
  Object.assign(service ?? {}, { id: 'web' });
  Object.assign(service?.backends[0] ?? {}, { ip: '10.0.0.11', established: 0 });
  return world;
}
