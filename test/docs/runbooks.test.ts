import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { World } from '../../src/simulator/world.ts';
import { isThere } from '../support/programs.ts';
import { readDocuments } from './documents.ts';
import { type ApplianceName, type Machine, neededPrograms, startMachine } from './machine.ts';
import { scenes } from './runbook-scenes.ts';
import { openShell, type Typed } from './typing.ts';

const blocks = readDocuments()
  .flatMap((document) => document.blocks)
  .filter(
    ({ file, language, notRunBecause }) =>
      file === 'docs/operations.md' && language === 'sh' && notRunBecause === undefined,
  );
const firstOfAll = blocks.filter(({ heading }) => heading === 'Commands');
const runbooks = [...Map.groupBy(blocks, ({ heading }) => heading)].filter(([heading]) => heading !== 'Commands');

const scenesFile = 'test/docs/runbook-scenes.ts';

describe.skipIf(!neededPrograms.every(isThere))('the commands of docs/operations.md', () => {
  let machine: Machine;
  let worlds: Readonly<Record<ApplianceName, World>>;
  beforeAll(async () => {
    machine = await startMachine();
  });
  afterAll(async () => {
    await machine?.close();
  });
  beforeEach(async () => {
    worlds = await machine.reset();
  });

  it.each(runbooks)('do under %s what they are there for', async (heading, own) => {
    const { labels = {}, appliances, before = '', after, otherWays = [], failing = [] } = scenes[heading] ?? {};
    const shell = openShell(machine);
    const failures: string[] = [];
    const note = (typed: Typed) => {
      const wrong = typed.failures.filter((failure) => !failing.some((words) => failure.includes(words)));
      if (wrong.length > 0) failures.push([...wrong, typed.printed].join('\n'));
    };

    for (const block of firstOfAll) note(await shell.type(block));
    appliances?.(worlds);
    const given = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    note(await shell.type({ file: scenesFile, line: 0, text: [...given, before].join('\n') }));
    for (const block of own) {
      if (otherWays.some((words) => block.text.includes(words))) appliances?.(await machine.reset());
      note(await shell.type(block));
    }
    if (after !== undefined) note(await shell.type({ file: scenesFile, line: 0, text: after }));

    expect(failures).toEqual([]);
  });
});
