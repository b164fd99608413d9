import { byFile, byName, createWorld } from '../world-creation.ts';
import { certificate, csr, httpBackend, httpFarm, service } from '../world-parts.ts';
import type { World } from '../world.ts';
import { card, enterprise, licensed, virtual } from './parts.ts';

const dayMs = 86_400_000;

/** An Enterprise appliance where time runs out: certificates and the trial licence end within days. */
export function expiringWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...enterprise('lb-berlin', nowMs),
    activation: {
      ...licensed('lb-berlin', nowMs),
      installed: {
        kind: 'temporal',
        hostname: 'lb-berlin',
        notBefore: nowMs - 24 * dayMs,
        notAfter: nowMs + 6 * dayMs,
      },
    },
    interfaces: byName([card('eth0', '192.0.2.50', 0.6), virtual('eth0:web', '192.0.2.51')]),
    certificates: byFile([
      certificate('soon_example_com.pem', { notBefore: nowMs - 362 * dayMs, notAfter: nowMs + 3 * dayMs }),
      certificate('fortnight.pem', {
        commonName: 'app.example.com',
        notBefore: nowMs - 352 * dayMs,
        notAfter: nowMs + 13 * dayMs,
      }),
      certificate('old_example_com.pem', { notBefore: nowMs - 400 * dayMs, notAfter: nowMs - 35 * dayMs }),
      certificate('wrong_key.pem', {
        notBefore: nowMs - 10 * dayMs,
        notAfter: nowMs + 200 * dayMs,
        condition: 'bad_key',
      }),
      certificate('broken.pem', { notBefore: 0, notAfter: 0, condition: 'garbage' }),
      certificate('fine_example_com.pem', { notBefore: nowMs - 10 * dayMs, notAfter: nowMs + 355 * dayMs }),
      csr('renewal.csr', 'soon.example.com', nowMs - dayMs),
    ]),
    farms: byName([
      httpFarm({
        name: 'portal',
        vip: '192.0.2.51',
        vport: '443',
        listener: 'https',
        certificates: ['soon_example_com.pem', 'old_example_com.pem'],
        services: [
          service('main', {
            backends: [
              httpBackend(0, '10.50.0.11', 80, { established: 6 }),
              httpBackend(1, '10.50.0.12', 80, { established: 5 }),
            ],
          }),
        ],
      }),
    ]),
    backups: byName([{ name: 'long-ago', createdAt: nowMs - 300 * dayMs, version: '8.1.0' }]),
    packages: { status: 'Updated', packages: [], lastCheck: '' },
  });
}
