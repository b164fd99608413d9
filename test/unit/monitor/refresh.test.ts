import { expect, it } from 'vitest';
import { createRefresh } from '../../../src/monitor/refresh.ts';

function givenRuns() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { begun, endNext: () => ends.shift()?.(), run };
}

/** Lets everything happen that waits for nothing else. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('waits for what is under way, since that may have read before the change', async () => {
  const { begun, endNext, run } = givenRuns();
  const refresh = createRefresh();
  const current = run('current')();

  void refresh.after(current, 'farms', run('again'));
  await settled();
  expect(begun).toEqual(['current']);

  endNext();
  await settled();
  expect(begun).toEqual(['current', 'again']);
});

it('makes one run of many requests that come before it begins', async () => {
  const { begun, endNext, run } = givenRuns();
  const refresh = createRefresh();
  const current = run('current')();

  const requests = [1, 2, 3].map((count) => refresh.after(current, 'farms', run(`request ${count}`)));
  endNext();
  await settled();
  endNext();
  await Promise.all(requests);

  expect(begun).toEqual(['current', 'request 1']);
});

it('runs once more for a request that comes while its run is under way', async () => {
  const { begun, endNext, run } = givenRuns();
  const refresh = createRefresh();

  void refresh.after(undefined, 'farms', run('first'));
  await settled();
  void refresh.after(undefined, 'farms', run('second'));
  void refresh.after(undefined, 'farms', run('third'));
  await settled();
  expect(begun).toEqual(['first']);

  endNext();
  await settled();
  expect(begun).toEqual(['first', 'second']);
});
