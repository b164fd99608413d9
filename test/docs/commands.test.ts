import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isThere } from '../support/programs.ts';
import { type Block, readDocuments } from './documents.ts';
import { type Machine, startMachine } from './machine.ts';
import { neededPrograms } from './programs.ts';
import { exchangesIn, fits } from './session.ts';
import { openShell, type Shell } from './typing.ts';

// runbooks.test.ts has those of docs/operations.md, each runbook by itself.
const documents = readDocuments()
  .filter(({ file }) => file !== 'docs/operations.md')
  .map(({ file, blocks }) => ({
    file,
    blocks: blocks.filter(
      ({ language, notRunBecause }) => ['sh', 'console'].includes(language) && notRunBecause === undefined,
    ),
  }))
  .filter(({ blocks }) => blocks.length > 0);

describe.skipIf(!neededPrograms.every(isThere))('the commands of the documents', () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await startMachine();
  });
  afterAll(async () => {
    await machine?.close();
  });
  beforeEach(() => {
    machine.reset();
  });

  it.each(documents)('of $file do one after the other what they are there for', async ({ blocks }) => {
    const shell = openShell(machine);
    const complaints: string[] = [];
    for (const block of blocks) complaints.push(...(await complaintsAbout(block, shell)));
    expect(complaints).toEqual([]);
  });
});

async function complaintsAbout(block: Block, shell: Shell): Promise<readonly string[]> {
  if (block.language === 'sh') {
    const { failures, printed } = await shell.type(block);
    return failures.length > 0 ? [`${failures.join('\n')}\n${printed}`] : [];
  }
  const complaints: string[] = [];
  // An exit code is no failure here: what is printed is what the reader is shown.
  for (const { at, command, expected } of exchangesIn(block.text)) {
    const { printed } = await shell.type({ ...block, text: command });
    if (!fits(expected, printed))
      complaints.push(`${block.file}:${block.line + at + 1}: ${command}\nexpected:\n${expected}\nprinted:\n${printed}`);
  }
  return complaints;
}
