import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { sendRaw } from '../../support/raw-request.ts';
import { givenSimulated, rootKey } from '../../support/simulated.ts';
import { until } from '../../support/until.ts';

const farms = {
  method: 'GET',
  path: '/api/v4.0/api.cgi/farms',
  headers: [
    ['Host', 'x'],
    ['API_KEY', rootKey],
  ],
} as const;

describe('the listener', () => {
  it('refuses connections, cuts those it has, and opens the same port again when healed', async () => {
    const { appliance, call } = await givenSimulated(recordedWorld());
    expect((await call('GET', '/farms')).status).toBe(200);

    appliance.fail('*', { kind: 'refuse' });
    await expect(call('GET', '/farms')).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNREFUSED|UND_ERR_SOCKET|ECONNRESET/),
    });
    await expect(call('GET', '/farms')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    appliance.heal();
    expect((await call('GET', '/farms')).status).toBe(200);
  });

  it('presents an expired certificate to new handshakes until healed', async () => {
    const { appliance } = await givenSimulated(recordedWorld());
    const trusting = new Agent({ connect: { ca: appliance.certificatePem } });
    onTestFinished(() => trusting.destroy());
    const status = async () => (await request(`${appliance.url}/`, { dispatcher: trusting })).statusCode;
    expect(await status()).toBe(404);

    appliance.fail('*', { kind: 'expired_tls' });
    await expect(status().catch(() => status())).rejects.toMatchObject({
      code: expect.stringMatching(/CERT_HAS_EXPIRED|SELF_SIGNED/),
    });

    appliance.heal();
    expect(await status()).toBe(404);
  });
});

describe('an answer', () => {
  it('never comes when a call hangs, and a closing appliance waits for nobody', async () => {
    const { appliance, call } = await givenSimulated(recordedWorld());
    appliance.fail('GET /farms', { kind: 'hang' });

    const hung = call('GET', '/farms');
    await expect.poll(() => appliance.sleeping).toBe(1);
    expect(appliance.inFlight).toBe(1);

    await appliance.close();
    await expect(hung).rejects.toMatchObject({ code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/) });
    await expect.poll(() => appliance.sleeping).toBe(0);
  });

  it('is cut in the middle of its body', async () => {
    const { appliance } = await givenSimulated(recordedWorld());
    appliance.fail('GET /farms', { kind: 'cut' });

    const answer = await sendRaw(appliance.url, farms);

    expect(answer).toMatchObject({ status: 200, complete: false });
    expect(answer.body.length).toBeGreaterThan(100);
  });

  it('is whole for HTTP while its JSON stops in the middle', async () => {
    const { appliance } = await givenSimulated(recordedWorld());
    appliance.fail('GET /farms', { kind: 'truncated' });

    const answer = await sendRaw(appliance.url, farms);

    expect(answer).toMatchObject({ status: 200, complete: true });
    expect(() => JSON.parse(answer.body.toString()) as unknown).toThrow(SyntaxError);
  });

  it('keeps its keys and turns their types around', async () => {
    const { appliance, call } = await givenSimulated(recordedWorld());
    appliance.fail('GET /stats/farms/{farmname}', { kind: 'wrong_types' });

    expect((await call('GET', '/stats/farms/webshop')).json).toEqual({
      backends: 'not a list',
      description: [expect.any(String)],
      sessions: 'not a list',
      total_sessions: { amount: 1 },
    });
  });

  it('is as large as asked for, and still JSON', async () => {
    const { appliance, call } = await givenSimulated(recordedWorld());
    appliance.fail('GET /farms', { kind: 'huge_body', bytes: 1_000_000 });

    const { text, json } = await call('GET', '/farms');

    expect(text).toHaveLength(1_000_000);
    expect(json).toHaveProperty('params');
  });

  it('trickles at the given rate', async () => {
    const { appliance, call } = await givenSimulated(recordedWorld());
    appliance.fail('GET /farms/{farmname}/status', { kind: 'slow_body', bytesPerSecond: 200 });
    const startedMs = performance.now();

    const { json, text } = await call('GET', '/farms/webshop/status');

    expect(json).toMatchObject({ params: { status: 'problem' } });
    expect(performance.now() - startedMs).toBeGreaterThan((text.length / 200) * 700);
  });

  it('becomes a page, a redirect, or an error of the API with the body that goes with its status', async () => {
    const { appliance, call } = await givenSimulated(recordedWorld());

    appliance.fail('*', { kind: 'html' });
    expect(await call('GET', '/farms')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/html' },
      json: undefined,
    });
    appliance.fail('*', { kind: 'redirect', location: 'https://elsewhere.example/' });
    expect(await call('GET', '/farms')).toMatchObject({
      status: 302,
      headers: { location: 'https://elsewhere.example/' },
    });
    appliance.fail('*', { kind: 'status', status: 402 });
    expect(await call('GET', '/farms')).toMatchObject({
      status: 402,
      json: { certificate_key: expect.any(String), hostname: 'noid-ce-01' },
    });
    appliance.fail('*', { kind: 'status', status: 401 });
    expect((await call('GET', '/farms')).json).toEqual({ message: 'Authorization required' });
    appliance.fail('*', { kind: 'status', status: 409 });
    expect(await call('GET', '/farms')).toMatchObject({ status: 409, json: { error: 'true' } });
  });

  it('is dated by a clock that is off', async () => {
    const nowMs = Date.parse('2026-11-20T21:00:00Z');
    const { appliance, call } = await givenSimulated(recordedWorld(), { now: () => nowMs });
    appliance.fail('*', { kind: 'clock_skew', seconds: -3_600 });

    const { headers, json } = await call('GET', '/stats');

    expect(headers['date']).toEqual(['Fri, 20 Nov 2026 20:00:00 GMT', 'Fri, 20 Nov 2026 20:00:00 GMT']);
    expect(json).toMatchObject({ params: { date: 'Fri Nov 20 20:00:00 2026' } });
  });
});

it('uses up the times of a fault, of the route alone, and logs what it served', async () => {
  const { appliance, call } = await givenSimulated(recordedWorld());
  appliance.fail('GET /farms', { kind: 'status', status: 500 }, { times: 2 });

  const statuses = [];
  for (const path of ['/farms', '/ids', '/farms', '/farms']) statuses.push((await call('GET', path)).status);

  expect(statuses).toEqual([500, 200, 500, 200]);
  expect(
    appliance.requests.map(({ route, path, status, fault, concurrent }) => ({
      route,
      path,
      status,
      fault,
      concurrent,
    })),
  ).toEqual([
    { route: 'GET /farms', path: '/farms', status: 500, fault: 'status', concurrent: 1 },
    { route: 'GET /ids', path: '/ids', status: 200, concurrent: 1 },
    { route: 'GET /farms', path: '/farms', status: 500, fault: 'status', concurrent: 1 },
    { route: 'GET /farms', path: '/farms', status: 200, concurrent: 1 },
  ]);
});

it('logs who left before the end of an answer', async () => {
  const { appliance } = await givenSimulated(recordedWorld());
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  onTestFinished(() => agent.destroy());
  appliance.fail('*', { kind: 'slow_body', bytesPerSecond: 10 });

  const answer = await request(`${appliance.url}${farms.path}`, { dispatcher: agent, headers: { API_KEY: rootKey } });
  answer.body.destroy();

  await until(
    () => appliance.inFlight,
    (count) => count === 0,
  );
  expect(appliance.requests).toMatchObject([{ status: 200, fault: 'slow_body', leftEarly: true }]);
});

it('takes about as long as a real appliance when asked to, and no two calls the same', async () => {
  const { appliance, call } = await givenSimulated(recordedWorld(), { latency: 'realistic' });

  await Promise.all([call('GET', '/farms/webshop/status'), call('GET', '/farms/webshop/status')]);

  const took = appliance.requests.map(({ startedAt, endedAt = 0 }) => endedAt - startedAt);
  for (const ms of took) expect(ms).toBeGreaterThan(40);
  expect(Math.max(...appliance.requests.map(({ concurrent }) => concurrent))).toBe(2);
});
