import { once } from 'node:events';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { openFreezeSwitch } from '../../../../src/admin/policy/freeze.ts';
import { givenFolder } from '../../../support/folder.ts';
import { feed } from '../../../support/programs.ts';

async function givenFile(): Promise<string> {
  const folder = givenFolder();
  return join(folder, 'data', 'audit.jsonl.frozen');
}

const now = () => Date.parse('2026-11-21T01:02:03Z');

it('stays frozen after a restart, with author and reason', async () => {
  const file = await givenFile();
  const before = await openFreezeSwitch(file, now);

  await before.freeze('alice', 'incident 7');

  const after = await openFreezeSwitch(file, now);
  expect(after.state).toEqual({ by: 'alice', reason: 'incident 7', since: '2026-11-21T01:02:03.000Z' });
  expect(after.state).toEqual(before.state);
});

it('leaves no file after a thaw', async () => {
  const file = await givenFile();
  const opened = await openFreezeSwitch(file, now);
  await opened.freeze('alice', 'incident 7');

  await opened.thaw();

  expect(opened.state).toBeUndefined();
  expect((await openFreezeSwitch(file, now)).state).toBeUndefined();
  expect(await readdir(join(file, '..'))).toEqual([]);
});

it.each([
  ['nothing', ''],
  ['a beginning', '{'],
  ['a list', '[]'],
  ['null', 'null'],
  ['too much', JSON.stringify({ by: 'alice', reason: 'x'.repeat(1_000_000), since: '' })],
])('counts as frozen if its file contains %s: somebody froze it', async (_, content) => {
  const file = await givenFile();
  await mkdir(dirname(file));
  await writeFile(file, content);

  expect((await openFreezeSwitch(file, now)).state).toMatchObject({ by: 'unknown' });
});

const otherKinds: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  'a named pipe': async (file) => feed('mkfifo', [file], Buffer.alloc(0)),
  'a folder': async (file) => await mkdir(file),
  'a device': async (file) => await symlink('/dev/zero', file),
  async 'a socket'(file) {
    const server = createServer().listen(file);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
  },
};

it.each(Object.entries(otherKinds))('rejects with the path and a remedy when its file is %s', async (kind, make) => {
  const file = await givenFile();
  await mkdir(dirname(file));
  await make(file);

  const opened = openFreezeSwitch(file, now);

  await expect(opened).rejects.toThrow(
    `${file} is ${kind}, not a regular file; move it away and start the exporter again`,
  );
});

it('freezes and thaws in the order of the calls; memory, signal and file agree', async () => {
  const step = fc.record({ freezes: fc.boolean(), turnsBefore: fc.integer({ min: 0, max: 3 }) });

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      const file = await givenFile();
      const opened = await openFreezeSwitch(file, now);
      const pending: Promise<unknown>[] = [];
      for (const { freezes, turnsBefore } of steps) {
        for (let turn = 0; turn < turnsBefore; turn += 1) await setImmediate();
        pending.push(freezes ? opened.freeze('alice', 'incident 7') : opened.thaw());
      }
      await Promise.all(pending);

      const { freezes } = steps.at(-1)!;
      const isFrozenOnDisk = (await openFreezeSwitch(file, now)).state !== undefined;
      expect([opened.state !== undefined, opened.signal.aborted, isFrozenOnDisk]).toEqual([freezes, freezes, freezes]);
    }),
    { numRuns: 50 },
  );
});
