import { expect, it } from 'vitest';
import { knownSeries } from '../support/known-series.ts';
import { labelFlow } from '../support/label-flow.ts';
import { blocksToRun, queriesIn } from './documents.ts';

const known = await knownSeries();
const blocks = blocksToRun('promql').map((block) => ({ ...block, queries: queriesIn(block) }));

it.each(blocks)(
  'the query at $file:$line uses only served series, labels and states, and joins only matching ones',
  ({ queries }) => {
    expect(queries).not.toEqual([]);
    expect(queries.flatMap((query) => labelFlow(query, known).complaints)).toEqual([]);
  },
);
