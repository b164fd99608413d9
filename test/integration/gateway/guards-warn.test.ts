import { expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { until } from '../../support/until.ts';

it('a token with guards: warn lets a client without X-Force remove the last backend of a farm', async () => {
  const { token } = makeToken();
  const { call, audit, logged, metrics } = await givenGateway(
    { 'lb-1': busyWorld() },
    { tokens: [{ token, name: 'old-client', appliances: ['lb-1'], skipConfirmation: true, guards: 'warn' }] },
  );
  const remove = (path: string) =>
    call('DELETE', `/api/v4.0/api.cgi${path}`, { as: 'none', headers: { ZAPI_KEY: token } });

  const first = await remove('/farms/dns/backends/1');
  const refused = await call('DELETE', '/appliances/lb-1/farms/dns/backends/0', { headers: { 'x-confirm': '0' } });
  const last = await remove('/farms/dns/backends/0');

  expect([first.status, refused.json?.['code'], last.status]).toEqual([200, 'guarded', 200]);
  const [ofFirst, ofLast] = (await audit()).filter(({ event }) => event === 'intent');
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
