import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import type { HttpFarm, L4Farm } from '../../../simulator/world-farms.ts';
import type { World } from '../../../simulator/world.ts';
import { type Caller, givenSimulated } from '../../support/simulated.ts';

const act = async (call: Caller, farm: string, action: string) =>
  (await call('PUT', `/farms/${farm}/actions`, { json: { action } })).status;
const statusOf = async (call: Caller, farm: string) =>
  ((await call('GET', `/farms/${farm}/status`)).json as { params: { status: unknown } }).params.status;

it('derives the status word from the run state, the pending change and the backends, in this order', async () => {
  const { call, world } = await givenSimulated(recordedWorld());
  const shop = http(world, 'webshop');
  const backends = shop.services.flatMap((service) => service.backends);

  for (const backend of backends) backend.status = 'up';
  expect(await statusOf(call, 'webshop')).toBe('up');
  Object.assign(backends[0] ?? {}, { status: 'maintenance' });
  expect(await statusOf(call, 'webshop')).toBe('maintenance');
  Object.assign(backends[1] ?? {}, { status: 'down' });
  expect(await statusOf(call, 'webshop')).toBe('problem');
  for (const backend of backends) backend.status = 'down';
  expect(await statusOf(call, 'webshop')).toBe('critical');
  shop.needsRestart = true;
  expect(await statusOf(call, 'webshop')).toBe('needed restart');
  shop.running = false;
  expect(await statusOf(call, 'webshop')).toBe('down');
  shop.runState = 'unreadable';
  expect(await statusOf(call, 'webshop')).toBe(-1);
});

it('lists the backends of a stopped farm as up, and has no statistics of them', async () => {
  const { call } = await givenSimulated(recordedWorld());

  expect((await call('GET', '/farms/oldportal')).json).toMatchObject({ services: [{ backends: [{ status: 'up' }] }] });
  expect((await call('GET', '/stats/farms/oldportal')).json).toMatchObject({ backends: [], sessions: [] });
});

it('refuses to start a farm with a pending change, and leaves it stopped when a restart fails', async () => {
  const { call, world } = await givenSimulated(recordedWorld());

  expect(await act(call, 'empty', 'start')).toBe(400);
  world.interfaces.delete('eth0:web');
  expect(await act(call, 'empty', 'restart')).toBe(400);

  expect(await statusOf(call, 'empty')).toBe('down');
});

it('refuses every action on a farm whose configuration is broken, stop included', async () => {
  const { call, world } = await givenSimulated(recordedWorld());
  http(world, 'webshop').configError = 'A line is wrong.';

  for (const action of ['start', 'stop', 'restart']) expect(await act(call, 'webshop', action)).toBe(400);

  expect(await statusOf(call, 'webshop')).toBe('problem');
});

it('takes no farm up on an address and port that another one serves', async () => {
  const { call } = await givenSimulated(recordedWorld());
  const json = { farmname: 'second', profile: 'http', vip: '192.168.101.21', vport: 80 };

  expect((await call('POST', '/farms', { json })).status).toBe(201);
  expect(await statusOf(call, 'second')).toBe('down');
  expect(await act(call, 'second', 'start')).toBe(400);
  expect(await act(call, 'webshop', 'stop')).toBe(200);
  expect(await act(call, 'second', 'start')).toBe(200);
});

it('stops a farm idempotently, and keeps a maintenance across a restart', async () => {
  const { call } = await givenSimulated(recordedWorld());

  expect([
    await act(call, 'dns-udp', 'stop'),
    await act(call, 'dns-udp', 'stop'),
    await act(call, 'dns-udp', 'start'),
  ]).toEqual([200, 200, 200]);
  expect(await statusOf(call, 'dns-udp')).toBe('maintenance');
});

it('puts a backend in maintenance and back, and cuts its sessions when asked to', async () => {
  const { call, world } = await givenSimulated(recordedWorld());
  const path = '/farms/webshop/services/frontend/backends/0/maintenance';

  expect((await call('PUT', path, { json: { action: 'up', mode: 'cut' } })).status).toBe(400);
  expect(await call('PUT', path, { json: { action: 'maintenance', mode: 'cut' } })).toMatchObject({
    status: 200,
    json: { params: { action: 'maintenance', farm: { status: 'problem' }, message: expect.any(String) } },
  });
  expect(http(world, 'webshop').services[0]).toMatchObject({
    sessions: [],
    backends: [{ status: 'maintenance' }, { status: 'up' }],
  });
  expect((await call('PUT', path, { json: { action: 'up' } })).status).toBe(200);
  expect(await statusOf(call, 'webshop')).toBe('problem');
});

it('crashes on maintenance of a stopped HTTP farm, refuses it while a restart is pending, and accepts an id one past the end', async () => {
  const { call, world } = await givenSimulated(recordedWorld());
  const maintenance = async (farm: string, service: string, id: number) =>
    (
      await call('PUT', `/farms/${farm}/services/${service}/backends/${id}/maintenance`, {
        json: { action: 'maintenance' },
      })
    ).status;

  expect(await maintenance('oldportal', 'main', 0)).toBe(500);
  expect(await maintenance('webshop', 'api', 2)).toBe(200);
  expect(await maintenance('webshop', 'api', 3)).toBe(404);
  http(world, 'webshop').needsRestart = true;
  expect(await maintenance('webshop', 'api', 0)).toBe(400);
});

it('deletes the backends of a service that gets a redirect', async () => {
  const { call, world } = await givenSimulated(recordedWorld());

  await call('PUT', '/farms/webshop/services/api', { json: { redirect: 'https://www.example.com/' } });

  expect(http(world, 'webshop').services[1]).toMatchObject({ backends: [], redirecttype: 'default' });
  expect(await statusOf(call, 'webshop')).toBe('needed restart');
});

it('moves the ids of HTTP backends up after a deletion, and leaves those of an L4xNAT farm', async () => {
  const { call, world } = await givenSimulated(recordedWorld());

  await call('DELETE', '/farms/webshop/services/frontend/backends/0');
  await call('DELETE', '/farms/db-l4/backends/1');

  expect(http(world, 'webshop').services[0]?.backends.map(({ id }) => id)).toEqual([0]);
  expect(l4(world, 'db-l4').backends.map(({ id }) => id)).toEqual([0, 2, 3]);
});

it('changes an L4xNAT farm while it runs, says what has been removed, and forces protocol and ports on each other', async () => {
  const { call, world } = await givenSimulated(recordedWorld());

  expect((await call('PUT', '/farms/db-l4', { json: { algorithm: 'prio' } })).status).toBe(410);
  expect((await call('PUT', '/farms/db-l4', { json: { protocol: 'irc' } })).status).toBe(410);
  expect(await call('PUT', '/farms/db-l4', { json: { algorithm: 'leastconn', ttl: '90' } })).toMatchObject({
    status: 200,
    json: { params: { algorithm: 'leastconn', ttl: '90' } },
  });
  await call('PUT', '/farms/multi-l4', { json: { vport: '*' } });

  expect(l4(world, 'db-l4')).toMatchObject({ algorithm: 'leastconn', ttl: 90, needsRestart: false });
  expect(l4(world, 'multi-l4').protocol).toBe('all');
});

it('links a health check once, refuses to delete it while it runs, and brings backends back when it goes', async () => {
  const { call, world } = await givenSimulated(recordedWorld());

  expect((await call('POST', '/farms/db-l4/fg', { json: { name: 'check_tcp' } })).status).toBe(400);
  expect((await call('DELETE', '/monitoring/fg/db-tcp')).status).toBe(400);
  expect((await call('DELETE', '/farms/db-l4/fg/db-tcp')).json).toMatchObject({ status: 'up' });
  expect((await call('DELETE', '/monitoring/fg/db-tcp')).status).toBe(200);
  expect(l4(world, 'db-l4')).toMatchObject({ farmguardian: null, backends: [{}, {}, {}, { status: 'up' }] });
  expect((await call('GET', '/farms/db-l4')).json).toMatchObject({ params: { farmguardian: null } });
});

it('keeps static sessions of an L4xNAT farm and gives none of the dynamic ones away to a deletion', async () => {
  const { call } = await givenSimulated(busyWorld());

  expect((await call('POST', '/farms/db/sessions', { json: { id: 0, session: '203.0.113.77' } })).status).toBe(201);
  expect((await call('GET', '/farms/db/sessions')).json).toMatchObject({
    params: [{ type: 'dynamic', ttl: '1m20s112ms' }, { type: 'static', ttl: null }, { session: '203.0.113.77' }],
  });
  expect((await call('DELETE', '/farms/db/sessions/203.0.113.9')).status).toBe(400);
  expect((await call('DELETE', '/farms/db/sessions/203.0.113.77')).status).toBe(200);
});

it('copies, renames and deletes a farm', async () => {
  const { call, world } = await givenSimulated(recordedWorld());

  expect(
    (
      await call('POST', '/farms', {
        json: { farmname: 'copy', copy_from: 'webshop', vip: '192.168.101.21', vport: '8090' },
      })
    ).status,
  ).toBe(201);
  expect(http(world, 'copy').services.map(({ id }) => id)).toEqual(['frontend', 'api']);
  expect((await call('PUT', '/farms/copy', { json: { newfarmname: 'other' } })).status).toBe(400);
  await act(call, 'copy', 'stop');
  expect((await call('PUT', '/farms/copy', { json: { newfarmname: 'other' } })).status).toBe(200);
  expect((await call('DELETE', '/farms/other')).status).toBe(200);
  expect((await call('GET', '/farms/other')).status).toBe(404);
});

function http(world: World, name: string): HttpFarm {
  const farm = world.farms.get(name);
  if (farm?.profile !== 'http') throw new Error(`no HTTP farm ${name}`);
  return farm;
}

function l4(world: World, name: string): L4Farm {
  const farm = world.farms.get(name);
  if (farm?.profile !== 'l4xnat') throw new Error(`no L4xNAT farm ${name}`);
  return farm;
}
