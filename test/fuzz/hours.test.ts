import * as fc from 'fast-check';
import { it } from 'vitest';
import { fuzzing } from '../support/fuzz.ts';
import { calmHours, troubledHours } from '../support/random-hours.ts';

// A history of hours is repeated by its seed, and not made smaller: that would take a day.
const run = { ...fuzzing('hours'), endOnFailure: true };

it('shows for two hours no state of a backend that its appliance has not just said, whatever happens to farms', async () => {
  await fc.assert(calmHours(120), run);
}, 3_600_000);

it('shows for two hours none that is older than promised while proxies hang, and the appliance fails', async () => {
  await fc.assert(troubledHours(120), run);
}, 3_600_000);
