import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { type GatewayCall, givenGateway } from '../../support/given-gateway.ts';
import { until } from '../../support/until.ts';

const base = '/api/v4.0/api.cgi';

/** A gateway with the token of a client that can send none of our headers, and such a client. */
async function givenOldClient() {
  const { token } = makeToken();
  const gateway = await givenGateway(
    { 'lb-1': busyWorld() },
    { tokens: [{ token, name: 'old-client', appliances: ['lb-1'], skipConfirmation: true, guards: 'warn' }] },
  );
  const old = (method: string, path: string, call: GatewayCall = {}) =>
    gateway.call(method, `${base}${path}`, { ...call, as: 'none', headers: { ZAPI_KEY: token, ...call.headers } });
  const intents = async () => (await gateway.audit()).filter(({ event }) => event === 'intent');
  return { ...gateway, token, old, intents };
}

describe('a token whose guards warn', () => {
  it('lets a client without X-Force remove the last backend of a farm that it is about to delete', async () => {
    const { old, call, intents, appliance, logged, metrics } = await givenOldClient();

    const first = await old('DELETE', '/farms/dns/backends/1');
    const refused = await call('DELETE', '/appliances/lb-1/farms/dns/backends/0', { headers: { 'x-confirm': '0' } });
    const last = await old('DELETE', '/farms/dns/backends/0');
    const farm = await old('DELETE', '/farms/dns');

    expect(refused.json).toMatchObject({ status: 409, code: 'guarded' });
    expect([first.status, last.status, farm.status]).toEqual([200, 200, 200]);
    expect(appliance.world.farms.has('dns')).toBe(false);
    const [ofFirst, ofLast] = await intents();
    expect(ofFirst).not.toHaveProperty('warned');
    expect(ofLast).toMatchObject({ principal: 'old-client', warned: ['last_healthy_backend'] });
    expect(ofLast).not.toHaveProperty('forced');
    await until(
      () => logged.map((line) => JSON.parse(line) as Record<string, unknown>),
      (lines) => lines.some(({ level, warned }) => level === 40 && String(warned) === 'last_healthy_backend'),
    );
    expect(await metrics()).toContain(
      'zlb_admin_guards_overridden_total{appliance="lb-1",guard="last_healthy_backend",by="token"} 1\n',
    );
  });

  it('gets a dry run with the guards that it would override', async () => {
    const { old, call } = await givenOldClient();
    const json = { action: 'start' };
    const dry = { 'x-dry-run': 'true' };
    const forced = { ...dry, 'x-force': 'true', 'x-reason': 'at night' };

    const warned = await old('PUT', '/farms/shop/actions', { json, headers: dry });
    const refused = await call('PUT', '/appliances/lb-1/farms/shop/actions', { json, headers: dry });
    const byForce = await call('PUT', '/appliances/lb-1/farms/shop/actions', { json, headers: forced });

    const findings = [{ guard: 'hard_restart', severity: 'blocking' }];
    expect(warned.json).toMatchObject({ would: 'be sent', because: [], warned: ['hard_restart'], findings });
    expect(refused.json).toMatchObject({ would: 'be refused', findings });
    expect(refused.json).not.toHaveProperty('warned');
    expect(byForce.json).toMatchObject({ would: 'be sent', forced: ['hard_restart'] });
  });
});
