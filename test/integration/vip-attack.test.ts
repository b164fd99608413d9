import { createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import type { HttpFarm } from '../../simulator/world-farms.ts';
import { watchConnections } from '../support/connections.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { givenTls, httpsFarm, listening, lists, loopback, worldOf } from './given-vip.ts';

/** Addresses that an appliance may report for its farms, to lead the exporter elsewhere. */
const notOfFarms = {
  loopback: ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1'],
  unspecified: ['0.0.0.0', '::'],
  linkLocal: ['169.254.0.1', 'fe80::1', 'fe80::1%lo'],
  metadata: ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1'],
  reserved: ['240.0.0.1', '255.255.255.255'],
  names: ['localhost', 'metadata.google.internal', 'shop.example.com', '*', '-1', ''],
  otherForms: ['2130706433', '0x7f000001', '127.1', '0177.0.0.1', ' 127.0.0.1', '[::1]', '127.0.0.1/8', '127.0.0.1:22'],
};

/** Polls once, and says what was connected to meanwhile. */
async function attack(farms: readonly HttpFarm[], vip: object) {
  const given = await givenAppliance(worldOf(...farms), { runs: lists, vip });
  const connections = watchConnections();
  await given.poll('vip');
  return { tried: connections.tried(), page: await given.page() };
}

function printTable(header: readonly string[], rows: readonly (readonly unknown[])[]): void {
  const texts = [header, ...rows].map((row) => row.map((cell) => String(cell === '' ? "''" : cell)));
  const widths = header.map((_, column) => Math.max(...texts.map((row) => row[column]!.length)));
  console.log(texts.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n'));
}

function failureOf(page: string, farm: string): string {
  return /reason="(\w+)"/.exec(seriesOf(page, 'zlb_farm_probe_failure_info', { farm }).join(''))?.[1] ?? 'none';
}

it('connects to nothing that is no address of a farm, nor to the ports of this machine', async () => {
  const own = await givenTls({}, '0.0.0.0');
  const ownAddresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const reported = [...new Set([...Object.values(notOfFarms).flat(), ...ownAddresses])];
  const farms = reported.map((vip, index) => httpsFarm(own.port, { name: `f${index}`, vip }));

  const { tried, page } = await attack(farms, {});

  printTable(
    ['reported', 'connections', 'reason'],
    reported.map((vip, index) => [
      vip,
      tried.filter((each) => each.startsWith(`${vip} `)).length,
      failureOf(page, `f${index}`),
    ]),
  );
  expect({ tried, answered: own.connections }).toEqual({ tried: [], answered: 0 });
  expect(seriesOf(page, 'zlb_farm_probe_failure_info', { reason: 'not_allowed' })).toHaveLength(reported.length);
  expect(seriesOf(page, 'zlb_farm_reachable')).toEqual([]);
});

it('connects to no port that is none', async () => {
  const ports = ['0', '99999', '65536', '-1', '443x', '0x1bb', '1e3', 'eth0', '*', ''];
  const farms = ports.map((vport, index) => httpsFarm(0, { name: `f${index}`, vport }));

  const { tried, page } = await attack(farms, loopback);

  expect(tried).toEqual([]);
  expect(page).not.toMatch(/^zlb_farm_(?:reachable|probe_failure_info)\{/m);
});

it('connects to nothing outside the networks that are named, wherever they lead', async () => {
  const own = await givenTls();
  const farms = ['127.0.0.1', '10.0.0.1', '192.0.2.40', '2001:db8::40'].map((vip, index) =>
    httpsFarm(own.port, { name: `f${index}`, vip }),
  );

  const { tried, page } = await attack(farms, { networks: ['127.0.0.1'] });

  expect(tried).toEqual([`127.0.0.1 ${own.port}`]);
  expect(seriesOf(page, 'zlb_farm_probe_failure_info', { reason: 'not_allowed' })).toHaveLength(3);
});

it('connects once to each of a thousand farms at one address', async () => {
  const server = await givenTls();
  const farms = Array.from({ length: 1_000 }, (_, index) => httpsFarm(server.port, { name: `f${index}` }));

  const { tried } = await attack(farms, loopback);

  expect(tried).toHaveLength(1_000);
  expect(new Set(tried)).toEqual(new Set([`127.0.0.1 ${server.port}`]));
});

const manyNames = ['DNS:shop.test', ...Array.from({ length: 4_999 }, (_, index) => `DNS:${index.toString(36)}.t`)];
const answering = (answer: (socket: Socket) => void) =>
  listening(createServer((socket) => void socket.once('data', () => answer(socket))));

/** Servers at the addresses of farms, by the reason that is shown for them. */
const peers = {
  'nobody listens': [
    'refused',
    async () => {
      const server = createServer();
      const seen = await listening(server);
      server.close();
      return seen;
    },
  ],
  'never answers': ['timeout', () => listening(createServer())],
  'sends a byte now and then': ['timeout', () => answering(drip)],
  'answers with an alert': ['tls', () => answering((socket) => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 112])))],
  'resets the connection': ['tls', () => answering((socket) => void socket.resetAndDestroy())],
  'has a certificate of 1 MB': [
    'tls',
    () => givenTls({ altNames: [1, 2, 3, 4].map((letter) => `DNS:${String(letter).repeat(250_000)}`) }),
  ],
  'has 5,000 names': ['none', () => givenTls({ altNames: manyNames })],
  'has a negative serial': ['none', () => givenTls({ serial: -5n })],
  'is valid from 1950': ['none', () => givenTls({ notBefore: new Date('1950-01-01T00:00:00Z') })],
  'is valid until 9999': ['none', () => givenTls({ notAfter: new Date('9999-12-31T23:59:59Z') })],
} as const;

/** The header of a record of 16 kB, and then a byte in each round. */
function drip(socket: Socket): void {
  socket.write(Buffer.from([0x16, 3, 3, 0x40, 0]));
  const timer = setInterval(() => socket.write(Buffer.from([2])), 100);
  socket.on('close', () => clearInterval(timer));
}

it('says in one word what is wrong with a peer, and the other farms do not notice', async () => {
  const names = Object.keys(peers) as (keyof typeof peers)[];
  const servers = await Promise.all(names.map(async (peer) => await peers[peer][1]()));
  const healthy = await givenTls();
  const farms = servers.flatMap(({ port }, index) => [
    httpsFarm(port, { name: `bad-${index}` }),
    httpsFarm(healthy.port, { name: `good-${index}` }),
  ]);

  const { tried, page } = await attack(farms, loopback);

  const reasons = names.map((_, index) => failureOf(page, `bad-${index}`));
  printTable(
    ['peer', 'connections', 'reason'],
    names.map((peer, index) => [
      peer,
      tried.filter((each) => each === `127.0.0.1 ${servers[index]!.port}`).length,
      reasons[index],
    ]),
  );
  expect(reasons).toEqual(names.map((peer) => peers[peer][0]));
  expect(tried).toHaveLength(farms.length);
  for (const index of names.keys()) {
    const farm = { farm: `good-${index}` };
    expect(valueOf(page, 'zlb_farm_reachable', farm)).toBe(1);
    expect(valueOf(page, 'zlb_farm_served_certificate_in_store', farm)).toBe(1);
  }
});
