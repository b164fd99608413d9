import { renameSync } from 'node:fs';
import { DatabaseSync, backup } from 'node:sqlite';
import { expect, it } from 'vitest';
import { verifyJournal } from '../../../../src/admin/journal/verify.ts';
import { recordsOf } from '../../../support/journal-file.ts';
import { givenFile, givenJournal, givenRecord } from './given-journal.ts';

it('a journal that was moved is not a copy', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  await journal.append(givenRecord());
  await journal.close();
  renameSync(file, `${file}.moved`);

  const { journal: moved, logged } = givenJournal(`${file}.moved`);
  await moved.open();

  expect(JSON.stringify(logged)).not.toContain('journal is a copy');
});

it('a copy that SQLite makes during writes is consistent, and an exporter continues with it', async () => {
  const { file, copy } = { file: givenFile(), copy: givenFile() };
  const { journal } = givenJournal(file);
  await journal.append(givenRecord({ request: 'before' }));
  const later = Array.from(
    { length: 20 },
    async (_, n) => await journal.append(givenRecord({ request: `during-${n}` })),
  );
  const reader = new DatabaseSync(file, { readOnly: true });
  await backup(reader, copy);
  reader.close();
  await Promise.all(later);

  expect((await verifyJournal(copy)).faults).toEqual([]);
  const { journal: restored, logged } = givenJournal(copy);
  await restored.append(givenRecord({ request: 'after' }));

  const requests = (await recordsOf(copy)).map(({ request }) => request);
  expect([requests[0], requests.at(-1)]).toEqual(['before', 'after']);
  expect(JSON.stringify(logged)).toContain('journal is a copy');
  expect((await verifyJournal(copy)).faults).toEqual([]);
});
