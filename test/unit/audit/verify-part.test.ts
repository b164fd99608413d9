import { appendFileSync, copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyAudit } from '../../../src/audit/verify.ts';
import { givenAudit, givenFile, givenJournal, givenRecord, linesOf } from './given-audit.ts';

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
