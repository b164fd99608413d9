import { expect, it } from 'vitest';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { parseRoute } from '../../../src/appliance/route.ts';
import { handlers } from '../../../simulator/handlers.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { healthyPair } from '../../../simulator/scenes/cluster.ts';
import { olderEnterpriseWorld } from '../../../simulator/scenes/older.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { createWorld } from '../../../simulator/world-creation.ts';
import { givenSimulated } from '../../support/simulated.ts';

it('prints compact JSON with sorted keys on the newest release, indented on an older one', async () => {
  const newest = await givenSimulated(recordedWorld());
  const older = await givenSimulated(olderEnterpriseWorld());

  expect((await newest.call('GET', '/farms/webshop/status')).text).toMatch(
    /^\{"description":"[^"]+","params":\{"status":"problem"\}\}$/,
  );
  expect((await older.call('GET', '/farms/site/status')).text).toMatch(
    /^\{\n {3}"description" : "[^"]+",\n {3}"params" : \{\n {6}"status" : "up"\n {3}\}\n\}\n$/,
  );
});

it.each(['', '0'])('takes the JSON body %j for no parameters on an older release alone', async (body) => {
  const newest = await givenSimulated(recordedWorld());
  const older = await givenSimulated(olderEnterpriseWorld());
  const content = { type: 'application/json', body };

  expect((await newest.call('POST', '/farms', content)).status).toBe(415);
  expect(await older.call('POST', '/farms', content)).toMatchObject({
    status: 400,
    json: { params: expect.arrayContaining([expect.objectContaining({ name: 'vip' })]) as unknown },
  });
});

it('names its version by the product line', async () => {
  const newest = await givenSimulated(recordedWorld());
  const older = await givenSimulated(olderEnterpriseWorld());
  const skudonet = await givenSimulated(
    createWorld({ release: 'older', product: 'skudonet', productVersion: '7.0.0' }),
  );

  expect((await newest.call('GET', '/system/version')).json).toMatchObject({
    params: { relianoid_version: '7.9.0', zevenet_version: '7.9.0' },
  });
  expect((await older.call('GET', '/system/version')).json).toMatchObject({ params: { zevenet_version: '6.2.1' } });
  expect((await skudonet.call('GET', '/system/info')).json).toMatchObject({
    params: { skudonet_version: '7.0.0', edition: 'community' },
  });
});

it('types ids and ports by the release, and counts sessions only from 4.0.2', async () => {
  const newest = await givenSimulated(recordedWorld());
  const older = await givenSimulated(olderEnterpriseWorld());

  expect((await newest.call('GET', '/stats/farms/webshop')).json).toMatchObject({
    backends: [{ id: '0' }, {}, {}, {}],
    total_sessions: 1,
  });
  const site = (await older.call('GET', '/stats/farms/site')).json;
  expect(site).toMatchObject({ backends: [{ id: 0 }] });
  expect(site).not.toHaveProperty('total_sessions');
  expect((await newest.call('GET', '/farms/db-l4')).json).toMatchObject({ backends: [{ port: 5432 }, {}, {}, {}] });
  expect((await older.call('GET', '/farms/mail')).json).toMatchObject({ backends: [{ port: '25' }] });
});

it('lists datalink farms without counters on an older release and has no statistics of them', async () => {
  const { call } = await givenSimulated(olderEnterpriseWorld());

  const { farms } = (await call('GET', '/stats/farms')).json as { farms: { farmname: string }[] };

  expect(farms.find(({ farmname }) => farmname === 'uplinks')).toMatchObject({
    profile: 'datalink',
    vport: 'eth0',
    established: null,
    pending: null,
  });
  expect((await call('GET', '/stats/farms/uplinks')).status).toBe(404);
});

it('turns the objects of GSLB statistics into empty lists while the farm stands, and knows no backend state then', async () => {
  const older = await givenSimulated(olderEnterpriseWorld());
  const busy = await givenSimulated(busyWorld());

  expect((await older.call('GET', '/stats/farms/geo')).json).toMatchObject({
    backends: [],
    client: [],
    server: [],
    extended: [],
  });
  expect((await busy.call('GET', '/stats/farms/geo')).json).toMatchObject({
    backends: [
      { id: 1, status: 'up' },
      { id: 2, status: 'down' },
    ],
    client: { reqs: 9_120 },
  });
});

it('leaves the status of virtual interfaces empty in the common list of the newest Community release alone', async () => {
  const community = await givenSimulated(recordedWorld());
  const enterprise = await givenSimulated(busyWorld());
  const statuses = (json: unknown) =>
    (json as { interfaces: { type: string; status: string }[] }).interfaces
      .filter(({ type }) => type === 'virtual')
      .map(({ status }) => status);

  expect(statuses((await community.call('GET', '/interfaces')).json)).toEqual(['', '']);
  expect(statuses((await enterprise.call('GET', '/interfaces')).json)).toEqual(['down', 'up']);
});

it('shows a farm in every state on the busy appliance', async () => {
  const { call } = await givenSimulated(busyWorld());

  const { params } = (await call('GET', '/farms')).json as { params: { status: string }[] };

  expect(new Set(params.map(({ status }) => status))).toEqual(
    new Set(['problem', 'maintenance', 'critical', 'down', 'needed restart', 'up']),
  );
});

it('tells master from backup in the healthy pair', async () => {
  const [first, second] = healthyPair();
  const nodes = [await givenSimulated(first), await givenSimulated(second)];

  const roles = [];
  for (const { call } of nodes) roles.push((await call('GET', '/system/cluster/nodes/localhost')).json);

  expect(roles).toMatchObject([
    { params: { role: 'master', status: 'ok', name: 'lb-paris-1' } },
    { params: { role: 'backup', status: 'ok', name: 'lb-paris-2' } },
  ]);
});

it('has handlers for routes of the table alone', () => {
  const routes = new Set<string>(Object.values(endpoints).map(({ route }) => route));

  expect(Object.keys(handlers).filter((route) => !routes.has(route))).toEqual([]);
});

it('answers every route of the table on an Enterprise appliance with something else than "no such route"', async () => {
  const { call, world } = await givenSimulated(busyWorld());
  const { installed } = world.activation;
  const missing: string[] = [];
  for (const { route, body } of Object.values(endpoints)) {
    const { method, template } = parseRoute(route);
    const path = template.replaceAll(/\{[^}]+\}/g, '1');
    const content =
      method === 'POST' || method === 'PUT'
        ? { body: '{"a":"b"}', type: body === 'pem' || body === 'text' ? 'text/plain' : 'application/json' }
        : {};
    // One of the routes removes the licence.
    world.activation.installed = installed;
    const answer = await call(method, path, content);
    if ([402, 403, 415].includes(answer.status)) missing.push(`${route} answers ${answer.status}`);
    if (answer.text.includes('Request not found')) missing.push(route);
  }
  expect(missing.sort()).toEqual(['GET /stats/farms/modules', 'GET /stats/farms/total']);
});
