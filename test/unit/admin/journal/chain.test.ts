import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { checkLine, genesis, sealRecord } from '../../../../src/admin/journal/chain.ts';
import { givenRecord } from './given-journal.ts';

const time = '2026-11-20T08:00:00.000Z';
const first = sealRecord(givenRecord(), time, genesis);

it('a record does not match another predecessor, even if both have valid hashes', () => {
  const second = sealRecord(givenRecord({ event: 'outcome' }), time, first.position);
  const other = sealRecord(givenRecord({ principal: 'eve' }), time, genesis);

  expect(checkLine(second.line, 2, first.position).fault).toBeUndefined();
  expect(checkLine(second.line, 2, other.position).fault).toContain('one of the two was replaced');
});

it('a record with a duplicate name is rejected, even if its hash matches', () => {
  const text = first.line.replace(/,"hash":.*$/, '}').replace('"principal":', '"principal":"eve","principal":');
  const line = `${text.slice(0, -1)},"hash":"${hash('sha256', text)}"}`;

  expect(checkLine(line, 1, genesis).fault).toBe('is not written as the exporter writes records');
});
