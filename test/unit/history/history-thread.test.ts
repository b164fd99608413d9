import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HistoryThread } from '../../../src/history/history-thread.ts';
import type { Answer, Question } from '../../../src/history/history-service.ts';

/** A thread whose answers wait until the test gives them. */
function givenThread() {
  const asked: { readonly question: Question; readonly answer: (answer: Answer) => void }[] = [];
  const thread = new HistoryThread('/h.db', () => ({
    isRunning: true,
    async ask(question) {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      asked.push({ question, answer: resolve });
      return await promise;
    },
    terminate: () => Promise.resolve(),
  }));
  return { thread, asked };
}

const write: Question = { do: 'write', entries: [] };

describe('the history thread', () => {
  it('gets no further request while a response is late, so that nothing piles up behind a hung disk', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { thread, asked } = givenThread();
    const first = thread.ask(write).catch(String);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toContain('the history (/h.db) did not answer in 10 s');

    for (let count = 0; count < 1_000; count += 1) await expect(thread.ask(write)).rejects.toThrow('did not answer');
    expect(asked).toHaveLength(1);

    asked[0]?.answer({});
    await vi.advanceTimersByTimeAsync(0);
    const next = thread.ask(write);
    asked[1]?.answer({ farms: [] });
    expect(await next).toEqual({ farms: [] });
  });

  it('runs identical searches once, and lets writes pass between two searches', async () => {
    const { thread, asked } = givenThread();
    const searches = [1, 2, 2, 2, 3].map((limit) => thread.find({ limit }));
    await expect.poll(() => asked.length).toBe(1);
    const written = thread.ask(write);
    for (const [index, { answer }] of asked.entries()) answer({ found: `${index}` });
    await expect.poll(() => asked.length).toBe(3);
    asked[1]?.answer({});
    asked[2]?.answer({ found: 'of 2' });
    await expect.poll(() => asked.length).toBe(4);
    asked[3]?.answer({ found: 'of 3' });

    expect(await Promise.all(searches)).toEqual(['0', 'of 2', 'of 2', 'of 2', 'of 3']);
    await written;
    expect(asked.map(({ question }) => question.do)).toEqual(['find', 'write', 'find', 'find']);
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
