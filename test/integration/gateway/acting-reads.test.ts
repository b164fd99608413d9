import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway, type roles } from '../../support/given-gateway.ts';
import { givenApprovals } from '../changes/given-approvals.ts';

/** An appliance with the HTTP farm `shop` and the L4 farm `db`. */
async function given() {
  const gateway = await givenGateway({ 'lb-1': busyWorld() });
  return {
    ...gateway,
    read: (path: string, as: (typeof roles)[number], headers = {}) =>
      gateway.call('GET', `/appliances/lb-1${path}`, { as, headers }),
    routes: () => gateway.appliance.requests.map(({ route }) => route),
  };
}

const paths = (farm: string) => [`/farms/${farm}`, `/farms/${farm}/summary`, `/stats/farms/${farm}`];

describe('a read that acts on L4 farms', () => {
  it('is a plain read for a viewer when the farm is an HTTP farm, or does not exist', async () => {
    const { read } = await given();

    for (const path of paths('shop')) expect((await read(path, 'viewer')).status, path).toBe(200);
    expect((await read('/farms/nope', 'viewer')).status).toBe(404);
  });

  it('needs the right to change for an L4 farm, and is not sent for a viewer', async () => {
    const { read, routes } = await given();

    for (const path of paths('db')) {
      const refused = await read(path, 'viewer');
      expect(refused.json, path).toMatchObject({
        code: 'role_too_low',
        detail: expect.stringContaining('starts the daemon'),
      });
    }
    expect(new Set(routes().filter((route) => route !== 'GET /system/version'))).toEqual(
      new Set(['GET /farms/modules/summary']),
    );
    for (const path of paths('db')) expect((await read(path, 'operator')).status, path).toBe(200);
  });

  it('needs the right to change for every farm when the appliance does not tell which are L4 farms', async () => {
    const { appliance, read } = await given();
    appliance.fail('GET /farms/modules/summary', {
      kind: 'status',
      status: 403,
      body: { error: 'true', message: 'No.' },
    });

    expect((await read('/farms/shop', 'viewer')).json).toMatchObject({ code: 'role_too_low' });
    expect((await read('/farms/shop', 'operator')).status).toBe(200);
  });

  it('is refused for an L4 farm while changes are frozen', async () => {
    const { call, read } = await given();
    await call('PUT', '/freeze', { as: 'admin', headers: { 'x-reason': 'incident' } });

    expect((await read('/farms/db', 'operator')).json).toMatchObject({ code: 'frozen' });
    expect((await read('/farms/shop', 'operator')).status).toBe(200);
  });

  it('is not repeated after a 504 before a change, unless it is forced', async () => {
    const { appliance, read, call, routes } = await given();
    appliance.fail('GET /farms/{farmname}', { kind: 'html', status: 504 });
    expect((await read('/farms/db', 'operator')).status).toBe(504);

    const again = await read('/farms/db', 'operator');
    expect(again.json).toMatchObject({
      code: 'guarded',
      detail: expect.stringContaining('its daemon may hang; each further call leaves a process on the appliance'),
    });
    expect(routes().filter((route) => route === 'GET /farms/{farmname}')).toHaveLength(1);

    const reason = { 'x-force': 'true', 'x-reason': 'restarted nftlb' };
    expect((await read('/farms/db', 'operator', reason)).status).toBe(504);
    appliance.heal();
    await call('PUT', '/appliances/lb-1/farms/db/actions', { as: 'operator', json: { action: 'restart' } });
    expect((await read('/farms/db', 'operator')).status).toBe(200);
  });

  it('is audited and counted as sent without approval when it breaks glass', async () => {
    const { call, audit, metrics } = await givenApprovals({ approvals: { requiredFor: ['reversible'] } });
    const glass = { 'x-reason': 'incident', 'x-break-glass': 'true' };

    const refused = await call('root', 'GET', '/appliances/lb-1/farms/db');
    const sent = await call('eve', 'GET', '/appliances/lb-1/farms/db', undefined, glass);

    expect([refused.json?.code, sent.status]).toEqual(['cannot_wait', 200]);
    expect((await audit()).find(({ event }) => event === 'intent')).toMatchObject({ break_glass: true });
    expect(await metrics()).toContain('zlb_admin_changes_total{outcome="break_glass"} 1\n');
  });

  it('is not sent by a dry run, which shows the list of farms instead', async () => {
    const { call, routes } = await given();

    const plan = await call('PUT', '/appliances/lb-1/farms/db/actions', {
      as: 'operator',
      headers: { 'x-dry-run': 'true' },
      json: { action: 'stop' },
    });

    expect(plan.json).toMatchObject({ current: { operation: 'listFarms' } });
    expect(routes()).not.toContain('GET /farms/{farmname}');
  });
});

it('the support bundle needs the right to change as well, and a freeze refuses it', async () => {
  const { call, read } = await given();

  expect((await read('/system/support', 'operator')).json).toMatchObject({ code: 'role_too_low' });
  await call('PUT', '/freeze', { as: 'admin', headers: { 'x-reason': 'incident' } });
  expect((await read('/system/support', 'admin')).json).toMatchObject({ code: 'frozen' });
});
