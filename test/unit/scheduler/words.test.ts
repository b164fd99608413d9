import * as fc from 'fast-check';
import { it } from 'vitest';
import { shownIsSaid } from '../../support/words-of-farms.ts';

it('the backends of an up farm are shown as the appliance reports them, for any changes and order of reads', async () => {
  await fc.assert(shownIsSaid, { numRuns: 200 });
});
