import { expect, it, vi } from 'vitest';
import { valueOf } from '../../support/samples.ts';
import { answering, givenPoller, wellAnswers } from './given-poller.ts';

it('counts and logs a change of state once, and none for a new object', async () => {
  const { farms } = wellAnswers.listFarmStats as { readonly farms: readonly { farmname: string }[] };
  let isDown = false;
  const { poller, page, lines } = givenPoller({
    names: ['farms'],
    answer(key) {
      if (key !== 'listFarmStats' || !isDown) return answering()(key);
      return { body: { farms: farms.map((farm) => (farm.farmname === 'shop' ? { ...farm, status: 'down' } : farm)) } };
    },
  });
  const count = async (to: string) => valueOf(await page(), 'zlb_transitions_total', { object: 'farm', to });
  poller.start();
  await vi.advanceTimersByTimeAsync(90_000);
  expect([await count('up'), await count('down')]).toEqual([undefined, undefined]);

  isDown = true;
  await vi.advanceTimersByTimeAsync(180_000);

  expect(await count('down')).toBe(1);
  expect(lines.filter(({ msg }) => msg === 'state changed')).toMatchObject([
    { object: 'farm', farm: 'shop', from: 'up', to: 'down' },
  ]);
});
