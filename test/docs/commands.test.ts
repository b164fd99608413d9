import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isThere } from '../support/programs.ts';
import { readDocuments } from './documents.ts';
import { type Machine, startMachine } from './machine.ts';
import { neededPrograms } from './programs.ts';
import { typeBlock } from './session.ts';
import { openShell } from './typing.ts';

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
/** Every command is a process of its own. */
const patienceMs = 180_000;

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

  it.each(documents)('of $file work one after the other', { timeout: patienceMs }, async ({ blocks }) => {
    const shell = openShell(machine);
    const complaints: string[] = [];
    for (const block of blocks) {
      const { failures, printed } = await typeBlock(shell, block);
      if (failures.length > 0) complaints.push([...failures, printed].join('\n'));
    }
    expect(complaints).toEqual([]);
  });
});
