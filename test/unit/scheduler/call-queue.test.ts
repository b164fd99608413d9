import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sleep } from '../../../src/lib/time.ts';
import { type CallQueue, createCallQueue } from '../../../src/scheduler/call-queue.ts';

const patient = new AbortController().signal;
const urgent = { signal: patient, priority: 'urgent' } as const;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function given({ maxConcurrent = 1, maxBusyRatio = 1 } = {}): CallQueue {
  return createCallQueue({ maxConcurrentPerAppliance: maxConcurrent, maxBusyRatio, routineBusyRatio: 1 });
}

/** A call that keeps the appliance busy for so long and reports it, as the client does. */
function busyFor(queue: CallQueue, ms: number): () => Promise<void> {
  return async () => {
    await sleep(ms, patient);
    queue.charge(ms / 1_000, 'urgent');
  };
}

describe('the call queue', () => {
  it('returns the result of a call, and frees its slot even if it failed', async () => {
    const queue = given();

    const failed = queue.run(urgent, () => Promise.reject(new Error('refused')));
    const passed = queue.run(urgent, () => Promise.resolve('reply'));

    await expect(failed).rejects.toThrow('refused');
    await expect(passed).resolves.toBe('reply');
  });

  it('rejects an aborted call with the reason, and keeps the order of the others', async () => {
    const queue = given({ maxBusyRatio: 0.5 });
    const impatient = new AbortController();
    const passed: string[] = [];
    const pass = (name: string, signal: AbortSignal) =>
      queue.run({ signal, priority: 'urgent' }, () => {
        passed.push(name);
        return busyFor(queue, 100)();
      });

    const one = pass('one', patient);
    const gone = pass('gone', impatient.signal);
    const two = pass('two', patient);
    await vi.advanceTimersByTimeAsync(150);
    impatient.abort(new Error('out of time'));
    await expect(gone).rejects.toThrow('out of time');
    await vi.runAllTimersAsync();
    await Promise.all([one, two]);

    expect(passed).toEqual(['one', 'two']);
  });

  it('starts no call for a signal that is already aborted', async () => {
    const queue = given();
    let called = false;

    const call = queue.run({ signal: AbortSignal.abort(new Error('too late')), priority: 'urgent' }, () => {
      called = true;
      return Promise.resolve();
    });

    await expect(call).rejects.toThrow('too late');
    expect(called).toBe(false);
  });

  it('leaves no timer behind when the last waiting call is aborted', async () => {
    const queue = given({ maxBusyRatio: 0.1 });
    const impatient = new AbortController();
    const first = queue.run(urgent, busyFor(queue, 100));
    await vi.advanceTimersByTimeAsync(100);
    await first;

    const waiting = queue.run({ signal: impatient.signal, priority: 'urgent' }, () => Promise.resolve());
    expect(vi.getTimerCount()).toBe(1);
    impatient.abort(new Error('out of time'));

    await expect(waiting).rejects.toThrow('out of time');
    expect(vi.getTimerCount()).toBe(0);
  });

  it("never exceeds its share of the appliance's time or its number of parallel calls, for any calls", async () => {
    const calls = fc.array(fc.record({ afterMs: fc.nat(3_000), takesMs: fc.nat(5_000) }), {
      minLength: 1,
      maxLength: 25,
    });
    const ratios = fc.double({ min: 0.05, max: 1, noNaN: true });

    await fc.assert(
      fc.asyncProperty(calls, ratios, fc.constantFrom(1, 2, 4), async (list, maxBusyRatio, maxConcurrent) => {
        const queue = given({ maxBusyRatio, maxConcurrent });
        let firstAt: number | undefined;
        let busyMs = 0;
        let running = 0;
        let most = 0;
        const shares: number[] = [];
        const pass = (takesMs: number): Promise<void> =>
          queue.run(urgent, async () => {
            const elapsedMs = performance.now() - (firstAt ??= performance.now());
            // Timers have whole milliseconds.
            shares.push(busyMs / (elapsedMs + 1));
            most = Math.max(most, (running += 1));
            await busyFor(queue, takesMs)();
            running -= 1;
            busyMs += takesMs;
          });

        const all: Promise<void>[] = [];
        for (const { afterMs, takesMs } of list) {
          await vi.advanceTimersByTimeAsync(afterMs);
          all.push(pass(takesMs));
        }
        await vi.runAllTimersAsync();
        await Promise.all(all);

        expect(Math.max(...shares)).toBeLessThanOrEqual(maxBusyRatio);
        expect(most).toBeLessThanOrEqual(maxConcurrent);
        expect(shares).toHaveLength(list.length);
      }),
      { numRuns: 60 },
    );
  });

  it('does not save up idle time for a burst', async () => {
    const queue = given({ maxBusyRatio: 0.25 });
    await vi.advanceTimersByTimeAsync(3_600_000);
    const starts: number[] = [];
    const call = (): Promise<void> => {
      starts.push(performance.now());
      return busyFor(queue, 1_000)();
    };

    const all = [1, 2, 3].map(() => queue.run(urgent, call));
    await vi.runAllTimersAsync();
    await Promise.all(all);

    expect(starts.map((at) => at - (starts[0] ?? 0))).toEqual([0, 4_000, 8_000]);
  });

  it('lets an urgent call pass those that wait for the budget, which then wait for its cost', async () => {
    const queue = given({ maxBusyRatio: 0.25 });
    const started: (readonly [string, number])[] = [];
    const call = (name: string) => async () => {
      started.push([name, performance.now() - startMs]);
      await busyFor(queue, 1_000)();
    };
    const startMs = performance.now();

    const all = ['first', 'waiting'].map((name) => queue.run(urgent, call(name)));
    await vi.advanceTimersByTimeAsync(1_000);
    const atOnce = queue.run({ signal: patient, priority: 'immediate' }, call('at once'));
    await vi.runAllTimersAsync();
    await Promise.all([...all, atOnce]);

    expect(started).toEqual([
      ['first', 0],
      ['at once', 1_000],
      ['waiting', 8_000],
    ]);
  });
});
