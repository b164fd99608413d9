import { byName, card, createWorld, enterprise, virtual } from '../world-creation.ts';
import {
  datalinkBackend,
  datalinkFarm,
  gslbFarm,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  service,
} from '../world-parts.ts';
import type { Farm } from '../world-farms.ts';
import type { World } from '../world.ts';

/** Makes an older Enterprise build with GSLB and datalink farms, and its other JSON types. */
export function olderEnterpriseWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...enterprise('lb-older', nowMs),
    release: 'older',
    product: 'zevenet',
    productVersion: '6.2.1',
    applianceVersion: 'ZVA 6000, hypervisor: KVM',
    interfaces: byName([
      card('eth0', '192.0.2.70', 2),
      card('eth1', '10.70.0.2', 2),
      virtual('eth0:web', '192.0.2.71'),
    ]),
    farms: byName<Farm>([
      httpFarm({
        name: 'site',
        vip: '192.0.2.71',
        vport: '80',
        services: [service('main', { backends: [httpBackend(0, '10.70.0.11', 80, { established: 4 })] })],
      }),
      l4Farm({
        name: 'mail',
        vip: '192.0.2.71',
        vport: '25',
        backends: [l4Backend(0, '10.70.0.21', 25, { established: 2 })],
      }),
      datalinkFarm({
        name: 'uplinks',
        vip: '192.0.2.70',
        vport: 'eth0',
        backends: [datalinkBackend(0, '192.0.2.1', 'eth0')],
      }),
      gslbFarm({ name: 'geo', vip: '192.0.2.71', vport: '53', running: false }),
    ]),
  });
}
