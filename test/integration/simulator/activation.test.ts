import { expect, it } from 'vitest';
import { createActivationCertificate } from '../../../simulator/replies/activation.ts';
import { healthyPair } from '../../../simulator/scenes/cluster.ts';
import { deactivatedWorld, expiringWorld } from '../../../simulator/scenes/expiring.ts';
import { olderEnterpriseWorld } from '../../../simulator/scenes/older.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { givenSimulated } from '../../support/simulated.ts';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-11-20T21:00:00Z');
const now = () => nowMs;

it('answers 402 with the machine identifier and no error key to everything behind the check, 404 included', async () => {
  const { call, world } = await givenSimulated(deactivatedWorld(nowMs), { now });

  for (const path of ['/system/version', '/farms', '/certificates/activation/info', '/no/such/route']) {
    const answer = await call('GET', path);
    expect({ path, status: answer.status, body: answer.json }).toEqual({
      path,
      status: 402,
      body: { message: expect.any(String), certificate_key: world.activation.certificateKey, hostname: 'lb-lisbon' },
    });
  }
});

it('serves the exact activation path, OPTIONS and logins while deactivated, and 401 before 402', async () => {
  const { call } = await givenSimulated(deactivatedWorld(nowMs), { now });

  const text = await call('GET', '/certificates/activation');
  expect(text).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain; charset=ISO-8859-1' } });
  expect(text.text).toMatch(/Not After : Nov {2}8 21:00:00 2026 GMT/);
  expect((await call('OPTIONS', '/farms', { key: '' })).status).toBe(200);
  expect(
    (await call('POST', '/session', { key: '', body: '', headers: { authorization: `Basic ${btoa('root:admin')}` } }))
      .status,
  ).toBe(200);
  expect((await call('GET', '/farms', { key: 'wrong' })).status).toBe(401);
});

it('goes from deactivated to activated by an upload and back by a deletion', async () => {
  const { call } = await givenSimulated(deactivatedWorld(nowMs), { now });
  const pem = createActivationCertificate({
    kind: 'permanent',
    hostname: 'lb-lisbon',
    notBefore: nowMs - dayMs,
    notAfter: nowMs + 216.5 * dayMs,
  });

  const upload = await call('POST', '/certificates/activation', { body: pem, type: 'text/plain' });
  expect(upload).toMatchObject({ status: 200, json: { success: 'true' } });
  expect((await call('GET', '/system/version')).status).toBe(200);
  expect(await call('GET', '/certificates/activation/info')).toMatchObject({
    status: 200,
    json: { params: { days_to_expire: '216', hostname: 'lb-lisbon', type: 'permanent' } },
  });

  expect((await call('DELETE', '/certificates/activation')).status).toBe(200);
  expect((await call('GET', '/system/version')).status).toBe(402);
  expect((await call('GET', '/certificates/activation')).status).toBe(404);
  expect((await call('DELETE', '/certificates/activation')).status).toBe(200);
});

it('keeps the installed licence when an upload is refused: garbage, nothing, a trial that is over', async () => {
  const { call, world } = await givenSimulated(expiringWorld(nowMs), { now });
  const over = createActivationCertificate({
    kind: 'temporal',
    hostname: 'lb-berlin',
    notBefore: nowMs - 40 * dayMs,
    notAfter: nowMs - dayMs,
  });
  const before = world.activation.installed;

  for (const body of ['this is not a certificate', '', over]) {
    expect(await call('POST', '/certificates/activation', { body, type: 'text/plain' })).toMatchObject({
      status: 400,
      json: { error: 'true' },
    });
  }

  expect(world.activation.installed).toBe(before);
});

it('prints whole days as digits, and below one day a number with two decimals', async () => {
  let clock = nowMs;
  const { call } = await givenSimulated(expiringWorld(nowMs), { now: () => clock });
  const days = async () =>
    ((await call('GET', '/certificates/activation/info')).json as { params: { days_to_expire: unknown } }).params
      .days_to_expire;

  expect(await days()).toBe('6');
  clock = nowMs + 5.57 * dayMs;
  expect(await days()).toBe(0.43);
});

it('deactivates a trial at its end, while a permanent licence past its end only counts negative days', async () => {
  let clock = nowMs;
  const trial = await givenSimulated(expiringWorld(nowMs), { now: () => clock });
  const [world] = healthyPair(nowMs);
  const permanent = await givenSimulated(world, { now: () => clock });

  clock = nowMs + 542.07 * dayMs;

  expect((await trial.call('GET', '/system/version')).status).toBe(402);
  expect((await permanent.call('GET', '/system/version')).status).toBe(200);
  expect((await permanent.call('GET', '/certificates/activation/info')).json).toMatchObject({
    params: { days_to_expire: -12.07 },
  });
});

it('takes the activation paths of a Community appliance for ordinary files', async () => {
  const { call, world } = await givenSimulated(recordedWorld(), { now });

  expect((await call('GET', '/certificates/activation')).status).toBe(404);
  expect((await call('DELETE', '/certificates/activation')).status).toBe(404);
  expect((await call('POST', '/certificates/activation', { body: 'anything', type: 'text/plain' })).status).toBe(200);
  expect(world.certificates.has('activation.pem')).toBe(true);
});

it('says more about the licence on an early build, and labels it as text', async () => {
  const { call } = await givenSimulated(olderEnterpriseWorld(nowMs), { now });

  expect(await call('GET', '/certificates/activation/info')).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    json: {
      params: { days_to_expire: '530', type: 'permanent', support: 'true', certificate_key: expect.any(String) },
    },
  });
});
