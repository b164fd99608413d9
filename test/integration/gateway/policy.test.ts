import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';

describe('the appliances of a token', () => {
  it('hide all others: a name outside the scope gets the same response whether or not it exists', async () => {
    const { token } = makeToken();
    const worlds = { 'lb-paris': busyWorld(), 'lb-rome': busyWorld(), 'db-paris': busyWorld() };
    const { call, appliances } = await givenGateway(worlds, {
      tokens: [{ token, name: 'paris', appliances: ['lb-p*'] }],
    });

    const inside = await call('GET', '/appliances/lb-paris/farms/shop/status', { as: token });
    const insideUnknown = await call('GET', '/appliances/lb-porto/farms/shop/status', { as: token });
    const outside = await call('GET', '/appliances/lb-rome/farms/shop/status', { as: token });
    const outsideUnknown = await call('GET', '/appliances/lb-oslo/farms/shop/status', { as: token });
    const outsidePath = await call('GET', '/appliances/lb-rome/no/such/path', { as: token });
    const list = await call('GET', '/appliances', { as: token });

    expect(inside.status).toBe(200);
    expect(insideUnknown.json).toMatchObject({ status: 404, code: 'unknown_appliance' });
    expect(outside.json).toMatchObject({ status: 403, code: 'appliance_denied' });
    for (const other of [outsideUnknown, outsidePath])
      expect(other.json).toEqual({ ...outside.json, request_id: expect.any(String) });
    expect(list.json?.appliances).toEqual([expect.objectContaining({ name: 'lb-paris' })]);
    expect(appliances.get('lb-rome')?.requests).toEqual([]);
  });

  it('are compared with the decoded name', async () => {
    const { token } = makeToken();
    const worlds = { 'lb-paris': busyWorld(), 'lb-rome': busyWorld() };
    const { call, appliances } = await givenGateway(worlds, {
      tokens: [{ token, name: 'paris', appliances: ['lb-p*'] }],
    });

    for (const spelling of ['lb%2Drome', '%6c%62-rome', 'lb-rome%00', 'lb-paris%2F..%2Flb-rome', 'lb-p*', 'LB-PARIS']) {
      const answer = await call('GET', `/appliances/${spelling}/farms`, { as: token });

      expect(answer.status, spelling).toBeGreaterThanOrEqual(400);
    }
    const encoded = await call('GET', '/appliances/%6cb%2Dparis/farms', { as: token });

    expect(encoded.status).toBe(200);
    expect(appliances.get('lb-rome')?.requests).toEqual([]);
  });

  it('let an existing client use the appliance paths only when there is exactly one appliance', async () => {
    const [one, both, none] = [makeToken().token, makeToken().token, makeToken().token];
    const worlds = { 'lb-paris': busyWorld(), 'lb-rome': busyWorld() };
    const { call, appliances } = await givenGateway(worlds, {
      tokens: [
        { token: one, name: 'one', appliances: ['lb-rome', 'lb-oslo'] },
        { token: both, name: 'both', appliances: ['lb-*'] },
        { token: none, name: 'none', appliances: ['lb-oslo'] },
      ],
    });

    for (const base of ['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi']) {
      for (const header of ['ZAPI_KEY', 'API_KEY', 'ZAPI-KEY', 'API-KEY']) {
        const allowed = await call('GET', `${base}/farms/shop/status`, { as: 'none', headers: { [header]: one } });
        const ambiguous = await call('GET', `${base}/farms/shop/status`, { as: 'none', headers: { [header]: both } });
        const nowhere = await call('GET', `${base}/farms/shop/status`, { as: 'none', headers: { [header]: none } });

        expect(allowed.json, header).toMatchObject({ params: { status: 'problem' } });
        // Such a client shows its user the fields of the appliance's own errors.
        for (const answer of [ambiguous, nowhere])
          expect(answer.json, header).toMatchObject({
            status: 404,
            code: 'appliance_not_named',
            error: 'true',
            message: expect.stringContaining('names no appliance'),
          });
      }
    }
    expect(appliances.get('lb-paris')?.requests).toEqual([]);
    const arrived = appliances.get('lb-rome')?.requests.filter(({ path }) => path === '/farms/shop/status');
    expect(arrived).toHaveLength(8);
  });
});

it('the freeze needs a reason and the role admin, stops changes but not reads, and shows in the metrics', async () => {
  const { call, metrics, appliance } = await givenGateway({ 'lb-1': busyWorld() });

  const reasonless = await call('PUT', '/freeze');
  const blank = await call('PUT', '/freeze', { headers: { 'x-reason': '  ' } });
  const byViewer = await call('PUT', '/freeze', { as: 'viewer', headers: { 'x-reason': 'why not' } });
  const byOperator = await call('PUT', '/freeze', { as: 'operator', headers: { 'x-reason': 'why not' } });
  const unfrozen = await metrics();
  await call('PUT', '/freeze', { headers: { 'x-reason': 'incident 4711' } });
  const read = await call('GET', '/appliances/lb-1/certificates/shop_example_com.pem');
  const change = await call('PUT', '/appliances/lb-1/farms/shop/actions', { json: { action: 'stop' } });
  const unfreezeByOperator = await call('DELETE', '/freeze', { as: 'operator' });
  const frozen = await metrics();

  for (const answer of [reasonless, blank]) expect(answer.json).toMatchObject({ status: 400, code: 'reason_required' });
  for (const answer of [byViewer, byOperator, unfreezeByOperator])
    expect(answer.json).toMatchObject({ status: 403, code: 'role_too_low' });
  expect(unfrozen).toContain('\nzlb_admin_frozen 0\n');
  expect(frozen).toContain('\nzlb_admin_frozen 1\n');
  expect(read.status).toBe(200);
  expect(change.json).toMatchObject({
    status: 423,
    code: 'frozen',
    detail: expect.stringContaining('incident 4711'),
  });
  expect(appliance.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});
