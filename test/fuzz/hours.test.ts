import * as fc from 'fast-check';
import { it } from 'vitest';
import { fuzzing } from '../support/fuzz.ts';
import { calmHours, troubledHours } from '../support/random-hours.ts';

it('shows for two hours no state of a backend that its appliance has not just said, whatever happens to farms', async () => {
  await fc.assert(calmHours(120), fuzzing('hours'));
}, 3_600_000);

it('shows for two hours none that is older than promised while proxies hang, and the appliance fails', async () => {
  await fc.assert(troubledHours(120), fuzzing('hours'));
}, 3_600_000);
