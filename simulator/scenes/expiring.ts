import { createCertificate } from '../certificate.ts';
import { byFile, byName, card, createWorld, enterprise, licensed, lifeOf, virtual } from '../world-creation.ts';
import { certificate, csr, httpBackend, httpFarm, service } from '../world-parts.ts';
import type { World } from '../world.ts';
import type { StoredCertificate } from '../world-certificates.ts';

const dayMs = 86_400_000;

/** Makes an Enterprise appliance whose certificates and trial licence end within days. */
export function expiringWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...enterprise('lb-berlin', nowMs),
    activation: {
      ...licensed('lb-berlin', nowMs),
      installed: { kind: 'temporal', hostname: 'lb-berlin', ...lifeOf(nowMs, -24, 6) },
    },
    interfaces: byName([card('eth0', '192.0.2.50', 0.6), virtual('eth0:web', '192.0.2.51')]),
    certificates: byFile([
      soonExpired('soon_example_com.pem', 'soon.example.com', nowMs),
      certificate('fortnight.pem', { commonName: 'app.example.com', ...lifeOf(nowMs, -352, 13) }),
      certificate('old_example_com.pem', lifeOf(nowMs, -400, -35)),
      certificate('wrong_key.pem', { ...lifeOf(nowMs, -10, 200), condition: 'bad_key' }),
      certificate('broken.pem', { notBefore: 0, notAfter: 0, condition: 'garbage' }),
      certificate('fine_example_com.pem', lifeOf(nowMs, -10, 355)),
      // The lives that authorities give from 2026 on, a third of each over.
      certificate('ninety.pem', { commonName: 'ninety.example.net', ...lifeOf(nowMs, -30, 60) }),
      certificate('short_example_net.pem', lifeOf(nowMs, -15, 30)),
      certificate('shortest_example_net.pem', lifeOf(nowMs, -2.2, 4.5)),
      csr('renewal.csr', 'soon.example.com', nowMs - dayMs),
    ]),
    // The appliance renews one itself; nobody renews the other.
    acme: byName([
      {
        name: 'short.example.net',
        domains: ['short.example.net'],
        renewal: { farm: null, vip: '192.0.2.51', force: false, restart: true },
      },
      { name: 'shortest.example.net', domains: ['shortest.example.net'] },
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
    packages: { status: 'Updated', packages: [], last_check: '' },
  });
}

/** Makes an Enterprise appliance whose trial is over: it answers 402 to nearly every call. */
export function deactivatedWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...enterprise('lb-lisbon', nowMs),
    activation: {
      ...licensed('lb-lisbon', nowMs),
      installed: { kind: 'temporal', hostname: 'lb-lisbon', ...lifeOf(nowMs, -42, -12) },
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

/** Makes a real certificate, which a renewed one can be compared with. */
function soonExpired(file: string, name: string, nowMs: number): StoredCertificate {
  const dates = lifeOf(nowMs, -362, 3);
  const { cert } = createCertificate({
    subject: { CN: name },
    altNames: [`DNS:${name}`],
    notBefore: new Date(dates.notBefore),
    notAfter: new Date(dates.notAfter),
  });
  return certificate(file, { ...dates, pem: cert });
}
