import { expect, it } from 'vitest';
import type { CallReport } from '../../../src/appliance/client.ts';
import { Availability } from '../../../src/scheduler/availability.ts';

const answered: CallReport = {
  method: 'GET',
  endpoint: '/stats/farms',
  waitsForProxies: false,
  code: '200',
  reason: undefined,
  seconds: 0.2,
  authenticated: true,
  clockOffsetSeconds: 0,
};
const unreachable: CallReport = { ...answered, reason: 'connect', authenticated: false, clockOffsetSeconds: undefined };

/** An answer counts for three minutes. */
function given() {
  const options = { upForMs: 180_000, nowMs: 0 };
  return {
    options,
    availability: new Availability({
      before: undefined,
      upForMs: () => options.upForMs,
      callsSucceed: () => true,
      now: () => options.nowMs,
    }),
  };
}

it.each<
  [
    what: string,
    calls: readonly (readonly [call: CallReport, atMs: number])[],
    nowMs: number,
    isUp: boolean | undefined,
  ]
>([
  ['not known to be up before the first call', [], 0, undefined],
  [
    'not known to be up or down after the web server alone answered, below another path',
    [[{ ...unreachable, reason: 'not_found', triesNextPath: true }, 0]],
    0,
    undefined,
  ],
  ['up while an answer counts', [[answered, 1_000]], 180_999, true],
  ['down when it no longer counts', [[answered, 1_000]], 181_000, false],
  [
    'not down after a single failure',
    [
      [answered, 0],
      [unreachable, 1_000],
    ],
    1_000,
    true,
  ],
  ['down if the first call failed', [[unreachable, 0]], 0, false],
  [
    'down after an outage that goes on',
    [
      [answered, 0],
      [unreachable, 182_000],
    ],
    182_000,
    false,
  ],
  [
    'up after an outage',
    [
      [answered, 0],
      [unreachable, 182_000],
      [answered, 183_000],
    ],
    183_000,
    true,
  ],
])('an appliance is %s', (_, calls, nowMs, isUp) => {
  const { availability } = given();

  for (const [call, atMs] of calls) availability.recordCall(call, atMs);

  expect(availability.isUp(nowMs)).toBe(isUp);
});

it('a response counts longer while intervals are stretched', () => {
  const { availability, options } = given();
  availability.recordCall(answered, 0);

  options.upForMs = 1_200_000;

  expect([availability.isUp(600_000), availability.isUp(1_200_000)]).toEqual([true, false]);
});

it('the clock offset is known only while the appliance is up', () => {
  const { availability } = given();
  availability.recordCall({ ...answered, clockOffsetSeconds: -7_200 }, 0);
  availability.recordCall({ ...answered, clockOffsetSeconds: undefined }, 1_000);

  expect([availability.clockOffsetSeconds(2_000), availability.clockOffsetSeconds(500_000)]).toEqual([
    -7_200,
    undefined,
  ]);
});

it('the availability has the reason of the last failed call, and since when; an aborted call is ignored', () => {
  const { availability, options } = given();
  const failing = [answered, unreachable, { ...unreachable, reason: 'cancelled' as const }, unreachable].map((call) => {
    options.nowMs += 1_000;
    availability.recordCall(call, options.nowMs);
    return availability.state.failing;
  });
  availability.recordCall({ ...unreachable, reason: 'tls' }, 5_000);

  const since = { reason: 'connect', sinceMs: 2_000 };
  expect(failing).toEqual([undefined, since, since, since]);
  expect(availability.state.failing).toEqual({ reason: 'tls', sinceMs: 2_000 });
  // It answers, and has no such object.
  availability.recordCall({ ...answered, reason: 'not_found' }, 0);
  expect(availability.state.failing).toBeUndefined();
  // Something answers, and may be another web server.
  availability.recordCall({ ...unreachable, reason: 'not_found' }, 0);
  expect(availability.state.failing?.reason).toBe('not_found');
  availability.recordCall(unreachable, 0);
  availability.recordCall(answered, 6_000);
  expect(availability.state.failing).toBeUndefined();
});

it('the expiry of the API certificate stays known while the appliance does not respond', () => {
  const { availability } = given();
  availability.recordCall(
    { ...answered, certificate: { notBeforeSeconds: 1_700_000_000, notAfterSeconds: 1_800_000_000 } },
    0,
  );
  availability.recordCall(unreachable, 1_000);

  expect(availability.state.certificate?.notAfterSeconds).toBe(1_800_000_000);
});
