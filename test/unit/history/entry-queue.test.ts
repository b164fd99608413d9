import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../src/history/store.ts';
import { EntryQueue } from '../../../src/history/entry-queue.ts';

const megabyte = 1_000_000;
const entry = (): Entry => ({ seen: [] });

describe('entries that wait for a disk', () => {
  it('are taken in order, once', () => {
    const waiting = new EntryQueue();
    const all = [entry(), entry(), entry()];
    for (const each of all) expect(waiting.add(each, 'lb', 10)).toBeUndefined();

    expect(waiting.take()).toEqual(all);
    expect(waiting.isEmpty).toBe(true);
    expect(waiting.take()).toEqual([]);
  });

  it('are dropped from the largest appliance when all take too much, and from no other', () => {
    const waiting = new EntryQueue();
    const good = entry();
    waiting.add(good, 'good', megabyte);
    for (let count = 0; count < 15; count += 1) expect(waiting.add(entry(), 'evil', megabyte)).toBeUndefined();

    expect(waiting.add(entry(), 'other', megabyte)).toEqual({ appliance: 'evil', dropped: 15 });
    expect(waiting.take()).toHaveLength(2);
  });

  it('are limited in number when each is short', () => {
    const waiting = new EntryQueue();
    let dropped = 0;
    for (let count = 0; count < 100_000; count += 1) dropped += waiting.add(entry(), 'evil', 0)?.dropped ?? 0;

    expect(dropped).toBeGreaterThan(60_000);
    expect(waiting.take().length).toBeLessThan(33_000);
  });

  it('are dropped when one alone is too long', () => {
    const waiting = new EntryQueue();

    expect(waiting.add(entry(), 'evil', 20 * megabyte)).toEqual({ appliance: 'evil', dropped: 1 });
    expect(waiting.isEmpty).toBe(true);
  });
});
