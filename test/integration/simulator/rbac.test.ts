import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { deactivatedWorld } from '../../../simulator/scenes/expiring.ts';
import { givenSimulated } from '../../support/simulated.ts';

const watcher = { key: 'watcherkey' };
const shopkeeper = { key: 'shopkeeperkey' };

it('lets a user with an empty role in a group of all farms read what an exporter polls', async () => {
  const { call } = await givenSimulated(busyWorld());
  const paths = [
    '/stats',
    '/stats/farms',
    '/stats/farms/shop',
    '/farms',
    '/farms/shop',
    '/farms/modules/summary',
    '/certificates',
    '/monitoring/fg',
  ];
  const more = [
    '/system/info',
    '/system/version',
    '/system/packages',
    '/system/backup',
    '/interfaces',
    '/ids',
    '/ipds',
    '/vpns',
    '/certificates/activation/info',
  ];

  for (const path of [...paths, ...more]) {
    expect({ path, status: (await call('GET', path, watcher)).status }).toEqual({ path, status: 200 });
  }
});

it('keeps root-only calls, private keys and writes from such a user, with the error body of the API', async () => {
  const { call } = await givenSimulated(busyWorld());

  expect(await call('GET', '/certificates/activation', watcher)).toMatchObject({
    status: 403,
    json: { error: 'true', message: expect.stringContaining('root') },
  });
  expect((await call('GET', '/certificates/intranet.pem', watcher)).status).toBe(403);
  expect((await call('PUT', '/farms/shop/actions', { ...watcher, json: { action: 'stop' } })).status).toBe(403);
  expect((await call('GET', '/system/logs', watcher)).status).toBe(403);
});

it('shows a user the farms of the group in lists, refuses the others, and still serves their statistics', async () => {
  const { call } = await givenSimulated(busyWorld());

  expect((await call('GET', '/farms', shopkeeper)).json).toMatchObject({ params: [{ farmname: 'shop' }] });
  expect((await call('GET', '/farms/shop', shopkeeper)).status).toBe(200);
  expect((await call('GET', '/farms/db', shopkeeper)).status).toBe(403);
  expect((await call('GET', '/stats/farms/db', shopkeeper)).status).toBe(200);
  expect((await call('PUT', '/farms/db/actions', { ...shopkeeper, json: { action: 'stop' } })).status).toBe(403);
});

it('lets the role of a group act on its own farm', async () => {
  const { call } = await givenSimulated(busyWorld());
  const drain = { action: 'maintenance', mode: 'drain' };

  expect(
    (await call('PUT', '/farms/shop/services/front/backends/0/maintenance', { ...shopkeeper, json: drain })).status,
  ).toBe(200);
  expect((await call('DELETE', '/farms/shop', shopkeeper)).status).toBe(403);
});

it('checks the role before the licence', async () => {
  const world = deactivatedWorld();
  world.users.set('watcher', { name: 'watcher', key: 'watcherkey', enabled: true, password: '' });
  const { call } = await givenSimulated(world);

  expect((await call('POST', '/farms', { ...watcher, json: {} })).status).toBe(403);
  expect((await call('GET', '/farms', watcher)).status).toBe(402);
});

it('gives a user more farms with the group', async () => {
  const { call } = await givenSimulated(busyWorld());

  expect((await call('POST', '/rbac/groups/shopkeepers/farms', { json: { name: 'db' } })).status).toBe(200);
  expect((await call('GET', '/farms/db', shopkeeper)).status).toBe(200);
  expect((await call('DELETE', '/rbac/groups/shopkeepers/users/shopkeeper')).status).toBe(200);
  expect((await call('GET', '/farms/db', shopkeeper)).status).toBe(403);
});
