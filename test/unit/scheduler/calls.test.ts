import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBreaker } from '../../../src/appliance/breaker.ts';
import type { CallReport, ReadKey, UnreadableField } from '../../../src/appliance/client.ts';
import { ApplianceError, type FailureReason } from '../../../src/appliance/errors.ts';
import { Calls, CallSkippedError, type StepCalls } from '../../../src/scheduler/calls.ts';
import type { SkipReason } from '../../../src/state/status.ts';
import { givenLog } from './given-log.ts';

const unreadable: UnreadableField = { endpoint: '/stats', field: 'established', count: 1, example: '"many"' };

/** The calls to an appliance that answers as the test says; undefined is a reply. */
function given() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { log, lines } = givenLog();
  const appliance = { refuses: undefined as FailureReason | undefined, routeMissing: false, takesMs: 0 };
  const limits: (number | undefined)[] = [];
  const clock = { ms: 0, recoveries: 0 };
  const asked: ReadKey[] = [];
  const breaker = createBreaker({ elapsedNow: () => performance.now(), random: () => 0 });
  const calls = new Calls({
    breaker,
    connect: (onCall) => ({
      read: (async (
        key: ReadKey,
        _params: unknown,
        _signal: AbortSignal,
        options?: { limitMs?: number; onUnreadable?: (found: readonly UnreadableField[]) => void },
      ) => {
        asked.push(key);
        options?.onUnreadable?.([unreadable]);
        if (key === 'listFarmStats') limits.push(options?.limitMs);
        if (appliance.takesMs > 0) await new Promise((resolve) => setTimeout(resolve, appliance.takesMs));
        const { refuses: reason, routeMissing } = appliance;
        onCall({ endpoint: key, reason, seconds: 0.001 } as CallReport);
        if (!reason) return {};
        throw new ApplianceError(reason, { endpoint: key, message: reason, routeMissing });
      }) as never,
      retire: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }),
    onCall: () => undefined,
    onRecovered: () => {
      clock.recoveries += 1;
    },
    polling: { maxConcurrentPerAppliance: 1, maxBusyRatio: 1, routineBusyRatio: 1, timeoutMs: 20_000 },
    idleMs: 15_000,
    mayPing: () => false,
    log,
    elapsedNow: () => clock.ms,
  });
  const skipReason: { reason: SkipReason | undefined } = { reason: undefined };
  const step: StepCalls = {
    signal: new AbortController().signal,
    priority: 'urgent',
    skipReason: () => skipReason.reason,
    askedAtElapsedMs: undefined,
    spentSeconds: 0,
    missing: new Map(),
    unreadable: [],
  };
  return { calls, breaker, read: calls.readFor(step), limits, appliance, clock, asked, step, skipReason, lines };
}

it.each<[what: string, key: ReadKey, params: Record<string, string>, routeMissing: boolean]>([
  ['a farm that is not there', 'readFarmStatus', { farmname: 'shop' }, true],
  ['a page of the web server', 'listFarmStats', {}, false],
])('a missing route of the appliance is not confused with %s', async (_, key, params, routeMissing) => {
  const { calls, read, step, appliance, asked } = given();
  Object.assign(appliance, { refuses: 'not_found', routeMissing });

  await expect(read(key as 'readFarmStatus', params as { farmname: string })).rejects.toThrow();
  calls.rememberMissingRoutes(step);
  await expect(read(key as 'readFarmStatus', params as { farmname: string })).rejects.toThrow();

  expect(asked).toEqual([key, key]);
});

describe('the circuit breaker of the calls', () => {
  it.each<[reason: FailureReason, failures: number]>([
    ['unauthorized', 1],
    ['connect', 3],
    ['timeout', 3],
    ['tls', 3],
  ])('opens on %s after %i, logs it once, and refuses all calls', async (reason, failures) => {
    const { calls, read, appliance, asked, lines } = given();
    appliance.refuses = reason;

    // After a failure the next call is a ping, which counts as well.
    while (calls.wouldAdmit) await expect(read('readStats', {})).rejects.toMatchObject({ reason });
    const refusal = read('readStats', {});

    await expect(refusal).rejects.toEqual(new CallSkippedError('breaker_open'));
    expect(asked).toHaveLength(failures);
    expect(calls.wouldAdmit).toBe(false);
    expect(lines).toMatchObject([{ level: 40, reason, retryInSeconds: 10 }]);
  });

  it.each<FailureReason>([
    'unlicensed',
    'forbidden',
    'not_found',
    'server_error',
    'gateway_timeout',
    'malformed',
    'oversize',
    'bad_request',
  ])('stays closed on %s, which is a response', async (reason) => {
    const { breaker, read, appliance } = given();
    appliance.refuses = reason;

    for (let call = 0; call < 5; call += 1) await expect(read('readStats', {})).rejects.toMatchObject({ reason });

    expect(breaker.state).toBe('closed');
  });

  it('pings with the cheapest call, and admits all calls after a response', async () => {
    const { breaker, calls, read, appliance, asked, lines } = given();
    appliance.refuses = 'unauthorized';
    await expect(read('readStats', {})).rejects.toThrow();

    await vi.advanceTimersByTimeAsync(9_000);
    const early = [...asked];
    appliance.refuses = undefined;
    await vi.advanceTimersByTimeAsync(1_000);

    expect(early).toEqual(['readStats']);
    expect(asked).toEqual(['readStats', 'readSystemVersion']);
    expect([calls.wouldAdmit, breaker.state]).toEqual([true, 'closed']);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'circuit breaker open, polling paused',
      'appliance answers again, polling resumed',
    ]);
    await calls.close();
  });

  it.each(['connect', 'timeout', 'tls'] as const)(
    'pings at once after %s whether anything responds',
    async (reason) => {
      const { breaker, calls, read, appliance, asked } = given();
      appliance.refuses = reason;
      await expect(read('readStats', {})).rejects.toThrow();
      expect(breaker.callsSucceed).toBe(false);

      await vi.advanceTimersByTimeAsync(3_000);
      expect(breaker.state).toBe('open');
      expect(asked).toEqual(['readStats', 'readSystemVersion', 'readSystemVersion']);

      appliance.refuses = 'forbidden';
      await vi.advanceTimersByTimeAsync(10_000);
      expect([breaker.state, breaker.callsSucceed]).toEqual(['closed', true]);
      await calls.close();
    },
  );
});

describe('a call', () => {
  it('is not sent if something forbids it at that time', async () => {
    const { read, asked, skipReason } = given();

    skipReason.reason = 'unlicensed';

    await expect(read('readStats', {})).rejects.toEqual(new CallSkippedError('unlicensed'));
    expect(asked).toEqual([]);
  });

  it('adds its cost and its unreadable fields to its step, even if it failed', async () => {
    const { read, appliance, step } = given();
    appliance.takesMs = 1_000;

    const answered = read('listCertificates', {});
    await vi.advanceTimersByTimeAsync(1_000);
    await answered;
    appliance.refuses = 'server_error';
    const failed = read('listCertificates', {}).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(await failed).toBeInstanceOf(ApplianceError);
    expect(step.spentSeconds).toBe(2);
    expect(step.unreadable).toEqual([unreadable, unreadable]);
  });

  it('costs the work of the appliance, without the second in which it sleeps', async () => {
    const { calls, read, appliance, step } = given();
    appliance.takesMs = 1_060;

    const answered = read('readStats', {});
    await vi.advanceTimersByTimeAsync(1_060);
    await answered;

    expect(step.spentSeconds).toBeCloseTo(0.06, 5);
    expect(calls.notBefore.urgentSteadyMs - performance.now()).toBeCloseTo(0, 5);
  });

  it('dates the reading of its step by the oldest of several replies', async () => {
    const { read, clock, step } = given();

    clock.ms = 5_000;
    await read('readStats', {});
    clock.ms = 90_000;
    await read('readStats', {});

    expect(step.askedAtElapsedMs).toBe(5_000);
  });
});

it('the timeout of a read that queries proxies is at most that of the appliance, however slow the last one was', async () => {
  const { calls, read, limits, appliance } = given();
  await read('listFarmStats', {});
  appliance.takesMs = 21_000;
  const slow = read('listFarmStats', {});
  await vi.advanceTimersByTimeAsync(21_000);
  await slow;

  appliance.takesMs = 0;
  // The busy ratio is 1: the queue opens at once.
  await read('listFarmStats', {});

  expect(limits).toEqual([undefined, 7_000, 25_000]);
  await calls.close();
});
