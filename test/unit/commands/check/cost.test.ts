import { expect, it } from 'vitest';
import { collectors } from '../../../../src/collectors/registry.ts';
import type { Farm } from '../../../../src/appliance/farm.ts';
import { costPerMinute, type ProbedRun } from '../../../../src/commands/check/cost.ts';
import { intervalOf } from '../../../../src/scheduler/schedule.ts';

/** The calls of each collector in a probe, with the seconds that a real appliance took for them. */
const secondsOfCalls = (farms: number): Readonly<Record<string, readonly number[]>> => ({
  farms: [0.04 + 0.0065 * farms],
  appliance: [0.052, 0.052],
  activation: [0.25],
  summary: [0.055],
  certificates: [0.095],
  backends: [0.16],
  interfaces: [0.052, 0.052],
  system: [1.05, 0.052],
  farm_connections: [0.04 + 0.03 * farms],
  farm_config: [0.052, 0.07],
});

/** A probe of an appliance with the default settings. */
function probed(farms: number): readonly ProbedRun[] {
  const seconds = secondsOfCalls(farms);
  return collectors
    .filter(({ name }) => name in seconds)
    .map((collector) => ({
      collector,
      calls: (seconds[collector.name] ?? []).map((each) => ({
        ...call,
        endpoint: each > 1 && collector.name === 'system' ? '/stats' : '/any',
        seconds: each,
      })),
      sampled: ['backends', 'farm_config'].includes(collector.name) ? 1 : undefined,
      intervalMs: intervalOf(collector.schedule),
      maxStaleMs: collector.maxStaleMs,
    }));
}

const call = {
  method: 'GET',
  endpoint: '/any',
  code: '200',
  reason: undefined,
  seconds: 0,
  waitsForProxies: false,
  authenticated: true,
  clockOffsetSeconds: 0,
} as const;

/** HTTP farms, of which the first ones have a backend down. */
function givenFarms(count: number, troubled: number): readonly Farm[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `f${index}`,
    profile: 'http',
    state: index < troubled ? 'problem' : 'up',
  }));
}

function estimate(farms: readonly Farm[], routineBusyRatio = 0.03) {
  return costPerMinute(probed(farms.length), { farms, configOf: () => undefined, routineBusyRatio });
}

// What the scheduler costs is measured by bench/load; the sleep of GET /stats is no work.
it.each([
  { farms: 11, troubled: 1, seconds: 1.3 },
  { farms: 60, troubled: 3, seconds: 3.1 },
  { farms: 300, troubled: 15, seconds: 7.7 },
])(
  "the polling cost that check estimates is within a sixth of the scheduler's with $farms farms",
  ({ farms, troubled, seconds }) => {
    const cost = estimate(givenFarms(farms, troubled));

    expect(cost.seconds).toBeGreaterThan(seconds / 1.17);
    expect(cost.seconds).toBeLessThan(seconds * 1.17);
  },
);

it('the polling cost that check estimates grows by a call a minute for each troubled farm', () => {
  const healthy = estimate(givenFarms(300, 0));

  expect(estimate(givenFarms(300, 10)).seconds - healthy.seconds).toBeCloseTo(1.6, 1);
  expect(estimate(givenFarms(600, 0)).seconds - healthy.seconds).toBeCloseTo(2 * 300 * 0.0065, 1);
});

it('the polling cost that check estimates includes L4 farms each minute unless they have a health check', () => {
  const farms = givenFarms(20, 0).map((farm) => ({ ...farm, profile: 'l4xnat' }));
  const cost = (isChecked: boolean) =>
    costPerMinute(probed(20), {
      farms,
      configOf: () => ({ checks: [{ service: '', isChecked }] }),
      routineBusyRatio: 1,
    });

  expect(cost(false).calls - cost(true).calls).toBeCloseTo(15);
});
