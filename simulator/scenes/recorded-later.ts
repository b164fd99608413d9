import { byFile, byName, createWorld } from '../world-creation.ts';
import type { Farm } from '../world-farms.ts';
import type { StoredCertificate } from '../world-certificates.ts';
import {
  certificate,
  csr,
  farmguardian,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  networkInterface,
  service,
} from '../world-parts.ts';
import type { NetworkInterface, World } from '../world.ts';
import { template, templates } from './recorded.ts';

const web = '192.168.101.21';
const l4 = '192.168.101.22';
const main = '192.168.101.20';

/** Makes the ZEVENET appliance of the recordings, zevenet-ce-01, in the state of its recorded reads. */
export function recordedZevenetWorld(): World {
  return createWorld({
    release: 'older',
    product: 'zevenet',
    proxy: 'zproxy',
    hostname: 'zevenet-ce-01',
    productVersion: '5.13.0',
    applianceVersion: 'ZCE 5',
    kernelVersion: '6.1.0-18-amd64',
    interfaces: byName(interfaces(['56:bc:bd:2d:7d:2d', '5e:bc:08:b1:f3:df', '8a:1b:1a:e1:1a:0b'])),
    certificates: byFile([
      stored('expired_example_com.pem', '2026-08-30T17:51:12Z', '2026-11-25T17:51:12Z'),
      stored('expiring_example_com.pem', '2026-10-29T17:51:11Z', '2026-12-03T17:51:11Z'),
      certificate('garbage.pem', { notBefore: 0, notAfter: 0, condition: 'garbage' }),
      csr('newsite.csr', 'new.example.com', Date.parse('2026-11-28T18:05:03Z')),
      stored('shop_example_com.pem', '2026-10-29T17:51:08Z', '2027-02-16T17:51:08Z'),
      { ...stored('zencert.pem', '2017-11-15T15:35:51Z', '2027-11-13T15:35:51Z'), commonName: '*', issuer: '*' },
    ]),
    farmguardians: byName([dbTcp, shopHttp, ...templates(), template('check_common', '', '')]),
    farms: byName(farms()),
    backups: byName([{ name: 'before-change', createdAt: Date.parse('2026-11-28T18:08:13Z'), version: '5.13.0' }]),
    // Never set.
    settings: { snmpCommunity: undefined },
  });
}

const dbTcp = farmguardian('db-tcp', {
  description: 'TCP check for the db',
  command: 'check_tcp -H HOST -p PORT -t 3',
  interval: 5,
  timeout: 5,
  cut_conns: 'true',
  log: 'true',
});

const shopHttp = farmguardian('shop-http', {
  description: 'Expects 200 from the shop.',
  command: 'check_http -I HOST -p PORT -e 200 -t 5',
  interval: 7,
  timeout: 7,
});

function stored(file: string, from: string, until: string): StoredCertificate {
  return certificate(file, { notBefore: Date.parse(from), notAfter: Date.parse(until) });
}

function interfaces([first = '', second = '', third = '']: readonly string[]): readonly NetworkInterface[] {
  const onEth0 = { mac: first, gateway: '192.168.101.1' };
  const counted = (received: number, sent: number) => ({
    traffic: { received, sent, receivedPerSecond: 0.001, sentPerSecond: 0.001 },
  });
  return [
    networkInterface('eth0', { ...onEth0, type: 'nic', ip: main, ...counted(0.2, 0.3) }),
    networkInterface('eth0:l4', { ...onEth0, type: 'virtual', ip: l4, parent: 'eth0' }),
    networkInterface('eth0:web', { ...onEth0, type: 'virtual', ip: web, parent: 'eth0' }),
    networkInterface('eth1', { type: 'nic', ip: '10.10.10.2', mac: second, ...counted(0.19, 0.21) }),
    networkInterface('eth2', { type: 'nic', ip: '10.30.0.2', mac: third, ...counted(0, 0) }),
  ];
}

/** Returns the farms that both later recordings have. */
function farms(): readonly Farm[] {
  return [...httpFarms(), ...l4Farms()];
}

const unset = { priority: null };

function httpFarms(): readonly Farm[] {
  const up = (id: number, host: number) => httpBackend(id, `10.10.10.${host}`, 8080, unset);
  const inState = (id: number, host: number, status: 'down' | 'maintenance', port = 8080) =>
    httpBackend(id, `10.10.10.${host}`, port, { ...unset, status });
  const farmguardian = 'shop-http';
  return [
    httpFarm({
      name: 'webshop',
      vip: web,
      vport: '80',
      services: [
        service('frontend', {
          urlp: '^/[a-h]',
          persistence: 'IP',
          farmguardian,
          backends: [up(0, 11), up(1, 12)],
          sessions: [{ client: '192.168.101.1', backend: 0 }],
        }),
        service('api', { farmguardian, backends: [up(0, 13), inState(1, 15, 'down')] }),
      ],
    }),
    httpFarm({
      name: 'secure-shop',
      vip: web,
      vport: '443',
      listener: 'https',
      certificates: ['shop_example_com.pem'],
      services: [service('secure', { farmguardian, backends: [up(0, 16), inState(1, 17, 'maintenance')] })],
    }),
    httpFarm({
      name: 'legacy',
      vip: web,
      vport: '8081',
      services: [
        service('main', {
          farmguardian: 'check_tcp',
          backends: [inState(0, 18, 'down'), inState(1, 18, 'down', 8443)],
        }),
      ],
    }),
    httpFarm({
      name: 'oldportal',
      vip: web,
      vport: '8082',
      running: false,
      services: [
        service('main', { backends: [httpBackend(0, '10.10.10.14', 8080, { ...unset, status: 'undefined' })] }),
      ],
    }),
    httpFarm({
      name: 'redirector',
      vip: web,
      vport: '8083',
      services: [service('redir', { redirect: 'https://www.example.com/', redirecttype: 'default' })],
    }),
    httpFarm({ name: 'empty', vip: web, vport: '8084', services: [service('pending')] }),
    httpFarm({
      name: 'intranet',
      vip: web,
      vport: '8085',
      services: [service('main', { farmguardian, backends: [up(0, 19), up(1, 20)] })],
    }),
  ];
}

function l4Farms(): readonly Farm[] {
  return [
    l4Farm({
      name: 'db-l4',
      vip: l4,
      vport: '5432',
      farmguardian: 'db-tcp',
      backends: [
        l4Backend(0, '10.10.10.11', 5432, { weight: 2, established: 3 }),
        l4Backend(1, '10.10.10.12', 5432),
        l4Backend(2, '10.10.10.13', 5432, { weight: 3, max_conns: 100 }),
        l4Backend(3, '10.10.10.14', 5432, { status: 'down' }),
      ],
    }),
    l4Farm({
      name: 'dns-udp',
      vip: l4,
      vport: '53',
      protocol: 'udp',
      backends: [
        l4Backend(0, '10.10.10.11', 53, { established: 16 }),
        l4Backend(1, '10.10.10.12', 53, { status: 'maintenance' }),
      ],
    }),
    l4Farm({
      name: 'multi-l4',
      vip: l4,
      vport: '9000:9005,9999',
      persistence: 'ip',
      ttl: 300,
      farmguardian: 'check_tcp',
      backends: [l4Backend(0, '10.10.10.11', 9000), l4Backend(1, '10.10.10.12', 9000, { established: 1 })],
      sessions: [{ client: '192.168.101.1', backend: 1, type: 'dynamic', ttlMs: 297_244 }],
    }),
    l4Farm({
      name: 'all-l4',
      vip: main,
      vport: '*',
      protocol: 'all',
      running: false,
      backends: [l4Backend(0, '10.10.10.14', '')],
    }),
  ];
}
