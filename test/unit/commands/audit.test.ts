import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/commands/usage-error.ts';
import { audit } from '../../../src/commands/audit.ts';
import { feed } from '../../support/programs.ts';
import {
  givenAudit,
  givenFile,
  givenJournal,
  givenRecord,
  headText,
  linesOf,
  textLinesOf,
  writtenAudit,
} from '../admin/journal/given-audit.ts';
import { givenContext } from './given-command.ts';

/** Runs `audit verify` on a file; its folder is taken out of what is said. */
async function verify(file: string) {
  const { context, said, warned } = givenContext({ arguments: ['verify', file] });
  const code = await audit(context);
  const plain = (lines: readonly string[]): string => lines.join('\n').replaceAll(`${dirname(file)}/`, '');
  return { code, said: plain(said), warned: plain(warned) };
}

/** Creates the files of an audit that was opened and never written to. */
function givenEmptyHead(file: string): void {
  writeFileSync(file, '');
  writeFileSync(`${file}.head`, headText(0, '0'.repeat(64)));
}

describe('audit verify', () => {
  it('reports a whole audit with its range, and exits with 0', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);
    await journal.append(givenRecord({ request: 'a' }));
    const { hash } = await journal.append(givenRecord({ request: 'a', event: 'outcome', status: 200 }));

    const { code, said, warned } = await verify(file);

    expect({ code, warned }).toEqual({ code: 0, warned: '' });
    expect(said).toBe(
      [
        'audit.jsonl is whole: 2 lines in 1 file.',
        '',
        '  first line  number 1, 2026-11-20T08:00:00.000Z',
        '  last line   number 2, 2026-11-20T08:00:00.000Z',
        `  its hash    ${hash}`,
      ].join('\n'),
    );
  });

  const gone = [
    'audit.jsonl is NOT whole: 1 fault, 0 lines',
    'audit.jsonl.head knows of line number 5: lines 1 to 5 are missing at the end.',
    'Keep the files as they are, as evidence.',
  ];
  it.each<[what: string, breach: (file: string, lines: readonly string[]) => void, code: number, texts: string[]]>([
    [
      'each fault and the remedy',
      (file, lines) => writeFileSync(file, lines.toSpliced(1, 1).join('').replace('"request-4"', '"request-5"')),
      1,
      [
        'audit.jsonl is NOT whole: 2 faults, 4 lines in 1 file.',
        '  audit.jsonl, line 2 has number 3 after 1: line 2 is missing.\n',
        '  audit.jsonl, line 3 was changed: its hash does not fit its text.\n',
        'Keep the files as they are, as evidence.',
      ],
    ],
    ['an empty file with a head that names lines', (file) => writeFileSync(file, ''), 1, gone],
    ['a missing file with a head that names lines', (file) => rmSync(file), 1, gone],
    [
      'an unfinished last line, which a killed process leaves',
      (file) => appendFileSync(file, '{"seq":6'),
      0,
      ['audit.jsonl is whole: 5 lines in 1 file.', '  audit.jsonl, line 6 breaks off after 8 bytes.\n'],
    ],
  ])('reports %s, and exits with 1 if lines are lost', async (_, breach, code, texts) => {
    const file = givenFile();
    breach(file, writtenAudit(file, 5));

    const { said, ...ended } = await verify(file);

    expect(ended.code).toBe(code);
    for (const text of texts) expect(said).toContain(text);
  });

  it('reports the first line of an audit whose older files were moved', async () => {
    const file = givenFile();
    await givenAudit(file, 8, 1_500);
    const after = linesOf(file)[0]?.after ?? '';
    const begin = Number(after.slice(-16)) + 1;
    for (let seq = 1; seq < begin; seq += 1) rmSync(`${file}.${String(seq).padStart(16, '0')}`, { force: true });

    const { code, said } = await verify(file);

    expect(code).toBe(0);
    expect(said).toContain(`  first line  number ${begin}, 2026-11-20T08:00:00.000Z; older files were moved away\n`);
  });

  it('reports that a rotated file is one part, and that its last requests may continue in the next', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);
    await journal.append(givenRecord({ request: 'a' }));
    const { hash } = await journal.append(givenRecord({ request: 'b' }));
    await journal.close();
    renameSync(file, `${file}.0000000000000002`);

    const { code, said } = await verify(`${file}.0000000000000002`);

    expect(code).toBe(0);
    expect(said).toBe(
      [
        'audit.jsonl.0000000000000002 is whole: 2 lines in 1 file.',
        'It is one part of an audit, from number 1 to 2; the files before and after it were not read.',
        '',
        '  first line  number 1, 2026-11-20T08:00:00.000Z',
        '  last line   number 2, 2026-11-20T08:00:00.000Z',
        `  its hash    ${hash}, which the first line of the next file names as "prev"`,
        '',
        '2 requests without an outcome in this file: the next one may have it.',
      ].join('\n'),
    );
  });

  it('exits with 1 if a rotated file is not whole, and asks to keep it', async () => {
    const file = givenFile();
    const part = `${file}.0000000000000003`;
    writeFileSync(part, writtenAudit(file, 3).slice(0, 2).join(''));

    const { code, said } = await verify(part);

    expect(code).toBe(1);
    expect(said).toContain(
      '  audit.jsonl.0000000000000003 ends with number 2 and not with 3, as its name says.\nKeep the file as it is, as evidence.',
    );
  });

  it('fits on a screen with many faults, and removes terminal controls of a forged line', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);
    for (let number = 1; number <= 40; number += 1) {
      await journal.append(givenRecord({ request: `${number}\u001b[2J\u202e` }));
    }
    await journal.close();
    writeFileSync(
      file,
      textLinesOf(file)
        .map((line) => `${line.replace('"ann"', '"bob"')}\n`)
        .join(''),
    );

    const { code, said } = await verify(file);

    expect(code).toBe(1);
    expect(said.split('\n').length).toBeLessThanOrEqual(40);
    expect(said).toContain('  and 28 more\n');
    expect(said).not.toMatch(/[\u001b\u202e]/);
  });

  it.each<[what: string, make: (file: string) => void, words: string]>([
    ['a missing file', () => undefined, 'is not there'],
    ['an empty file', (file) => writeFileSync(file, ''), 'is empty'],
    ['an empty file and a head that was never written', (file) => givenEmptyHead(file), 'is empty'],
    ['the beginning of a first line', (file) => writeFileSync(file, '{"seq":1'), 'has no finished line'],
  ])('reports that %s has no records, and exits with 1', async (_, make, words) => {
    const file = givenFile();
    make(file);

    const { code, said } = await verify(file);

    expect(code).toBe(1);
    expect(said).not.toContain('whole');
    expect(said).toContain(`audit.jsonl holds no records: it ${words}.`);
    expect(said).toContain('Check that this is the admin.audit_file of the configuration.');
  });

  it('names a missing file by its absolute path', async () => {
    const { context, said } = givenContext({ arguments: ['verify', 'no-such-folder/audit.jsonl'] });

    expect(await audit(context)).toBe(1);

    expect(said[0]).toBe(`${resolve('no-such-folder/audit.jsonl')} holds no records: it is not there.`);
  });

  it.each([
    ['a folder', (file: string) => mkdirSync(file), 'folder'],
    ['a FIFO', (file: string) => void feed('mkfifo', [file], Buffer.alloc(0)), 'named pipe'],
    ['/dev/null', (file: string) => symlinkSync('/dev/null', file), 'device'],
    ['/dev/zero', (file: string) => symlinkSync('/dev/zero', file), 'device'],
  ])('reports at once that %s is no audit, and exits with 1', async (_, make, kind) => {
    const file = givenFile();
    make(file);

    expect(await verify(file)).toEqual({
      code: 1,
      said: '',
      warned: `The audit cannot be read: audit.jsonl is a ${kind}, not a regular file. Name the admin.audit_file of the configuration.`,
    });
  });

  it('reports a remedy for a file that cannot be opened', async () => {
    const file = givenFile();
    symlinkSync('audit.jsonl', file);

    const { code, warned } = await verify(file);

    expect(code).toBe(1);
    expect(warned).toMatch(/^The audit cannot be read: ELOOP.* Run this as a user that may read it\.$/);
  });

  it.each([[[]], [['check', 'audit.jsonl']], [['verify']], [['verify', '']], [['verify', 'a.jsonl', 'b.jsonl']]])(
    'refuses the words %j with its usage',
    async (words) => {
      const { context } = givenContext({ arguments: words });

      const error: unknown = await audit(context).catch((thrown: unknown) => thrown);

      expect(error).toBeInstanceOf(UsageError);
      expect(String(error)).toContain('zlb-exporter audit verify FILE');
    },
  );
});
