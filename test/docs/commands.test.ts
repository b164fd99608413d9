import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isThere } from '../support/programs.ts';
import { blocksToRun } from './documents.ts';
import { type Machine, startMachine } from './machine.ts';
import { neededPrograms } from './programs.ts';
import { typeBlock } from './session.ts';
import { openShell } from './typing.ts';

// runbooks.ts has those of docs/operations.md, each runbook by itself.
const blocks = blocksToRun('sh', 'console').filter(({ file }) => file !== 'docs/operations.md');
const documents = [...Map.groupBy(blocks, ({ file }) => file)];
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

  it.each(documents)('work one after the other in %s', { timeout: patienceMs }, async (_, ofFile) => {
    const shell = openShell(machine);
    const complaints: string[] = [];
    for (const block of ofFile) {
      const { failures, printed } = await typeBlock(shell, block);
      if (failures.length > 0) complaints.push([...failures, printed].join('\n'));
    }
    expect(complaints).toEqual([]);
  });
});
