import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { genesis, sealLine } from '../../../../src/admin/journal/chain.ts';
import { verifyAudit } from '../../../../src/admin/journal/verify.ts';
import {
  givenAudit,
  givenFile,
  givenJournal,
  givenRecord,
  headText,
  linesOf,
  textLinesOf,
  writtenAudit,
} from './given-audit.ts';

const torn = '{"seq":4,"time":"2026-11-20T08:00:00.000Z","event":"intent","request":"reque';

describe('an audit whose last line was left unfinished', () => {
  it('keeps that line in a `recovered` record, and the chain continues', async () => {
    const file = givenFile();
    await givenAudit(file, 3);
    appendFileSync(file, torn);
    const { journal, logged } = givenJournal(file);

    const position = await journal.append(givenRecord());

    const sha256 = createHash('sha256').update(torn).digest('hex');
    expect(position.seq).toBe(5);
    expect(linesOf(file)[3]).toMatchObject({
      seq: 4,
      event: 'recovered',
      principal: '-',
      torn: { bytes: torn.length, sha256, text: torn },
    });
    expect(await verifyAudit(file)).toMatchObject({ lines: 5, faults: [] });
    expect(logged).toMatchObject([
      { msg: 'unfinished line of the audit recovered', line: 4 },
      { msg: 'audit opened' },
      { msg: 'calls of an earlier run have no outcome: they may have been carried out', count: 3 },
    ]);
  });

  it.each([
    ['a line of zeros, as a loss of power leaves it', '\0'.repeat(5_000)],
    ['a line that lacks nothing but its newline', ''],
  ])('takes %s for unfinished', async (_, end) => {
    const file = givenFile();
    const [, , third = ''] = writtenAudit(file, 3);
    writeFileSync(`${file}.head`, headText(2, linesOf(file)[1]?.hash ?? ''));
    if (end === '') truncateSync(file, statSync(file).size - 1);
    else appendFileSync(file, end);
    const bytes = end === '' ? third.length - 1 : end.length;

    await givenJournal(file).journal.append(givenRecord());

    const recovered = linesOf(file).find(({ event }) => event === 'recovered');
    expect(recovered?.torn?.bytes).toBe(bytes);
    expect(recovered?.torn?.text.length).toBeLessThanOrEqual(4_096);
    expect(await verifyAudit(file)).toMatchObject({ faults: [] });
  });

  it('can be cut off anywhere after the head, and nothing else is lost', async () => {
    const file = givenFile();
    writtenAudit(file, 4);
    const whole = readFileSync(file);
    const [first, second, third] = linesOf(file);
    const ends = textLinesOf(file).map((_, index, all) => Buffer.byteLength(`${all.slice(0, index + 1).join('\n')}\n`));
    const head = headText(2, second?.hash ?? '');

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: ends[1] ?? 0, max: whole.length }), async (length) => {
        writeFileSync(file, whole.subarray(0, length));
        writeFileSync(`${file}.head`, head);
        const finished = ends.filter((end) => end <= length).length;

        const { journal } = givenJournal(file);
        await journal.append(givenRecord({ request: 'next' }));
        await journal.close();

        const lines = linesOf(file);
        const wasTorn = !ends.includes(length);
        expect(lines.slice(0, 2)).toEqual([first, second]);
        if (finished > 2) expect(lines[2]).toEqual(third);
        expect(lines.slice(finished).map(({ event }) => event)).toEqual(wasTorn ? ['recovered', 'intent'] : ['intent']);
        expect(await verifyAudit(file)).toMatchObject({ faults: [], lines: lines.length });
      }),
      { numRuns: 20 },
    );
  });
});

describe('an audit whose head is older than its last lines', () => {
  it('continues after those lines: the process was killed between the two writes', async () => {
    const file = givenFile();
    writtenAudit(file, 3);
    writeFileSync(`${file}.head`, headText(1, linesOf(file)[0]?.hash ?? ''));

    expect(await givenJournal(file).journal.append(givenRecord())).toMatchObject({ seq: 4 });
    expect(readFileSync(`${file}.head`, 'latin1')).toBe(headText(4, linesOf(file)[3]?.hash ?? ''));
  });

  it('begins if a full disk let only the head be made', async () => {
    const file = givenFile();
    writeFileSync(`${file}.head`, '');

    expect(await givenJournal(file).journal.append(givenRecord())).toMatchObject({ seq: 1 });
  });
});

/**
 * Ways to change an audit of four lines, the words that say so, and whether the last line is still
 * the one that was kept apart.
 */
const breaches: readonly (readonly [what: string, words: string, breach: (file: string) => void])[] = [
  [
    'a changed line',
    'line 2 of it was changed',
    (file) => rewrite(file, (lines) => replace(lines, 1, '"ann"', '"bob"')),
  ],
  ['a missing first line', 'line 1 is missing', (file) => rewrite(file, (lines) => lines.slice(1))],
  ['a missing last line', 'line 4 is missing', (file) => rewrite(file, (lines) => lines.slice(0, 3))],
  ['no line at all', 'lines 1 to 4 are missing', (file) => writeFileSync(file, '')],
  ['no file', 'lines 1 to 4 are missing', (file) => rmSync(file)],
  ['a line twice', 'was moved, repeated or inserted', (file) => rewrite(file, (lines) => [...lines, lines[3] ?? ''])],
  ['a line of its own', 'is not a line of an audit', (file) => rewrite(file, (lines) => lines.toSpliced(2, 0, 'x'))],
  ['a cut last line', 'line 4 is missing', (file) => truncateSync(file, readFileSync(file).length - 10)],
  ['no head', 'audit.jsonl.head is missing', (file) => rmSync(`${file}.head`)],
  ['an empty head', 'audit.jsonl.head is missing', (file) => writeFileSync(`${file}.head`, '')],
  ['a damaged head', 'audit.jsonl.head is damaged', (file) => writeFileSync(`${file}.head`, 'x')],
  [
    'a head of another chain',
    'another line number 4',
    (file) => writeFileSync(`${file}.head`, headText(4, 'a'.repeat(64))),
  ],
  [
    'a finished last line that is none',
    'line 5 of it is not a line of an audit',
    (file) => appendFileSync(file, '{"seq":9999,"event":"forged"}\n'),
  ],
  ['an endless last line', 'is not a line of an audit', (file) => appendFileSync(file, 'x'.repeat(1_100_000))],
  ['a line that was sealed again', 'does not go with the line before', reseal],
];

describe('an audit that is not the one that was written', () => {
  it.each(breaches)('takes no record with %s, and says what to do', async (_, words, breach) => {
    const file = givenFile();
    writtenAudit(file, 4);
    breach(file);
    const { journal, failures } = givenJournal(file);

    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const error: unknown = await journal.append(givenRecord()).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'broken', name: 'AuditError' });
      expect(String(error)).toContain(words);
      expect(String(error)).toContain(`"zlb-exporter audit verify ${file}"`);
    }

    expect(failures()).toBe(2);
    expect((await verifyAudit(file)).faults.length).toBeGreaterThan(0);
  });

  it('takes no record if the file before it was changed or replaced', async () => {
    const file = givenFile();
    await givenAudit(file, 8, 1_500);
    const before = `${file}.${linesOf(file)[0]?.after?.slice(-16)}`;
    const whole = readFileSync(before);

    truncateSync(before, whole.length - 5);
    await expect(givenJournal(file).journal.append(givenRecord())).rejects.toThrow('does not end with a line');
    writeFileSync(before, `${textLinesOf(file)[0]}\n`);
    await expect(givenJournal(file).journal.append(givenRecord())).rejects.toThrow('moved, repeated or inserted');
    rmSync(before);
    await expect(givenJournal(file).journal.append(givenRecord())).rejects.toThrow('are missing');
    writeFileSync(before, whole);

    expect(await givenJournal(file).journal.append(givenRecord())).toMatchObject({ seq: 9 });
  });

  it('continues when all older files were moved away', async () => {
    const file = givenFile();
    await givenAudit(file, 8, 1_500);
    const { files } = await verifyAudit(file);
    for (const older of files.slice(0, -1)) rmSync(older);

    expect(await givenJournal(file).journal.append(givenRecord())).toMatchObject({ seq: 9 });
    expect(await verifyAudit(file)).toMatchObject({ faults: [] });
  });
});

it('an audit whose head is that of a file that was moved away continues if its first line follows that file, and not if it follows another', async () => {
  const file = givenFile();
  await givenAudit(file, 8, 1_500);
  const { files } = await verifyAudit(file);
  for (const older of files.slice(0, -1)) rmSync(older);
  const { seq = 0, prev = '' } = linesOf(file)[0] ?? {};
  const { journal } = givenJournal(file);

  writeFileSync(`${file}.head`, headText(seq - 1, 'a'.repeat(64)));
  await expect(journal.append(givenRecord())).rejects.toThrow(`knows of another line number ${seq - 1}`);
  writeFileSync(`${file}.head`, headText(seq - 1, prev));

  expect((await verifyAudit(file)).faults).toEqual([]);
  expect(await journal.append(givenRecord())).toMatchObject({ seq: 9 });
});

function rewrite(file: string, change: (lines: readonly string[]) => readonly string[]): void {
  writeFileSync(
    file,
    change(textLinesOf(file))
      .map((line) => `${line}\n`)
      .join(''),
  );
}

function replace(lines: readonly string[], index: number, from: string, to: string): readonly string[] {
  return lines.map((line, at) => (at === index ? line.replace(from, to) : line));
}

/** A forger who knows how hashes are made, and stops at the second line. */
function reseal(file: string): void {
  const [first] = linesOf(file);
  const forged = sealLine(givenRecord({ principal: 'bob' }), {
    time: '2026-11-20T08:00:00.000Z',
    last: first ?? genesis,
    after: undefined,
  });
  rewrite(file, (lines) => lines.with(1, forged.bytes.toString().trimEnd()));
}
