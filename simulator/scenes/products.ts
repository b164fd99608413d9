import { byFile, byName, card, createWorld, lifeOf, virtual } from '../world-creation.ts';
import type { Farm } from '../world-farms.ts';
import { certificate, farmguardian, httpBackend, httpFarm, l4Backend, l4Farm, service } from '../world-parts.ts';
import type { World } from '../world.ts';

const dayMs = 86_400_000;

/** Makes a healthy Community appliance of SKUDONET 7.1. Dates are relative to `nowMs`. */
export function skudonetWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...community('lb-porto', 90, nowMs),
    product: 'skudonet',
    productVersion: '7.1.0',
    applianceVersion: 'SKD 7',
    farms: byName(farms({ vip: '192.0.2.91', priority: 1 })),
  });
}

/** Makes a healthy Community appliance of ZEVENET 5.13, whose proxy is zproxy. */
export function zevenetWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...community('lb-sevilla', 95, nowMs),
    product: 'zevenet',
    proxy: 'zproxy',
    productVersion: '5.13.0',
    applianceVersion: 'ZCE 5',
    farms: byName(farms({ vip: '192.0.2.96', priority: null })),
  });
}

function community(hostname: string, host: number, nowMs: number): Partial<World> {
  return {
    release: 'older',
    hostname,
    interfaces: byName([card('eth0', `192.0.2.${host}`, 0.8), virtual('eth0:web', `192.0.2.${host + 1}`)]),
    certificates: byFile([certificate('app_example_com.pem', lifeOf(nowMs, -30, 335))]),
    farmguardians: byName([farmguardian('check_tcp', { command: 'check_tcp -H HOST -p PORT', template: true })]),
    backups: byName([{ name: 'weekly', createdAt: nowMs - 2 * dayMs, version: '7.1.0' }]),
  };
}

function farms({ vip, priority }: { readonly vip: string; readonly priority: number | null }): readonly Farm[] {
  const checked = { farmguardian: 'check_tcp' };
  return [
    httpFarm({
      name: 'app',
      vip,
      vport: '443',
      listener: 'https',
      certificates: ['app_example_com.pem'],
      services: [
        service('main', {
          ...checked,
          backends: [0, 1].map((id) => httpBackend(id, `10.90.0.1${id + 1}`, 8080, { priority, established: 22 + id })),
        }),
      ],
    }),
    l4Farm({
      name: 'mail',
      vip,
      vport: '25',
      ...checked,
      backends: [0, 1].map((id) => l4Backend(id, `10.90.0.2${id + 1}`, 25, { established: 3 })),
    }),
  ];
}
