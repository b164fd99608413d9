import { byName, card, createWorld } from '../world-creation.ts';
import { farmguardian, httpBackend, httpFarm, service } from '../world-parts.ts';
import type { World } from '../world.ts';

/** Makes a Community appliance as it is after its installation: one network card, no farms. */
export function emptyCommunityWorld(): World {
  return createWorld({
    hostname: 'lb-empty',
    interfaces: byName([card('eth0', '192.0.2.5')]),
    farmguardians: byName([farmguardian('check_tcp', { template: true })]),
  });
}

/**
 * Makes a Community appliance of any size. Every fifth backend is down, every seventh in
 * maintenance.
 */
export function largeWorld({
  farms,
  backendsPerFarm,
}: {
  readonly farms: number;
  readonly backendsPerFarm: number;
}): World {
  const status = (index: number) => (index % 5 === 4 ? 'down' : index % 7 === 6 ? 'maintenance' : 'up');
  const backend = (farm: number, index: number) =>
    httpBackend(index, `10.${farm % 200}.${Math.floor(index / 250)}.${(index % 250) + 1}`, 8080, {
      status: status(index),
      established: status(index) === 'up' ? (farm + index) % 50 : 0,
    });
  return createWorld({
    hostname: 'lb-large',
    interfaces: byName([card('eth0', '192.0.2.80', 40)]),
    farms: byName(
      Array.from({ length: farms }, (_, farm) =>
        httpFarm({
          name: `farm-${String(farm + 1).padStart(4, '0')}`,
          vip: '192.0.2.80',
          vport: String(10_000 + farm),
          services: [
            service('main', { backends: Array.from({ length: backendsPerFarm }, (_, index) => backend(farm, index)) }),
          ],
        }),
      ),
    ),
  });
}
