import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCron } from '../../../src/poller/schedule.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Counts the ticks of an expression on clocks that only the test moves. */
function givenTicks(expression: string, now = '2026-11-20T21:00:00.500Z') {
  vi.useFakeTimers({ now: new Date(now) });
  const cron = createCron();
  let ticks = 0;
  const unsubscribe = cron.subscribe(expression, () => {
    ticks += 1;
  });
  return {
    cron,
    unsubscribe,
    /** Returns how many ticks come in a time. */
    async during(ms: number): Promise<number> {
      const before = ticks;
      await vi.advanceTimersByTimeAsync(ms);
      return ticks - before;
    },
  };
}

afterEach(() => void vi.useRealTimers());

describe('the ticks of a schedule', () => {
  it.each([
    ['back by an hour', -hourMs],
    ['back by a day', -24 * hourMs],
    ['forward by two days', 48 * hourMs],
    ['forward by sixty days', 60 * 24 * hourMs],
  ])('go on when the system clock is set %s, and none floods', async (_, stepMs) => {
    const { during } = givenTicks('*/30 * * * * *');
    expect(await during(10 * minuteMs)).toBe(20);

    vi.setSystemTime(Date.now() + stepMs);

    const after = await during(10 * minuteMs);
    expect(after).toBeGreaterThanOrEqual(20);
    expect(after).toBeLessThanOrEqual(21);
  });

  it('come once and late after a sleep of the machine, and on time afterwards', async () => {
    const { during } = givenTicks('0 0 3 * * *', '2026-11-20T02:30:00Z');

    // While it sleeps, the monotonic clock and the timers stand still.
    vi.setSystemTime(new Date('2026-11-20T05:00:00Z'));

    expect(await during(2 * minuteMs)).toBe(1);
    expect(await during(23 * hourMs)).toBe(1);
  });

  it('come late when the loop was busy at their time', async () => {
    const { during } = givenTicks('0 0 3 * * *', '2026-11-20T02:59:59Z');
    vi.setSystemTime(new Date('2026-11-20T03:00:02Z'));

    expect(await during(minuteMs)).toBe(1);
  });

  it('end with their subscription', async () => {
    const { during, unsubscribe } = givenTicks('* * * * * *');
    expect(await during(10_000)).toBe(10);

    unsubscribe();

    expect(await during(10_000)).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tell how long it is to the next one, many hours after the last of a working day', async () => {
    const { cron, during } = givenTicks('0 */10 8-18 * * *', '2026-11-20T18:35:00Z');

    await during(6 * minuteMs);
    expect(cron.gapMs('0 */10 8-18 * * *')).toBe(10 * minuteMs);
    await during(10 * minuteMs);
    expect(cron.gapMs('0 */10 8-18 * * *')).toBe(13 * hourMs + 10 * minuteMs);
  });
});
