import { copyFileSync, renameSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/admin/journal/database.ts';
import { givenFile, givenRecord } from './given-journal.ts';

const time = '2026-11-20T08:00:00.000Z';

/** A journal with one record, which is on disk, before it is made ready for the next one. */
async function givenWritten(file: string) {
  const database = await openDatabase(file, undefined, () => Date.parse(time));
  onTestFinished(() => database.close());
  const entries = [{ record: givenRecord(), time }];
  database.write(entries);
  return { database, entries };
}

it.each([
  ['moved', (file: string) => renameSync(file, `${file}.moved`)],
  [
    'replaced',
    (file: string) => {
      renameSync(file, `${file}.moved`);
      copyFileSync(`${file}.moved`, file);
    },
  ],
])('a journal that is %s right after a record, before the next one is begun, is not in place', async (_, take) => {
  const file = givenFile();
  const { database, entries } = await givenWritten(file);

  take(file);
  database.settle(entries);

  expect(database.isInPlace).toBe(false);
});

it('a journal that stays where it is, is in place', async () => {
  const { database, entries } = await givenWritten(givenFile());

  database.settle(entries);

  expect(database.isInPlace).toBe(true);
});
