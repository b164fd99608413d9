import * as fc from 'fast-check';
import { it } from 'vitest';
import { calmHours, troubledHours } from '../../support/random-hours.ts';

it('the page never shows a backend state that the appliance has not just reported, whatever happens to farms', async () => {
  await fc.assert(calmHours(20), { numRuns: 3 });
});

it('the page shows no state older than promised while proxies hang and the appliance fails', async () => {
  await fc.assert(troubledHours(20), { numRuns: 3 });
});
