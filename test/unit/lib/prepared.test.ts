import { expect, it } from 'vitest';
import { prepareAndCommit } from '../../../src/lib/prepared.ts';

it('a change of settings that cannot be prepared says why, and discards all before it, even if one cannot be', async () => {
  const discarded: string[] = [];
  const prepared = (name: string, discard: () => Promise<void>) => () => ({
    commit: () => undefined,
    async discard() {
      discarded.push(name);
      await discard();
    },
  });

  const changing = prepareAndCommit([
    prepared('first', () => Promise.reject(new Error('it cannot be closed'))),
    prepared('second', () => Promise.resolve()),
    () => Promise.reject(new Error('the port is in use')),
  ]);

  await expect(changing).rejects.toThrow('the port is in use');
  expect(discarded).toEqual(['first', 'second']);
});
