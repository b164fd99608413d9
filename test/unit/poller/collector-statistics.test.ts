import { describe, expect, it } from 'vitest';
import type { CallReport } from '../../../src/appliance/client.ts';
import { writeReading } from '../../../src/collectors/rows.ts';
import { fillRegistry, renderLines } from '../../../src/metrics/render.ts';
import { type Counters, createCounters, runOutcomes } from '../../../src/poller/counters.ts';
import {
  createCollectorStatistics,
  type CollectorStatistics,
  ownFamilies,
  ownGauges,
} from '../../../src/poller/collector-statistics.ts';

const answered: CallReport = {
  method: 'GET',
  endpoint: '/stats/farms',
  code: '200',
  reason: undefined,
  seconds: 0.2,
  authenticated: true,
  clockOffsetSeconds: 0,
};
const unreachable: CallReport = {
  ...answered,
  code: 'connect',
  reason: 'connect',
  authenticated: false,
  clockOffsetSeconds: undefined,
};

function given({ upForMs = 180_000 } = {}) {
  const options = { upForMs };
  const counters = createCounters('lb');
  const statistics = createCollectorStatistics({
    collectors: ['farms', 'vpn'],
    counters,
    upForMs: () => options.upForMs,
    isAnswering: () => true,
  });
  return { statistics, counters, options };
}

type Given = Pick<ReturnType<typeof given>, 'statistics' | 'counters'>;

/** All series by name and labels. */
async function seriesOf({ statistics, counters }: Given, ageMs = 0): Promise<ReadonlyMap<string, number>> {
  const texts = await rendered(statistics, counters, ageMs);
  const lines = [...texts.values()].flatMap((text) => text.trim().split('\n'));
  return new Map(
    lines.map((line) => {
      const [series = '', value] = line
        .replace('appliance="lb",', '')
        .replace(',appliance="lb"}', '}')
        .replace('{appliance="lb"}', '')
        .split(/ (?=\S+$)/);
      return [series, Number(value)];
    }),
  );
}

/** The lines of each family that has some. */
async function rendered(statistics: CollectorStatistics, counters: Counters, ageMs: number) {
  const numbers = statistics.numbers(ageMs, { breaker: 'closed', series: 12 });
  const texts = new Map<string, string>();
  for (const { registry, families } of [
    fillRegistry('lb', writeReading(ownGauges, numbers, { compact: false })),
    counters.reading(),
  ])
    for (const { family } of families) {
      const text = await renderLines(registry, family.name);
      if (text !== '') texts.set(family.name, text);
    }
  return texts;
}

describe('the statistics', async () => {
  it('starts runs of every collector at 0, and shows no reason, transition or gauge before its first occurrence', async () => {
    const series = await seriesOf(given());

    for (const collector of ['farms', 'vpn'])
      for (const outcome of runOutcomes)
        expect(series.get(`zlb_collector_runs_total{collector="${collector}",outcome="${outcome}"}`)).toBe(0);
    expect([...series.keys()].filter((name) => /errors_total|skipped_total|transitions_total/.test(name))).toEqual([]);
    expect(series.get('zlb_exporter_series_dropped_total{reason="limit"}')).toBe(0);
    expect(series.get('zlb_exporter_series_dropped_total{reason="duplicate"}')).toBe(0);
    expect(
      [...series.keys()].filter((name) => /zlb_up|_success|_duration|_timestamp|_offset|_interval/.test(name)),
    ).toEqual([]);
  });

  it('writes only families that it names', async () => {
    const { statistics, counters } = given();
    statistics.called(answered, 0);
    statistics.attempted({ collector: 'farms', startedAtMs: 0, durationMs: 200, ok: true });
    statistics.intervalIs('farms', 30_000);
    const named = new Set(ownFamilies.map(({ name }) => name));

    counters.failed('farms', 'timeout');
    counters.skipped('farms', 'stretched');
    counters.unreadable('/stats/farms', 'established', 1);
    counters.transitioned('farm', 'down');

    const texts = await rendered(statistics, counters, 0);

    expect(new Set(texts.keys())).toEqual(named);
  });

  it('has no zlb_up before the first answer, then 1, and 0 after too long without an authenticated answer', async () => {
    const { statistics, counters } = given();

    const seen = [(await seriesOf({ statistics, counters }, 0)).get('zlb_up')];
    statistics.called(answered, 1_000);
    seen.push(
      (await seriesOf({ statistics, counters }, 1_000)).get('zlb_up'),
      (await seriesOf({ statistics, counters }, 180_999)).get('zlb_up'),
      (await seriesOf({ statistics, counters }, 181_000)).get('zlb_up'),
    );
    statistics.called(unreachable, 182_000);
    seen.push((await seriesOf({ statistics, counters }, 182_000)).get('zlb_up'));
    statistics.called(answered, 183_000);
    seen.push((await seriesOf({ statistics, counters }, 183_000)).get('zlb_up'));

    expect(seen).toEqual([undefined, 1, 1, 0, 0, 1]);
  });

  it('is not down after a single failure', () => {
    const { statistics } = given();
    statistics.called(answered, 0);

    statistics.called(unreachable, 1_000);

    expect(statistics.isUp(1_000)).toBe(true);
  });

  it('is down if the first call failed', () => {
    const { statistics } = given();

    statistics.called(unreachable, 0);

    expect(statistics.isUp(0)).toBe(false);
  });

  it('extends the life of an answer while intervals are stretched', () => {
    const { statistics, options } = given();
    statistics.called(answered, 0);

    options.upForMs = 1_200_000;

    expect([statistics.isUp(600_000), statistics.isUp(1_200_000)]).toEqual([true, false]);
  });

  it('keeps the last result of each collector, and the end of its last good run', async () => {
    const { statistics, counters } = given();
    statistics.attempted({ collector: 'farms', startedAtMs: 10_000, durationMs: 2_500, ok: true });
    statistics.attempted({ collector: 'farms', startedAtMs: 40_000, durationMs: 1_000, ok: false });
    statistics.intervalIs('farms', 60_000);

    const series = await seriesOf({ statistics, counters });

    expect(series.get('zlb_collector_success{collector="farms"}')).toBe(0);
    for (const outcome of ['success', 'failure'])
      expect(series.get(`zlb_collector_runs_total{collector="farms",outcome="${outcome}"}`)).toBe(1);
    expect(series.get('zlb_collector_duration_seconds{collector="farms"}')).toBe(1);
    expect(series.get('zlb_collector_interval_seconds{collector="farms"}')).toBe(60);
    expect(series.get('zlb_collector_last_success_timestamp_seconds{collector="farms"}')).toBe(12.5);
    expect(series.get('zlb_collector_last_attempt_timestamp_seconds{collector="farms"}')).toBe(40);
  });

  it('has neither success nor failure of an unsupported collector', async () => {
    const { statistics, counters } = given();
    statistics.attempted({ collector: 'vpn', startedAtMs: 0, durationMs: 1, ok: true });

    statistics.unsupported('vpn');

    expect(
      [...(await seriesOf({ statistics, counters })).keys()].filter(
        (name) => name.startsWith('zlb_collector_') && name.includes('"vpn"') && !name.includes('_total'),
      ),
    ).toEqual([]);
  });

  it('counts calls by route and status, their time, and failures', async () => {
    const { statistics, counters } = given();
    statistics.called(answered, 0);
    statistics.called({ ...answered, seconds: 3 }, 0);
    statistics.called({ ...unreachable, seconds: 0.01 }, 0);
    counters.failed('farms', 'connect');
    counters.skipped('farms', 'stretched');
    counters.transitioned('farm', 'down');
    counters.dropped('limit', 40);

    const series = await seriesOf({ statistics, counters });

    expect(series.get('zlb_api_requests_total{method="GET",endpoint="/stats/farms",code="200"}')).toBe(2);
    expect(series.get('zlb_api_requests_total{method="GET",endpoint="/stats/farms",code="connect"}')).toBe(1);
    expect(series.get('zlb_api_request_duration_seconds_bucket{le="0.25"}')).toBe(2);
    expect(series.get('zlb_api_request_duration_seconds_count')).toBe(3);
    expect(series.get('zlb_api_busy_seconds_total{endpoint="/stats/farms"}')).toBeCloseTo(3.21);
    expect(series.get('zlb_collector_errors_total{collector="farms",reason="connect"}')).toBe(1);
    expect(series.get('zlb_collector_skipped_total{collector="farms",reason="stretched"}')).toBe(1);
    expect(series.get('zlb_collector_runs_total{collector="farms",outcome="skipped"}')).toBe(1);
    expect(series.get('zlb_transitions_total{object="farm",to="down"}')).toBe(1);
    expect(series.get('zlb_exporter_series_dropped_total{reason="limit"}')).toBe(40);
    expect(series.get('zlb_exporter_series')).toBe(12);
    expect(series.get('zlb_circuit_breaker_state{state="closed"}')).toBe(1);
  });

  it('shows the offset of the clock only while the appliance is up', async () => {
    const { statistics, counters } = given();
    statistics.called({ ...answered, clockOffsetSeconds: -7_200 }, 0);
    statistics.called({ ...answered, clockOffsetSeconds: undefined }, 1_000);

    expect((await seriesOf({ statistics, counters }, 2_000)).get('zlb_appliance_clock_offset_seconds')).toBe(-7_200);
    expect((await seriesOf({ statistics, counters }, 500_000)).has('zlb_appliance_clock_offset_seconds')).toBe(false);
  });
});
