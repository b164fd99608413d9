import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { givenHeldAnswer } from '../../support/held-answer.ts';
import { untilIs } from '../../support/until.ts';

const maintenance = (id: number) => `/appliances/lb-1/farms/db/backends/${id}/maintenance`;
const drain = { action: 'maintenance', mode: 'drain' };

// A CGI program goes on, whether its client is still there or not.
it.each([
  ['whose caller leaves while the appliance works on it', 60_000],
  ['that takes longer than admin.timeout, and is answered with 504 then,', 2_000],
])('a change %s keeps its slot, so that the next one sees its effect', async (what, timeoutMs) => {
  const { url, tokenOf, call, audit, appliance } = await givenGateway(
    { 'lb-1': busyWorld() },
    { admin: { timeoutMs } },
  );
  const { fault, release } = givenHeldAnswer();
  appliance.fail('PUT /farms/{farmname}/backends/{backend}/maintenance', fault, { times: 1 });
  const leaving = new AbortController();

  const first = fetch(url + maintenance(0), {
    method: 'PUT',
    headers: { authorization: `Bearer ${tokenOf('operator')}`, 'content-type': 'application/json' },
    body: JSON.stringify(drain),
    signal: leaving.signal,
  }).then(
    ({ status }) => status,
    () => 'left',
  );
  await untilIs(async () => (await audit()).length + appliance.inFlight, 2);
  if (what.includes('leaves')) leaving.abort();
  expect(await first).toBe(what.includes('leaves') ? 'left' : 504);
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
});
