import { expect, it } from 'vitest';
import { olderEnterpriseWorld } from '../../../simulator/scenes/older.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { emptyCommunityWorld } from '../../../simulator/scenes/sizes.ts';
import { givenSimulated, rootKey } from '../../support/simulated.ts';

it('takes the key in either header with underscore or hyphen, in any case', async () => {
  const { call } = await givenSimulated(recordedWorld());

  for (const name of ['API_KEY', 'ZAPI_KEY', 'API-KEY', 'zapi-key', 'Api_Key']) {
    expect({ name, status: (await call('GET', '/farms', { key: '', headers: { [name]: rootKey } })).status }).toEqual({
      name,
      status: 200,
    });
  }
});

it('knows only ZAPI_KEY on an older release', async () => {
  const { call } = await givenSimulated(olderEnterpriseWorld());

  expect((await call('GET', '/farms', { key: '', headers: { 'ZAPI-KEY': rootKey } })).status).toBe(200);
  expect((await call('GET', '/farms', { key: '', headers: { API_KEY: rootKey } })).status).toBe(401);
});

it('refuses a wrong key before it looks at the route, with a body of one key', async () => {
  const { call } = await givenSimulated(recordedWorld());

  expect(await call('GET', '/no/such/route', { key: 'wrong' })).toMatchObject({
    status: 401,
    json: { message: 'Authorization required' },
  });
  expect((await call('GET', '/stats?API_KEY=root-key', { key: '' })).status).toBe(401);
  expect((await call('GET', '/system/language', { key: '' })).status).toBe(200);
});

it('stops taking a key whose user is disabled, and takes the new one after a change', async () => {
  const { call } = await givenSimulated(recordedWorld());

  expect((await call('POST', '/system/users', { json: { api_key: 'next' } })).status).toBe(200);
  expect((await call('GET', '/farms')).status).toBe(401);
  expect((await call('POST', '/system/users', { key: 'next', json: { api_permissions: 'false' } })).status).toBe(200);
  expect((await call('GET', '/farms', { key: 'next' })).status).toBe(401);
});

it('compares content types as a whole and looks at them after the route', async () => {
  const { call } = await givenSimulated(emptyCommunityWorld());
  const body = '{"name":"x"}';

  expect((await call('POST', '/system/backup', { body, type: 'application/json; charset=utf-8' })).status).toBe(415);
  expect((await call('POST', '/system/backup', { body: '', type: 'application/json' })).status).toBe(415);
  expect((await call('POST', '/no/such/route', { body, type: 'image/png' })).status).toBe(404);
  expect((await call('POST', '/system/backup', { body: '{"name"', type: 'application/json' })).status).toBe(400);
  expect(await call('POST', '/system/backup', { body, type: 'text/plain' })).toMatchObject({
    status: 500,
    headers: { 'content-type': 'text/html' },
  });
  expect((await call('POST', '/system/backup', { body, type: 'application/json' })).status).toBe(200);
});

it('lists the parameters of a write that sends none, without an error key, once the object exists', async () => {
  const { call } = await givenSimulated(recordedWorld());

  const { status, json } = await call('PUT', '/farms/webshop/actions', { json: {} });

  expect(status).toBe(400);
  expect(json).toEqual({
    description: expect.any(String),
    message: expect.any(String),
    params: [{ name: 'action', options: ['non_blank', 'required'], possible_values: ['stop', 'start', 'restart'] }],
  });
  expect((await call('PUT', '/farms/nope/actions', { json: {} })).status).toBe(404);
});

it('takes a JSON true for the number one: fine for a number, no good for a flag', async () => {
  const { call, world } = await givenSimulated(recordedWorld());

  expect((await call('PUT', '/farms/webshop', { json: { contimeout: true } })).status).toBe(200);
  expect((await call('PUT', '/monitoring/fg/db-tcp', { json: { log: true } })).status).toBe(400);
  expect(world.farms.get('webshop')).toMatchObject({ settings: { contimeout: 1 } });
});

it('leaves what is not below its program to the web server', async () => {
  const { call } = await givenSimulated(recordedWorld());

  expect(await call('GET', '/', { base: '' })).toMatchObject({ status: 404, headers: { 'content-type': 'text/html' } });
  expect((await call('GET', '/farms', { base: '/zapi/v4.0/zapi.cgi' })).status).toBe(200);
  expect((await call('GET', '/farms//webshop')).status).toBe(404);
});

it('opens a session for a name and a password, and closes it', async () => {
  const { call } = await givenSimulated(recordedWorld());
  const login = await call('POST', '/session', {
    key: '',
    body: '',
    headers: { authorization: `Basic ${btoa('root:admin')}` },
  });
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';

  expect(login).toMatchObject({ status: 200, json: { host: 'noid-ce-01', user: 'root', version: '7.9.0' } });
  expect((await call('GET', '/farms', { key: '', headers: { cookie } })).status).toBe(200);
  expect(
    (
      await call('POST', '/session', {
        key: '',
        body: '',
        headers: { cookie, authorization: `Basic ${btoa('root:admin')}` },
      })
    ).status,
  ).toBe(401);
  expect((await call('DELETE', '/session', { key: '', headers: { cookie } })).status).toBe(200);
  expect((await call('GET', '/farms', { key: '', headers: { cookie } })).status).toBe(401);
  expect((await call('DELETE', '/session', { key: '' })).status).toBe(400);
});
