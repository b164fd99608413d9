import { appendFileSync, copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { genesis, sealLine } from '../../../src/audit/chain.ts';
import { verifyAudit } from '../../../src/audit/verify.ts';
import { givenAudit, givenFile, givenJournal, givenRecord, headText, linesOf, writtenAudit } from './given-audit.ts';

const lineCount = 12;

/**
 * Verifies an audit of twelve lines after a change of its text, many times with all that the change
 * may be.
 */
async function afterEach<Change>(
  changes: fc.Arbitrary<Change>,
  apply: (lines: string[], change: Change) => string | Buffer,
) {
  const file = givenFile();
  const lines = writtenAudit(file, lineCount);
  const whole = lines.join('');
  await fc.assert(
    fc.asyncProperty(changes, async (change) => {
      const changed = apply([...lines], change);
      fc.pre(changed.toString() !== whole);
      writeFileSync(file, changed);
      expect((await verifyAudit(file)).faults).not.toEqual([]);
    }),
    { numRuns: 50 },
  );
}

const index = fc.nat({ max: lineCount - 1 });

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

  it('reports every changed byte', async () => {
    await afterEach(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), (lines, [place, change]) => {
      const bytes = Buffer.from(lines.join(''));
      const at = place % bytes.length;
      bytes.writeUInt8((bytes[at] ?? 0) ^ change, at);
      return bytes;
    });
  });

  it('reports every missing range of lines', async () => {
    await afterEach(fc.tuple(index, fc.integer({ min: 1, max: lineCount })), (lines, [at, count]) =>
      lines.toSpliced(at, count).join(''),
    );
  });

  it('reports every two lines that were exchanged', async () => {
    await afterEach(fc.tuple(index, index), (lines, [a, b]) =>
      lines
        .with(a, lines[b] ?? '')
        .with(b, lines[a] ?? '')
        .join(''),
    );
  });

  it('reports every repeated line', async () => {
    await afterEach(fc.tuple(index, index), (lines, [from, to]) => lines.toSpliced(to, 0, lines[from] ?? '').join(''));
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

  it('reports any text between the lines', async () => {
    await afterEach(fc.tuple(index, fc.string()), (lines, [at, text]) => lines.toSpliced(at, 0, `${text}\n`).join(''));
  });

  it('reports where it was cut off, at every length', async () => {
    await afterEach(fc.nat(), (lines, place) => lines.join('').slice(0, place % lines.join('').length));
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
    const { files } = await verifyAudit(file);
    const [oldest = '', second = '', third = ''] = files;
    const faultsOf = async (change: () => void, undo: () => void) => {
      change();
      const { faults } = await verifyAudit(file);
      undo();
      return faults;
    };
    const swap = (a: string, b: string): void => {
      renameSync(a, `${file}.aside`);
      renameSync(b, a);
      renameSync(`${file}.aside`, b);
    };
    const [from, to] = [linesOf(second)[0]?.seq, linesOf(second).at(-1)?.seq];

    for (const gone of files.slice(1)) {
      const away = `${file}.away`;
      const faults = await faultsOf(
        () => renameSync(gone, away),
        () => renameSync(away, gone),
      );
      expect(faults.length, gone).toBeGreaterThan(0);
      if (gone !== second) continue;
      expect(faults).toEqual([
        {
          file: third,
          line: 1,
          what: `has number ${Number(to) + 1} after ${Number(from) - 1}: lines ${from} to ${to} are missing`,
        },
      ]);
    }
    const twice = `${file}.0000000000009999`;
    expect(
      await faultsOf(
        () => copyFileSync(oldest, twice),
        () => rmSync(twice),
      ),
    ).not.toEqual([]);
    expect(
      await faultsOf(
        () => swap(second, third),
        () => swap(second, third),
      ),
    ).not.toEqual([]);
    expect((await verifyAudit(file)).faults).toEqual([]);
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
    const file = givenFile();
    const { journal } = givenJournal(file, { maxBytes: 5_000 });
    await journal.append(givenRecord());
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
