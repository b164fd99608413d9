import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { verifyJournal } from '../../../src/admin/journal/verify.ts';
import { canUnshare, inOwnNamespace } from '../../support/programs.ts';
import { givenFile, givenJournal, givenRecord } from '../../unit/admin/journal/given-journal.ts';

/** A process that writes one record for each call, under another program where one is given. */
async function startWriter(file: string, under: readonly string[] = []) {
  const program = fileURLToPath(new URL('./writer.ts', import.meta.url));
  const [command, ...words] = [...under, process.execPath, program, file];
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  await lines.next();
  return {
    async write(): Promise<string> {
      child.stdin.write('record\n');
      return String((await lines.next()).value);
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

it.each(canUnshare() ? [[[]], [inOwnNamespace]] : [[[]]])(
  'one process holds the journal; the next takes over when it has died, and continues the chain (%#)',
  async (under) => {
    const file = givenFile();
    const first = await startWriter(file);
    const second = await startWriter(file, under);

    expect(await first.write()).toBe('written 1');
    expect(await second.write()).toMatch(
      /^refused cannot write the journal .*: process \d+ on \S+ has written it since /,
    );
    expect(await first.write()).toBe('written 2');
    await first.kill();

    expect(await second.write()).toBe('written 3');
    expect(await verifyJournal(file)).toMatchObject({ records: 3, faults: [] });
  },
);

it('the journal goes to exactly one of four processes that start at the same moment', async () => {
  for (let round = 1; round <= 2; round += 1) {
    const file = givenFile();
    const writers = await Promise.all(Array.from({ length: 4 }, () => startWriter(file)));

    const results = await Promise.all(writers.map((writer) => writer.write()));

    expect(results.filter((result) => result.startsWith('written'))).toHaveLength(1);
    await Promise.all(writers.map((writer) => writer.kill()));
    expect(await verifyJournal(file)).toMatchObject({ records: 1, faults: [] });
  }
});

it('two journals in one process also exclude each other', async () => {
  const file = givenFile();
  const first = givenJournal(file).journal;
  const second = givenJournal(file).journal;
  await first.append(givenRecord());

  await expect(second.append(givenRecord())).rejects.toMatchObject({ reason: 'locked' });
  await first.close();

  expect(await second.append(givenRecord())).toMatchObject({ seq: 2 });
});
