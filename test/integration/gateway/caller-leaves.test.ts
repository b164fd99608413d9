import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { givenHeldAnswer } from '../../support/held-answer.ts';
import { until } from '../../support/until.ts';

const route = '/farms/{farmname}/backends/{backend}/maintenance';
const maintenance = (id: number) => `/appliances/lb-1/farms/db/backends/${id}/maintenance`;
const drain = { action: 'maintenance', mode: 'drain' };

// A CGI program goes on, whether its client is still there or not.
it.each([
  ['whose caller leaves while the appliance works on it', 60_000, '499'],
  ['that exceeds admin.timeout, and is answered with 504,', 10_000, '504'],
])('a change %s keeps its slot, so that the next one sees its effect', async (_, timeoutMs, code) => {
  const { url, tokenOf, call, audit, appliance, logged, metrics } = await givenGateway(
    { 'lb-1': busyWorld() },
    { admin: { timeoutMs } },
  );
  const { reached, release } = givenHeldAnswer(appliance, `PUT ${route}`);
  const leaving = new AbortController();

  const first = fetch(url + maintenance(0), {
    method: 'PUT',
    headers: { authorization: `Bearer ${tokenOf('operator')}`, 'content-type': 'application/json' },
    body: JSON.stringify(drain),
    signal: leaving.signal,
  }).then(
    ({ status }) => String(status),
    () => '499',
  );
  await reached();
  if (code === '499') leaving.abort();
  expect(await first).toBe(code);
  const second = call('PUT', maintenance(1), { as: 'operator', json: drain });
  // Time enough to refuse it, if it did not wait.
  for (let reads = 0; reads < 5; reads += 1) await call('GET', '/appliances/lb-1/farms/db/status');
  const meanwhile = await audit();
  release();

  expect(await second).toMatchObject({ status: 409, json: { code: 'guarded' } });
  expect(meanwhile.map(({ event }) => event)).toEqual(['intent']);
  // The outcome is the appliance's answer, although no caller received it.
  const [, outcome, denied] = await audit();
  expect(outcome).toMatchObject({ event: 'outcome', status: 200 });
  expect(outcome).not.toHaveProperty('uncertain');
  expect(denied).toMatchObject({ event: 'denied', code: 'guarded' });
  const counted = `zlb_admin_requests_total{appliance="lb-1",endpoint="${route}",method="PUT",code="${code}"} 1\n`;
  await until(metrics, (page) => page.includes(counted));
  const lines = logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ left }) => left === true)).toMatchObject(
    code === '499' ? [{ principal: 'operator', appliance: 'lb-1', operation: 'setFarmBackendMaintenance' }] : [],
  );
});
