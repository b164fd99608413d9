import { appendFileSync, copyFileSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verifyAudit } from '../../../../src/admin/journal/verify.ts';
import { givenFile, givenJournal, givenRecord, linesOf } from './given-audit.ts';

const message = 'calls of an earlier run have no outcome: they may have been carried out';

/** Creates the files of a run with these requests and these written answers. */
async function givenRun(
  file: string,
  asked: readonly string[],
  answered: readonly string[] = [],
  maxBytes = 1_048_576,
) {
  const { journal } = givenJournal(file, { maxBytes });
  for (const request of asked) await journal.append(givenRecord({ request }));
  for (const request of answered) await journal.append(givenRecord({ event: 'outcome', request, status: 200 }));
  await journal.close();
}

/** Returns the warnings of the journal when it is opened and continued. */
async function warningsOf(file: string) {
  const { journal, logged } = givenJournal(file);
  await journal.append(givenRecord({ request: 'own-1' }));
  await journal.append(givenRecord({ request: 'own-2' }));
  await journal.close();
  return logged.filter(({ msg }) => msg === message);
}

describe('calls of an earlier run whose outcome was never written', () => {
  it('are logged once with the ids of their requests when the audit is opened', async () => {
    const file = givenFile();
    await givenRun(file, ['a', 'b', 'c'], ['b']);

    const warnings = await warningsOf(file);

    expect(warnings).toMatchObject([{ level: 40, file, count: 2, requests: ['a', 'c'] }]);
    expect(linesOf(file)).toHaveLength(6);
  });

  it('are logged if their intent is in the file before, unless the next file has the outcome', async () => {
    const file = givenFile();
    await givenRun(file, ['oldest', 'before', 'answered', 'last'], ['answered', 'other'], 700);
    const { files } = await verifyAudit(file);
    const [newest = ''] = files.slice(-2);
    const near = [...linesOf(newest), ...linesOf(file)];
    expect(near.map(({ request }) => request)).toEqual(['answered', 'other']);
    await givenRun(file, ['before', 'answered', 'after'], ['after']);

    const [warning] = await warningsOf(file);

    expect(warning).toMatchObject({ count: 2, requests: ['before', 'answered'] });
  });

  it('are counted, and the last twenty are named', async () => {
    const file = givenFile();
    const asked = Array.from({ length: 25 }, (_, index) => `request-${index + 1}`);
    await givenRun(file, asked);

    const warnings = await warningsOf(file);

    expect(warnings).toMatchObject([{ count: 25, requests: asked.slice(-20) }]);
  });

  it('are logged if the run was killed in the middle of a line', async () => {
    const file = givenFile();
    await givenRun(file, ['a']);
    appendFileSync(file, '{"seq":2,"ti');

    expect(await warningsOf(file)).toMatchObject([{ count: 1, requests: ['a'] }]);
  });

  it('are not logged if each has an outcome, or if there was no run', async () => {
    const file = givenFile();
    await givenRun(file, ['a', 'b'], ['b', 'a']);

    expect(await warningsOf(file)).toEqual([]);
    expect(await warningsOf(givenFile())).toEqual([]);
  });

  it('are not logged again when the file was moved and came back', async () => {
    const file = givenFile();
    const { journal, logged } = givenJournal(file);
    await journal.append(givenRecord({ request: 'own' }));
    renameSync(file, `${file}.away`);
    copyFileSync(`${file}.away`, file);
    rmSync(`${file}.away`);

    await journal.append(givenRecord({ event: 'outcome', request: 'own' }));

    expect(logged.map(({ msg }) => msg)).toEqual(['audit opened', 'audit opened']);
  });
});
