import { describe, expect, it } from 'vitest';
import type { SeenCall } from '../../../bench/soak/appliance-process.ts';
import { createCounterWatch, createSteadySeries, createUpCheck } from '../../../bench/soak/page-checks.ts';
import { createPace, offsetMsOf } from '../../../bench/soak/plan.ts';
import { punctualityOf } from '../../../bench/soak/punctuality.ts';
import { parseExposition } from '../../support/exposition-parser.ts';

const pace = createPace(10);
const nowMs = Date.parse('2026-11-20T12:00:00Z');
const everybody = () => true;

function counterPage(value: number): string {
  return `# HELP zlb_a_total A.\n# TYPE zlb_a_total counter\nzlb_a_total{appliance="lb-1"} ${value}\n`;
}

describe('the watch over counters', () => {
  it('says which one fell, and which one went away', () => {
    const watch = createCounterWatch();

    expect(watch.next(counterPage(5), everybody)).toEqual([]);
    expect(watch.next(counterPage(4), everybody)).toEqual(['zlb_a_total{appliance="lb-1"} fell from 5 to 4']);
    expect(watch.next('', everybody)).toEqual(['zlb_a_total{appliance="lb-1"} is gone']);
  });

  it('lets an appliance that was taken out come back with a smaller one', () => {
    const watch = createCounterWatch();
    watch.next(counterPage(5), everybody);

    expect(watch.next('', () => false)).toEqual([]);
    expect(watch.next(counterPage(1), everybody)).toEqual([]);
  });
});

it('misses a series of an appliance to which nothing happened, and of no other', () => {
  const steady = createSteadySeries(new Set(['lb-1']));
  steady.next('up{appliance="lb-1"} 1\nup{appliance="lb-2"} 1\n');

  expect(steady.next('')).toEqual(['up{appliance="lb-1"} is gone']);
});

describe('the check of zlb_up', () => {
  const page = parseExposition(
    [
      '# HELP zlb_up A.\n# TYPE zlb_up gauge\nzlb_up{appliance="lb-1"} 1\n',
      '# HELP zlb_collector_interval_seconds A.\n# TYPE zlb_collector_interval_seconds gauge\n',
      'zlb_collector_interval_seconds{appliance="lb-1",collector="farms"} 10\n',
    ].join(''),
    'text',
  );
  const answered = (endedAt: number, authenticated: boolean): SeenCall => ({
    appliance: 'lb-1',
    route: 'GET /stats',
    startedAt: endedAt,
    endedAt,
    authenticated,
  });

  it('believes an answer with the key within the shortest max_stale, and nothing else', () => {
    const check = createUpCheck(pace);
    check.saw([answered(nowMs, true), answered(nowMs + 60_000, false)]);

    expect(check.check(page, nowMs + 29_000)).toEqual([]);
    expect(check.check(page, nowMs + 32_000)).toHaveLength(1);
  });

  it('does not believe an appliance that never answered', () => {
    expect(createUpCheck(pace).check(page, nowMs)).toHaveLength(1);
  });
});

describe('punctuality', () => {
  const farms = pace.collectors.find(({ name }) => name === 'farms')!;
  const offsetMs = offsetMsOf('lb-1', farms);
  const call = (startedAt: number): SeenCall => ({
    appliance: 'lb-1',
    route: 'GET /stats/farms',
    startedAt,
    endedAt: startedAt,
    authenticated: true,
  });
  const inTime = [0, 1, 2, 3, 4, 5].map((cycle) => call(nowMs + cycle * 10_000 + offsetMs + 5));
  const stretch = { fromMs: nowMs + offsetMs - 1_000, toMs: nowMs + 61_000 + offsetMs, pace };
  const idle = { sample: () => undefined, between: () => 0 };
  const ofFarms = (found: readonly string[]) => found.filter((line) => line.includes(' farms '));

  it('finds nothing in a schedule that was kept', () => {
    const { missing, extra, maxMs } = punctualityOf(['lb-1'], inTime, { ...stretch, waits: idle });

    expect([...ofFarms(missing), ...ofFarms(extra)]).toEqual([]);
    expect(maxMs).toBe(5);
  });

  it('finds the cycle without a call, and the call without a cycle', () => {
    const calls = [...inTime.toSpliced(2, 1), call(nowMs + 43_000 + offsetMs)];

    const { missing, extra } = punctualityOf(['lb-1'], calls, { ...stretch, waits: idle });

    expect(ofFarms(missing)).toHaveLength(1);
    expect(ofFarms(extra)).toHaveLength(1);
  });

  it('blames nobody for what the machine did', () => {
    const waits = { ...idle, between: () => 6_000 };

    const { missing, excused } = punctualityOf(['lb-1'], inTime.toSpliced(2, 1), { ...stretch, waits });

    expect(ofFarms(missing)).toEqual([]);
    expect(excused).toBeGreaterThan(0);
  });
});
