import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { type GivenOptions, givenGateway, roles } from '../../support/given-gateway.ts';
import { endpointRows } from '../../../src/appliance/api/table.ts';
import { requestFor } from '../../support/operation-requests.ts';
import { startHttpsServer } from '../../support/tls-server.ts';
import { targetOf } from './given-target.ts';

/**
 * The gateway on a server that answers everything with 200, so that what arrives was let through
 * and nothing else.
 */
async function givenCounter(options: GivenOptions = {}) {
  const arrived: string[] = [];
  const server = await startHttpsServer((response, request) => {
    arrived.push(`${request.method} ${request.url?.replace('/api/v4.0/api.cgi', '')}`);
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"description":"","params":[]}');
    });
  });
  return { arrived, ...(await givenGateway({}, { target: targetOf(server), ...options })) };
}

/** An operation of each risk, verb and kind of body: the unit tests have the risk of all. */
const sample = [
  ...new Map(
    endpointRows.map(([key, row]) => [`${row.risk} ${row.route.split(' ')[0]} ${row.body}`, [key, row] as const]),
  ).values(),
];

describe('each role and each kind of operation', () => {
  // Written down here a second time, and by hand: the policy itself must not be what it is compared
  // with.
  const mayDo = {
    viewer: ['read'],
    operator: ['read', 'reversible'],
    admin: ['read', 'secret', 'reversible', 'disruptive', 'destructive'],
  } as const;

  it('follow the matrix: permitted calls arrive, and refused ones do not', async () => {
    const { call, arrived, audit } = await givenCounter();
    let refused = 0;

    for (const role of roles) {
      for (const [key, row] of sample) {
        const { method, path, request } = requestFor(row);
        arrived.length = 0;

        const answer = await call(method, `/appliances/lb-1${path}`, { ...request, as: role });

        const sent = arrived.includes(`${method} ${path}`);
        if ((mayDo[role] as readonly string[]).includes(row.risk)) {
          expect({ key, role, status: answer.status, sent }).toEqual({ key, role, status: 200, sent: true });
        } else {
          expect(answer.json, `${role} ${key}`).toMatchObject({ status: 403, code: 'role_too_low' });
          expect(arrived, `${role} ${key}`).toEqual([]);
          refused += 1;
        }
      }
    }

    const denied = (await audit()).filter(({ event, code }) => event === 'denied' && code === 'role_too_low');
    expect(refused).toBeGreaterThan(10);
    expect(denied).toHaveLength(refused);
  });
});

describe('the lists of a token', () => {
  it('also hold for what a call would take, which the appliance is not asked then', async () => {
    const { token } = makeToken();
    const { call, arrived } = await givenCounter({ tokens: [{ token, name: 'listed', deny: ['actOnFarm'] }] });

    const answer = await call('GET', '/appliances/lb-1/parameters?operation=actOnFarm&farmname=shop', { as: token });

    expect(answer.json).toMatchObject({ status: 403, code: 'operation_denied' });
    expect(arrived).toEqual([]);
  });
});

describe('the appliances of a token', () => {
  it('hide all others: a name outside answers the same whether or not there is one', async () => {
    const { token } = makeToken();
    const worlds = { 'lb-paris': busyWorld(), 'lb-rome': busyWorld(), 'db-paris': busyWorld() };
    const { call, appliances } = await givenGateway(worlds, {
      tokens: [{ token, name: 'paris', appliances: ['lb-p*'] }],
    });

    const inside = await call('GET', '/appliances/lb-paris/farms/shop/status', { as: token });
    const insideUnknown = await call('GET', '/appliances/lb-porto/farms/shop/status', { as: token });
    const outside = await call('GET', '/appliances/lb-rome/farms/shop/status', { as: token });
    const outsideUnknown = await call('GET', '/appliances/lb-oslo/farms/shop/status', { as: token });
    const list = await call('GET', '/appliances', { as: token });

    expect(inside.status).toBe(200);
    expect(insideUnknown.json).toMatchObject({ status: 404, code: 'unknown_appliance' });
    expect(outside.json).toMatchObject({ status: 403, code: 'appliance_denied' });
    expect(outsideUnknown.json).toEqual({ ...outside.json, request_id: expect.any(String) });
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

  it('let an existing client work under the paths of the appliance only where there is exactly one', async () => {
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

describe('the expiry of a token', () => {
  it('ends it at that moment, and the audit names its owner', async () => {
    const { token } = makeToken();
    const expiresAtMs = Date.parse('2027-01-01T00:00:00Z');
    const clock = { ms: expiresAtMs - 1 };
    const { call, appliance, audit } = await givenGateway(
      { 'lb-1': busyWorld() },
      { tokens: [{ token, name: 'contractor', expiresAtMs }], now: () => clock.ms },
    );

    const before = await call('PUT', '/appliances/lb-1/farms/shop/actions', { as: token, json: { action: 'stop' } });
    const sent = appliance.requests.length;
    clock.ms = expiresAtMs;
    const after = await call('PUT', '/appliances/lb-1/farms/shop/actions', { as: token, json: { action: 'start' } });

    expect(before.status).toBe(200);
    expect(after.json).toMatchObject({ status: 401, code: 'token_expired', remedy: expect.stringMatching(/token/) });
    expect(after.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(appliance.requests).toHaveLength(sent);
    expect((await audit()).at(-1)).toMatchObject({
      event: 'denied',
      principal: 'contractor',
      code: 'token_expired',
      path: '/appliances/lb-1/farms/shop/actions',
    });
  });
});

describe('the freeze', () => {
  it('refuses each kind of operation that is not a read, for the admin too, and lets reads pass', async () => {
    const { call, arrived } = await givenCounter();
    await call('PUT', '/freeze', { headers: { 'x-reason': 'incident 4711' } });

    for (const [key, row] of sample) {
      const { method, path, request } = requestFor(row);
      arrived.length = 0;

      const answer = await call(method, `/appliances/lb-1${path}`, request);

      if (method === 'GET') expect({ key, status: answer.status }).toEqual({ key, status: 200 });
      else
        expect(answer.json, key).toMatchObject({
          status: 423,
          code: 'frozen',
          detail: expect.stringContaining('incident 4711'),
        });
      expect(arrived.length, key).toBe(method === 'GET' ? 1 : 0);
    }
  });

  it('needs a reason and the role admin, and the metrics show it', async () => {
    const { call, metrics, appliance } = await givenGateway({ 'lb-1': busyWorld() });

    const reasonless = await call('PUT', '/freeze');
    const blank = await call('PUT', '/freeze', { headers: { 'x-reason': '  ' } });
    const byViewer = await call('PUT', '/freeze', { as: 'viewer', headers: { 'x-reason': 'why not' } });
    const byOperator = await call('PUT', '/freeze', { as: 'operator', headers: { 'x-reason': 'why not' } });
    const unfrozen = await metrics();
    await call('PUT', '/freeze', { headers: { 'x-reason': 'incident' } });
    const thawByOperator = await call('DELETE', '/freeze', { as: 'operator' });
    const frozen = await metrics();

    for (const answer of [reasonless, blank])
      expect(answer.json).toMatchObject({ status: 400, code: 'reason_required' });
    for (const answer of [byViewer, byOperator, thawByOperator])
      expect(answer.json).toMatchObject({ status: 403, code: 'role_too_low' });
    expect(unfrozen).toContain('\nzlb_admin_frozen 0\n');
    expect(frozen).toContain('\nzlb_admin_frozen 1\n');
    expect(appliance.requests).toEqual([]);
  });
});
