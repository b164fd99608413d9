import * as fc from 'fast-check';
import { type Farm, type HttpFarm, type L4Farm } from '../../simulator/world-farms.ts';
import { createWorld } from '../../simulator/world-creation.ts';
import {
  farmguardian,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  networkInterface,
  service,
} from '../../simulator/world-parts.ts';
import type { World } from '../../simulator/world.ts';
import { simulatedApi } from './simulated-api.ts';

const vip = '192.0.2.80';
const check = 'check_tcp';

/** An appliance of each product with two HTTP farms and two L4 farms, one of them without a check. */
export function worldOf(product: World['product']): World {
  const ofProduct = {
    relianoid: {},
    skudonet: { product, release: 'older' },
    zevenet: { product, release: 'older', proxy: 'zproxy' },
  } as const;
  return createWorld({
    ...ofProduct[product],
    interfaces: new Map([['eth0', networkInterface('eth0', { type: 'nic', ip: vip, mac: '' })]]),
    farmguardians: new Map([[check, farmguardian(check)]]),
    farms: new Map(
      [httpOf('shop', 1), httpOf('portal', 2), l4Of('db', 3, check), l4Of('dns', 4, null)].map((farm) => [
        farm.name,
        farm,
      ]),
    ),
  });
}

function httpOf(name: string, number: number): HttpFarm {
  const backends = (first: number) =>
    [first, first + 1].map((last, id) => httpBackend(id, `10.0.${number}.${last}`, 80));
  const services = [service('main', { backends: backends(1) }), service('api', { backends: backends(3) })];
  return httpFarm({ name, vip, vport: String(8_000 + number), services });
}

function l4Of(name: string, number: number, guardian: string | null): L4Farm {
  const backends = [1, 2].map((last, id) => l4Backend(id, `10.0.${number}.${last}`, 80));
  return l4Farm({ name, vip, vport: String(8_000 + number), farmguardian: guardian, backends });
}

/** A change that a person, or time, makes on an appliance. */
export interface FarmChange {
  readonly what: (typeof kinds)[number];
  /** Picks the farm and one of its backends. */
  readonly farm: number;
  readonly backend: number;
}

const kinds = [
  'dies',
  'comes back',
  'maintenance on',
  'maintenance off',
  'backend added',
  'backend removed',
  'farm stopped',
  'farm started',
  'farm restarted',
  'farm renamed',
  'farm deleted',
  'farm created',
  'another profile',
  'check removed',
  'check added',
  'redirect set',
  'state unreadable',
  'state readable',
] as const;

export const farmChange: fc.Arbitrary<FarmChange> = fc.record({
  what: fc.constantFrom(...kinds),
  farm: fc.nat(7),
  backend: fc.nat(3),
});

/** Makes changes to the farms of a world, as the API of the appliance makes them. */
export function farmChanges(world: World) {
  const { change } = simulatedApi(world);
  let created = 0;

  function ofBackend(farm: Farm, picked: number) {
    const all =
      'services' in farm
        ? farm.services.flatMap(({ id, backends }) =>
            backends.map((backend) => ({ backend, path: `/farms/${farm.name}/services/${id}/backends/${backend.id}` })),
          )
        : farm.backends.map((backend) => ({ backend, path: `/farms/${farm.name}/backends/${backend.id}` }));
    return all[picked % Math.max(1, all.length)];
  }

  function set(farm: Farm, picked: number, status: 'up' | 'down'): void {
    // Without a check nobody looks at a backend of an L4 farm.
    if (farm.profile === 'l4xnat' && farm.farmguardian === null) return;
    const found = ofBackend(farm, picked);
    if (found && found.backend.status !== 'maintenance') found.backend.status = status;
  }

  function add(farm: Farm): void {
    const last = 10 + (created += 1);
    const path = 'services' in farm ? `services/${farm.services[0]?.id}/backends` : 'backends';
    change('POST', `/farms/${farm.name}/${path}`, { ip: `10.0.9.${last}`, port: 80 });
  }

  /** Puts a farm there that was not, with one backend, as a person does in the time between two reads. */
  function create(name: string, profile: 'http' | 'l4xnat'): void {
    const number = 50 + (created += 1);
    world.farms.set(name, profile === 'http' ? httpOf(name, number) : l4Of(name, number, check));
  }

  const act = (farm: Farm, action: string): void => change('PUT', `/farms/${farm.name}/actions`, { action });
  const maintain = (farm: Farm, picked: number, action: string): void => {
    const found = ofBackend(farm, picked);
    if (found) change('PUT', `${found.path}/maintenance`, { action });
  };

  const happenings: Readonly<Record<FarmChange['what'], (farm: Farm, backend: number) => void>> = {
    dies: (farm, backend) => set(farm, backend, 'down'),
    'comes back': (farm, backend) => set(farm, backend, 'up'),
    'maintenance on': (farm, backend) => maintain(farm, backend, 'maintenance'),
    'maintenance off': (farm, backend) => maintain(farm, backend, 'up'),
    'backend added': add,
    'backend removed'(farm, backend) {
      const found = ofBackend(farm, backend);
      if (found) change('DELETE', found.path);
    },
    'farm stopped': (farm) => act(farm, 'stop'),
    'farm started': (farm) => act(farm, 'start'),
    'farm restarted': (farm) => act(farm, 'restart'),
    'farm renamed'(farm) {
      world.farms.delete(farm.name);
      farm.name = `renamed-${(created += 1)}`;
      world.farms.set(farm.name, farm);
    },
    'farm deleted': (farm) => change('DELETE', `/farms/${farm.name}`),
    'farm created': (_, picked) => create(`new-${(created += 1)}`, picked % 2 === 0 ? 'http' : 'l4xnat'),
    'another profile'({ name, profile }) {
      world.farms.delete(name);
      create(name, profile === 'http' ? 'l4xnat' : 'http');
    },
    'check removed'(farm) {
      if (farm.profile !== 'l4xnat') return;
      farm.farmguardian = null;
      for (const backend of farm.backends) if (backend.status === 'down') backend.status = 'up';
    },
    'check added'(farm) {
      if (farm.profile === 'l4xnat') farm.farmguardian = check;
    },
    'redirect set'(farm) {
      if (farm.profile !== 'http') return;
      change('PUT', `/farms/${farm.name}/services/main`, { redirect: 'https://elsewhere.example/' });
    },
    'state unreadable': (farm) => void (farm.runState = 'unreadable'),
    'state readable': (farm) => void (farm.runState = 'readable'),
  };

  return ({ what, farm: picked, backend }: FarmChange): void => {
    const all = [...world.farms.values()];
    const farm = all[picked % Math.max(1, all.length)];
    if (farm) happenings[what](farm, backend);
    else create(`new-${(created += 1)}`, 'http');
  };
}
