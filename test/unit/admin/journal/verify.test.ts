import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { genesis, sealLine } from '../../../../src/admin/journal/chain.ts';
import { verifyAudit } from '../../../../src/admin/journal/verify.ts';
import {
  besides,
  givenAudit,
  givenFile,
  givenJournal,
  givenRecord,
  givenRecords,
  headText,
  linesOf,
  writtenAudit,
} from './given-audit.ts';

const lineCount = 12;

const index = fc.nat({ max: lineCount - 1 });

/** The changes of the text of an audit, each with all that it may be. */
const changes: Readonly<Record<string, fc.Arbitrary<(lines: readonly string[]) => string | Buffer>>> = {
  'every changed byte': fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(([place, change]) => (lines) => {
    const bytes = Buffer.from(lines.join(''));
    const at = place % bytes.length;
    bytes.writeUInt8((bytes[at] ?? 0) ^ change, at);
    return bytes;
  }),
  'every missing range of lines': fc.tuple(index, fc.integer({ min: 1, max: lineCount })).map(
    ([at, count]) =>
      (lines) =>
        lines.toSpliced(at, count).join(''),
  ),
  'every two lines that were exchanged': fc.tuple(index, index).map(
    ([a, b]) =>
      (lines) =>
        lines
          .with(a, lines[b] ?? '')
          .with(b, lines[a] ?? '')
          .join(''),
  ),
  'every repeated line': fc.tuple(index, index).map(
    ([from, to]) =>
      (lines) =>
        lines.toSpliced(to, 0, lines[from] ?? '').join(''),
  ),
  'any text between the lines': fc.tuple(index, fc.string()).map(
    ([at, text]) =>
      (lines) =>
        lines.toSpliced(at, 0, `${text}\n`).join(''),
  ),
  'where it was cut off, at every length': fc
    .nat()
    .map((place) => (lines) => lines.join('').slice(0, place % lines.join('').length)),
};

describe('a verified audit', () => {
  it('is whole as it was written, with its number of lines and its first and last line', async () => {
    const file = givenFile();
    await givenAudit(file, 12, 2_000);

    const { files, lines, first, last, faults, torn, unfinished } = await verifyAudit(file);

    expect(files.length).toBeGreaterThan(2);
    expect(files.at(-1)).toBe(file);
    expect({ lines, faults, torn }).toEqual({ lines: 12, faults: [], torn: undefined });
    expect([first?.seq, last?.seq, last?.hash]).toEqual([1, 12, linesOf(file).at(-1)?.hash]);
    expect(unfinished).toHaveLength(12);
  });

  it.each(Object.entries(changes))('reports %s', async (_, change) => {
    const file = givenFile();
    const lines = writtenAudit(file, lineCount);

    await fc.assert(
      fc.asyncProperty(change, async (apply) => {
        const changed = apply(lines);
        fc.pre(changed.toString() !== lines.join(''));
        writeFileSync(file, changed);
        expect((await verifyAudit(file)).faults).not.toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('reports a line with the number 0 at its beginning', async () => {
    const file = givenFile();
    const { bytes, position } = sealLine(givenRecord(), {
      time: '2026-11-20T08:00:00.000Z',
      last: { ...genesis, seq: -1 },
      after: undefined,
    });
    writeFileSync(file, bytes);
    writeFileSync(`${file}.head`, headText(position.seq, position.hash));

    expect((await verifyAudit(file)).faults).toContainEqual({ file, line: 1, what: 'is not a line of an audit' });
  });

  it('reports every other head', async () => {
    const file = givenFile();
    writtenAudit(file, lineCount);
    const whole = readFileSync(`${file}.head`);

    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const head = Buffer.from(whole);
        head.writeUInt8((head[at] ?? 0) ^ change, at);
        writeFileSync(`${file}.head`, head);
        expect((await verifyAudit(file)).faults).toMatchObject([{ file: `${file}.head` }]);
      }),
    );
  });

  it('reports every file that is missing, repeated or exchanged', async () => {
    const file = givenFile();
    await givenAudit(file, 20, 2_000);
    const [oldest = '', second = '', third = '', ...later] = besides(file).filter((name) => /^\.\d+$/.test(name));
    const lines = linesOf(file + second);
    const [from, to] = [lines[0]?.seq, lines.at(-1)?.seq];
    /** The faults of a copy, after a change of its files. */
    const faultsAfter = async (change: (copy: string) => void) => {
      const copy = givenFile();
      cpSync(dirname(file), dirname(copy), { recursive: true });
      change(copy);
      return (await verifyAudit(copy)).faults;
    };

    for (const name of [third, ...later, ''])
      expect(await faultsAfter((copy) => rmSync(copy + name)), name).not.toEqual([]);
    expect(await faultsAfter((copy) => rmSync(copy + second))).toEqual([
      {
        file: expect.stringMatching(`${third}$`),
        line: 1,
        what: `has number ${Number(to) + 1} after ${Number(from) - 1}: lines ${from} to ${to} are missing`,
      },
    ]);
    expect(await faultsAfter((copy) => copyFileSync(copy + oldest, `${copy}.0000000000009999`))).not.toEqual([]);
    const exchange = (copy: string): void => {
      copyFileSync(file + second, copy + third);
      copyFileSync(file + third, copy + second);
    };
    expect(await faultsAfter(exchange)).not.toEqual([]);
    expect(await faultsAfter(() => undefined)).toEqual([]);
  });

  it('may begin with a later file, and not in the middle of one', async () => {
    const file = givenFile();
    await givenAudit(file, 20, 2_000);
    const { files } = await verifyAudit(file);
    const [oldest = '', second = ''] = files;
    rmSync(oldest);

    const putAway = await verifyAudit(file);
    const lines = linesOf(second);
    writeFileSync(second, readFileSync(second, 'utf8').split('\n').slice(1).join('\n'));
    const cut = await verifyAudit(file);

    expect(putAway).toMatchObject({ faults: [], first: { seq: lines[0]?.seq } });
    expect(cut.faults).toEqual([
      { file: second, line: 1, what: `has number ${lines[1]?.seq}: lines 1 to ${lines[0]?.seq} are missing` },
    ]);
  });

  it('reports each fault once, with its file and line', async () => {
    const file = givenFile();
    const lines = [...writtenAudit(file, lineCount)];
    lines[2] = lines[2]?.replace('"ann"', '"bob"') ?? '';
    lines.splice(6, 2);
    lines.push(lines[0] ?? '');
    writeFileSync(file, lines.join(''));

    const { faults } = await verifyAudit(file);

    expect(faults).toEqual([
      { file, line: 3, what: 'was changed: its hash does not fit its text' },
      { file, line: 7, what: 'has number 9 after 6: lines 7 to 8 are missing' },
      { file, line: 11, what: 'has number 1 after 12: it was moved, repeated or inserted' },
    ]);
  });

  it('is whole with an unfinished last line, which it reports, unless the head has that line', async () => {
    const file = givenFile();
    writtenAudit(file, 3);
    appendFileSync(file, '{"seq":4,"ti');

    const killed = await verifyAudit(file);
    writeFileSync(`${file}.head`, headText(4, 'a'.repeat(64)));
    const cut = await verifyAudit(file);

    expect(killed).toMatchObject({ faults: [], torn: { file, line: 4, what: 'breaks off after 12 bytes' } });
    expect(cut.faults).toEqual([
      { file: `${file}.head`, what: 'knows of line number 4: line 4 is missing at the end' },
    ]);
  });

  it('is not whole when a rotated file ends in the middle of a line', async () => {
    const file = givenFile();
    await givenAudit(file, 8, 1_500);
    const [oldest = ''] = (await verifyAudit(file)).files;
    appendFileSync(oldest, '{"seq');

    const { faults } = await verifyAudit(file);

    expect(faults).toEqual([{ file: oldest, line: linesOf(oldest).length + 1, what: 'breaks off after 5 bytes' }]);
  });

  it('lists the requests without an outcome', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);
    for (const request of ['a', 'b', 'c']) await journal.append(givenRecord({ request }));
    for (const request of ['c', 'a']) await journal.append(givenRecord({ event: 'outcome', request, status: 200 }));
    await journal.append(givenRecord({ event: 'denied', request: 'd' }));
    await journal.append(givenRecord({ event: 'dry_run', request: 'e' }));

    const { unfinished, faults } = await verifyAudit(file);

    expect({ unfinished, faults }).toEqual({ unfinished: ['b'], faults: [] });
  });

  it('may be written at the same time', async () => {
    const { file, journal } = await givenRecords(1, { maxBytes: 5_000 });
    const appends = Array.from({ length: 299 }, () => journal.append(givenRecord()));

    const seen = [await verifyAudit(file), await verifyAudit(file)];
    await Promise.all(appends);

    for (const { faults } of seen) expect(faults).toEqual([]);
    expect(await verifyAudit(file)).toMatchObject({ faults: [], lines: 300 });
  });

  it('is not whole if there is no file', async () => {
    const file = join(givenFile(), 'nothing');

    expect(await verifyAudit(givenFile())).toMatchObject({ lines: 0, faults: [{ what: 'is not there' }] });
    expect(await verifyAudit(file)).toMatchObject({ lines: 0, faults: [{ file, what: 'is not there' }] });
  });
});

/** A file in the middle of an audit, put away by itself. */
async function givenPart(): Promise<string> {
  const file = givenFile();
  await givenAudit(file, 12, 2_000);
  const [, second = ''] = (await verifyAudit(file)).files;
  const part = join(dirname(file), 'archive', basename(second));
  mkdirSync(dirname(part));
  copyFileSync(second, part);
  return part;
}

describe('a rotated file of an audit', () => {
  it('is verified alone, without a head, from its first line to its last', async () => {
    const part = await givenPart();
    const lines = linesOf(part);

    const verification = await verifyAudit(part);

    expect(verification).toMatchObject({ isPart: true, files: [part], lines: lines.length, faults: [] });
    expect(verification.first?.seq).toBe(lines[0]?.seq);
    expect(verification.last?.seq).toBe(lines.at(-1)?.seq);
  });

  it('may have requests whose outcome is in the next file', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);
    await journal.append(givenRecord({ request: 'a' }));
    await journal.append(givenRecord({ request: 'b' }));
    await journal.append(givenRecord({ event: 'outcome', request: 'a' }));
    await journal.close();
    renameSync(file, `${file}.0000000000000003`);

    expect(await verifyAudit(`${file}.0000000000000003`)).toMatchObject({ faults: [], unfinished: ['b'] });
  });

  it.each<readonly [what: string, words: string, change: (lines: readonly string[]) => string]>([
    ['a changed line', 'was changed', (lines) => lines.join('\n').replace('"ann"', '"bob"')],
    ['a missing first line', 'are missing', (lines) => lines.slice(1).join('\n')],
    ['a cut last line', 'breaks off after', (lines) => lines.join('\n').slice(0, -9)],
    ['nothing in it', 'has no line', () => ''],
  ])('is not whole with %s', async (_, words, change) => {
    const part = await givenPart();
    writeFileSync(part, change(readFileSync(part, 'utf8').split('\n')));

    const { faults } = await verifyAudit(part);

    expect(faults.map(({ what }) => what).join('; ')).toContain(words);
  });

  it('is not whole if it is missing, or if its last line does not match its name', async () => {
    const part = await givenPart();
    const missing = `${part.slice(0, -16)}0000000000000099`;

    const { faults } = await verifyAudit(missing);
    copyFileSync(part, missing);

    expect(faults).toEqual([{ file: missing, what: 'is not there' }]);
    expect((await verifyAudit(missing)).faults).toEqual([
      { file: missing, what: `ends with number ${linesOf(part).at(-1)?.seq} and not with 99, as its name says` },
    ]);
  });

  it('is distinguished from a current file, also if that one is unfinished', async () => {
    const file = givenFile();
    await givenAudit(file, 3);
    appendFileSync(file, '{"seq":4');

    expect(await verifyAudit(file)).toMatchObject({ isPart: false, faults: [], torn: { line: 4 } });
  });
});
