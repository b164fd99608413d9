import { expect, it } from 'vitest';
import { knownSeries } from '../support/known-series.ts';
import { complaintsAbout } from '../support/query-complaints.ts';
import { blocksToRun } from './documents.ts';

const known = await knownSeries();
const blocks = blocksToRun('promql').map((block) => ({ ...block, queries: queriesIn(block.text) }));

/** A query a line; a line that begins with blanks goes on with the one before. */
function queriesIn(text: string): readonly string[] {
  return text.split(/\n(?=\S)/).filter((query) => !/^\s*(#|$)/.test(query));
}

it.each(blocks)(
  'the queries of the documents $file:$line name series, labels and states that there are',
  ({ queries }) => {
    expect(queries).not.toEqual([]);
    expect(queries.flatMap((query) => complaintsAbout(query, known))).toEqual([]);
  },
);
