import * as fc from 'fast-check';
import { it } from 'vitest';
import { shownIsSaid } from '../../support/words-of-farms.ts';

it('shows of the backends of a farm that is up what its appliance says, for any changes of farms and any order of reads', async () => {
  await fc.assert(shownIsSaid, { numRuns: 200 });
});
