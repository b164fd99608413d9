import { expect, it } from 'vitest';
import { maxWaitMs, WaitingRequests } from '../../../src/request-log/waiting.ts';
import { keptBytes } from '../../support/kept-memory.ts';

const denial = (farm: string) => ({ kind: 'denial', farm }) as const;
const farmsOf = (waiting: readonly { readonly request: { readonly farm: string } }[]) =>
  waiting.map(({ request }) => request.farm);
const isNews = (farm = '') => farm === 'news';

it('requests are buffered until their names are known, or for two minutes', () => {
  const waiting = new WaitingRequests();
  waiting.add(denial('news'), 1, 0);
  waiting.add(denial('never'), 1, 0);
  expect(farmsOf(waiting.take(isNews, true, 1_000).known)).toEqual(['news']);
  expect(waiting.take(isNews, true, maxWaitMs - 1)).toEqual({ known: [], late: [] });
  expect(farmsOf(waiting.take(isNews, true, maxWaitMs).late)).toEqual(['never']);
  expect(waiting.isEmpty).toBe(true);
});

it.each([
  [true, false],
  [false, true],
])('names that stayed unknown are not awaited again if there was a farm list (%s)', (hasList, waits) => {
  const waiting = new WaitingRequests();
  waiting.add(denial('never'), 1, 0);
  waiting.take(isNews, hasList, maxWaitMs);
  expect(waiting.add(denial('never'), 1, maxWaitMs)).toBe(waits);
});

it('at most 10,000 names are buffered, and none that no farm can have', () => {
  const waiting = new WaitingRequests();
  expect(waiting.add(denial('x'.repeat(128)), 1, 0)).toBe(false);
  for (let count = 0; count < 10_000; count += 1) expect(waiting.add(denial(`f${count}`), 1, 0)).toBe(true);
  expect(waiting.isFull).toBe(true);
  expect(waiting.add(denial('more'), 1, 0)).toBe(false);
});

it('at most 10,000 requests are buffered, however few lines stand for them', () => {
  const waiting = new WaitingRequests();
  expect(waiting.add(denial('never'), 9_999, 0)).toBe(true);
  expect(waiting.add(denial('news'), 2, 0)).toBe(true);
  expect([waiting.isFull, waiting.add(denial('more'), 1, 0)]).toEqual([true, false]);

  waiting.take((name) => name === 'never', true, 1_000);
  expect(waiting.add(denial('more'), 9_998, 0)).toBe(true);
  expect(waiting.isFull).toBe(true);
});

it('buffered requests keep their names, and not the lines that contained them', async () => {
  const waiting = new WaitingRequests();

  const kept = await keptBytes(() => {
    for (let count = 0; count < 5_000; count += 1) {
      const line = Buffer.from(`farm-with-the-number-${count}, ${'x'.repeat(4_000)}`).toString('latin1');
      waiting.add(denial(line.slice(0, line.indexOf(','))), 1, 0);
    }
  });

  expect(waiting.isEmpty).toBe(false);
  expect(kept).toBeLessThan(5_000_000);
});
