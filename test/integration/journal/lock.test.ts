import { copyFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeLock } from '../../../src/admin/journal/lock.ts';
import { canUnshare, inOwnNamespace } from '../../support/programs.ts';
import { givenFile } from '../../unit/admin/journal/given-audit.ts';
import { startLocker } from './given-locker.ts';

/** Keeps what a killed process left of its lock; returns a function that puts it back. */
async function givenStaleLock(file: string): Promise<() => void> {
  const killed = await startLocker(file);
  expect(await killed.take()).toBe('taken');
  await killed.kill();
  const folder = dirname(file);
  const names = readdirSync(folder);
  const kept = dirname(givenFile());
  for (const name of names) copyFileSync(join(folder, name), join(kept, name));
  return () => {
    for (const name of names) copyFileSync(join(kept, name), join(folder, name));
  };
}

describe('the lock of an audit', () => {
  it.each([2, 4])(
    'goes to exactly one of %i processes that find a stale lock in the same millisecond',
    async (count) => {
      const rounds = 60;
      const file = givenFile();
      const makeStale = await givenStaleLock(file);
      const lockers = await Promise.all(Array.from({ length: count }, () => startLocker(file)));
      const roundsByHolders: Record<number, number> = {};

      for (let round = 1; round <= rounds; round += 1) {
        makeStale();
        const begin = Date.now() + 3;
        const results = await Promise.all(lockers.map((locker) => locker.take(begin)));
        const holders = results.filter((result) => result === 'taken').length;
        roundsByHolders[holders] = (roundsByHolders[holders] ?? 0) + 1;
        await Promise.all(lockers.map((locker) => locker.release()));
      }

      expect(roundsByHolders).toEqual({ 1: rounds });
    },
    120_000,
  );

  it('is kept when others of the same process try to take it in the same moment', async () => {
    for (let round = 1; round <= 10; round += 1) {
      const file = givenFile();
      const other = await startLocker(file);
      const takes = Array.from({ length: 5 }, () => takeLock(file, Date.now));

      const results = await Promise.allSettled(takes);

      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await other.take()).toMatch(/^refused /);
      for (const result of results) if (result.status === 'fulfilled') await result.value.release();
      await other.kill();
    }
  }, 30_000);
});

describe.skipIf(!canUnshare())('the lock of an audit, between two PID namespaces', () => {
  it.each(['another', 'the first'])('keeps a process of %s namespace out, and says who holds it', async (where) => {
    const file = givenFile();
    const holder = await startLocker(file, where === 'another' ? [] : inOwnNamespace);
    const other = await startLocker(file, where === 'another' ? inOwnNamespace : []);
    expect(await holder.take()).toBe('taken');

    const refused = await other.take();
    holder.pause();
    const refusedWhilePaused = await other.take();
    await holder.kill();

    expect(refused).toMatch(/^refused /);
    expect(refusedWhilePaused).toBe(refused);
    expect(await other.take()).toBe('taken');
  });
});
