import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSlots } from '../../../src/lib/slots.ts';

const never = new AbortController().signal;

/** Work that notes its begin, and ends when the test says so. */
function givenWork(begun: string[]) {
  const ends = new Map<string, PromiseWithResolvers<void>>();
  return {
    work: (name: string) => async () => {
      begun.push(name);
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      await end.promise;
      return name;
    },
    end: async (name: string) => {
      ends.get(name)?.resolve();
      await yieldToEventLoop();
    },
    fail: async (name: string) => {
      ends.get(name)?.reject(new Error('broken'));
      await yieldToEventLoop();
    },
  };
}

it('slots run as much work at once as there are slots, in the order of the requests', async () => {
  const begun: string[] = [];
  const inSlot = createSlots(2);
  const { work, end, fail } = givenWork(begun);
  const results = ['a', 'b', 'c', 'd'].map((name) => inSlot(never, work(name)));
  const outcomes = Promise.allSettled(results);
  await yieldToEventLoop();
  expect(begun).toEqual(['a', 'b']);

  await fail('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('c');
  await end('a');
  await end('d');

  expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});

it('a slot is not given to work whose signal aborted while it waited', async () => {
  const begun: string[] = [];
  const inSlot = createSlots(1);
  const { work, end } = givenWork(begun);
  const leaving = new AbortController();
  const first = inSlot(never, work('a'));
  const left = inSlot(leaving.signal, work('b'));
  const last = inSlot(never, work('c'));

  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(inSlot(leaving.signal, work('d'))).rejects.toThrow('left');
  await end('a');
  await end('c');

  expect(await Promise.all([first, last])).toEqual(['a', 'c']);
  expect(begun).toEqual(['a', 'c']);
});

it.each([0, 1, 2, 3, 4, 5, 6])(
  'no slot is lost when work ends %d steps before the next in line leaves',
  async (steps) => {
    const begun: string[] = [];
    const inSlot = createSlots(1);
    const { work } = givenWork(begun);
    const leaving = new AbortController();
    const end = Promise.withResolvers<void>();
    const first = inSlot(never, () => end.promise);
    const left = inSlot(leaving.signal, () => Promise.resolve()).catch(() => undefined);
    void inSlot(never, work('last'));

    end.resolve();
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    leaving.abort(new Error('left'));
    await Promise.all([first, left]);
    await yieldToEventLoop();

    expect(begun).toEqual(['last']);
  },
);
