import { expect, it, onTestFinished, vi } from 'vitest';
import { createRequestQueue, type QueueSlot, type QueueRequest } from '../../../../src/admin/calls/request-queue.ts';

const here = new AbortController().signal;

/** A queue for the reads of one appliance, and requests whose work ends when the test says so. */
function givenQueue({ maxReads = 1, maxWaiting = 4 }: { maxReads?: number; maxWaiting?: number } = {}) {
  const queue = createRequestQueue({ maxReads: () => maxReads, maxWaiting, maxQueueWaitMs: 1_000 });
  return {
    queue,
    request(principal: string, turn: Partial<QueueRequest> = {}) {
      const { promise: work, resolve: end } = Promise.withResolvers<void>();
      let slot: QueueSlot | undefined;
      const label = { noun: 'read', object: 'of farm shop' };
      const ran = queue.run({ appliance: 'lb-1', kind: 'read', label, principal, signal: here, ...turn }, (held) => {
        slot = held;
        return work;
      });
      ran.catch(() => undefined);
      return {
        end,
        ran,
        slot: () => slot,
        /** Once everything has happened that waits for nothing else. */
        async state() {
          const pending = Symbol('pending');
          const settled = new Promise((resolve) => setImmediate(() => resolve(pending)));
          try {
            if ((await Promise.race([ran, settled])) !== pending) return 'done';
            return slot ? 'runs' : 'waits';
          } catch (error) {
            return error instanceof Error && 'code' in error ? String(error.code) : String(error);
          }
        },
      };
    },
  };
}

it('the request queue runs the permitted number of reads, and then the next in order of arrival', async () => {
  const { request } = givenQueue({ maxReads: 2 });
  const first = request('alice');
  request('alice');
  const third = request('bob');
  const fourth = request('carol');

  expect([await third.state(), await fourth.state()]).toEqual(['waits', 'waits']);
  first.end();

  expect([await third.state(), await fourth.state()]).toEqual(['runs', 'waits']);
});

it('the request queue names what holds the slots, and for how long, when a wait times out', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { request } = givenQueue({ maxReads: 3 });
  request('alice');
  await vi.advanceTimersByTimeAsync(10_000);
  request('bob');
  request('bob', { label: { noun: 'dry run', object: 'of farm db' } });
  const late = request('carol');
  await vi.advanceTimersByTimeAsync(30_000);

  await expect(late.ran).rejects.toMatchObject({
    code: 'busy',
    message: expect.stringContaining(
      'for 1 s; under way: 2 reads of farm shop, unanswered for 11 s; 1 dry run of farm db, unanswered for 1 s',
    ),
  });
});

it('the request queue runs one change at a time, beside the reads', async () => {
  const { request } = givenQueue({ maxReads: 2 });
  const states = [
    request('alice', { kind: 'write' }),
    request('bob', { kind: 'write' }),
    request('bob', { kind: 'write', appliance: 'lb-2' }),
    request('bob'),
  ].map(({ state }) => state());

  expect(await Promise.all(states)).toEqual(['runs', 'waits', 'runs', 'runs']);
});

it('the request queue holds a slot as long as an exchange lasts, even after the work has ended', async () => {
  const { request } = givenQueue();
  const exchange = Promise.withResolvers<void>();
  const first = request('alice');
  expect(await first.state()).toBe('runs');
  first.slot()?.extendUntil(exchange.promise);
  const second = request('bob');

  first.end();
  expect([await first.state(), await second.state()]).toEqual(['done', 'waits']);
  exchange.reject(new Error('cut'));

  expect(await second.state()).toBe('runs');
});

it('the request queue limits a principal to half of the waiting requests, and evicts from the largest', async () => {
  const { request } = givenQueue();
  request('alice');
  const own = [request('alice'), request('alice')];

  expect(await request('alice').state()).toBe('busy');
  const others = [request('bob'), request('carol')];
  const dave = request('dave');
  expect(await request('erin').state()).toBe('busy');

  expect(await Promise.all([...own, ...others, dave].map(({ state }) => state()))).toEqual([
    'waits',
    'busy',
    'waits',
    'waits',
    'waits',
  ]);
});

it('the request queue gives each slot to the principal that was served longest ago', async () => {
  const { request } = givenQueue({ maxWaiting: 16 });
  const running = request('alice');
  const alice = [request('alice'), request('alice')] as const;
  const bob = [request('bob'), request('bob')] as const;
  const carol = request('carol');

  const order: string[] = [];
  let current = running;
  for (const next of [bob[0], carol, alice[0], bob[1], alice[1]]) {
    current.end();
    order.push(await next.state());
    current = next;
  }

  expect(order).toEqual(['runs', 'runs', 'runs', 'runs', 'runs']);
});

it('the request queue runs an urgent request before all waiting ones, even when the queue is full', async () => {
  const { request } = givenQueue();
  const running = request('bob');
  const waiting = ['bob', 'bob', 'carol', 'carol'].map((name) => request(name));
  const urgent = [request('alice', { urgent: true }), request('alice', { urgent: true })] as const;

  expect([await running.state(), await urgent[0].state()]).toEqual(['runs', 'waits']);
  running.end();
  expect([await urgent[0].state(), await urgent[1].state()]).toEqual(['runs', 'waits']);
  urgent[0].end();
  expect([await urgent[1].state(), await waiting[0]?.state()]).toEqual(['runs', 'waits']);
  urgent[1].end();

  // Bob had the last slot.
  expect(await waiting[2]?.state()).toBe('runs');
});

it('the request queue refuses a request that has waited too long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { request } = givenQueue();
    request('alice');
    const waiting = request('bob');

    vi.advanceTimersByTime(1_000);

    await expect(waiting.ran).rejects.toMatchObject({ code: 'busy', headers: { 'retry-after': '2' } });
  } finally {
    vi.useRealTimers();
  }
});

it('the request queue frees the place of a caller that disconnects while it waits', async () => {
  const { request } = givenQueue();
  const first = request('alice');
  const leaving = new AbortController();
  const gone = request('bob', { signal: leaving.signal });
  const next = request('carol');

  leaving.abort();
  expect(await gone.state()).toBe('caller_left');
  first.end();

  expect(await next.state()).toBe('runs');
  expect(await request('bob', { signal: leaving.signal }).state()).toBe('caller_left');
});

it('the request queue closes when running requests have ended, and aborts them after a timeout', async () => {
  const { queue, request } = givenQueue();
  const first = request('alice');
  expect(await first.state()).toBe('runs');
  const closed = queue.close(1);

  await new Promise((resolve) => first.slot()?.signal.addEventListener('abort', resolve));
  const second = request('bob');
  first.end();
  await first.ran;
  expect(await second.state()).toBe('runs');
  expect(second.slot()?.signal.aborted).toBe(true);
  second.end();

  await closed;
});
