import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { verifyJournal } from '../../../src/admin/journal/verify.ts';
import { recordsOf, storedChange } from '../../support/journal-file.ts';
import { givenFile } from '../../unit/admin/journal/given-journal.ts';

const kills = 200;

/** Lets a process write for some milliseconds; returns the states that it was told are on disk. */
async function writeAndKill(file: string, ms: number): Promise<ReadonlyMap<string, number>> {
  const program = fileURLToPath(new URL('./busy-writer.ts', import.meta.url));
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const acknowledged = new Map<string, number>();
  createInterface(child.stdout).on('line', (line) => {
    const [id = '', state] = line.split(' ');
    acknowledged.set(id, Number(state));
  });
  await once(child.stdout, 'data');
  await wait(ms);
  child.kill('SIGKILL');
  await closed;
  return acknowledged;
}

it(`after ${kills} kills the chain is intact, and the records account for the state of every change`, async () => {
  const file = givenFile();
  let acknowledgedTotal = 0;

  for (let kill = 1; kill <= kills; kill += 1) {
    const acknowledged = await writeAndKill(file, Math.random() * 60);

    const records = await recordsOf(file);
    for (const id of ['a', 'b', 'c', 'd']) {
      const states = records.filter(({ request }) => request === id).map(({ state }) => Number(state));
      expect(states, `${id} after kill ${kill}`).toEqual(Array.from(states, (_, index) => index + 1));
      const stored = states.length === 0 ? '' : JSON.stringify({ change: { state: String(states.length) } });
      expect(storedChange(file, id), `${id} after kill ${kill}`).toBe(stored);
      expect(states.length).toBeGreaterThanOrEqual(acknowledged.get(id) ?? 0);
    }
    acknowledgedTotal += acknowledged.size;
  }

  expect(acknowledgedTotal).toBeGreaterThan(kills);
  expect((await verifyJournal(file)).faults).toEqual([]);
}, 600_000);
