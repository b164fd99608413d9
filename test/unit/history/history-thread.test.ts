import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HistoryThread } from '../../../src/history/history-thread.ts';
import type { HistoryRequest, HistoryResponse } from '../../../src/history/request-handler.ts';

/** A thread whose responses wait until the test gives them. */
function givenThread() {
  const requests: { readonly request: HistoryRequest; readonly respond: (response: HistoryResponse) => void }[] = [];
  const thread = new HistoryThread('/h.db', () => ({
    isRunning: true,
    async request(request) {
      const { promise, resolve } = Promise.withResolvers<HistoryResponse>();
      requests.push({ request, respond: resolve });
      return await promise;
    },
    terminate: () => Promise.resolve(),
  }));
  return { thread, requests };
}

const write: HistoryRequest = { do: 'write', entries: [] };

describe('the history thread', () => {
  it('gets no further request while a response is late, so that nothing piles up behind a hung disk', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { thread, requests } = givenThread();
    const first = thread.request(write).catch(String);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toContain('the history (/h.db) did not answer in 10 s');

    for (let count = 0; count < 1_000; count += 1)
      await expect(thread.request(write)).rejects.toThrow('did not answer');
    expect(requests).toHaveLength(1);

    requests[0]?.respond({});
    await vi.advanceTimersByTimeAsync(0);
    const next = thread.request(write);
    requests[1]?.respond({ farms: [] });
    expect(await next).toEqual({ farms: [] });
  });

  it('runs identical searches once, and lets writes pass between two searches', async () => {
    const { thread, requests } = givenThread();
    const searches = [1, 2, 2, 2, 3].map((limit) => thread.find({ limit }));
    await expect.poll(() => requests.length).toBe(1);
    const written = thread.request(write);
    for (const [index, { respond }] of requests.entries()) respond({ found: `${index}` });
    await expect.poll(() => requests.length).toBe(3);
    requests[1]?.respond({});
    requests[2]?.respond({ found: 'of 2' });
    await expect.poll(() => requests.length).toBe(4);
    requests[3]?.respond({ found: 'of 3' });

    expect(await Promise.all(searches)).toEqual(['0', 'of 2', 'of 2', 'of 2', 'of 3']);
    await written;
    expect(requests.map(({ request }) => request.do)).toEqual(['find', 'write', 'find', 'find']);
  });

  it('refuses a search while 32 others wait, but not an identical one', async () => {
    const { thread } = givenThread();
    const refused: string[] = [];
    const search = (limit: number): void => void thread.find({ limit }).catch((error) => refused.push(String(error)));
    search(1);
    await yieldToEventLoop();
    for (let limit = 2; limit <= 41; limit += 1) search(limit);
    search(5);
    await yieldToEventLoop();

    expect(refused).toEqual(Array.from({ length: 8 }, () => 'Error: 32 other searches in the history wait'));
  });
});
