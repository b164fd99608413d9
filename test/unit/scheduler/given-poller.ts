import { onTestFinished, vi } from 'vitest';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import type { CallReport, ReadKey } from '../../../src/appliance/client.ts';
import { ApplianceError, type FailureReason } from '../../../src/appliance/errors.ts';
import { collectors } from '../../../src/collectors/registry.ts';
import { sleep } from '../../../src/lib/time.ts';
import type { AppliancePoller } from '../../../src/scheduler/appliance-poller.ts';
import { createCron } from '../../../src/scheduler/schedule.ts';
import { createCounters } from '../../../src/scheduler/counters.ts';
import type { Inherited } from '../../../src/scheduler/fleet.ts';
import type { Transition } from '../../../src/state/status.ts';
import { textOf } from '../../support/store-text.ts';
import { givenLog } from './given-log.ts';
import { createPoller, createStoreFor, scheduled } from '../../support/poller.ts';

/** A body, or the reason for which the call fails. */
export type Answer = { readonly body: unknown } | { readonly fails: FailureReason };

export type GivenPoller = ReturnType<typeof givenPoller>;

/** Settings that a reload can change. */
interface Settings {
  readonly names: readonly string[];
  /** The limit of all collectors; their own without it. */
  readonly maxStaleMs?: number;
  readonly watches?: (farm: string) => boolean;
}

/** The smallest replies of an appliance with two farms on which everything is well. */
export const wellAnswers: Partial<Readonly<Record<ReadKey, unknown>>> = {
  listFarms: {
    params: [
      { farmname: 'shop', profile: 'http', status: 'up' },
      { farmname: 'db', profile: 'l4xnat', status: 'up' },
    ],
  },
  listFarmStats: { farms: [] },
  readFarmStats: { backends: [{ id: '0', ip: '198.51.100.1', port: '80', status: 'up' }] },
  listFarmBackends: { params: [{ id: '0', ip: '198.51.100.1', port: '80', status: 'up' }] },
  readSystemVersion: { params: {} },
  readSystemInfo: { params: { edition: 'enterprise', relianoid_version: '7.9.0' } },
  readActivationInfo: { params: { days_to_expire: 216, type: 'temporal' } },
  readActivationCertificate: '',
  listVpns: { params: [] },
  readStats: { params: {} },
  listCertificates: { params: [] },
};

/** Rows of farms in a list. */
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
  /** As much as for all if left out. */
  readonly routineBusyRatio?: number;
  readonly maxStaleMs?: number;
  readonly maxConcurrent?: number;
  /** The limit of all readings in memory. */
  readonly maxBytes?: number;
}) {
  vi.useFakeTimers({ now: new Date('2026-11-20T21:00:00.500Z') });
  const { name = 'lb', callMs = 10, maxBusyRatio = 1, routineBusyRatio = maxBusyRatio, maxConcurrent = 1 } = parts;
  const { log, lines } = givenLog();
  const store = createStoreFor(name);
  const cron = createCron();
  /** The calls, with the milliseconds since the start of the test. */
  const asked: { readonly key: ReadKey; readonly params: Readonly<Record<string, string>>; readonly at: number }[] = [];
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
    const allowedMs = limitMs ?? Math.max(20_000, row.maxProxyWaitMs ?? 0);
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
      waitsForProxies: row.maxProxyWaitMs !== undefined,
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
    { counters = createCounters(name), handover }: Inherited = {},
  ): AppliancePoller =>
    createPoller({
      name,
      watches,
      // Copies, as `check` makes them.
      collectors: scheduled(collectors.filter((collector) => names.includes(collector.name))).map((each) => ({
        ...each,
        collector: { ...each.collector },
        maxStaleMs: maxStaleMs ?? each.maxStaleMs,
      })),
      connect: (onCall) => ({
        read: (key, params, signal, options) => exchange(key, params, signal, onCall, options?.limitMs) as never,
        retire: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
      polling: {
        timeoutMs: 20_000,
        maxConcurrentPerAppliance: maxConcurrent,
        maxBusyRatio,
        routineBusyRatio,
        jitterRatio: 0.1,
      },
      counters,
      maxBytes: parts.maxBytes ?? 32_000_000,
      listeners: [{ onReading: (_, seen) => void transitions.push(...seen) }],
      handover,
      store,
      cron,
      log,
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
    poller,
    asked,
    transitions,
    lines,
    /** The page of the newest poller. */
    page() {
      current.expire();
      return textOf(store);
    },
    exposition() {
      current.expire();
      return store.exposition({ format: 'text', encoding: 'identity' });
    },
    /** Sets the system clock off by so much from now on; the monotonic clock of timers stays. */
    setClock(ms: number) {
      vi.setSystemTime(Date.now() + ms - offsetMs);
      offsetMs = ms;
    },
    /** Puts another poller in its place, not started, as after a reload with other settings. */
    async replace(settings: Settings) {
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
