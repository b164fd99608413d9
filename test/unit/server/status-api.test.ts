import { fastify } from 'fastify';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TwinStatus } from '../../../src/history/twin-watch.ts';
import { registerStatusApi } from '../../../src/server/status-api.ts';
import type { ApplianceStatus, FleetStatus } from '../../../src/state/status.ts';
import { limitUnfinished } from '../../../src/server/unfinished-responses.ts';
import { turnsDuring } from '../../support/loop-turns.ts';
import { certificateStatus, unknownAppliance } from '../../support/fleet-status.ts';

const appliance = (name: string, known: Partial<ApplianceStatus> = {}) => unknownAppliance({ ...known, name });

const whole = appliance('lb-1', {
  labels: { site: 'paris' },
  up: true,
  version: '7.9.0',
  farms: [
    {
      name: 'shop "1" </script>\u2028',
      profile: 'http',
      hasHealthCheck: undefined,
      certificates: undefined,
      state: 'down',
      sinceMs: 1_795_200_000_000,
      backends: [{ service: '', backend: '198.51.100.1:80', state: 'down', established: 0 }],
    },
  ],
  collectors: [
    {
      name: 'farms',
      ok: false,
      lastSuccessMs: undefined,
      intervalMs: 30_000,
      isStale: true,
      isSupported: true,
      failure: { reason: 'timeout', sinceMs: 1_795_200_000_000 },
    },
  ],
});

const unknown = {
  up: null,
  product: null,
  version: null,
  edition: null,
  hostname: null,
  farms: null,
  certificates: null,
  activation: null,
  interfaces: null,
};

const changeOf = (name: string): FleetStatus['transitions'][number] => ({
  atMs: 1_795_200_000_000,
  appliance: name,
  object: 'farm',
  labels: { farm: 'shop' },
  from: 'up',
  to: 'down',
});

function given(status: FleetStatus) {
  const app = fastify();
  const state: {
    status: FleetStatus;
    twin?: TwinStatus;
    nowMs: number;
    described: string[];
    onDescribe?: () => void;
  } = { status, nowMs: 1_795_200_060_000, described: [] };
  registerStatusApi(app, {
    fleet: {
      get appliances() {
        return state.status.appliances;
      },
      get transitions() {
        return state.status.transitions;
      },
      statusOf(name) {
        state.described.push(name);
        state.onDescribe?.();
        return state.status.appliances.find((each) => each.name === name);
      },
      isReady: true,
      watches: (name) => status.appliances.some((each) => each.name === name),
    },
    shardWatching: () => undefined,
    twinOf: () => state.twin,
    build: { version: '1.2.3' },
    isDemonstration: false,
    now: () => state.nowMs,
    responses: limitUnfinished(app, pino({ level: 'silent' })),
  });
  onTestFinished(() => app.close());
  return { state, get: (query = '') => app.inject({ method: 'GET', url: `/api/status${query}` }) };
}

describe('GET /api/status', () => {
  it('judges again after a clock that was ahead was corrected', async () => {
    const notAfterSeconds = 1_795_200_000;
    const expiring = certificateStatus({ file: 'shop.pem', notAfterSeconds, usedBy: ['shop'] });
    const { state, get } = given({ appliances: [appliance('lb-1', { certificates: [expiring] })], transitions: [] });
    const before = (await get()).body;

    state.nowMs -= 86_400_000;
    const after = (await get()).body;

    expect(before).toContain('has expired');
    expect(after).not.toContain('has expired');
  });

  it('returns the status as JSON, with null for unknown values', async () => {
    const { get } = given({ appliances: [whole, appliance('lb-2')], transitions: [changeOf('lb-1')] });

    const response = await get();

    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toEqual({
      version: '1.2.3',
      demonstration: false,
      ready: true,
      transitions: [changeOf('lb-1')],
      appliances: [
        {
          ...(JSON.parse(JSON.stringify(whole)) as object),
          ...unknown,
          up: true,
          version: '7.9.0',
          farms: [{ ...whole.farms?.[0], certificates: null, hasHealthCheck: null }],
          collectors: [{ ...whole.collectors[0], lastSuccessMs: null }],
          problems: [
            expect.objectContaining({ level: 'critical', about: 'farm', alert: 'ZlbFarmDown' }) as object,
            expect.objectContaining({ level: 'warning', about: 'appliance', alert: 'ZlbCollectorStale' }) as object,
          ],
          levels: { appliance: 'warning', farms: { [whole.farms?.[0]?.name ?? '']: 'critical' }, certificates: null },
        },
        {
          ...(JSON.parse(JSON.stringify(appliance('lb-2'))) as object),
          ...unknown,
          problems: [],
          levels: { appliance: 'unknown', farms: null, certificates: null },
        },
      ],
    });
  });

  it('returns only the named appliances, also in transitions, and does not render the others', async () => {
    const names = ['lb-1', 'lb-2', 'lb-3'];
    const { get, state } = given({
      appliances: names.map((name) => appliance(name)),
      transitions: names.map(changeOf),
    });

    const one = (await get('?appliance=lb-2')).json<FleetStatus>();
    const two = (await get('?appliance=lb-3&appliance=lb-1')).json<FleetStatus>();

    expect([one.appliances, one.transitions]).toMatchObject([[{ name: 'lb-2' }], [{ appliance: 'lb-2' }]]);
    expect([two.appliances, two.transitions]).toMatchObject([
      [{ name: 'lb-1' }, { name: 'lb-3' }],
      [{ appliance: 'lb-1' }, { appliance: 'lb-3' }],
    ]);
    expect(state.described).toEqual(['lb-2', 'lb-1', 'lb-3']);
  });

  it('renders a very large appliance less often than its status changes, for all readers together', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { get, state } = given({ appliances: [whole], transitions: [] });
    state.onDescribe = () => {
      vi.advanceTimersByTime(300);
      state.status = { appliances: [{ ...whole, version: String(state.described.length) }], transitions: [] };
    };
    for (let reader = 0; reader < 20; reader += 1) await get();
    expect(state.described).toHaveLength(1);

    vi.advanceTimersByTime(3_000);
    expect((await get()).json()).toMatchObject({ appliances: [{ version: '2' }] });
  });

  it('returns the differences of an appliance and its twin, and null while they are unknown', async () => {
    // On a busy machine, an appliance would count as large, whose JSON is shared for a while.
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { get, state } = given({ appliances: [appliance('lb-1')], transitions: [] });
    state.twin = { name: 'lb-2', comparison: undefined };
    expect((await get()).json()).toMatchObject({
      appliances: [{ twin: { name: 'lb-2', differences: null, unknown: null } }],
    });

    const place = { object: 'backend', farm: 'shop', service: '', name: '10.0.0.1:80', setting: '' } as const;
    const comparison = { differences: [{ ...place, here: 'weight 5', there: undefined }], unknown: new Set([]) };
    state.twin = { name: 'lb-2', comparison };
    state.status = { appliances: [appliance('lb-1')], transitions: [] };
    const text = 'A failover to lb-2 now would lose backend 10.0.0.1:80 of farm shop.';
    expect((await get()).json()).toMatchObject({
      appliances: [
        { twin: { name: 'lb-2', differences: [{ ...place, here: 'weight 5', there: null, text }], unknown: [] } },
      ],
    });
  });

  it('lists a thousand differences of twins, and counts the others', async () => {
    const { get, state } = given({ appliances: [appliance('lb-1')], transitions: [] });
    const place = { object: 'backend', farm: 'shop', service: '', setting: 'weight', here: '1', there: '2' } as const;
    const differences = Array.from({ length: 1_005 }, (_, index) => ({ ...place, name: `10.0.0.1:${index}` }));
    state.twin = { name: 'lb-2', comparison: { differences, unknown: new Set() } };

    const [{ twin }] = (await get()).json<{ appliances: [{ twin: { differences: object[]; unlisted: number } }] }>()
      .appliances;

    expect([twin.differences.length, twin.unlisted]).toEqual([1_000, 5]);
  });

  it('renders a changed appliance again', async () => {
    const { get, state } = given({ appliances: [appliance('lb-1'), { ...whole, name: 'lb-2' }], transitions: [] });
    await get();
    state.status = { appliances: [appliance('lb-1', { up: false }), { ...whole, name: 'lb-2' }], transitions: [] };

    expect((await get()).json()).toMatchObject({ appliances: [{ up: false }, { up: true }] });
  });

  it('yields to other work for a large fleet, and reuses the texts the next time', async () => {
    const backends = Array.from({ length: 1_000 }, (_, index) => ({
      service: 'front',
      backend: `[::]:${index}`,
      state: 'up',
    }));
    const farms = [{ name: 'shop', profile: 'http', state: 'up', backends }];
    const appliances = Array.from({ length: 300 }, (_, index) => appliance(`lb-${index}`, { farms }));
    const { get } = given({ appliances, transitions: [] });
    const turns = await turnsDuring(get);
    const first = await get();

    expect(turns).toBeGreaterThan(5);
    expect(first.json<FleetStatus>().appliances.map(({ name }) => name)).toEqual(appliances.map(({ name }) => name));
    expect((await get()).payload).toBe(first.payload);
  });
});
