import { byName, createWorld } from '../world-creation.ts';
import { httpBackend, httpFarm, service } from '../world-parts.ts';
import type { World } from '../world.ts';
import { card, enterprise, licensed } from './parts.ts';

const dayMs = 86_400_000;

/** An Enterprise appliance whose trial is over: it answers 402 to nearly everything. */
export function deactivatedWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...enterprise('lb-lisbon', nowMs),
    activation: {
      ...licensed('lb-lisbon', nowMs),
      installed: {
        kind: 'temporal',
        hostname: 'lb-lisbon',
        notBefore: nowMs - 42 * dayMs,
        notAfter: nowMs - 12 * dayMs,
      },
    },
    interfaces: byName([card('eth0', '192.0.2.60', 0.1)]),
    farms: byName([
      httpFarm({
        name: 'site',
        vip: '192.0.2.60',
        vport: '80',
        services: [service('main', { backends: [httpBackend(0, '10.60.0.11', 80)] })],
      }),
    ]),
  });
}
