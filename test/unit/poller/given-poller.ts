import { onTestFinished, vi } from 'vitest';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import type { CallReport, ReadKey } from '../../../src/appliance/client.ts';
import { ApplianceError, type FailureReason } from '../../../src/appliance/errors.ts';
import { collectorFamilies, collectors } from '../../../src/collectors/registry.ts';
import { sleep } from '../../../src/lib/time.ts';
import type { Page } from '../../../src/metrics/page.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { AppliancePoller } from '../../../src/poller/appliance-poller.ts';
import { createCron } from '../../../src/poller/schedule.ts';
import { createCounters } from '../../../src/poller/counters.ts';
import type { Inherited } from '../../../src/poller/fleet.ts';
import { ownFamilies } from '../../../src/poller/own-numbers.ts';
import type { Transition } from '../../../src/status/status.ts';
import { textOf } from '../../support/store-text.ts';
import { givenLog } from './given-log.ts';
import { plainVip } from '../../support/poller.ts';

/** A body, or the reason for which the call fails. */
export type Answer = { readonly body: unknown } | { readonly fails: FailureReason };

export interface Asked {
  readonly key: ReadKey;
  readonly params: Readonly<Record<string, string>>;
  /** Milliseconds since the start of the test. */
  readonly at: number;
}

export interface GivenPoller {
  readonly poller: AppliancePoller;
  readonly asked: readonly Asked[];
  readonly transitions: readonly Transition[];
  readonly lines: readonly Record<string, unknown>[];
  page(): Promise<string>;
  /** The page as a scrape gets it; the same object while nothing has changed. */
  exposition(): Promise<Page>;
  /** Sets the system clock off by so much from now on; the monotonic clock of timers stays. */
  setClock(offsetMs: number): void;
  /**
   * Another poller in its place, not started, as after a reload with other settings; the page is
   * then what that one shows.
   */
  replace(settings: Settings): Promise<AppliancePoller>;
}

/** Settings that a reload can change. */
interface Settings {
  readonly names: readonly string[];
  /** The limit of all collectors; their own without it. */
  readonly maxStaleMs?: number;
  readonly watches?: (farm: string) => boolean;
}

/** The smallest replies of an appliance with two farms on which everything is well. */
export const wellAnswers: Partial<Readonly<Record<ReadKey, unknown>>> = {
  listFarmStats: {
    farms: [
      { farmname: 'shop', profile: 'http', status: 'up' },
      { farmname: 'db', profile: 'l4xnat', status: 'up' },
    ],
  },
  readFarmStats: { backends: [{ id: '0', ip: '198.51.100.1', port: '80', status: 'up' }] },
  readSystemVersion: { params: {} },
  readSystemInfo: { params: { edition: 'enterprise', relianoid_version: '7.9.0' } },
  readActivationInfo: { params: { days_to_expire: 216, type: 'temporal' } },
  readActivationCertificate: '',
  listVpns: { params: [] },
  readStats: { params: {} },
  listCertificates: { params: [] },
};

/** Rows of farms in the list of statistics. */
export const upFarms = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ farmname: `f${index}`, profile: 'http', status: 'up' }));

/**
 * A poller with these collectors and an appliance made of answers, on a clock that only the test
 * moves.
 */
export function givenPoller(parts: {
  readonly names: readonly string[];
  readonly answer: (key: ReadKey, params: Readonly<Record<string, string>>) => Answer;
  readonly name?: string;
  /** How long each call takes, or calls for this. */
  readonly callMs?: number | ((key: ReadKey, params: Readonly<Record<string, string>>) => number);
  readonly maxBusyRatio?: number;
  readonly maxStaleMs?: number;
  readonly maxConcurrent?: number;
}): GivenPoller {
  vi.useFakeTimers({ now: new Date('2026-11-20T21:00:00.500Z') });
  const { name = 'lb', callMs = 10, maxBusyRatio = 1, maxConcurrent = 1 } = parts;
  const { log, lines } = givenLog();
  const store = createMetricsStore([...collectorFamilies, ...ownFamilies]);
  store.arrange([name]);
  const cron = createCron();
  const asked: Asked[] = [];
  const transitions: Transition[] = [];
  const startedAt = performance.now();
  let offsetMs = 0;

  const exchange = async (
    key: ReadKey,
    params: Readonly<Record<string, string>>,
    signal: AbortSignal,
    onCall: (report: CallReport) => void,
    limitMs?: number,
  ): Promise<unknown> => {
    asked.push({ key, params, at: performance.now() - startedAt });
    const row: EndpointRow = endpoints[key];
    const allowedMs = limitMs ?? Math.max(20_000, row.patienceMs ?? 0);
    const neededMs = typeof callMs === 'number' ? callMs : callMs(key, params);
    const lastsMs = Math.min(neededMs, allowedMs);
    await sleep(lastsMs, signal);
    const answer: Answer = neededMs > allowedMs ? { fails: 'timeout' } : parts.answer(key, params);
    const reason = 'fails' in answer ? answer.fails : undefined;
    const code = reason ?? '200';
    const authenticated = reason === undefined || reason === 'unlicensed';
    onCall({
      method: 'GET',
      endpoint: key,
      asksProxies: row.patienceMs !== undefined,
      code,
      reason,
      seconds: lastsMs / 1_000,
      authenticated,
      clockOffsetSeconds: 0,
    });
    if ('body' in answer) return structuredClone(answer.body);
    throw new ApplianceError(answer.fails, {
      endpoint: key,
      message: `refused: ${answer.fails}`,
      routeMissing: answer.fails === 'not_found',
    });
  };

  const create = (
    { names, maxStaleMs, watches = () => true }: Settings,
    { counters = createCounters(name), state }: Inherited = {},
  ): AppliancePoller =>
    new AppliancePoller({
      name,
      url: 'https://192.0.2.10:444',
      labels: {},
      watches,
      vip: plainVip,
      compact: false,
      collectors: collectors
        .filter((collector) => names.includes(collector.name))
        .map((collector) => ({
          collector,
          schedule: collector.schedule,
          maxStaleMs: maxStaleMs ?? collector.maxStaleMs,
        })),
      connect: (onCall) => ({
        read: (key, params, signal, options) => exchange(key, params, signal, onCall, options?.limitMs) as never,
        retire: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
      polling: { timeoutMs: 20_000, maxConcurrentPerAppliance: maxConcurrent, maxBusyRatio, jitterRatio: 0.1 },
      maxSeries: 50_000,
      counters,
      onTransition: (transition) => void transitions.push(transition),
      state,
      store,
      cron,
      log,
      now: Date.now,
      random: () => 0.5,
    });
  const poller = create(parts);
  let current = poller;
  onTestFinished(async () => {
    const closed = current.close();
    // A test that gives itself several finds the timers real again after the first.
    if (vi.isFakeTimers()) await vi.runOnlyPendingTimersAsync();
    await closed;
    vi.useRealTimers();
  });

  return {
    get poller() {
      return poller;
    },
    asked,
    transitions,
    lines,
    page() {
      current.expire();
      return textOf(store);
    },
    exposition() {
      current.expire();
      return store.page({ format: 'text', encoding: 'identity' });
    },
    setClock(ms) {
      vi.setSystemTime(Date.now() + ms - offsetMs);
      offsetMs = ms;
    },
    async replace(settings) {
      await current.close();
      current = create(settings, current);
      return current;
    },
  };
}

/** Answers as on a good day, but for those keys that the test says something else about. */
export function answering(others: Partial<Readonly<Record<ReadKey, Answer>>> = {}): (key: ReadKey) => Answer {
  return (key) => others[key] ?? (key in wellAnswers ? { body: wellAnswers[key] } : { fails: 'not_found' });
}
