import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { type GatewayAnswer, givenGateway } from '../../support/given-gateway.ts';
import { until } from '../../support/until.ts';

const stop = { json: { action: 'stop' } };
const actions = '/appliances/lb-1/farms/shop/actions';

function recordsOf({ json }: GatewayAnswer): readonly Record<string, unknown>[] {
  return (json?.records ?? []) as readonly Record<string, unknown>[];
}

it('GET /whoami returns name, role and appliances of the caller', async () => {
  const { call } = await givenGateway({ 'lb-1': busyWorld() });

  expect((await call('GET', '/whoami', { as: 'operator' })).json).toEqual({
    principal: 'operator',
    role: 'operator',
    appliances: ['*'],
    expires: null,
    guards: 'refuse',
    person: 'operator',
    approver: false,
    self_approval: false,
    break_glass: false,
  });
});

it('GET /appliances lists the names, and after the first reading their edition and version', async () => {
  const worlds = { 'lb-b': busyWorld(), 'lb-a': recordedWorld() };
  const unknown = await givenGateway(worlds);
  const known = await givenGateway({ 'lb-b': busyWorld(), 'lb-a': recordedWorld() }, { polls: ['appliance'] });

  const before = await unknown.call('GET', '/appliances', { as: 'viewer' });
  const after = await until(
    async () => (await known.call('GET', '/appliances', { as: 'viewer' })).json,
    (json) => JSON.stringify(json).split('"version"').length === 3,
  );

  expect(before.json).toEqual({ appliances: [{ name: 'lb-b' }, { name: 'lb-a' }] });
  expect(after).toEqual({
    appliances: [
      { name: 'lb-b', edition: 'enterprise', version: '8.4.0' },
      { name: 'lb-a', edition: 'community', version: recordedWorld().productVersion },
    ],
  });
});

describe('GET /appliances/{name}/parameters', () => {
  it('requests the parameters of a permitted call from the appliance, and changes nothing', async () => {
    const { call, appliance, audit } = await givenGateway({ 'lb-1': busyWorld() });
    const before = JSON.stringify([...appliance.world.farms]);
    const path = '/appliances/lb-1/parameters?operation=actOnFarm&farmname=shop';

    const { json } = await call('GET', path, { as: 'operator' });
    const refused = await call('GET', path, { as: 'viewer' });

    expect(json).toEqual({
      operation: 'actOnFarm',
      route: 'PUT /farms/{farmname}/actions',
      description: 'start, stop or restart a farm',
      parameters: [
        {
          name: 'action',
          required: true,
          non_blank: true,
          possible_values: ['stop', 'start', 'restart'],
          list: false,
        },
      ],
    });
    expect(refused.json).toMatchObject({ status: 403, code: 'role_too_low' });
    expect(JSON.stringify([...appliance.world.farms])).toBe(before);
    const asked = (await audit()).filter(({ event }) => event === 'discovery');
    expect(asked).toMatchObject([{ operation: 'actOnFarm', principal: 'operator' }]);
  });

  it.each([
    ['an unknown operation', '?operation=nothing', 404, 'unknown_path'],
    ['an operation without a body', '?operation=listFarms', 404, 'unknown_path'],
    ['a missing name', '?operation=actOnFarm', 400, 'missing_parameter'],
    ['a name that leads elsewhere', '?operation=actOnFarm&farmname=..', 400, 'missing_parameter'],
    ['a token', '?operation=actOnFarm&farmname=shop&token=x', 400, 'token_in_url'],
  ])('is refused with %s, and sends nothing', async (_, query, status, code) => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('GET', `/appliances/lb-1/parameters${query}`);

    expect(answer.json).toMatchObject({ status, code, remedy: expect.stringMatching(/\w/) });
    expect(appliance.requests).toEqual([]);
  });
});

describe('GET /audit', () => {
  it('returns the newest lines first, filtered by principal, appliance, operation or event, up to the limit', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld(), 'lb-2': busyWorld() });
    await call('PUT', actions, { ...stop, as: 'operator' });
    await call('PUT', '/appliances/lb-2/farms/shop/actions', stop);
    await call('POST', '/appliances/lb-2/system/backup', { json: { name: 'x1' } });
    await call('DELETE', '/appliances/lb-1/farms/shop', { as: 'viewer' });
    const ask = async (query: string) => {
      return recordsOf(await call('GET', `/audit${query}`)).map(({ event, principal, appliance, operation }) =>
        [event, principal, appliance, operation].join(' '),
      );
    };
    const all = await ask('');

    expect(all).toEqual([
      'denied viewer lb-1 deleteFarm',
      'outcome admin lb-2 createBackup',
      'intent admin lb-2 createBackup',
      'outcome admin lb-2 actOnFarm',
      'intent admin lb-2 actOnFarm',
      'outcome operator lb-1 actOnFarm',
      'intent operator lb-1 actOnFarm',
      expect.stringMatching(/^started/),
    ]);
    expect(await ask('?limit=2')).toEqual(all.slice(0, 2));
    expect(await ask('?principal=operator')).toEqual(all.slice(5, 7));
    expect(await ask('?appliance=lb-2')).toEqual(all.slice(1, 5));
    expect(await ask('?operation=actOnFarm&event=outcome')).toEqual([all[3], all[5]]);
    expect(await ask('?principal=oper')).toEqual([]);
  });

  it('returns only lines within the scope of the token, and refuses a filter outside of it', async () => {
    const [ofA, noStop] = [makeToken().token, makeToken().token];
    const { call } = await givenGateway(
      { 'lb-a': busyWorld(), 'lb-b': busyWorld() },
      {
        tokens: [
          { token: ofA, name: 'of-a', role: 'admin', appliances: ['lb-a'] },
          { token: noStop, name: 'no-stop', role: 'admin', deny: ['actOnFarm'] },
        ],
      },
    );
    for (const name of ['lb-a', 'lb-b']) await call('PUT', `/appliances/${name}/farms/shop/actions`, stop);
    await call('PUT', '/freeze', { headers: { 'x-reason': 'secret plan' } });
    const ask = (token: string, query = '') => call('GET', `/audit${query}`, { as: token });

    const seen = recordsOf(await ask(ofA));

    expect(seen).toMatchObject(['outcome', 'intent'].map((event) => ({ event, appliance: 'lb-a' })));
    expect(recordsOf(await ask(ofA, '?limit=1'))).toEqual(seen.slice(0, 1));
    for (const other of ['lb-b', 'lb-nowhere'])
      expect((await ask(ofA, `?appliance=${other}`)).json).toMatchObject({ status: 403, code: 'appliance_denied' });
    expect((await ask(noStop, '?operation=actOnFarm')).json).toMatchObject({ status: 403, code: 'operation_denied' });
  });

  it('refuses a query that it does not understand, instead of returning nothing', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });
    const limits = ['0', '1001', '1e3', 'all', '', '%D9%A3', '5&limit=6'].map((limit) => `limit=${limit}`);

    for (const query of [...limits, 'principals=admin', 'principal=admin&principal=viewer', 'event=explosion']) {
      const answer = await call('GET', `/audit?${query}`);

      expect(answer.json, query).toMatchObject({ status: 400, code: 'malformed_request' });
    }
  });
});

it.each(['dry_run=true', 'x=1&X-Dry-Run=false', 'dryRun'])('a call with %s in its query is not made', async (query) => {
  const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });

  const refused = await call('PUT', `${actions}?${query}`, stop);
  const frozen = await call('PUT', `/freeze?${query}`, { headers: { 'x-reason': 'just looking' } });
  const plain = await call('PUT', `${actions}?dry=1`, stop);

  for (const { json } of [refused, frozen]) expect(json).toMatchObject({ status: 400, code: 'malformed_request' });
  expect(plain.status).toBe(200);
  expect(appliance.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
});

it('a dry run by the header of calls neither freezes, thaws nor changes anything', async () => {
  const { call, audit, appliance } = await givenGateway({ 'lb-1': busyWorld() });
  const headers = { 'x-dry-run': 'true', 'x-reason': 'just looking' };
  const change = { appliance: 'lb-1', recipe: 'backup', parameters: { name: 'dry' }, run: 'now', reason: 'a test' };

  const frozen = await call('PUT', '/freeze', { headers });
  const changed = await call('POST', '/changes', { headers, json: change });
  await call('PUT', '/freeze', { headers: { 'x-reason': 'in earnest' } });
  const lifted = await call('DELETE', '/freeze', { headers });
  const read = await call('GET', '/freeze', { headers });

  for (const { status, json } of [frozen, changed, lifted])
    expect({ status, json }).toMatchObject({
      status: 400,
      json: { code: 'malformed_request', remedy: expect.stringContaining('POST /changes the query dry_run=true') },
    });
  expect(read.json).toMatchObject({ frozen: true, reason: 'in earnest' });
  expect(appliance.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect((await audit()).map(({ event }) => event)).toEqual(['denied', 'denied', 'freeze', 'denied']);
});

it('the request metrics count the files of a page under its path', async () => {
  const { call, metrics } = await givenGateway({ 'lb-1': busyWorld() });

  for (const path of ['/console', '/console/console.js', '/console/page.css', '/docs/openapi.json', '/docs/docs.css'])
    await call('GET', path, { as: 'none' });
  const endpoints = [...(await metrics()).matchAll(/^zlb_admin_requests_total\{.*endpoint="([^"]*)".*\} (\d+)$/gm)];

  expect(endpoints.map(([, endpoint, count]) => [endpoint, count])).toEqual([
    ['/console', '3'],
    ['/docs', '2'],
  ]);
});

it('the change metrics count a change once it is sent, but neither its dry run nor a read', async () => {
  const { call, metrics } = await givenGateway({ 'lb-1': busyWorld() });

  await call('PUT', actions, { ...stop, headers: { 'x-dry-run': 'true' } });
  await call('GET', '/appliances/lb-1/farms');
  const before = await metrics();
  await call('PUT', actions, stop);
  const after = await metrics();

  const counted = /^zlb_admin_calls_total\{.*$/gm;
  expect(before.match(counted)).toBeNull();
  expect(after.match(counted)).toEqual([
    'zlb_admin_calls_total{appliance="lb-1",endpoint="/farms/{farmname}/actions",method="PUT",code="200"} 1',
  ]);
});

it('the request metrics use route templates, never paths', async () => {
  const { call, metrics } = await givenGateway({ 'lb-1': busyWorld() });

  await call('PUT', actions, stop);
  await call('GET', '/whoami');
  await call('GET', '/appliances/lb-1/nowhere/made-up-by-a-stranger');
  await call('GET', '/appliances/made-up-by-a-stranger/farms');
  await call('GET', '/made-up-by-a-stranger');
  await call('GET', '/docs/made-up-by-a-stranger', { as: 'none' });
  const page = await metrics();

  expect(page).toContain(
    'zlb_admin_requests_total{appliance="lb-1",endpoint="/farms/{farmname}/actions",method="PUT",code="200"} 1',
  );
  expect(page).toContain('zlb_admin_requests_total{appliance="",endpoint="/whoami",method="GET",code="200"} 1');
  expect(page).toContain('zlb_admin_requests_total{appliance="lb-1",endpoint="",method="GET",code="404"} 1');
  expect(page).not.toContain('stranger');
  expect(page).toMatch(/^zlb_admin_audit_records_total [5-9]$/m);
  expect(page).toMatch(/^zlb_admin_audit_last_write_timestamp_seconds \d{10}/m);
});
