import { copyFileSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { sealRecord } from '../../../../src/admin/journal/chain.ts';
import { maxLookedBack, maxSearched, openDatabase } from '../../../../src/admin/journal/database.ts';
import { givenFile, givenRecord, givenRecords } from './given-journal.ts';

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
])('a journal that is %s right after a record is detected as missing before the next one', async (_, take) => {
  const file = givenFile();
  const { database, entries } = await givenWritten(file);

  take(file);
  database.prepareNext(entries);

  expect(database.isInPlace).toBe(false);
});

it('a journal that stays where it is counts as present', async () => {
  const { database, entries } = await givenWritten(givenFile());

  database.prepareNext(entries);

  expect(database.isInPlace).toBe(true);
});

/** A journal with its first record and that of a number, as if those between them were there. */
async function givenLong(number: number) {
  const file = await givenRecords(1);
  const { line } = sealRecord(givenRecord({ request: 'last' }), time, { seq: number - 1, hash: '0'.repeat(64) });
  const other = new DatabaseSync(file);
  other.prepare('INSERT INTO records VALUES (?, ?)').run(number, line);
  other.close();
  const database = await openDatabase(file, undefined, () => Date.parse(time));
  onTestFinished(() => database.close());
  return database;
}

it('a page of a query searches a part of a long journal, and says how far', async () => {
  const database = await givenLong(maxSearched + 2);
  const page = { principal: 'ann', limit: 10 };

  const first = database.find({ ...page, before: Number.MAX_SAFE_INTEGER });
  const second = database.find({ ...page, before: first.from });

  expect(first).toMatchObject({ lines: [{ request: 'last' }], from: 3 });
  expect(second).toMatchObject({ lines: [{ request: 'request-1' }], from: 1 });
});

it('an opening searches only the last records for calls without an outcome', async () => {
  const { contents } = await givenLong(maxLookedBack + 2);

  expect(contents.unfinished).toEqual(['last']);
});
