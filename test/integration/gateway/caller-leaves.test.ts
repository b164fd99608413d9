import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../../simulator/server.ts';
import { adminKey, type GivenOptions, givenGateway } from '../../support/given-gateway.ts';
import { startHttpsServer } from '../../support/tls-server.ts';
import { until } from '../../support/until.ts';

/** How long the appliance takes for a call, whether its client is still there or not. */
const callMs = 1_000;
const drain = { action: 'maintenance', mode: 'drain' };

interface SlowOptions extends Omit<GivenOptions, 'target'> {
  /** They last until `release` is called. */
  readonly isHeld?: boolean;
}

/**
 * A gateway on an appliance that carries out each change after {@link callMs}, although its client
 * left: that is what a CGI program does.
 */
async function givenSlowAppliance({ isHeld = false, ...options }: SlowOptions = {}) {
  const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: adminKey });
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const count = { running: 0 };
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const proxy = await startHttpsServer((response, incoming) => {
    const { method = '', url = '', headers } = incoming;
    void carryOut().catch(() => response.destroy());

    async function carryOut(): Promise<void> {
      const body = await buffer(incoming);
      if (method === 'PUT') {
        count.running += 1;
        await (isHeld ? released : new Promise((resolve) => setTimeout(resolve, callMs)));
        count.running -= 1;
      }
      const kept = Object.entries(headers).filter(([name]) => /^(?:.*key|content-type)$/.test(name));
      const answer = await request(appliance.url + url, {
        method: method as 'GET',
        headers: Object.fromEntries(kept) as Record<string, string>,
        dispatcher,
        ...(body.length === 0 ? {} : { body }),
      });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      response.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(bytes);
    }
  });
  const target = { url: proxy.url.href, fingerprintSha256: proxy.material.fingerprintSha256 };
  const gateway = await givenGateway({}, { ...options, target });
  onTestFinished(async () => {
    await dispatcher.destroy();
    await appliance.close();
  });

  return {
    ...gateway,
    appliance,
    count,
    release,
    /** Calls, and leaves as soon as the appliance works on it. */
    async callAndLeave(method: string, path: string, json?: unknown) {
      const leaving = new AbortController();
      const before = count.running;
      const sent = fetch(`${gateway.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${gateway.tokenOf('operator')}`,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal: leaving.signal,
      }).catch(() => 'left');
      await until(
        () => count.running,
        (running) => running > before,
      );
      leaving.abort();
      expect(await sent).toBe('left');
    },
  };
}

const maintenance = (id: number) => `/appliances/lb-1/farms/db/backends/${id}/maintenance`;

describe('a change whose caller leaves while the appliance works on it', () => {
  it('keeps its slot, so that the guard of the next change sees its effect', async () => {
    const { callAndLeave, call, audit } = await givenSlowAppliance();

    await callAndLeave('PUT', maintenance(0), drain);
    const second = await call('PUT', maintenance(1), { as: 'operator', json: drain });

    expect(second).toMatchObject({ status: 409, json: { code: 'guarded' } });
    const [intent, outcome, ...rest] = await audit();
    expect([intent?.event, outcome?.event]).toEqual(['intent', 'outcome']);
    // The outcome is the appliance's answer, although no caller received it.
    expect(outcome).toMatchObject({ status: 200 });
    expect(outcome).not.toHaveProperty('uncertain');
    expect(rest.map(({ event, code }) => [event, code])).toEqual([['denied', 'guarded']]);
  });
});

describe('a change that takes longer than admin.timeout', () => {
  it('is answered with 504 at once, and keeps its slot until the appliance has answered', async () => {
    const { call, audit, count, release } = await givenSlowAppliance({
      isHeld: true,
      admin: { timeoutMs: 1_500 },
    });

    const first = await call('PUT', maintenance(0), { as: 'operator', json: drain });
    const runningThen = count.running;
    const waiting = call('PUT', maintenance(1), { as: 'operator', json: drain });
    release();
    const second = await waiting;

    expect(first).toMatchObject({ status: 504, json: { code: 'upstream_timeout' } });
    expect(runningThen).toBe(1);
    expect(second).toMatchObject({ status: 409, json: { code: 'guarded' } });
    const outcome = (await audit()).find(({ event }) => event === 'outcome');
    expect(outcome).toMatchObject({ status: 200, request: first.headers['x-request-id'] });
    expect(outcome).not.toHaveProperty('uncertain');
  });

  it('releases its slot after twice that time, and its outcome is uncertain', async () => {
    const { call, audit } = await givenSlowAppliance({ admin: { timeoutMs: callMs * 0.3 } });

    const first = await call('PUT', maintenance(0), { as: 'operator', json: drain });
    const outcome = await until(audit, (lines) => lines.some(({ event }) => event === 'outcome'), callMs);

    expect(first).toMatchObject({ status: 504, json: { code: 'upstream_timeout' } });
    expect(outcome.at(-1)).toMatchObject({ event: 'outcome', code: 'upstream_timeout', uncertain: true });
  });
});
