import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { healthyPair } from '../../../simulator/scenes/cluster.ts';
import { expiringWorld } from '../../../simulator/scenes/expiring.ts';
import { olderEnterpriseWorld } from '../../../simulator/scenes/older.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { createTlsMaterial } from '../../../simulator/tls.ts';
import { givenSimulated } from '../../support/simulated.ts';

const nowMs = Date.parse('2026-11-20T21:00:00Z');
const now = () => nowMs;

it('shows every certificate word, the broken files included', async () => {
  const { call } = await givenSimulated(expiringWorld(nowMs), { now });

  const { params } = (await call('GET', '/certificates')).json as {
    params: { file: string; status: string; expiration: string }[];
  };

  expect(Object.fromEntries(params.map(({ file, status, expiration }) => [file, `${status} ${expiration}`]))).toEqual({
    'broken.pem': 'unknown -',
    'fine_example_com.pem': 'valid Nov 10 21:00:00 2027 GMT',
    'fortnight.pem': 'about to expire Dec  3 21:00:00 2026 GMT',
    'ninety.pem': 'valid Jan 19 21:00:00 2027 GMT',
    'old_example_com.pem': 'expired Oct 16 21:00:00 2026 GMT',
    'renewal.csr': 'valid NA',
    'short_example_net.pem': 'valid Dec 20 21:00:00 2026 GMT',
    'shortest_example_net.pem': 'about to expire Nov 25 09:00:00 2026 GMT',
    'soon_example_com.pem': 'about to expire Nov 23 21:00:00 2026 GMT',
    'wrong_key.pem': 'invalid Jun  8 21:00:00 2027 GMT',
  });
  expect(await call('GET', '/certificates/broken.pem/info')).toMatchObject({ status: 200, json: undefined });
});

it('reads the dates out of an uploaded certificate, takes garbage as it comes, and refuses a name twice', async () => {
  const { call } = await givenSimulated(recordedWorld(), { now });
  const { cert, key } = createTlsMaterial();
  const pem = `${cert}\n${key}`;
  const upload = async (name: string, body: string) =>
    (await call('POST', `/certificates/${name}`, { body, type: 'application/x-pem-file' })).status;

  expect([
    await upload('made', pem),
    await upload('made.pem', cert),
    await upload('bare', cert),
    await upload('junk', 'x'),
  ]).toEqual([200, 400, 200, 200]);
  const { params } = (await call('GET', '/certificates')).json as {
    params: { file: string; CN: string; status: string }[];
  };
  expect(params.filter(({ file }) => ['made.pem', 'bare.pem', 'junk.pem'].includes(file))).toMatchObject([
    { file: 'bare.pem', status: 'invalid' },
    { file: 'junk.pem', CN: '-', status: 'unknown' },
    { file: 'made.pem', CN: 'simulated appliance', status: 'valid' },
  ]);
  expect(await call('GET', '/certificates/made.pem')).toMatchObject({
    status: 200,
    headers: { 'content-disposition': 'attachment; filename="made.pem"' },
    text: pem,
  });
});

it('replaces the only certificate of a farm on Community and appends on Enterprise', async () => {
  const community = await givenSimulated(recordedWorld(), { now });
  const enterprise = await givenSimulated(busyWorld(nowMs), { now });

  await community.call('POST', '/farms/secure-shop/certificates', { json: { file: 'wildcard.example.org.pem' } });
  await enterprise.call('POST', '/farms/shop/certificates', { json: { file: 'intranet.pem' } });

  expect((await community.call('GET', '/farms/secure-shop')).json).toMatchObject({
    params: { certlist: [{ file: 'wildcard.example.org.pem', id: 1 }], status: 'needed restart' },
  });
  expect((await enterprise.call('GET', '/farms/shop')).json).toMatchObject({
    params: {
      certlist: [
        { file: 'shop_example_com.pem', id: 1 },
        { file: 'intranet.pem', id: 2 },
      ],
    },
  });
});

it('finds backups by the beginning of their names, and dates them with two spaces', async () => {
  const { call } = await givenSimulated(recordedWorld(), { now });

  expect(await call('POST', '/system/backup', { json: { name: 'nightly' } })).toMatchObject({
    status: 200,
    json: { params: 'nightly' },
  });
  expect((await call('GET', '/system/backup')).json).toMatchObject({
    params: [{ name: 'before-upgrade' }, { name: 'nightly', date: '2026-11-20  21:00:00 UTC', version: '7.9.0' }],
  });
  expect((await call('DELETE', '/system/backup/night')).status).toBe(200);
  expect((await call('DELETE', '/system/backup/night')).status).toBe(400);
});

it('moves farms with the address of their interface only when forced, and takes virtual interfaces down with their parent', async () => {
  const { call, world } = await givenSimulated(recordedWorld(), { now });

  expect((await call('PUT', '/interfaces/virtual/eth0:web', { json: { ip: '192.168.101.99' } })).status).toBe(400);
  expect(
    (await call('PUT', '/interfaces/virtual/eth0:web', { json: { ip: '192.168.101.99', force: 'true' } })).status,
  ).toBe(200);
  expect(world.farms.get('webshop')?.vip).toBe('192.168.101.99');
  expect((await call('DELETE', '/interfaces/virtual/eth0:web')).status).toBe(400);
  await call('POST', '/interfaces/nic/eth0/actions', { json: { action: 'down' } });
  expect((await call('GET', '/interfaces/virtual')).json).toMatchObject({
    interfaces: [{ status: 'down' }, { status: 'down' }],
  });
});

it('makes and removes interfaces, gateways and floating addresses', async () => {
  const { call } = await givenSimulated(busyWorld(nowMs), { now });
  const status = async (method: string, path: string, json?: unknown) => (await call(method, path, { json })).status;

  expect(await status('POST', '/interfaces/vlan', { name: 'eth1.100', ip: '10.9.0.2', netmask: '255.255.255.0' })).toBe(
    201,
  );
  expect(await status('POST', '/interfaces/virtual', { name: 'eth1.100:v', ip: '10.9.0.3' })).toBe(201);
  expect(await status('PUT', '/interfaces/floating/eth1.100', { floating_ip: '10.9.0.3' })).toBe(200);
  expect((await call('GET', '/interfaces/floating/eth1.100')).json).toMatchObject({
    params: { interface_virtual: 'eth1.100:v', floating_ip: '10.9.0.3' },
  });
  expect(await status('DELETE', '/interfaces/vlan/eth1.100')).toBe(400);
  expect(await status('PUT', '/interfaces/gateway/ipv4', { address: '192.0.2.1' })).toBe(400);
  expect(await status('PUT', '/interfaces/gateway/ipv4', { address: '192.0.2.1', interface: 'eth0' })).toBe(200);
  expect((await call('GET', '/interfaces/gateway/ipv4')).json).toMatchObject({
    params: { address: '192.0.2.1', interface: 'eth0' },
  });
  expect(
    await status('POST', '/interfaces/bonding', { name: 'bond0', mode: 'active-backup', slaves: ['eth2', 'eth3'] }),
  ).toBe(201);
  expect((await call('GET', '/interfaces/bonding')).json).toMatchObject({
    interfaces: [{ name: 'bond0', slaves: [{ name: 'eth2' }, { name: 'eth3' }] }],
  });
});

it('keeps VPNs with their users, answering 200 for tunnels and 201 for the others', async () => {
  const { call } = await givenSimulated(recordedWorld(), { now });
  const vpn = (name: string, profile: string) => ({
    name,
    profile,
    auth: 'secret',
    p2protocol: 'esp',
    local: '192.0.2.1',
    remote: '198.51.100.1',
    password: 'secret',
  });

  expect((await call('POST', '/vpns', { json: vpn('site', 'site_to_site') })).status).toBe(201);
  expect((await call('POST', '/vpns', { json: vpn('tube', 'tunnel') })).status).toBe(200);
  expect((await call('POST', '/vpns', { json: vpn('people', 'remote_access') })).status).toBe(201);
  expect((await call('POST', '/vpns/site/actions', { json: { action: 'start' } })).json).toMatchObject({
    params: { action: 'start', status: 'up' },
  });
  expect((await call('POST', '/vpns/people/users', { json: { vpnuser: 'a', vpnpass: 'b' } })).status).toBe(201);
  expect((await call('POST', '/vpns/people/users', { json: { vpnuser: 'c', vpnpass: 'd' } })).status).toBe(400);
  expect((await call('GET', '/vpns')).json).toMatchObject({
    params: [{ name: 'site', status: 'up' }, { name: 'tube', status: 'down' }, { name: 'people' }],
  });
  expect((await call('GET', '/vpns/modules/tunnel')).status).toBe(500);
});

it('hands the cluster over when the master goes into maintenance, and answers without params when there is none', async () => {
  const [first] = healthyPair(nowMs);
  const { call } = await givenSimulated(first, { now });
  const maintenance = async (status: string) =>
    (await call('POST', '/system/cluster/actions', { json: { action: 'maintenance', status } })).status;

  expect([await maintenance('enable'), await maintenance('enable')]).toEqual([200, 400]);
  expect((await call('GET', '/system/cluster/nodes')).json).toMatchObject({
    params: [
      { name: 'lb-paris-1', role: 'maintenance' },
      { name: 'lb-paris-2', role: 'master' },
    ],
  });
  expect((await call('DELETE', '/system/cluster')).status).toBe(200);
  expect((await call('GET', '/system/cluster')).json).not.toHaveProperty('params');
  expect((await call('GET', '/system/cluster/nodes/localhost')).json).toMatchObject({
    params: { role: 'not configured', status: 'not configured' },
  });
});

it('keeps header rules under indexes that shift, and refuses the same one twice', async () => {
  const { call, world } = await givenSimulated(recordedWorld(), { now });
  const add = async (header: string) => (await call('POST', '/farms/webshop/addheader', { json: { header } })).status;

  expect([await add('X-A: 1'), await add('X-B: 2'), await add('X-A: 1')]).toEqual([200, 200, 400]);
  expect((await call('DELETE', '/farms/webshop/addheader/0')).status).toBe(200);
  expect((await call('DELETE', '/farms/webshop/addheader/1')).status).toBe(400);
  expect((await call('GET', '/farms/webshop')).json).toMatchObject({
    params: { addheader: [{ id: 0, header: 'X-B: 2' }] },
  });
  expect(world.farms.get('webshop')).toMatchObject({ needsRestart: true });
});

it('links protection rules to farms and acts on them', async () => {
  const { call } = await givenSimulated(busyWorld(nowMs), { now });

  expect((await call('POST', '/ipds/dos/slow-down/actions', { json: { action: 'start' } })).status).toBe(400);
  expect((await call('POST', '/farms/db/ipds/waf', { json: { name: 'base-rules' } })).status).toBe(400);
  expect((await call('POST', '/farms/db/ipds/dos', { json: { name: 'slow-down' } })).status).toBe(200);
  expect((await call('POST', '/farms/db/ipds/dos', { json: { name: 'slow-down' } })).status).toBe(400);
  expect((await call('POST', '/ipds/dos/slow-down/actions', { json: { action: 'start' } })).json).toMatchObject({
    params: { status: 'up' },
  });
  expect((await call('GET', '/farms/db')).json).toMatchObject({
    ipds: { dos: [{ name: 'slow-down', status: 'up' }], waf: [] },
  });
  expect((await call('GET', '/ipds/rbl/nope')).status).toBe(400);
  expect((await call('GET', '/ipds')).json).toMatchObject({
    params: [{ rule: 'waf' }, { rule: 'blacklist' }, { rule: 'dos', type: 'farm' }],
  });
});

it('asks for force before it lets a call restart the management server or the farms', async () => {
  const { call } = await givenSimulated(busyWorld(nowMs), { now });
  const first = await call('POST', '/system/global', { json: { proxy_new_generation: 'true' } });

  expect(first.status).toBe(400);
  expect(first.json).not.toHaveProperty('error');
  expect((await call('POST', '/system/http', { json: { port: 445 } })).status).toBe(400);
  expect((await call('POST', '/system/http', { json: { port: 445, force: 'true' } })).status).toBe(200);
  expect((await call('GET', '/system/http')).json).toMatchObject({ params: { ip: ['*'], port: ['445'] } });
});

it('answers a JSON call without a body with the list of parameters on an older release', async () => {
  const { call } = await givenSimulated(olderEnterpriseWorld(nowMs), { now });

  const answer = await call('POST', '/system/backup', { body: '', type: 'application/json' });

  expect(answer).toMatchObject({
    status: 400,
    json: { params: [{ name: 'name', options: ['non_blank', 'required'] }] },
  });
});

it('routes by rules and tables, and leaves its own rules alone', async () => {
  const { call } = await givenSimulated(busyWorld(nowMs), { now });
  const rule = { from: '10.20.0.0/24', table: 'table_eth1' };

  expect(await call('POST', '/routing/rules', { json: rule })).toMatchObject({
    status: 200,
    json: { params: { id: 1, type: 'user', not: 'false' } },
  });
  expect((await call('POST', '/routing/rules', { json: rule })).status).toBe(400);
  expect((await call('DELETE', '/routing/rules/7')).status).toBe(404);
  expect(
    (await call('POST', '/routing/tables/table_eth1/routes', { json: { to: '10.0.0.0/8', via: '10.20.0.1' } })).status,
  ).toBe(200);
  expect((await call('GET', '/routing/tables/table_eth1')).json).toMatchObject({
    params: [{ id: 1, to: '10.0.0.0/8' }],
  });
  expect((await call('GET', '/routing/tables')).json).toMatchObject({ params: ['main', 'table_eth0', 'table_eth1'] });
});

it('switches alerts once, masks the password of the mail account, and echoes it where it is set', async () => {
  const { call } = await givenSimulated(busyWorld(nowMs), { now });
  const enable = async () =>
    (await call('POST', '/system/notifications/alerts/backends/actions', { json: { action: 'enable' } })).status;

  expect([await enable(), await enable()]).toEqual([200, 400]);
  expect(
    (await call('POST', '/system/notifications/methods/email', { json: { password: 'p', server: 's' } })).json,
  ).toMatchObject({ params: { password: 'p' } });
  expect((await call('GET', '/system/notifications/methods/email')).json).toMatchObject({
    params: { password: '******', server: 's' },
  });
});
