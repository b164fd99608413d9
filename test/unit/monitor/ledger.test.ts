import { describe, expect, it } from 'vitest';
import type { CallReport } from '../../../src/appliance/client.ts';
import { fillRegistry, renderLines } from '../../../src/metrics/render.ts';
import { type Counters, createCounters, runOutcomes } from '../../../src/monitor/counters.ts';
import { createLedger, type Ledger, ledgerFamilies } from '../../../src/monitor/ledger.ts';

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
  const ledger = createLedger({ collectors: ['farms', 'vpn'], counters, upForMs: () => options.upForMs });
  return { ledger, counters, options };
}

type Given = Pick<ReturnType<typeof given>, 'ledger' | 'counters'>;

/** All series by name and labels. */
async function seriesOf({ ledger, counters }: Given, ageMs = 0): Promise<ReadonlyMap<string, number>> {
  const state = { ageMs, breaker: 'closed' as const, series: 12 };
  const texts = await rendered(ledger, counters, state);
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
async function rendered(ledger: Ledger, counters: Counters, state: Parameters<Ledger['expose']>[1]) {
  const texts = new Map<string, string>();
  for (const { registry, families } of [fillRegistry('lb', (emit) => ledger.expose(emit, state)), counters.reading()])
    for (const { family } of families) {
      const text = await renderLines(registry, family.name);
      if (text !== '') texts.set(family.name, text);
    }
  return texts;
}

describe('the ledger', async () => {
  it('starts runs of every collector at 0, and shows no reason, transition or gauge that never occurred', async () => {
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

  it('writes no family that it does not name', async () => {
    const { ledger, counters } = given();
    ledger.called(answered, 0);
    ledger.attempted({ collector: 'farms', startedAtMs: 0, durationMs: 200, ok: true });
    ledger.stretchedTo('farms', 30_000);
    const named = new Set(ledgerFamilies.map(({ name }) => name));

    counters.failed('farms', 'timeout');
    counters.skipped('farms', 'overlap');
    counters.transitioned('farm', 'down');

    const texts = await rendered(ledger, counters, { ageMs: 0, breaker: 'closed', series: 1 });

    expect(new Set(texts.keys())).toEqual(named);
  });

  it('knows nothing of up before a call came back, then 1, and 0 once no answer proved the key for too long', async () => {
    const { ledger, counters } = given();

    const seen = [(await seriesOf({ ledger, counters }, 0)).get('zlb_up')];
    ledger.called(answered, 1_000);
    seen.push(
      (await seriesOf({ ledger, counters }, 1_000)).get('zlb_up'),
      (await seriesOf({ ledger, counters }, 180_999)).get('zlb_up'),
      (await seriesOf({ ledger, counters }, 181_000)).get('zlb_up'),
    );
    ledger.called(unreachable, 182_000);
    seen.push((await seriesOf({ ledger, counters }, 182_000)).get('zlb_up'));
    ledger.called(answered, 183_000);
    seen.push((await seriesOf({ ledger, counters }, 183_000)).get('zlb_up'));

    expect(seen).toEqual([undefined, 1, 1, 0, 0, 1]);
  });

  it('does not take a single failure for down', () => {
    const { ledger } = given();
    ledger.called(answered, 0);

    ledger.called(unreachable, 1_000);

    expect(ledger.isUp(1_000)).toBe(true);
  });

  it('says down when the first call failed', () => {
    const { ledger } = given();

    ledger.called(unreachable, 0);

    expect(ledger.isUp(0)).toBe(false);
  });

  it('lets an answer count for longer while intervals are stretched', () => {
    const { ledger, options } = given();
    ledger.called(answered, 0);

    options.upForMs = 1_200_000;

    expect([ledger.isUp(600_000), ledger.isUp(1_200_000)]).toEqual([true, false]);
  });

  it('keeps of each collector how its last run was, and when the last good one ended', async () => {
    const { ledger, counters } = given();
    ledger.attempted({ collector: 'farms', startedAtMs: 10_000, durationMs: 2_500, ok: true });
    ledger.attempted({ collector: 'farms', startedAtMs: 40_000, durationMs: 1_000, ok: false });
    ledger.stretchedTo('farms', 60_000);

    const series = await seriesOf({ ledger, counters });

    expect(series.get('zlb_collector_success{collector="farms"}')).toBe(0);
    for (const outcome of ['success', 'failure'])
      expect(series.get(`zlb_collector_runs_total{collector="farms",outcome="${outcome}"}`)).toBe(1);
    expect(series.get('zlb_collector_duration_seconds{collector="farms"}')).toBe(1);
    expect(series.get('zlb_collector_interval_seconds{collector="farms"}')).toBe(60);
    expect(series.get('zlb_collector_last_success_timestamp_seconds{collector="farms"}')).toBe(12.5);
    expect(series.get('zlb_collector_last_attempt_timestamp_seconds{collector="farms"}')).toBe(40);
  });

  it('has neither success nor failure of a collector that the appliance lacks', async () => {
    const { ledger, counters } = given();
    ledger.attempted({ collector: 'vpn', startedAtMs: 0, durationMs: 1, ok: true });

    ledger.lacks('vpn');

    expect(
      [...(await seriesOf({ ledger, counters })).keys()].filter(
        (name) => name.startsWith('zlb_collector_') && name.includes('"vpn"') && !name.includes('_total'),
      ),
    ).toEqual([]);
  });

  it('counts calls by route and status, their time, and what went wrong', async () => {
    const { ledger, counters } = given();
    ledger.called(answered, 0);
    ledger.called({ ...answered, seconds: 3 }, 0);
    ledger.called({ ...unreachable, seconds: 0.01 }, 0);
    counters.failed('farms', 'connect');
    counters.skipped('farms', 'overlap');
    counters.transitioned('farm', 'down');
    counters.dropped('limit', 40);

    const series = await seriesOf({ ledger, counters });

    expect(series.get('zlb_api_requests_total{method="GET",endpoint="/stats/farms",code="200"}')).toBe(2);
    expect(series.get('zlb_api_requests_total{method="GET",endpoint="/stats/farms",code="connect"}')).toBe(1);
    expect(series.get('zlb_api_request_duration_seconds_bucket{le="0.25"}')).toBe(2);
    expect(series.get('zlb_api_request_duration_seconds_count')).toBe(3);
    expect(series.get('zlb_api_busy_seconds_total{endpoint="/stats/farms"}')).toBeCloseTo(3.21);
    expect(series.get('zlb_collector_errors_total{collector="farms",reason="connect"}')).toBe(1);
    expect(series.get('zlb_collector_skipped_total{collector="farms",reason="overlap"}')).toBe(1);
    expect(series.get('zlb_collector_runs_total{collector="farms",outcome="skipped"}')).toBe(1);
    expect(series.get('zlb_transitions_total{object="farm",to="down"}')).toBe(1);
    expect(series.get('zlb_exporter_series_dropped_total{reason="limit"}')).toBe(40);
    expect(series.get('zlb_exporter_series')).toBe(12);
    expect(series.get('zlb_circuit_breaker_state{state="closed"}')).toBe(1);
  });

  it('shows the offset of the clock only while the appliance is up', async () => {
    const { ledger, counters } = given();
    ledger.called({ ...answered, clockOffsetSeconds: -7_200 }, 0);
    ledger.called({ ...answered, clockOffsetSeconds: undefined }, 1_000);

    expect((await seriesOf({ ledger, counters }, 2_000)).get('zlb_appliance_clock_offset_seconds')).toBe(-7_200);
    expect((await seriesOf({ ledger, counters }, 500_000)).has('zlb_appliance_clock_offset_seconds')).toBe(false);
  });
});
