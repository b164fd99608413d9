import { byFile, byName, card, createWorld, enterprise, lifeOf, virtual } from '../world-creation.ts';
import {
  certificate,
  farmguardian,
  gslbFarm,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  service,
} from '../world-parts.ts';
import type { Farm } from '../world-farms.ts';
import type { IpdsRule, World } from '../world.ts';

const dayMs = 86_400_000;
const vip = '192.0.2.40';

/**
 * Makes an Enterprise appliance with a farm in every state, pending updates and protection rules.
 */
export function busyWorld(nowMs: number = Date.now()): World {
  return createWorld({
    ...enterprise('lb-madrid', nowMs),
    interfaces: byName([
      card('eth0', '192.0.2.30', 14),
      card('eth1', '10.20.0.2', 13),
      virtual('eth0:web', vip),
      { ...virtual('eth0:old', '192.0.2.41'), status: 'down' },
    ]),
    certificates: byFile([
      certificate('shop_example_com.pem', lifeOf(nowMs, -100, 265)),
      certificate('intranet.pem', { commonName: 'intranet.example.com', ...lifeOf(nowMs, -300, 65) }),
    ]),
    farmguardians: byName([
      farmguardian('shop-http', { command: 'check_http -I HOST -p PORT', interval: 7, timeout: 7 }),
      farmguardian('db-tcp', { command: 'check_tcp -H HOST -p PORT' }),
    ]),
    farms: byName<Farm>([shop(nowMs), ...httpFarms(), ...l4Farms(), geo()]),
    ipds: byName(protectionRules()),
    // Two users besides root: one reads everything, the other has one farm and may act on it.
    users: byName([
      { name: 'root', key: '', enabled: true, password: 'admin' },
      { name: 'watcher', key: 'watcherkey', enabled: true, password: '', group: 'watchers' },
      { name: 'shopkeeper', key: 'shopkeeperkey', enabled: true, password: '', group: 'shopkeepers' },
    ]),
    groups: byName([
      { name: 'watchers', role: {}, farms: ['*'], interfaces: ['*'] },
      { name: 'shopkeepers', role: { farm: ['action', 'maintenance'] }, farms: ['shop'], interfaces: [] },
    ]),
    backups: byName([{ name: 'before-upgrade', createdAt: nowMs - 40 * dayMs, version: '8.3.0' }]),
    packages: { status: 'Updates available', packages: ['openssl', 'proxy', 'web-gui'], last_check: 'this morning' },
    otherConnections: 260,
  });
}

function shop(nowMs: number): Farm {
  return httpFarm({
    name: 'shop',
    vip,
    vport: '443',
    listener: 'https',
    certificates: ['shop_example_com.pem'],
    // The file was replaced, and the farm not restarted since.
    loaded: [certificate('shop_example_com.pem', lifeOf(nowMs, -330, 35))],
    services: [
      service('front', {
        persistence: 'COOKIE',
        sessionid: 'JSESSIONID',
        farmguardian: 'shop-http',
        backends: [
          httpBackend(0, '10.20.0.11', 8080, { established: 120, pending: 2, weight: 5 }),
          httpBackend(1, '10.20.0.12', 8080, { established: 131, weight: 5 }),
          httpBackend(2, '10.20.0.13', 8080, { established: 117, weight: 5 }),
        ],
        sessions: Array.from({ length: 40 }, (_, index) => ({
          client: `203.0.113.${index + 1}`,
          backend: index % 3,
        })),
      }),
      service('api', {
        urlp: '^/api',
        farmguardian: 'shop-http',
        backends: [
          httpBackend(0, '10.20.0.14', 8081, { status: 'down' }),
          httpBackend(1, '10.20.0.15', 8081, { established: 64 }),
        ],
      }),
    ],
  });
}

function httpFarms(): readonly Farm[] {
  return [
    httpFarm({
      name: 'intranet',
      vip,
      vport: '8443',
      listener: 'https',
      certificates: ['intranet.pem'],
      services: [
        service('main', {
          backends: [
            httpBackend(0, '10.20.0.21', 80, { established: 12 }),
            httpBackend(1, '10.20.0.22', 80, { status: 'maintenance' }),
          ],
        }),
      ],
    }),
    httpFarm({
      name: 'legacy',
      vip,
      vport: '8081',
      services: [
        service('main', {
          backends: [
            httpBackend(0, '10.20.0.31', 80, { status: 'down' }),
            httpBackend(1, '10.20.0.32', 80, { status: 'down' }),
          ],
        }),
      ],
    }),
    httpFarm({
      name: 'oldportal',
      vip,
      vport: '8082',
      running: false,
      services: [service('main', { backends: [httpBackend(0, '10.20.0.33', 80)] })],
    }),
    httpFarm({
      name: 'payments',
      vip,
      vport: '8083',
      needsRestart: true,
      services: [service('main', { backends: [httpBackend(0, '10.20.0.34', 80, { established: 3 })] })],
    }),
    httpFarm({
      name: 'redirect',
      vip,
      vport: '80',
      services: [service('redir', { redirect: 'https://shop.example.com/', redirecttype: 'default' })],
    }),
  ];
}

function l4Farms(): readonly Farm[] {
  return [
    l4Farm({
      name: 'db',
      vip,
      vport: '5432',
      persistence: 'ip',
      farmguardian: 'db-tcp',
      backends: [
        l4Backend(0, '10.20.0.41', 5432, { established: 33, weight: 2 }),
        l4Backend(1, '10.20.0.42', 5432, { established: 17 }),
        l4Backend(2, '10.20.0.43', 5432, { status: 'down', max_conns: 100 }),
      ],
      sessions: [
        { client: '203.0.113.9', backend: 0, type: 'dynamic', ttlMs: 80_112 },
        { client: '203.0.113.10', backend: 1, type: 'static', ttlMs: null },
      ],
    }),
    l4Farm({
      name: 'dns',
      vip,
      vport: '53',
      protocol: 'udp',
      backends: [
        l4Backend(0, '10.20.0.51', 53, { established: 210 }),
        l4Backend(1, '10.20.0.52', 53, { established: 190 }),
      ],
    }),
  ];
}

function geo(): Farm {
  return gslbFarm({
    name: 'geo',
    vip,
    vport: '5353',
    services: [
      {
        id: 'geo',
        algorithm: 'roundrobin',
        deftcpport: 80,
        farmguardian: null,
        backends: [1, 2].map((id) => ({
          id,
          ip: `198.51.100.3${id}`,
          status: id === 1 ? 'up' : 'down',
          established: 0,
          pending: 0,
        })),
      },
    ],
    counters: { client: { reqs: 9_120 }, server: { reqs: 14 }, extended: { noerror: 9_100, nxdomain: 34 } },
  });
}

function protectionRules(): readonly IpdsRule[] {
  return [
    {
      name: 'base-rules',
      rule: 'waf',
      status: 'up',
      farms: ['shop'],
    },
    {
      name: 'bad-neighbours',
      rule: 'blacklist',
      status: 'up',
      farms: ['shop'],
    },
    {
      name: 'slow-down',
      rule: 'dos',
      status: 'down',
      farms: [],
    },
  ];
}
