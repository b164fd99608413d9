import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isThere } from '../support/programs.ts';
import { type Block, readDocuments } from './documents.ts';
import { type ApplianceName, type Machine, startMachine } from './machine.ts';
import { scenes } from './runbook-scenes.ts';
import { openShell, type Shell } from './typing.ts';
import type { World } from '../../src/simulator/world.ts';

const file = 'docs/operations.md';
const programs = ['jq', 'curl', 'openssl', 'prometheus', 'promtool', 'prometheus-alertmanager', 'amtool'];
const blocks = readDocuments()
  .flatMap((document) => document.blocks)
  .filter((block) => block.file === file && block.language === 'sh' && block.notRunBecause === undefined);
const setUp = blocks.filter(({ heading }) => heading === 'Commands');
const runbooks = [...Map.groupBy(blocks, ({ heading }) => heading)].filter(([heading]) => heading !== 'Commands');

describe.skipIf(!programs.every(isThere))('the commands of docs/operations.md', () => {
  let machine: Machine;
  let worlds: Record<ApplianceName, World>;
  beforeAll(async () => {
    machine = await startMachine({ monitoring: true });
  });
  afterAll(async () => {
    await machine?.close();
  });
  beforeEach(async () => {
    worlds = await machine.reset();
  });

  it.each(runbooks)('do under %s what they are there for', async (heading, own) => {
    const { labels = {}, appliances, before, after, otherWays = [], failing = [] } = scenes[heading] ?? {};
    const shell = openShell(machine);
    for (const block of setUp) await type(shell, block);
    const [first] = own;
    appliances?.(worlds);
    const given = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    await type(shell, typedBy(first, [...given, ...(before === undefined ? [] : [before])].join('\n')));
    for (const block of own) {
      if (otherWays.some((words) => block.text.includes(words))) appliances?.(await machine.reset());
      await type(shell, block, failing);
    }
    if (after !== undefined) await type(shell, typedBy(first, after));
  });
});

function typedBy(block: Block | undefined, text: string): Block {
  return {
    file: 'test/docs/runbook-scenes.ts',
    line: 0,
    language: 'sh',
    heading: block?.heading ?? '',
    text,
    notRunBecause: undefined,
  };
}

async function type(shell: Shell, block: Block, failing: readonly string[] = []): Promise<void> {
  const { failures, printed } = await shell.type(block);
  const expected = (failure: string) => failing.some((words) => failure.includes(words));
  expect(
    failures.filter((failure) => !expected(failure)),
    printed,
  ).toEqual([]);
}
