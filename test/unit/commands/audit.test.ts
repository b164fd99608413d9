import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { audit } from '../../../src/commands/audit.ts';
import type { Flags } from '../../../src/commands/flags.ts';
import { givenFolder } from '../../support/folder.ts';
import { feed } from '../../support/programs.ts';
import { linesOf, tamper } from '../../support/journal-file.ts';
import { givenFile, givenJournal, givenRecord, givenRecords } from '../admin/journal/given-journal.ts';
import { givenContext } from './given-command.ts';

const appliance = { name: 'lb-1', url: 'https://127.0.0.1:1', api_key: 'key' };
const token = { name: 'ann', sha256: '0'.repeat(64), role: 'viewer' };

/** Runs a command of the audit; files are shown by their names alone. */
async function run(verb: string, file: string, flags: Flags = {}) {
  const { context, said, warned } = givenContext({ arguments: [verb, file], flags });
  const code = await audit(context);
  const short = (lines: readonly string[]): string => lines.join('\n').replaceAll(`${dirname(file)}/`, '');
  return { code, said: short(said), warned: short(warned) };
}

it('audit without a file reads the journal of the configuration', async () => {
  const journal = await givenRecords(3);
  const file = join(dirname(journal), 'zlb.yml');
  writeFileSync(file, JSON.stringify({ appliances: [appliance], admin: { journal_file: journal, tokens: [token] } }));
  const { context, said, written } = givenContext({ arguments: ['verify'], flags: { 'config.file': file } });

  expect(await audit(context)).toBe(0);
  expect(said[0]).toBe(`${journal} is intact: 3 records.`);
  expect(await audit({ ...context, arguments: ['export'] })).toBe(0);
  expect(Buffer.concat(written).toString().trim().split('\n')).toHaveLength(3);
});

it('audit without a file demands one when no configuration names it', async () => {
  const file = join(givenFolder(), 'zlb.yml');
  writeFileSync(file, JSON.stringify({ appliances: [appliance] }));
  const { context } = givenContext({ arguments: ['verify'], flags: { 'config.file': file } });

  await expect(audit(context)).rejects.toThrow(`${file} has no admin block, and so no journal: zlb-exporter audit`);
});

it('audit verify reports that a journal is intact, with its first and last record', async () => {
  const file = await givenRecords(5);

  const { code, said } = await run('verify', file);

  expect(code).toBe(0);
  expect(said).toContain('journal.db is intact: 5 records.');
  expect(said).toContain('  first record  number 1, 2026-11-20T08:00:00.000Z\n');
  expect(said).toContain('The outcome of 5 requests is unknown');
});

it('audit verify names only the requests without an outcome', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  for (const request of ['request-1', 'request-2']) await journal.append(givenRecord({ request }));
  await journal.append(givenRecord({ event: 'outcome', request: 'request-1' }));

  const { said } = await run('verify', file);

  expect(said).toContain('The outcome of 1 request is unknown');
  expect(said).toContain('request-2');
  expect(said).not.toContain('request-1\n');
});

it('audit verify reads a journal while an exporter writes it', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  await journal.append(givenRecord());

  expect(await run('verify', file)).toMatchObject({ code: 0, said: expect.stringContaining('1 record.') });
});

it.each<readonly [string, readonly string[], string]>([
  [
    'changed',
    ['UPDATE records SET line = replace(line, \'"ann"\', \'"bob"\') WHERE number = 2'],
    'number 2 was changed: its hash does not fit its text',
  ],
  ['removed', ['DELETE FROM records WHERE number = 2'], 'number 3 comes after number 1: number 2 is missing'],
  [
    'removed at the beginning',
    ['DELETE FROM records WHERE number < 3'],
    'number 3 comes after number 0: numbers 1 to 2 are missing',
  ],
  [
    'removed at the end',
    ['DELETE FROM records WHERE number > 3'],
    'has had number 5: numbers 4 to 5 are missing at the end',
  ],
  [
    'replaced by an older one',
    ['UPDATE records SET line = (SELECT line FROM records WHERE number = 1) WHERE number = 2'],
    'number 2 says that it is number 1: it was moved',
  ],
  [
    'exchanged',
    [
      'UPDATE records SET number = 100 WHERE number = 2',
      'UPDATE records SET number = 2 WHERE number = 3',
      'UPDATE records SET number = 3 WHERE number = 100',
    ],
    'number 2 says that it is number 3: it was moved',
  ],
  [
    'added under a name that is there twice',
    ['UPDATE records SET line = replace(line, \'"principal":\', \'"principal":"eve","principal":\') WHERE number = 4'],
    'number 4 was changed: its hash does not fit its text',
  ],
  [
    'removed at the end with their count',
    ['DELETE FROM records WHERE number > 3', 'UPDATE sqlite_sequence SET seq = 2'],
    'counts 2 records and has number 3: its count was changed',
  ],
  [
    'replaced by something else',
    ["UPDATE records SET line = '{}' WHERE number = 4"],
    'number 4 is not a record of a journal',
  ],
])('audit verify finds a record that was %s, and exits with 1', async (_, statements, fault) => {
  const file = await givenRecords(5);
  tamper(file, ...statements);

  const { code, said } = await run('verify', file);

  expect(code).toBe(1);
  expect(said).toContain('journal.db is NOT intact: ');
  expect(said).toContain(`  journal.db: ${fault}.`);
  expect(said).toContain('Keep the file as it is, as evidence.');
});

it.each([
  ['a freeze was lifted', 'DELETE FROM freeze', 'has a freeze by nobody, but its records say by ann'],
  ['a freeze has a forged author', `UPDATE freeze SET freeze = '{"by":{"toString":1}}'`, 'by [{"toString":1}], but'],
  ['a freeze has another author', 'UPDATE freeze SET freeze = \'{"by":"bob"}\'', 'by bob, but its records say by ann'],
  [
    'a change has another person behind it',
    "UPDATE changes SET change = replace(change, 'ann', 'bob')",
    'change ch-1 as pending by bob on lb-one, but its records say pending by ann on lb-one',
  ],
  [
    'a change was added',
    "INSERT INTO changes SELECT 'ch-2', change FROM changes",
    'on lb-one, but its records say none',
  ],
  ['a change was deleted', 'DELETE FROM changes', 'lacks change ch-1, but its records say pending by ann on lb-one'],
  ['a change has terminal controls', "UPDATE changes SET id = char(27) || '[2J'", 'change  [2J as'],
  ['a change is not JSON', "UPDATE changes SET change = '{'", 'one that cannot be read, but its records say pending'],
])('audit verify detects a change beside the records: %s', async (_, statement, fault) => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  const asked = { state: 'pending', requested_by: 'ann', appliance: 'lb-one' } as const;
  const changes = new Map([['ch-1', JSON.stringify({ change: asked })]]);
  await journal.append(givenRecord({ event: 'change', request: 'ch-1', ...asked }), { changes });
  await journal.append(givenRecord({ event: 'freeze' }), { freeze: '{"by":"ann"}' });
  await journal.close();
  const before = await run('verify', file);
  tamper(file, statement);

  const after = await run('verify', file);

  expect(before).toMatchObject({ code: 0, said: expect.stringContaining('is intact') });
  expect(after).toMatchObject({ code: 1, said: expect.stringContaining(fault) });
});

it('audit verify detects a replaced or truncated chain by a position of the log', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  const { seq, hash } = await journal.append(givenRecord());
  await journal.close();

  const outcomes = await Promise.all(
    [`${seq}:${hash}`, `${seq}:${'0'.repeat(64)}`, `${seq + 2}:${hash}`].map((last) => run('verify', file, { last })),
  );

  expect(outcomes.map(({ code }) => code)).toEqual([0, 1, 1]);
  expect(outcomes[1]?.said).toContain('number 1 is another record than that of the hash');
  expect(outcomes[2]?.said).toContain('has had number 3: numbers 2 to 3 are missing at the end');
});

it('audit verify detects damage of a page that holds no record', async () => {
  const file = await givenRecords(300);
  const bytes = readFileSync(file);
  bytes.fill(0xff, bytes.length - 4_096);
  writeFileSync(file, bytes);

  const { code, said } = await run('verify', file);

  expect(code).toBe(1);
  expect(said).toContain('is damaged');
});

it('audit verify fits on a screen with many errors, and removes terminal controls of a forged record', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  for (let number = 1; number <= 40; number += 1)
    await journal.append(givenRecord({ request: `${number}\u001b[2J\u202e` }));
  await journal.close();
  tamper(file, 'UPDATE records SET line = replace(line, \'"ann"\', \'"bob"\')');

  const { code, said } = await run('verify', file);

  expect(code).toBe(1);
  expect(said.split('\n').length).toBeLessThanOrEqual(40);
  expect(said).toContain('  and 28 more\n');
  expect(said).not.toMatch(/[\u001b\u202e]/);
});

it('audit verify reports that a journal has no records, and exits with 1', async () => {
  const file = givenFile();
  const { journal } = givenJournal(file);
  await journal.open();
  await journal.close();

  expect(await run('verify', file)).toMatchObject({ code: 1, said: expect.stringContaining('has no records') });
});

it.each<readonly [string, (file: string) => void, RegExp]>([
  ['missing', () => undefined, /ENOENT.*\. Name the admin\.journal_file/],
  ['a folder', (file) => mkdirSync(file), /is a folder, not a regular file/],
  ['a FIFO', (file) => void feed('mkfifo', [file], Buffer.alloc(0)), /is a named pipe/],
  ['/dev/zero', (file) => symlinkSync('/dev/zero', file), /is a device/],
  ['empty', (file) => writeFileSync(file, ''), /is empty/],
  ['of lines', (file) => writeFileSync(file, '{"seq":1}\n'), /is not a journal/],
  ['damaged', (file) => writeFileSync(file, `SQLite format 3\0${'x'.repeat(5_000)}`), /not a database/],
])('audit verify rejects at once a file that is %s, and exits with 1', async (_, make, because) => {
  const file = givenFile();
  make(file);

  expect(await run('verify', file)).toMatchObject({
    code: 1,
    warned: expect.stringMatching(new RegExp(`The journal cannot be read: .*${because.source}`)),
  });
});

it('audit export prints each record as a line, the oldest first, also from a read-only copy', async () => {
  const file = await givenRecords(3);
  const copy = givenFile();
  copyFileSync(file, copy);
  const { context, written } = givenContext({ arguments: ['export', copy] });

  expect(await audit(context)).toBe(0);

  expect(Buffer.concat(written).toString()).toBe(`${(await linesOf(file)).join('\n')}\n`);
});

it.each([[[]], [['list']], [['verify']], [['verify', 'a', 'b']]])('audit prints its usage for %j', async (given) => {
  await expect(audit(givenContext({ arguments: given }).context)).rejects.toThrow('zlb-exporter audit verify [FILE]');
});
