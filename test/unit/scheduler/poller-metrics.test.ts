import { describe, expect, it, vi } from 'vitest';
import type { FailureReason } from '../../../src/appliance/errors.ts';
import { collectorFamilies } from '../../../src/collectors/registry.ts';
import { dropReasons, runOutcomes } from '../../../src/scheduler/counters.ts';
import { valueOf } from '../../support/samples.ts';
import { answering, givenPoller } from './given-poller.ts';

const minuteMs = 60_000;

describe("the exporter's own metrics of a poller", () => {
  it('are written again only when something has changed', async () => {
    const { poller, exposition } = givenPoller({ names: ['farms'], answer: answering() });
    poller.start();
    await vi.advanceTimersByTimeAsync(minuteMs);

    const before = await exposition();
    const unchanged = await exposition();
    await vi.advanceTimersByTimeAsync(minuteMs);

    expect(unchanged).toBe(before);
    expect(await exposition()).not.toBe(before);
  });

  it('start with runs of every collector at 0, and without reasons, transitions or gauges', async () => {
    const names = ['farms', 'vpn'];
    const { poller, page } = givenPoller({ names, answer: answering() });
    poller.publish();
    const text = await page();

    for (const collector of names)
      for (const outcome of runOutcomes)
        expect(valueOf(text, 'zlb_collector_runs_total', { collector, outcome })).toBe(0);
    for (const reason of dropReasons) expect(valueOf(text, 'zlb_exporter_series_dropped_total', { reason })).toBe(0);
    expect(text).not.toMatch(/^zlb_\w*(errors_total|skipped_total|transitions_total|up|_success|_offset_seconds)[ {]/m);
    expect(text).not.toMatch(/^zlb_collector_(duration|last)/m);
  });

  it('have the last run of a collector, its last success, and the calls by route and status', async () => {
    let fails = false;
    const { poller, page } = givenPoller({
      names: ['system'],
      callMs: 2_500,
      answer: (key) => (fails ? { fails: 'server_error' } : answering()(key)),
    });
    const good = poller.run('system');
    await vi.advanceTimersByTimeAsync(2_500);
    await good;
    const goodEndedAt = Date.now() / 1_000;
    fails = true;
    await vi.advanceTimersByTimeAsync(10_000);
    const failedBeganAt = Date.now() / 1_000;
    const failed = poller.run('system');
    await vi.advanceTimersByTimeAsync(2_500);
    await failed;

    const text = await page();
    const system = { collector: 'system' };
    expect(valueOf(text, 'zlb_collector_success', system)).toBe(0);
    expect(valueOf(text, 'zlb_collector_duration_seconds', system)).toBe(2.5);
    expect(valueOf(text, 'zlb_collector_interval_seconds', system)).toBe(60);
    expect(valueOf(text, 'zlb_collector_last_success_timestamp_seconds', system)).toBe(goodEndedAt);
    expect(valueOf(text, 'zlb_collector_last_attempt_timestamp_seconds', system)).toBe(failedBeganAt);
    for (const outcome of ['success', 'failure'])
      expect(valueOf(text, 'zlb_collector_runs_total', { ...system, outcome })).toBe(1);
    expect(valueOf(text, 'zlb_collector_errors_total', { ...system, reason: 'server_error' })).toBe(1);
    for (const code of ['200', 'server_error'])
      expect(valueOf(text, 'zlb_api_requests_total', { method: 'GET', endpoint: 'readStats', code })).toBe(1);
    expect(valueOf(text, 'zlb_api_request_duration_seconds_bucket', { le: '1' })).toBe(0);
    expect(valueOf(text, 'zlb_api_request_duration_seconds_bucket', { le: '5' })).toBe(2);
    expect(valueOf(text, 'zlb_api_busy_seconds_total', { endpoint: 'readStats' })).toBe(5);
  });

  it.each(['unauthorized', 'tls'] as const)(
    'have the reason while the newest call or probe fails, before an error is counted: %s',
    async (reason) => {
      let fails: FailureReason | undefined;
      const { poller, page } = givenPoller({
        names: ['farms', 'system'],
        answer: (key) => (fails ? { fails } : answering()(key)),
      });
      poller.start();
      const after = async (ms: number): Promise<string> => {
        await vi.advanceTimersByTimeAsync(ms);
        return await page();
      };
      const failures = (text: string) => text.match(/^zlb_appliance_failure_info\{.*/gm);
      expect(failures(await after(2 * minuteMs))).toBeNull();

      fails = reason;
      const expected = [`zlb_appliance_failure_info{appliance="lb",reason="${reason}"} 1`];
      expect(failures(await after(2 * minuteMs))).toEqual(expected);
      expect(failures(await after(20 * minuteMs))).toEqual(expected);

      fails = undefined;
      expect(failures(await after(3 * minuteMs))).toBeNull();
    },
  );

  it('do not count as series of the appliance, nor do those of the previous poller', async () => {
    const { poller, page, replace } = givenPoller({ names: ['farms'], answer: answering() });
    poller.start();
    await vi.advanceTimersByTimeAsync(minuteMs);
    const text = await page();
    const names = new Set(collectorFamilies.map(({ name }) => name));
    const ofReadings = text.split('\n').filter((line) => names.has(line.split(/[{ ]/)[0] ?? ''));

    expect(valueOf(text, 'zlb_exporter_series')).toBe(ofReadings.length);
    (await replace({ names: ['farms'] })).publish();
    expect(valueOf(await page(), 'zlb_exporter_series')).toBe(ofReadings.length);
  });
});
