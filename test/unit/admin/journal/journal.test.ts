import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type JournalError, diskTimeoutMs } from '../../../../src/admin/journal/failures.ts';
import type { CreateJournalThread, StoredState } from '../../../../src/admin/journal/journal.ts';
import type { JournalResponse } from '../../../../src/admin/journal/request-handler.ts';
import { verifyJournal } from '../../../../src/admin/journal/verify.ts';
import { linesOf, recordsOf, tamper } from '../../../support/journal-file.ts';
import { givenFile, givenJournal, givenRecord, givenRecords } from './given-journal.ts';

it('a record is on disk when it is acknowledged, numbered, with the hash of the one before it', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);

  const first = await journal.append(givenRecord());
  const second = await journal.append(givenRecord({ event: 'outcome' }));

  const records = await recordsOf(file);
  expect(records.map(({ seq, hash, prev }) => ({ seq, hash, prev }))).toEqual([
    { ...first, prev: '0'.repeat(64) },
    { ...second, prev: first.hash },
  ]);
  expect(records[0]).toMatchObject({ time: '2026-11-20T08:00:00.000Z', ...givenRecord() });
});

it('a record can be verified without this program: its hash is that of its text without the hash', async () => {
  const [line = ''] = await linesOf(await givenRecords(1));

  const text = line.replace(/,"hash":"[^"]*"\}$/, '}');

  expect(createHash('sha256').update(text).digest('hex')).toBe((JSON.parse(line) as { hash: string }).hash);
});

it('a record is written to the log as well', async () => {
  const { journal, logged } = givenJournal(givenFile());

  const position = await journal.append(givenRecord());

  expect(logged).toContainEqual(
    expect.objectContaining({ part: 'audit', msg: 'record', ...position, ...givenRecord() }),
  );
});

it('a record is never changed or removed, not even by somebody who writes the file with SQLite', async () => {
  const file = await givenRecords(2);
  const database = new DatabaseSync(file);

  expect(() => database.exec('UPDATE records SET line = 1')).toThrow('a record is never changed');
  expect(() => database.exec('DELETE FROM records')).toThrow('a record is never removed');
  database.close();
});

it('a record is written in one batch with others that wait, in their order', async () => {
  const { journal, written } = givenJournal(givenFile());

  const positions = await Promise.all(
    Array.from({ length: 50 }, (_, index) => journal.append(givenRecord({ request: `${index}` }))),
  );

  expect(positions.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  expect(written.reduce((sum, count) => sum + count, 0)).toBe(50);
  expect(written.length).toBeLessThan(5);
});

it('a query returns matching visible records, the newest first', async () => {
  const { journal } = givenJournal(givenFile());
  for (const [request, appliance] of Object.entries({ a: 'lb-1', b: 'lb-2', c: 'lb-1', d: 'lb-1' }))
    await journal.append(givenRecord({ request, appliance }));

  const all = await journal.query({ limit: 2, appliance: 'lb-1' });
  const seen = await journal.query({ limit: 10, maySee: ({ request }) => request !== 'd' });

  expect(all.map(({ request }) => request)).toEqual(['d', 'c']);
  expect(seen.map(({ request }) => request)).toEqual(['c', 'b', 'a']);
});

it('a query gives up on a disk that does not answer, and asks again only when that has', async () => {
  const asked: (() => void)[] = [];
  const createThread = (): ReturnType<CreateJournalThread> => ({
    isRunning: false,
    request: () => new Promise((resolve) => asked.push(() => resolve({ found: { lines: [], from: 1 } }))),
    terminate: () => Promise.resolve(),
  });
  const { journal, logged } = givenJournal(givenFile(), { createThread });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());

  const late = journal.query({ limit: 1 });
  vi.advanceTimersByTime(diskTimeoutMs);
  await expect(late).rejects.toThrow('its disk has not answered for 10 seconds');
  await expect(journal.query({ limit: 1 })).rejects.toMatchObject({ reason: 'unwritable' });
  expect(asked).toHaveLength(1);
  asked[0]?.();
  await setImmediate();

  const answered = journal.query({ limit: 1 });
  asked[1]?.();
  expect(await answered).toEqual([]);
  expect(logged.map(({ msg }) => msg)).toEqual(['journal cannot be read', 'journal is read again']);
});

it('a failed query and a failed write with one cause are logged each, and so is the end of each', async () => {
  let failure: JournalResponse['failure'] = { reason: 'unwritable', message: 'the disk is gone' };
  const createThread = (): ReturnType<CreateJournalThread> => ({
    isRunning: false,
    request: async ({ do: what }) => {
      if (failure) return { failure };
      return what === 'find' ? { found: { lines: [], from: 1 } } : { positions: [{ seq: 1, hash: '' }] };
    },
    terminate: () => Promise.resolve(),
  });
  const { journal, logged } = givenJournal(givenFile(), { createThread });
  const search = (): Promise<unknown> => journal.query({ limit: 1 });
  const write = (): Promise<unknown> => journal.append(givenRecord());

  for (const fail of [search, write, search, write]) await expect(fail()).rejects.toThrow('the disk is gone');
  failure = undefined;
  for (const succeed of [write, search, write, search]) await succeed();

  expect(logged.flatMap(({ part, msg }) => (part === 'audit' ? [] : msg))).toEqual([
    'journal cannot be read',
    'journal cannot be written',
    'journal is written again',
    'journal is read again',
  ]);
});

it('a query says that the journal is gone, instead of finding nothing', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  expect(await journal.query({ limit: 1 }), 'before the first record').toEqual([]);
  await journal.append(givenRecord());
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
  await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'broken' });

  await expect(journal.query({ limit: 1 })).rejects.toThrow('it was there up to number 1, and is gone');
});

it('a query reads on when many records are not visible', async () => {
  const { journal } = givenJournal(givenFile());
  await Promise.all(Array.from({ length: 1_500 }, (_, index) => journal.append(givenRecord({ request: `${index}` }))));

  const seen = await journal.query({ limit: 1, maySee: ({ request }) => request === '3' });

  expect(seen).toMatchObject([{ request: '3' }]);
});

it('the changes and the freeze are stored in the transaction of their record, and restored on opening', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  await journal.append(givenRecord({ event: 'change' }), {
    changes: new Map([
      ['ch-1', 'one'],
      ['ch-2', 'two'],
    ]),
  });
  await journal.append(givenRecord({ event: 'freeze' }), { freeze: 'because', forgotten: ['ch-1'] });
  await journal.writeState({ changes: new Map([['ch-2', 'new']]) });
  await journal.close();
  const next = givenJournal(file).journal;
  const opened: StoredState[] = [];
  next.onOpened((each) => void opened.push(each));

  await next.open();
  await next.append(givenRecord({ event: 'unfreeze' }), { freeze: null });

  expect(opened).toEqual([{ changes: new Map([['ch-2', 'new']]), freeze: 'because', isCopy: false }]);
  expect((await recordsOf(file)).map(({ event }) => event)).toEqual(['change', 'freeze', 'unfreeze']);
});

it('the changes and the freeze leave no secret on disk once they are replaced', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  await journal.writeState({ changes: new Map([['ch-1', 'canary-of-a-password'.repeat(500)]]) });

  await journal.writeState({ changes: new Map([['ch-1', 'over']]) });

  for (const path of [file, `${file}-wal`]) expect(readFileSync(path, 'latin1'), path).not.toContain('canary');
});

it.each<readonly [string, (file: string) => void, string, RegExp]>([
  ['a folder', (file) => mkdirSync(file), 'unwritable', /is a folder, not a regular file; move it away/],
  ['a device', (file) => symlinkSync('/dev/full', file), 'unwritable', /is a device, not a regular file/],
  [
    'a file of lines',
    (file) => writeFileSync(file, '{"seq":1,"time":"2026-11-20T08:00:00.000Z"}\n'),
    'unwritable',
    /is another file.*choose another admin\.journal_file/,
  ],
  [
    'a database of another program',
    (file) => {
      const other = new DatabaseSync(file);
      other.exec('CREATE TABLE names (name TEXT)');
      other.close();
    },
    'unwritable',
    /is another file.*choose another admin\.journal_file/,
  ],
  [
    'a damaged journal',
    (file) => writeFileSync(file, `SQLite format 3\0${'x'.repeat(5_000)}`),
    'unwritable',
    /damaged/,
  ],
])('a journal file that is %s is refused with the reason and a remedy', async (_, make, reason, message) => {
  const file = givenFile();
  make(file);
  const { journal, failures } = givenJournal(file);

  await expect(journal.append(givenRecord())).rejects.toMatchObject({
    reason,
    message: expect.stringMatching(message),
  });

  expect(failures()).toBe(1);
});

it('a journal file that cannot be written is retried at the next call, without a restart', async () => {
  const file = givenFile();
  mkdirSync(file);
  const { journal, logged } = givenJournal(file);
  await expect(journal.append(givenRecord())).rejects.toThrow('is a folder');
  rmSync(file, { recursive: true });

  expect(await journal.append(givenRecord())).toMatchObject({ seq: 1 });

  expect(logged.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['journal cannot be written', 'journal is written again']),
  );
});

it('a write that finished after its caller timed out is known to the next call', async () => {
  const { journal } = givenJournal(givenFile());
  const openings: StoredState[] = [];
  journal.onOpened((opened) => void openings.push(opened));
  await journal.append(givenRecord());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());

  const late = journal.append(givenRecord(), { changes: new Map([['ch-1', '{}']]) });
  vi.advanceTimersByTime(diskTimeoutMs);
  await expect(late).rejects.toThrow('has not answered');
  const next = await journal.append(givenRecord());

  expect(next.seq).toBe(3);
  expect(openings.map(({ changes }) => [...changes.keys()])).toEqual([[], ['ch-1']]);
});

it('a journal file in a folder that cannot be created names the setting', async () => {
  const { journal } = givenJournal('/proc/no-such-folder/deeper/journal.db');

  await expect(journal.append(givenRecord())).rejects.toMatchObject({
    message: expect.stringContaining('its folder cannot be made there; choose another admin.journal_file'),
  });
});

it('a deleted journal file is not started again in the same process', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  await journal.append(givenRecord());
  rmSync(file);

  await expect(journal.append(givenRecord())).rejects.toMatchObject({
    reason: 'broken',
    message: expect.stringContaining('it was there up to number 1, and is gone'),
  });
});

it('a replaced journal file is refused', async () => {
  const other = await givenRecords(3);
  const file = givenFile();
  const { journal } = givenJournal(file);
  await journal.append(givenRecord({ reason: 'ours' }));
  renameSync(other, file);
  for (const rest of ['-wal', '-shm']) rmSync(`${file}${rest}`, { force: true });

  await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'broken' });
});

it.each([
  ['lacks its last record', 'DELETE FROM records WHERE number = 3', /number 3 of its records is missing/],
  [
    'has another last record',
    "UPDATE records SET line = replace(line, 'ann', 'bob') WHERE number = 3",
    /number 3 of its records was changed/,
  ],
])('a journal file that %s is not continued after a restart', async (_, statement, message) => {
  const file = await givenRecords(3);
  tamper(file, statement);

  await expect(givenJournal(file).journal.append(givenRecord())).rejects.toMatchObject({
    reason: 'broken',
    message: expect.stringMatching(message),
  });
});

it.each([
  ['was cut to nothing', (file: string) => truncateSync(file), 'unwritable'],
  ['was cut at its second page', (file: string) => truncateSync(file, 8_192), 'unwritable'],
  ['has an empty write-ahead log', (file: string) => truncateSync(`${file}-wal`), 'broken'],
  // SQLite has it open, and can still bring it into the file.
  ['has no write-ahead log', (file: string) => renameSync(`${file}-wal`, `${file}-wal.1`), undefined],
])('a journal file that %s acknowledges no record that is missing after the next start', async (_, harm, refusal) => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  // More than one page, and more than a checkpoint leaves in the log.
  await journal.append(givenRecord({ reason: 'x'.repeat(20_000) }), { changes: new Map([['ch-1', '{}']]) });
  await journal.append(givenRecord());
  harm(file);

  const settled = await Promise.allSettled([journal.append(givenRecord()), journal.append(givenRecord())]);
  const again = await Promise.allSettled([journal.append(givenRecord())]);
  await journal.close();

  const outcomes = [...settled, ...again].map((each) =>
    each.status === 'fulfilled' ? each.value.seq : (each.reason as JournalError).reason,
  );
  const { records = 0 } = (await verifyJournal(file).catch(() => undefined)) ?? {};
  expect(outcomes).toEqual(refusal ? [refusal, refusal, refusal] : [3, 4, 5]);
  if (!refusal) expect(records).toBe(5);
});

it.each([
  ['a trigger', 'CREATE TRIGGER mine BEFORE INSERT ON records BEGIN SELECT raise(IGNORE); END', 'trigger mine'],
  ['a view', 'ALTER TABLE records RENAME TO more; CREATE VIEW records AS SELECT * FROM more', 'table more'],
  ['another index', 'CREATE INDEX mine ON records (number)', 'index mine'],
  ['no index of requests', 'DROP INDEX records_request', 'index records_request'],
])('a journal file with %s accepts no record, and is not intact', async (_, statement, named) => {
  const file = await givenRecords(2);
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();

  await expect(givenJournal(file).journal.append(givenRecord())).rejects.toMatchObject({
    reason: 'broken',
    message: expect.stringContaining(named),
  });
  expect((await verifyJournal(file)).faults).toContainEqual(expect.stringContaining(named));
});

it('a journal is intact without the unfinished write of a killed outside process', async () => {
  const file = await givenRecords(2);
  appendFileSync(`${file}-wal`, Buffer.alloc(5_000, 'x'));

  const position = await givenJournal(file).journal.append(givenRecord());

  expect(position.seq).toBe(3);
  expect(await verifyJournal(file)).toMatchObject({ records: 3, faults: [] });
});

it('a journal file is readable only by its own user, like the files beside it', async () => {
  const file = join(dirname(givenFile()), 'deeper', 'journal.db');
  const { journal } = givenJournal(file);

  await journal.append(givenRecord());

  expect([file, `${file}-wal`, `${file}-shm`].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o600, 0o600, 0o600,
  ]);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
});

it('a journal logs at the start that it begins a new chain, and later that it continues it', async () => {
  const file = givenFile();
  const first = givenJournal(file);
  await first.journal.append(givenRecord());
  await first.journal.close();
  const second = givenJournal(file);
  await second.journal.open();

  const says = (logged: readonly object[]): boolean => JSON.stringify(logged).includes('begins a new chain');
  expect([says(first.logged), says(second.logged)]).toEqual([true, false]);
});

it('a journal warns at the start of earlier calls without an outcome', async () => {
  const file = givenFile();
  const first = givenJournal(file).journal;
  await first.append(givenRecord({ request: 'known' }));
  await first.append(givenRecord({ request: 'known', event: 'outcome' }));
  await first.append(givenRecord({ request: 'unknown' }));
  // The steps of a change are records of one request.
  await first.append(givenRecord({ request: 'change' }));
  await first.append(givenRecord({ request: 'change', event: 'outcome' }));
  await first.append(givenRecord({ request: 'change', path: '/farms/db/actions' }));
  await first.close();
  const { journal, logged } = givenJournal(file);

  await journal.open();

  const requests = ['change', 'unknown'];
  expect(logged).toContainEqual(
    expect.objectContaining({ count: 2, requests, msg: expect.stringContaining('have no outcome') }),
  );
});

it('a journal accepts nothing once it is closed', async () => {
  const { journal } = givenJournal(givenFile());
  await journal.append(givenRecord());
  await journal.close();

  await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'closed' });
});
