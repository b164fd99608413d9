import { byFile, byName, card, createWorld, enterprise, lifeOf, virtual } from '../world-creation.ts';
import { certificate, farmguardian, httpBackend, httpFarm, l4Backend, l4Farm, service } from '../world-parts.ts';
import type { World } from '../world.ts';

const dayMs = 86_400_000;

/**
 * Makes two Enterprise appliances in a cluster: the master and its backup. Dates are relative to
 * `nowMs`.
 */
export function healthyPair(nowMs: number = Date.now()): [World, World] {
  return [
    healthyNode('lb-paris-1', '192.0.2.11', 'master', nowMs),
    healthyNode('lb-paris-2', '192.0.2.12', 'backup', nowMs),
  ];
}

function healthyNode(hostname: string, ip: string, role: 'master' | 'backup', nowMs: number): World {
  const peer = hostname === 'lb-paris-1' ? 'lb-paris-2' : 'lb-paris-1';
  const message = { master: 'Active, all well.', backup: 'Standing by, all well.' };
  const ageDays = { master: 30, backup: 260 };
  const other = role === 'master' ? 'backup' : 'master';
  return createWorld({
    ...enterprise(hostname, nowMs),
    interfaces: byName([card('eth0', ip, 1.9), card('eth1', '10.10.10.2', 1.7), virtual('eth0:web', '192.0.2.20')]),
    certificates: byFile([
      // Both live 398 days; the backup still has the one before.
      certificate('www_example_com.pem', lifeOf(nowMs, -ageDays[role], 398 - ageDays[role])),
    ]),
    farmguardians: byName([
      farmguardian('check-web', { command: 'check_http -H HOST -p PORT', description: 'Asks for the front page' }),
    ]),
    farms: byName([
      httpFarm({
        name: 'www',
        vip: '192.0.2.20',
        vport: '443',
        listener: 'https',
        certificates: ['www_example_com.pem'],
        services: [
          service('front', {
            persistence: 'IP',
            farmguardian: 'check-web',
            backends: [1, 2, 3].map((id) =>
              httpBackend(id - 1, `10.10.10.1${id}`, 8080, { established: 40 + id, weight: 5 }),
            ),
            sessions: [0, 1, 2].map((backend) => ({ client: `203.0.113.${7 + backend}`, backend })),
          }),
        ],
      }),
      l4Farm({
        name: 'db',
        vip: '192.0.2.20',
        vport: '5432',
        farmguardian: 'check-web',
        backends: [
          l4Backend(0, '10.10.10.21', 5432, { established: 9 }),
          l4Backend(1, '10.10.10.22', 5432, { established: 8 }),
        ],
      }),
    ]),
    backups: byName([{ name: 'weekly', createdAt: nowMs - 2 * dayMs, version: '8.4.0' }]),
    packages: { status: 'Updated', packages: [], last_check: '' },
    cluster: {
      interface: 'eth0',
      check_interval: 1,
      failback: 'disabled',
      nodes: [
        { name: hostname, ip, node: 'local', role, status: 'ok', message: message[role] },
        {
          name: peer,
          ip: hostname === 'lb-paris-1' ? '192.0.2.12' : '192.0.2.11',
          node: 'remote',
          role: other,
          status: 'ok',
          message: message[other],
        },
      ],
    },
  });
}
