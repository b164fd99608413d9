import { expect, it } from 'vitest';
import { knownSeries } from '../support/known-series.ts';
import { complaintsAbout } from '../support/query-complaints.ts';
import { blocksToRun, queriesIn } from './documents.ts';

const known = await knownSeries();
const blocks = blocksToRun('promql').map((block) => ({ ...block, queries: queriesIn(block) }));

it.each(blocks)(
  'the queries of the documents $file:$line name series, labels and states that there are',
  ({ queries }) => {
    expect(queries).not.toEqual([]);
    expect(queries.flatMap((query) => complaintsAbout(query, known))).toEqual([]);
  },
);
