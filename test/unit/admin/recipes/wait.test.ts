import { expect, it } from 'vitest';
import { waitUntil } from '../../../../src/admin/recipes/recipe.ts';

/** A wait for zero, seeing one value after another; its clock moves while it sleeps. */
async function waitFor(values: readonly number[], withinMs: number) {
  const clock = { ms: 0 };
  const slept: number[] = [];
  const told: string[] = [];
  const left = [...values];
  const over = await waitUntil(
    {
      steadyNow: () => clock.ms,
      async sleep(ms) {
        slept.push(ms);
        clock.ms += ms;
      },
      progress: (line) => told.push(line),
    },
    {
      read: async () => left.shift() ?? -1,
      isDone: (seen) => seen === 0,
      describe: (seen) => `${seen} left`,
      withinMs,
      remedy: 'Wait longer.',
    },
  ).catch((error: unknown) => error);
  return { over, slept, told };
}

it('waiting for an appliance checks at once, then every five seconds', async () => {
  expect(await waitFor([0], 60_000)).toEqual({ over: 0, slept: [], told: [] });
  expect((await waitFor([2, 1, 0], 60_000)).slept).toEqual([5_000, 5_000]);
});

it('waiting for an appliance reports only changes', async () => {
  expect((await waitFor([2, 2, 1, 0], 60_000)).told).toEqual(['2 left', '1 left']);
});

it('waiting for an appliance ends after the timeout, with the last result', async () => {
  const { over, slept } = await waitFor([3, 3, 3, 3], 10_000);

  expect(slept).toHaveLength(2);
  expect(over).toMatchObject({ message: '3 left.', remedy: 'Wait longer.' });
});

it('waiting for an appliance checks once with a timeout of zero', async () => {
  expect((await waitFor([1], 0)).slept).toEqual([]);
});
