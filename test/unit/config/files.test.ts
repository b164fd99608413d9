import { chmod, mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFiles, type Files } from '../../../src/config/files.ts';
import { givenFolder } from '../../support/folder.ts';
import { until } from '../../support/until.ts';
import { loadSettings, refusal } from './given-config.ts';

const entry = (name: string) => ({ name, url: 'https://192.0.2.1', api_key: 'f1x7ure-f1x7ure' });

it('a watched file counts as changed if its text differs with the same length and date', async () => {
  const { path, files, rewrite } = await givenKey('first-key');
  const date = new Date('2026-01-01T00:00:00Z');
  await utimes(path, date, date);
  await files.readText(path, 'key');

  await rewrite('other-key', date);

  expect(await files.haveChanged()).toBe(true);
});

it('a watched file counts as changed when it becomes readable', async () => {
  const { path, files } = await givenKey('first-key');
  await chmod(path, 0o000);
  await files.readText(path, 'key');
  expect(await files.haveChanged()).toBe(false);

  // The clock of a file system moves in steps.
  expect(
    await until(
      async () => {
        await chmod(path, 0o600);
        return await files.haveChanged();
      },
      (changed) => changed,
    ),
  ).toBe(true);
});

it('a watched file counts as changed when Kubernetes replaces its folder', async () => {
  const { folder, files } = await givenKey('unused');
  await mkdir(join(folder, '..one'));
  await mkdir(join(folder, '..two'));
  await writeFile(join(folder, '..one', 'k'), 'first-key');
  await writeFile(join(folder, '..two', 'k'), 'other-key');
  await symlink('..one', join(folder, '..data'));
  await symlink('..data/k', join(folder, 'k'));
  await files.readText(join(folder, 'k'), 'key');
  expect(await files.haveChanged()).toBe(false);

  await symlink('..two', join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));

  expect(await files.haveChanged()).toBe(true);
  expect(await files.readText(join(folder, 'k'), 'key')).toEqual({ value: 'other-key' });
});

it('a pattern of appliance_files matches no file in a missing folder, and is refused if the folder cannot be read', async () => {
  const { folder, load } = await givenPattern();
  expect((await load()).appliances.map(({ name }) => name)).toEqual(['own']);

  // As a folder without permission is for everybody but root, and one of a server that does not
  // answer for all.
  await symlink('more', join(folder, 'more'));

  expect(await refusal(load())).toEqual([
    expect.stringMatching(
      /^zlb.yml:1:\d+: appliance_files\[0\]: its folder cannot be read: ELOOP\. Let the exporter read it/,
    ),
  ]);
});

it('a pattern of appliance_files is refused with both positions if two files name the same appliance', async () => {
  const { folder, load } = await givenPattern();
  await mkdir(join(folder, 'more'));
  await writeFile(join(folder, 'more', 'a.yml'), JSON.stringify([entry('one')]));
  await writeFile(join(folder, 'more', 'b.yml'), JSON.stringify([entry('two'), entry('one')]));

  expect(await refusal(load())).toEqual([
    expect.stringMatching(/^b\.yml:1:\d+: \[1\]\.name: duplicates \[0\] in \S+a\.yml; names must be unique$/),
  ]);
});

it('a pattern of appliance_files is refused if it matches a folder', async () => {
  const { folder, load } = await givenPattern();
  await mkdir(join(folder, 'more', 'a.yml'), { recursive: true });

  expect(await refusal(load())).toEqual([
    'a.yml: cannot be read: it is a folder, not a file. Put it there, or take it out of appliance_files[0]',
  ]);
});

async function givenKey(text: string) {
  const folder = givenFolder();
  const path = join(folder, 'key');
  await writeFile(path, text);
  const files: Files = createFiles();
  return {
    folder,
    path,
    files,
    /** Until the file system has another time for it. */
    async rewrite(other: string, date: Date) {
      await until(
        async () => {
          await writeFile(path, other);
          await utimes(path, date, date);
          return await files.haveChanged();
        },
        (changed) => changed,
      );
    },
  };
}

async function givenPattern() {
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  await writeFile(file, JSON.stringify({ appliance_files: ['more/*.yml'], appliances: [entry('own')] }));
  return { folder, load: () => loadSettings({ file, env: {} }) };
}

it('a file that hangs is reported with a remedy', async () => {
  const late = Object.assign(new Error('late'), { code: 'ETIMEDOUT' });
  const files = createFiles([], { access: () => Promise.reject(late) });

  expect(await files.readText('/hung', 'key')).toEqual({
    error: 'cannot be read: nothing came within 10 s; check the disk or the network drive that it is on',
    code: 'ETIMEDOUT',
  });
});
