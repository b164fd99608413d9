import * as fc from 'fast-check';
import { it } from 'vitest';
import { calmHours, troubledHours } from '../../support/random-hours.ts';

it('shows no state of a backend that its appliance has not just said, whatever happens to farms', async () => {
  await fc.assert(calmHours(20), { numRuns: 3 });
});

it('shows none that is older than promised while proxies hang, and the appliance fails', async () => {
  await fc.assert(troubledHours(20), { numRuns: 3 });
});
