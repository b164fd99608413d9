import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isThere } from '../support/programs.ts';
import type { Worlds } from './appliances.ts';
import { blocksToRun } from './documents.ts';
import { type Machine, startMachine } from './machine.ts';
import { neededPrograms } from './programs.ts';
import { scenes } from './runbook-scenes.ts';
import { typeBlock } from './session.ts';
import { openShell, type Shell, type Typed } from './typing.ts';

const blocks = blocksToRun('sh', 'console').filter(({ file }) => file === 'docs/operations.md');
const firstOfAll = blocks.filter(({ heading }) => heading === 'Commands');
const runbooks = [...Map.groupBy(blocks, ({ heading }) => heading)].filter(([heading]) => heading !== 'Commands');
/** Every command is a process of its own. */
const patienceMs = 180_000;

/**
 * Types the commands of every second runbook: two files share them, and so two machines work at the
 * same time.
 */
export function describeRunbooks(which: 'even' | 'odd'): void {
  const ownRunbooks = runbooks.filter((_, index) => index % 2 === (which === 'even' ? 0 : 1));

  describe.skipIf(!neededPrograms.every(isThere))('the commands of docs/operations.md', () => {
    let machine: Machine;
    let worlds: Worlds;
    let prepared: { readonly shell: Shell; readonly failures: readonly string[] };
    beforeAll(async () => {
      machine = await startMachine();
      const shell = openShell(machine);
      const typed: Typed[] = [];
      for (const block of firstOfAll) typed.push(await typeBlock(shell, block));
      prepared = { shell, failures: typed.flatMap(({ failures }) => failures) };
    });
    afterAll(async () => {
      await machine?.close();
    });
    beforeEach(() => {
      worlds = machine.reset();
    });

    it('start with a setup that works', () => {
      expect(prepared.failures).toEqual([]);
    });

    it('have a test scene only for existing runbooks', () => {
      const headings = runbooks.map(([heading]) => heading);
      expect(Object.keys(scenes).filter((name) => !headings.includes(name))).toEqual([]);
    });

    it.each(ownRunbooks)('work in the runbook %s', { timeout: patienceMs }, async (heading, own) => {
      const { labels = {}, appliances, before = '', after = '' } = scenes[heading] ?? {};
      const shell = prepared.shell.another();
      const typed: Typed[] = [];
      const typeInScene = async (text: string) =>
        typed.push(await shell.type({ file: 'test/docs/runbook-scenes.ts', line: 0, text }));

      appliances?.(worlds);
      await typeInScene([...Object.entries(labels).map(([name, value]) => `${name}=${value}`), before].join('\n'));
      for (const block of own) typed.push(await typeBlock(shell, block));
      await typeInScene(after);

      const wrong = typed.filter(({ failures }) => failures.length > 0);
      expect(wrong.map(({ failures, printed }) => [...failures, printed].join('\n'))).toEqual([]);
    });
  });
}
