import { card } from '../../src/simulator/scenes/parts.ts';
import { byFile, byName, createWorld } from '../../src/simulator/world-creation.ts';
import type { World } from '../../src/simulator/world.ts';
import {
  certificate,
  farmguardian,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  service,
} from '../../src/simulator/world-parts.ts';

/** What is on an appliance of the soak. */
export interface SoakWorld {
  readonly farms: number;
  readonly backendsPerFarm: number;
  /** Of a user who may only read; root has the other one. */
  readonly pollingKey: string;
  /** Secrets that the appliance shows where names and addresses should be. */
  readonly planted: readonly string[];
}

const dayMs = 86_400_000;

/** Every other farm is an L4 one. Nothing changes by itself, so that a series that goes away was lost. */
export function soakWorld({ farms, backendsPerFarm, pollingKey, planted }: SoakWorld): World {
  const nowMs = Date.now();
  const numbers = Array.from({ length: farms }, (_, number) => number);
  const backends = Array.from({ length: backendsPerFarm }, (_, index) => index);
  return createWorld({
    hostname: 'lb-soak',
    interfaces: byName([card('eth0', '192.0.2.80', 0)]),
    farmguardians: byName([farmguardian('check_tcp', { template: true })]),
    users: byName([
      { name: 'root', key: '', enabled: true, password: '' },
      { name: 'watcher', key: pollingKey, enabled: true, password: '', group: 'watchers' },
    ]),
    groups: byName([{ name: 'watchers', role: {}, farms: ['*'], interfaces: ['*'] }]),
    certificates: byFile([
      certificate('shop_example_com.pem', { notBefore: nowMs - 100 * dayMs, notAfter: nowMs + 265 * dayMs }),
    ]),
    farms: byName([
      ...numbers.map((number) => {
        const place = { name: `farm-${number}`, vip: '192.0.2.80', vport: String(10_000 + number) };
        if (number % 2 === 0)
          return l4Farm({ ...place, backends: backends.map((index) => l4Backend(index, `10.0.0.${index + 1}`, 443)) });
        const main = service('main', {
          backends: backends.map((index) => httpBackend(index, `10.0.1.${index + 1}`, 80)),
        });
        return httpFarm({ ...place, services: [main] });
      }),
      ...planted.map((secret, index) =>
        l4Farm({ name: secret, vip: secret, vport: String(20_000 + index), backends: [l4Backend(0, secret, 443)] }),
      ),
    ]),
  });
}
