import * as fc from 'fast-check';
import { it } from 'vitest';
import { fuzzing } from '../support/fuzz.ts';
import { calmHours, troubledHours } from '../support/random-hours.ts';

// A history of hours is repeated by its seed, and not made smaller: that would take a day.
const run = { ...fuzzing('hours'), endOnFailure: true };

it('two hours show no backend state that the appliance has not just reported, whatever happens to farms', async () => {
  await fc.assert(calmHours(120), run);
}, 3_600_000);

it('two hours show no state older than promised while proxies hang and the appliance fails', async () => {
  await fc.assert(troubledHours(120), run);
}, 3_600_000);
